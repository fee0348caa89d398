"""Notes about the files of a project, shown before an assistant changes one.

Only facts about exactly this file count: a memory that was saved about it, a statement that contains its path or a
unique file name, and a decision in an exchange that changed only this file. Statements that `core/state.py` calls
superseded are left out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ...domain.lazy import lazy_pattern
from ...domain.metadata import marks_of
from ...domain.records import Memory
from ...domain.statements import Statement, StatementKind
from ...domain.tokens import count_tokens
from ...search.file_mentions import NAMED, TOUCHED
from .. import Core
from ..names import short_conversation_id, short_memory_id
from ..projects.git import git, names
from ..quoting import quote
from ..search.superseding import later_decisions
from ..state import ProjectState
from ..unasked import redacted_texts

MAX_NOTE_TOKENS = 60
MAX_NOTED_FILES = 2_000
QUOTATION_CHARS = (200, 170, 150, 130, 110, 100, 90, 80, 70, 60, 50, 40)
"""Lengths of a quotation, the longest that the tokens allow."""
MAX_BLAMED_FILES = 2
"""Files that changed between two checks: of more, none can be said to have made the second fail."""
GIT_TIMEOUT_S = 5.0
_PATH = lazy_pattern(r"[\w@.+~-]+(?:[/\\][\w@.+-]+)*")


class FileFact(NamedTuple):
    """One thing that is known about one file."""

    path: str
    """Relative to the checkout, with slashes."""
    label: str
    text: str
    source: str
    at: datetime
    certainty: float


def notes_by_file(core: Core, project: str, state: ProjectState) -> dict[str, dict[str, object]]:
    """The note of each file that something is known about, as `clients/hook.py` reads it."""
    files = ProjectFiles(_known_files(core, project, state), project)
    facts = [*_checks(core, state, files), *_saved(core, state, files), *_stated(core, state, files)]
    by_path: dict[str, list[FileFact]] = {}
    for fact, text in zip(
        facts, redacted_texts([fact.text for fact in facts], core.engine.settings), strict=True
    ):
        by_path.setdefault(fact.path, []).append(fact._replace(text=text))
    newest = sorted(by_path, key=lambda path: max(fact.at for fact in by_path[path]), reverse=True)
    notes = {path: _note(path, by_path[path]) for path in newest[:MAX_NOTED_FILES]}
    return {path: note for path, note in notes.items() if note}


class ProjectFiles:
    """The files of a project, found by the way a text spells them."""

    def __init__(self, paths: Iterable[str], project: str) -> None:
        self._paths = frozenset(paths)
        self._root = project.replace("\\", "/").rstrip("/") + "/"
        self._by_name: dict[str, list[str]] = {}
        for path in self._paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def spelled(self, spelling: str) -> str | None:
        """The one file that a spelling means: its path, the end of its path, or a name that no other file has."""
        spelling = spelling.replace("\\", "/").removeprefix(self._root).removeprefix("./")
        if spelling in self._paths:
            return spelling
        likely = self._by_name.get(spelling.rpartition("/")[2], [])
        matching = [path for path in likely if path.endswith(f"/{spelling}")]
        return matching[0] if len(matching) == 1 else None

    def named_in(self, text: str) -> list[str]:
        paths = (self.spelled(spelling.rstrip(".")) for spelling in _PATH.findall(text))
        return list(dict.fromkeys(path for path in paths if path))


def _known_files(core: Core, project: str, state: ProjectState) -> list[str]:
    """The files of the project: those that git tracks or would track, or without git those that assistants read or wrote."""
    folder = Path(project)
    words = ("ls-files", "--cached", "--others", "--exclude-standard", "-z")
    listed = git(folder, *words, timeout_s=GIT_TIMEOUT_S) if folder.is_dir() else None
    if listed is not None:
        return names(listed)
    root = project.replace("\\", "/").rstrip("/") + "/"
    touched = core.engine.store.traces.files([each.id for each in state.conversations]).values()
    paths = {path.replace("\\", "/") for files in touched for path in files}
    return [path.removeprefix(root) for path in paths if path.startswith(root)]


def _saved(core: Core, state: ProjectState, files: ProjectFiles) -> Iterator[FileFact]:
    labelled = (
        ("decided", state.decisions),
        ("tried and dropped", state.dropped),
        ("the user's rule", state.preferences),
    )
    superseded = later_decisions(state.decisions, core.engine.store)
    for label, memories in labelled:
        for memory in memories:
            if memory.id not in superseded:
                yield from _about_memory(label, memory, files)


def _about_memory(label: str, memory: Memory, files: ProjectFiles) -> Iterator[FileFact]:
    marked = [mark.path for mark in marks_of(memory.metadata)]
    named = [path for path in files.named_in(memory.text) if path not in marked]
    for path, certainty in [*((path, TOUCHED) for path in marked), *((path, NAMED) for path in named)]:
        yield FileFact(path, label, memory.text, short_memory_id(memory.id), memory.updated_at, certainty)


def _stated(core: Core, state: ProjectState, files: ProjectFiles) -> Iterator[FileFact]:
    labels = {
        StatementKind.DECISION: "decided",
        StatementKind.DROPPED: "tried and dropped",
        StatementKind.PREFERENCE: "the user's rule",
    }
    exchanges = _Exchanges(core)
    for kind, label in labels.items():
        for statement in state.holding(kind):
            paths = files.named_in(statement.text)
            # a rule applies beyond the file that led to it
            if not paths and kind is not StatementKind.PREFERENCE:
                changed = exchanges.changed_in(statement)
                paths = [path for path in map(files.spelled, changed) if path] if len(changed) == 1 else []
            for path in paths:
                yield FileFact(path, label, statement.text, _source(statement), statement.at, NAMED)


class _Exchanges:
    """Which files changed between one prompt of the user and the next."""

    def __init__(self, core: Core) -> None:
        self._store = core.engine.store
        self._prompts: dict[str, list[int]] = {}

    def changed_in(self, statement: Statement) -> list[str]:
        """The files that the exchange changed in which something was stated."""
        id = statement.conversation
        if id not in self._prompts:
            self._prompts[id] = [place for place, _ in self._store.messages.prompts(id, 1)]
        first = max((place for place in self._prompts[id] if place <= statement.place), default=0)
        after = min((place for place in self._prompts[id] if place > statement.place), default=sys.maxsize)
        traces = self._store.traces.of(id, range(first, after))
        return list(dict.fromkeys(trace.value for trace in traces if trace.kind == "written"))


def _checks(core: Core, state: ProjectState, files: ProjectFiles) -> Iterator[FileFact]:
    """Checks that fail since the last change of a file: what changed between the check before and this one made it fail."""
    checks: dict[str, list[Statement]] = {}
    for statement in state.statements:
        if statement.kind is StatementKind.CHECK:
            checks.setdefault(statement.conversation, []).append(statement)
    for conversation, every in checks.items():
        every.sort(key=lambda check: check.place)
        for number, check in enumerate(every):
            if check.outcome != "fail" or not check.holds:
                continue
            first = every[number - 1].place + 1 if number else 0
            traces = core.engine.store.traces.of(conversation, range(first, check.place + 1))
            changed = list(dict.fromkeys(trace.value for trace in traces if trace.kind == "written"))
            if len(changed) <= MAX_BLAMED_FILES:
                for path in filter(None, map(files.spelled, changed)):
                    yield FileFact(
                        path, "failed after its last change", check.text, _source(check), check.at, NAMED
                    )


def _source(statement: Statement) -> str:
    return f"{short_conversation_id(statement.conversation)}#{statement.place + 1}"


def _note(path: str, facts: Sequence[FileFact]) -> dict[str, object]:
    """The facts that fit into the token limit, in the given order, newest first within each kind; "" if none fits."""
    kinds = list(dict.fromkeys(fact.label for fact in facts))
    ordered = sorted(facts, key=lambda fact: (kinds.index(fact.label), -fact.at.timestamp()))
    chosen: list[FileFact] = []
    text = ""
    for fact in ordered:
        if fact.text in [other.text for other in chosen]:
            continue
        for longest in QUOTATION_CHARS:
            longer = _text(path, [*chosen, fact], longest)
            if count_tokens(longer) <= MAX_NOTE_TOKENS:
                chosen, text = [*chosen, fact], longer
                break
    return {"text": text, "certainty": max(fact.certainty for fact in chosen)} if chosen else {}


def _text(path: str, facts: Sequence[FileFact], longest: int) -> str:
    name = quote(PurePosixPath(path).name, 40).replace(">", "\u203a").replace('"', "'")
    lines = (
        f"{fact.at:%Y-%m-%d} {fact.label}: {quote(fact.text, longest)} ({fact.source})" for fact in facts
    )
    return f'<backstory file="{name}">Recorded memory: {" ".join(lines)}</backstory>'
