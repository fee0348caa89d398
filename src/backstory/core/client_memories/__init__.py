"""Memories of other programs, imported as memories. Their files are only read.

A file is read when its size or time changed. Managed blocks, lines that Backstory wrote, private passages and
secrets are removed before anything is stored.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ...domain.errors import BackstoryError, InvalidInput
from ...domain.origins import MemoryFileState
from ...domain.private import without_private
from ...domain.records import Trust
from ...domain.when import from_ms
from ...readers import Places
from ...readers.formats.files import read_text
from ...readers.formats.values import fingerprint
from ..calls import Call
from ..engine import Engine
from ..exclusion import Exclusion
from ..projects.identity import Identities
from ..secrets import redactor
from ..watch import WatchedPath, watched_file, watched_paths
from .blocks import without_blocks
from .fed import load_fed, without_fed_lines
from .files import PROGRAMS, MemoryFile, MemoryProgram, memory_files, with_known_projects
from .keeping import FileNotes, ReadNote
from .notes import MemoryNote, digest_of

MAX_FILE_BYTES = 256 * 1024
LEASE, LEASE_MS = "client-memories", 15_000
NONE = "none"
MEMORIES = "memories"
"""Under which hooks watch the files; no reader is called so."""


class MemoryReport(NamedTuple):
    """The result of an import for one program."""

    title: str
    files: int = 0
    unchanged: int = 0
    added: int = 0
    changed: int = 0
    retired: int = 0
    returned: int = 0
    forgotten: int = 0
    """Notes whose content was deleted here: they do not come back."""
    excluded: int = 0
    private: int = 0
    redacted: int = 0
    unplaced: int = 0
    """Files of an unknown project; their notes belong to no project."""
    problems: Mapping[str, str] = MappingProxyType({})


def chosen_programs(names: Sequence[str]) -> list[MemoryProgram]:
    """The programs of the setting `client_memories`; all if it is empty."""
    if tuple(names) == (NONE,):
        return []
    for name in names:
        if name not in PROGRAMS:
            raise InvalidInput(
                f"client_memories names {name!r}, which is not a known program.",
                hint=f"Known: {', '.join(PROGRAMS)}, or {NONE}.",
                field="client_memories",
            )
    return [PROGRAMS[name] for name in names] or list(PROGRAMS.values())


class ClientMemories:
    """One process at a time reads them; the others find it done."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.store
        self._redactor = redactor(engine.settings.redaction)

    def run(self, places: Places, call: Call | None = None) -> dict[str, MemoryReport] | None:
        """Import changed files and return a report per program. None if another process is importing."""
        programs = chosen_programs(self._engine.settings.client_memories)
        holder = self._engine.new_id()
        if not programs or not self._store.leases.take(LEASE, holder, for_ms=LEASE_MS):
            return None if programs else {}
        try:
            reading = _Reading(self._engine, with_known_projects(places, self._store))
            reports = {
                program.name: report
                for program in programs
                if (report := reading.read(program, call or Call())) != MemoryReport(program.title)
            }
            self._engine.read_paths.note(MEMORIES, reading.watched)
            return reports
        finally:
            self._store.leases.drop(LEASE, holder)


class _Reading:
    """One look at everything."""

    def __init__(self, engine: Engine, places: Places) -> None:
        self._engine = engine
        self._store = engine.store
        self._places = places
        self._exclusion = Exclusion(engine.settings.exclude)
        self._identities = Identities(places.platform, places.projects)
        self._redactor = redactor(engine.settings.redaction)
        self._fed_lines = frozenset(load_fed(engine.settings.home).lines)
        self._known = self._store.origins.files()
        self._looked_at_ns = time.time_ns()
        self.watched: list[WatchedPath] = []
        """The files, and the folders in which new ones may appear, as they were before they were read."""

    def read(self, program: MemoryProgram, call: Call) -> MemoryReport:
        counts: Counter[str] = Counter()
        problems: dict[str, str] = {}
        files = memory_files(program, self._places)
        allowed = [file for file in files if not self._exclusion.excludes_source(file.path, file.project)]
        counts["excluded"] += len(files) - len(allowed)
        for trust in Trust:
            paths = [watched_file(file.path) for file in allowed if file.trust is trust]
            self.watched += watched_paths(
                paths, self._places.home, self._looked_at_ns, with_folders=trust is Trust.OWN
            )
        seen, roots = {str(file.path) for file in files}, {str(file.root) for file in files}
        for file in allowed:
            call.raise_if_cancelled()
            counts["files"] += 1
            if problem := self._read(program, file, counts):
                problems[str(file.path)] = problem
        for state in self._known.values():
            # A process with another HOME or CLAUDE_CONFIG_DIR does not look where a file still is.
            is_elsewhere = state.root not in roots and os.path.lexists(state.path)
            if (
                state.program == program.source
                and state.path not in seen
                and not state.is_gone
                and not is_elsewhere
            ):
                self._retire_all(program, state, counts)
        if counts["added"] or counts["changed"] or counts["returned"]:
            self._engine.embed_soon()
        return MemoryReport(program.title, **counts, problems=problems)

    def _read(self, program: MemoryProgram, file: MemoryFile, counts: Counter[str]) -> str:
        """Store the notes of a file if it changed. Returns the reason if it cannot be read, or ""."""
        known = self._known.get(str(file.path))
        project = self._identities.project_of(file.project) if file.project else ""
        counts["unplaced"] += _is_filed(file) and not project
        try:
            status = file.path.stat()
            state = MemoryFileState(
                str(file.path), program.source, str(file.root), project, status.st_size, status.st_mtime_ns
            )
            if known is not None and known._replace(problem="") == state:
                counts["unchanged"] += 1
                return known.problem
            text = _text_of(file.path)
        except FileNotFoundError:
            return ""  # deleted at this moment
        except (OSError, BackstoryError) as error:
            return f"It cannot be read: {getattr(error, 'strerror', None) or error}"
        if text is None:
            problem = f"It has more than {MAX_FILE_BYTES // 1024} KiB."
            self._store.origins.put_file(state._replace(problem=problem))
            return problem
        notes = self._notes(file, project, text, counts)
        self._engine.check_room()
        at = from_ms(status.st_mtime_ns // 1_000_000)
        keeper = FileNotes(self._engine, program.source, str(file.path), file.trust, at)
        with self._store.transaction():
            keeper.keep(notes)
            self._store.origins.put_file(state)
        counts.update(keeper.outcomes)
        return ""

    def _notes(self, file: MemoryFile, project: str, text: str, counts: Counter[str]) -> list[ReadNote]:
        public = without_private(without_fed_lines(without_blocks(text), self._fed_lines))
        counts["private"] += len(public.removed)
        places: Counter[str] = Counter()
        notes = []
        for note in file.parse(public.text):
            where = project if note.directory is None else self._identities.project_of(note.directory)
            if note.directory and self._exclusion.excludes_project(note.directory):
                counts["excluded"] += 1
                continue
            redacted = self._redactor.redact(note.text)
            counts["redacted"] += redacted.found
            clean = note._replace(text=redacted.text.replace("\0", "�"))
            notes.append(ReadNote(clean, _anchor(note, places), where, digest_of(clean.text)))
        return notes

    def _retire_all(self, program: MemoryProgram, state: MemoryFileState, counts: Counter[str]) -> None:
        """A file is gone.

        Where its root is gone or empty too it may be on a disk that is not there now, and nothing is retired."""
        path = Path(state.path)
        if self._exclusion.excludes_source(path, state.project) or not _has_entries(state.root):
            return
        keeper = FileNotes(self._engine, program.source, state.path, Trust.OWN, self._engine.now())
        with self._store.transaction():
            for origin in self._store.origins.of_file(state.path).values():
                if not origin.is_gone:
                    keeper.retire(origin)
            self._store.origins.put_file(state._replace(is_gone=True))
        counts.update(keeper.outcomes)


def _text_of(path: Path) -> str | None:
    """The text of a file; None if it is too large. A file that changes during the read is read once more."""
    for _ in range(2):
        before = path.stat()
        if before.st_size > MAX_FILE_BYTES:
            return None
        text = read_text(path)
        after = path.stat()
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
            break
    return text


def _anchor(note: MemoryNote, places: Counter[str]) -> str:
    """An identifier of a note that contains none of its text: it stays when the memory is forgotten."""
    places[note.place] += 1
    return fingerprint(note.place, str(places[note.place]))


def _is_filed(file: MemoryFile) -> bool:
    """True if the file is in a folder for one project."""
    return "projects" in file.path.parts or "tmp" in file.path.parts


def _has_entries(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(True for _ in entries)
    except OSError:
        return False
