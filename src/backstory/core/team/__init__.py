"""Memories that a team shares in its repository: written as files, reviewed as every other change, read from the
shared branch."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import BackstoryError, GitFailed, InvalidInput, NotAllowed, NotFound, NotWritten
from ...domain.filters import Filter, Kind, Page
from ...domain.kinds import MemoryKind, category_of, kind_of
from ...domain.lazy import lazy_pattern
from ...domain.metadata import marks_of
from ...domain.records import Memory, Trust
from ...domain.shared_notes import (
    FOLDER,
    FORMER_IGNORE_TEXT,
    IGNORE_TEXT,
    SURFACE,
    NoteSource,
    as_metadata,
    source_of,
)
from ...domain.sources import ImportedRecord
from ...store.tables import Forgettable, with_words_of
from ...store.whole_files import write_whole
from ..brief.files import BriefFiles
from ..engine import Caller, Engine
from ..projects import project_root, work_tree
from .branch import BranchFile, propose, read_branch, repository_identity, shared_commit
from .checks import NoteProblem, problems_in, read_note
from .files import MAX_TITLE_CHARS, SharedNote, parsed, rendered
from .trusted import TrustedRepositories

TEAM = "team"
"""The name under which problems with shared notes are reported."""
_KINDS = {
    MemoryKind.DECISION: "decision",
    MemoryKind.PREFERENCE: "convention",
    MemoryKind.ERROR: "warning",
    MemoryKind.FACT: "fact",
    MemoryKind.TASK: "fact",
}
_CATEGORIES = {
    "decision": category_of(MemoryKind.DECISION),
    "convention": category_of(MemoryKind.PREFERENCE),
    "warning": "warning",
    "fact": category_of(MemoryKind.FACT),
}
_SENTENCE = lazy_pattern(r"(?<=[.!?])\s+|\n+")


class TeamNote(NamedTuple):
    """A shared file, as `backstory team` lists it."""

    note: SharedNote
    path: str
    author: str
    state: str
    """`team`, `project` (not trusted), `proposed` (only in the work tree), `replaced` or `forgotten`."""


class TeamReport(NamedTuple):
    is_trusted: bool
    notes: list[TeamNote]
    problems: dict[str, list[NoteProblem]]
    """Problems by path; these files are not read."""


class Team:
    """The shared memories of the caller's checkout."""

    def __init__(self, engine: Engine, caller: Caller) -> None:
        self.engine = engine
        self.tree = work_tree(Path(caller.checkout()))
        self.project = str(project_root(self.tree))
        self.trusted = TrustedRepositories(engine.settings.home)

    def share(self, memories: Sequence[Memory], branch: str | None = None) -> list[str]:
        """Write memories as files of the work tree, or on a branch of their own; their paths. Raises NotAllowed."""
        files = {path: rendered(note) for path, note in (self._file_of(memory) for memory in memories)}
        for path, text in files.items():
            for problem in problems_in(text):
                raise NotAllowed(f"{path}:{problem.line}: {problem.problem}; nothing was shared.")
        if branch is not None:
            titles = ", ".join(parsed(text).title for text in files.values())
            propose(self.tree, branch, files, f"Share: {titles}\n")
            return sorted(files)
        for path, text in files.items():
            self._write(path, text)
        return sorted(files)

    def path_of(self, memory: Memory) -> str:
        """The path of a memory's file, existing or new."""
        return self._paths().get(note_id(memory)) or self._file_of(memory)[0]

    def unshare(self, memory: Memory, branch: str | None = None) -> str:
        """Remove the file of a memory; its path. Raises NotFound."""
        id = note_id(memory)
        path = self._paths().get(id)
        if path is None:
            raise NotFound("shared file of the memory", memory.id)
        if branch is not None:
            propose(self.tree, branch, {path: None}, f"Withdraw {Path(path).stem}\n")
        else:
            (self.tree / path).unlink(missing_ok=True)
        return path

    def trust(self) -> TeamReport:
        """Read the shared branch of this repository from now on. Raises NotAllowed without a repository."""
        identity = repository_identity(self.tree)
        if not identity:
            raise NotAllowed(f"{self.tree} is not a repository with a commit.")
        self.trusted.add(identity, self.project)
        return self.refresh()

    def distrust(self) -> None:
        for project in self.trusted.remove(repository_identity(self.tree)) or [self.project]:
            _put(self.engine, project, [])

    def refresh(self) -> TeamReport:
        """Store the current notes of the shared branch, if this user trusts the repository. Raises GitFailed."""
        commit = shared_commit(self.tree)
        files, unread = ([], []) if commit is None else read_branch(self.tree, commit)
        problems = {path: [NoteProblem(1, "it is not read")] for path in unread}
        read: dict[str, tuple[SharedNote, BranchFile]] = {}
        for file in sorted(files, key=lambda each: each.path):
            note = read_note(file.raw)
            if isinstance(note, list):
                problems[file.path] = note
            elif note.id in read:
                problems[file.path] = [NoteProblem(2, f"its id is that of {read[note.id][1].path}")]
            else:
                read[note.id] = note, file
        is_trusted = repository_identity(self.tree) in self.trusted.all()
        replaced = {id for note, _ in read.values() for id in note.replaces}
        memories = [self._memory(note, file) for note, file in read.values() if note.id not in replaced]
        stored = _put(self.engine, self.project, memories if is_trusted else [])
        notes = [
            TeamNote(note, file.path, file.author, self._state(note, is_trusted, replaced, stored))
            for note, file in read.values()
        ]
        known = {file.path for file in files}
        return TeamReport(is_trusted, [*notes, *self._proposed(known)], problems)

    def check(self, paths: Sequence[str]) -> dict[str, list[NoteProblem]]:
        """Problems of files in the work tree, by path; of all shared files unless some are named."""
        problems: dict[str, list[NoteProblem]] = {}
        ids: dict[str, str] = {}
        for path in paths or self._work_tree_paths():
            file = self.tree / path
            try:
                raw = file.read_bytes()
            except OSError as error:
                raise NotFound("file", path, hint=str(error.strerror or "")) from None
            note = [NoteProblem(1, "it is a link")] if file.is_symlink() else read_note(raw)
            if not isinstance(note, list) and (other := ids.setdefault(note.id, path)) != path:
                note = [NoteProblem(2, f"its id is that of {other}")]
            if isinstance(note, list):
                problems[path] = note
        return problems

    def _state(self, note: SharedNote, is_trusted: bool, replaced: set[str], stored: set[str]) -> str:
        if note.id in replaced:
            return "replaced"
        if not is_trusted:
            return "project"
        return "team" if self._memory_id(note.id) in stored else "forgotten"

    def _memory_id(self, id: str) -> str:
        """Two clones on one machine are two projects, each with its own copy."""
        return hashlib.sha256(f"team\n{self.project}\n{id}".encode()).hexdigest()[:24]

    def _memory(self, note: SharedNote, file: BranchFile) -> Memory:
        return Memory(
            id=self._memory_id(note.id),
            text=note.text,
            project=self.project,
            surface=SURFACE,
            created_at=file.changed_at,
            updated_at=file.changed_at,
            category=_CATEGORIES[note.kind],
            tags=note.tags,
            metadata=as_metadata(NoteSource(note.id, file.path, file.commit, file.author, note.about)),
            trust=Trust.TEAM,
        )

    def _file_of(self, memory: Memory) -> tuple[str, SharedNote]:
        """The path and the contents for a memory. An existing file keeps its path and unknown keys."""
        if memory.private:
            raise NotAllowed(f"{memory.id} is private; nothing was shared.")
        if memory.trust not in (Trust.OWN, Trust.IMPORTED):
            raise NotAllowed(f"{memory.id} contains words of a {memory.trust.value}; nothing was shared.")
        text = memory.text.strip()
        first = _SENTENCE.split(text)[0]
        is_title = len(first) <= MAX_TITLE_CHARS
        title = (
            first.lstrip("# ").rstrip(".")
            if is_title
            else first[: MAX_TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
        )
        body = text[len(first) :].strip() if is_title else text
        note = SharedNote(
            note_id(memory),
            _KINDS[kind_of(memory)],
            f"{self.engine.now():%Y-%m-%d}",
            title,
            body,
            about=tuple(mark.path for mark in marks_of(memory.metadata)),
            tags=memory.tags,
        )
        path = self._paths().get(note.id)
        if path is None:
            return f"{FOLDER}/{note.file_name}", note
        try:
            former = parsed((self.tree / path).read_text("utf-8"))
        except (OSError, ValueError, BackstoryError):
            return path, note
        return path, note._replace(date=former.date, replaces=former.replaces, more=former.more)

    def _paths(self) -> dict[str, str]:
        """The paths of shared memories in the work tree, by id."""
        by_id = {}
        for path in self._work_tree_paths():
            note = read_note((self.tree / path).read_bytes())
            if not isinstance(note, list):
                by_id[note.id] = path
        return by_id

    def _work_tree_paths(self) -> list[str]:
        folder = self.tree / FOLDER
        if folder.is_symlink() or folder.parent.is_symlink():
            return []
        return [f"{FOLDER}/{path.name}" for path in sorted(folder.glob("*.md")) if path.is_file()]

    def _proposed(self, known: set[str]) -> list[TeamNote]:
        """Files that are only in the work tree. They are listed but never stored."""
        listed = []
        for path in self._work_tree_paths():
            note = read_note((self.tree / path).read_bytes())
            if path not in known and not isinstance(note, list):
                listed.append(TeamNote(note, path, "", "proposed"))
        return listed

    def _write(self, path: str, text: str) -> None:
        file = self.tree / path
        if any(each.is_symlink() for each in (file, file.parent, file.parent.parent)):
            raise NotWritten(f"{path} is a link; nothing is written through it.")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            ignore = file.parent.parent / ".gitignore"
            if ignore.is_file() and ignore.read_bytes() == FORMER_IGNORE_TEXT.encode():
                write_whole(ignore, [IGNORE_TEXT])  # otherwise git would ignore the shared files
            write_whole(file, [text])
            file.chmod(0o644)  # of a repository, and no secret
        except OSError as error:
            raise NotWritten(f"{path} cannot be written: {error.strerror}.") from None


def note_id(memory: Memory) -> str:
    """The id of a note, equal in every clone."""
    source = source_of(memory)
    if source is not None:
        return source.id
    plain = re.sub(r"[^0-9a-z-]", "-", memory.id.lower()).strip("-")
    if not re.fullmatch(r"[0-9a-z][0-9a-z-]{3,63}", plain):
        plain = hashlib.sha256(memory.id.encode()).hexdigest()[:24]
    return plain


def refresh_trusted(engine: Engine, seen: dict[str, str]) -> int:
    """Read the shared branches that moved since the commits in `seen`, which is brought up to date; how many there were."""
    count = 0
    for identity, projects in TrustedRepositories(engine.settings.home).all().items():
        for project in projects:
            tree = Path(project)
            commit = (shared_commit(tree) or "") if tree.is_dir() else ""
            if seen.get(project) == commit:
                continue
            if not commit or repository_identity(tree) != identity:
                _put(engine, project, [])  # another repository has its place now
                seen[project] = commit
                continue
            try:
                Team(engine, Caller(project=project)).refresh()
            except GitFailed as error:  # the notes that were read before stay
                engine.problems.failed(TEAM, error)
                continue
            engine.problems.succeeded(TEAM)
            seen[project] = commit
            count += 1
    return count


def _put(engine: Engine, project: str, memories: Sequence[Memory]) -> set[str]:
    """Make these the only shared memories of a project, except those that this user forgot. Returns the stored ids."""
    store = engine.store
    where = Filter(kinds=(Kind.MEMORY,), surfaces=(SURFACE,), projects=(project,))
    with store.transaction():
        hidden = _forgotten(engine, [memory.id for memory in memories])
        wanted = {memory.id: memory for memory in memories if memory.id not in hidden}
        known = {memory.id: memory for memory in store.memories.find(where, Page())}
        gone = tuple(known.keys() - wanted.keys())
        changed = [memory for id, memory in wanted.items() if known.get(id) != memory]
        if gone:
            store.memories.delete(Filter(ids=gone))
        if changed:
            store.memories.put(changed)
            records = [
                ImportedRecord(memory.id, SURFACE, project, _path(memory), "", _digest(memory), engine.now())
                for memory in changed
            ]
            store.imports.put(records)
        if gone or known.keys() & {memory.id for memory in changed}:
            store.residue.note(with_words_of([Forgettable.MEMORIES]))
        if gone or changed:
            store.answers.delete_all()  # they may quote withdrawn notes
            store.injections.delete({project})
    if gone or changed:
        BriefFiles(engine.settings.home).clear()
        engine.embed_soon()
    return set(wanted)


def _forgotten(engine: Engine, ids: Sequence[str]) -> set[str]:
    """The ids that this user forgot, for good or restorably."""
    if not ids:
        return set()
    erased = {id for id, record in engine.store.imports.get(ids).items() if not record.digest}
    archived = engine.store.archive.find_memories(Filter(ids=tuple(ids)), with_forgotten=True)
    return erased | {each.memory.id for each in archived}


def _path(memory: Memory) -> str:
    source = source_of(memory)
    return source.path if source else ""


def _digest(memory: Memory) -> str:
    return hashlib.sha256(memory.text.encode()).hexdigest()


def check_branch_name(branch: str) -> str:
    if not re.fullmatch(r"[\w][\w./-]{0,120}", branch):
        raise InvalidInput(f"{branch!r} is not a valid name for a branch.", field="branch")
    return branch
