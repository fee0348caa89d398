"""The handoff from one session to the next, as a record and as a file for people."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ....core.derived import DerivedChange, FileRewrite, ForgottenMemories
from ....core.insight.digest import quotable
from ....core.secrets import redactor
from ....domain.lines import one_line
from ....domain.records import Memory
from ....domain.shared_notes import IGNORE_TEXT
from ....domain.when import iso
from ....store import Store
from ....store.whole_files import write_whole

FOLDER = Path(".backstory") / "handoff"
LONGEST_LINE = 300
MOST_STEPS = 3
"""Maximum number of tasks among the next steps."""
OPENING_CHARS = 40
"""Number of characters by which a quotation is recognized. It may be cut, but never this short."""
MOST_LISTED = 50
"""Maximum number of lines in a section. The rest is counted."""


TOOL, HANDOFF = "session", "handoff"
"""The tool and type of the event that stores a handoff."""
_NOTES = ("decisions", "tasks", "errors", "insights")


class HandoffNote(NamedTuple):
    """A memory in one line."""

    id: str
    text: str
    priority: str


class Handoff(NamedTuple):
    session: str
    project: str
    started_at: datetime
    ended_at: datetime
    branch: str
    quality: int
    decisions: tuple[HandoffNote, ...]
    tasks: tuple[HandoffNote, ...]
    """Open tasks."""
    errors: tuple[HandoffNote, ...]
    """Unresolved errors."""
    files: tuple[str, ...]
    next_steps: tuple[str, ...]
    insights: tuple[HandoffNote, ...] = ()
    """Other insights."""

    @property
    def task_ids(self) -> frozenset[str]:
        return frozenset(task.id for task in self.tasks)


def note(memory: Memory) -> HandoffNote:
    return HandoffNote(memory.id, one_line(quotable(memory), LONGEST_LINE), memory.priority.value)


def go_on(tasks: Sequence[HandoffNote]) -> Iterator[str]:
    """Yield the first of the next steps."""
    for task in tasks[:MOST_STEPS]:
        yield f"Go on with: {task.text}"


def opening(text: str) -> str:
    """Return the beginning by which a quoted text is recognized, even if `one_line` shortened it."""
    return " ".join(text.split())[:OPENING_CHARS]


def without(handoff: Handoff, memories: Collection[str], openings: Collection[str]) -> Handoff:
    """Return the handoff without these memories. `openings` are the beginnings of their values."""

    def others(notes: Iterable[HandoffNote]) -> tuple[HandoffNote, ...]:
        return tuple(each for each in notes if each.id not in memories)

    return handoff._replace(
        decisions=others(handoff.decisions),
        tasks=others(handoff.tasks),
        errors=others(handoff.errors),
        insights=others(handoff.insights),
        next_steps=tuple(step for step in handoff.next_steps if not _quotes(step, openings)),
    )


def _quotes(step: str, openings: Collection[str]) -> bool:
    """True if a step quotes a memory. The quotation follows a colon, and is at the end."""
    starts = [colon.end() for colon in re.finditer(": ", step)]
    return any(step[start : start + OPENING_CHARS] in openings for start in starts)


class HandoffDerivation:
    """Removes forgotten memories from handoffs, which quote them in their event and in their file."""

    name = "handoffs"

    def forget(self, store: Store, memories: ForgottenMemories) -> DerivedChange:
        events = store.sessions.events_of_type(TOOL, HANDOFF)
        openings = _openings(memories.beginnings) if events else set()
        records, files = 0, []
        for event in events:
            former = from_data(event.data)
            present = without(former, memories.ids, openings)
            if present == former:
                continue
            records += 1
            store.sessions.change_event(event._replace(data={**event.data, **as_data(present)}))
            if path := event.data.get("path"):
                files.append(FileRewrite(path, partial(rewrite, Path(path), former, present)))
        return DerivedChange(records, files)


def _openings(texts: Sequence[str]) -> set[str]:
    """Return the beginnings of these texts as a handoff quotes them, in every redaction mode."""
    quoted = [texts, *(redactor(mode).redact_all(texts)[0] for mode in ("standard", "wide"))]
    return {opening(text) for some in quoted for text in some}


def rewrite(path: Path, former: Handoff, present: Handoff) -> bool:
    """Replace the former handoff's file by the present one, and return whether it changed.

    If a person edited it, only the lines that are missing from the present one are removed."""
    gone = set(markdown(former).splitlines()) - set(markdown(present).splitlines())
    with suppress(OSError, UnicodeDecodeError):  # it was deleted, moved, or replaced by another file
        text = path.read_text("utf-8")
        left = [line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in gone]
        new = markdown(present) if text == markdown(former) else "".join(left)
        if new != text:
            _written(path, new)
            return True
    return False


def as_data(handoff: Handoff) -> dict[str, Any]:
    """Return the stored representation."""
    return handoff._asdict() | {
        "started_at": iso(handoff.started_at),
        "ended_at": iso(handoff.ended_at),
        **{name: [each._asdict() for each in getattr(handoff, name)] for name in _NOTES},
    }


def from_data(data: Mapping[str, Any]) -> Handoff:
    fields = {name: data.get(name, ()) for name in Handoff._fields}
    for name in ("started_at", "ended_at"):
        fields[name] = datetime.fromisoformat(data[name])
    for name in _NOTES:
        fields[name] = tuple(HandoffNote(**each) for each in fields[name])
    for name in ("files", "next_steps"):
        fields[name] = tuple(data[name])
    return Handoff(**fields)


def markdown(handoff: Handoff) -> str:
    minutes = int((handoff.ended_at - handoff.started_at).total_seconds() // 60)
    lines = [
        f"# Handoff of {Path(handoff.project).name}, {handoff.ended_at:%Y-%m-%d %H:%M} UTC",
        "",
        f"- Session: {handoff.session}, {minutes} minutes",
        *([f"- Branch: {handoff.branch}"] if handoff.branch else []),
        f"- Quality at the end: {handoff.quality} of 100",
        *_section("Decisions", map(_line, handoff.decisions)),
        *_section("Learned", map(_line, handoff.insights)),
        *_section("Open tasks", (f"[ ] {_line(task)}" for task in handoff.tasks)),
        *_section("Errors that nothing settled", map(_line, handoff.errors)),
        *_section("Files", (f"`{path}`" for path in handoff.files)),
        *_section("Next steps", handoff.next_steps),
    ]
    return "\n".join(lines) + "\n"


def _line(each: HandoffNote) -> str:
    return each.text if each.priority == "normal" else f"({each.priority}) {each.text}"


def _section(title: str, entries: Iterable[str]) -> list[str]:
    every = list(entries)
    if not every:
        return []
    more = [f"- and {len(every) - MOST_LISTED} more"] if len(every) > MOST_LISTED else []
    return ["", f"## {title}", "", *(f"- {entry}" for entry in every[:MOST_LISTED]), *more]


def write(handoff: Handoff, directory: Path, ours: Path) -> Path | None:
    """Write the file to the project's hidden folder, else to our own directory; None if neither is writable.

    The file is complete or absent."""
    name = f"{handoff.ended_at:%Y%m%d-%H%M%S}-{handoff.session[:12]}.md"
    text = markdown(handoff)
    with suppress(OSError):
        return _written(_hidden_folder(directory) / name, text)
    with suppress(OSError):
        ours.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _written(ours / name, text)
    return None


def _hidden_folder(directory: Path) -> Path:
    """Create the hidden folder, which contains a .gitignore that hides it from git."""
    hidden = directory / FOLDER.parent
    for folder in (hidden, directory / FOLDER):
        if folder.is_symlink():  # a repository may contain a link that points elsewhere
            raise OSError(f"{folder} is a link")
        folder.mkdir(exist_ok=True)
    ignore = hidden / ".gitignore"
    if not os.path.lexists(ignore):
        ignore.write_text(IGNORE_TEXT, "utf-8")
    return directory / FOLDER


def _written(path: Path, text: str) -> Path:
    write_whole(path, [text])
    return path
