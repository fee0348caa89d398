"""CodeArchitect: Markdown conversations below a project, by day and topic, in all its formats.

They get the ids of the project's stored sessions, which prevents duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...core.projects.git import git, names
from ...core.projects.origin import is_by_others
from ...domain.errors import InvalidInput, Unreadable
from ...domain.records import Conversation
from ...importers.contents import ForeignConversation, Record, UnplacedRecords
from ...importers.stores import Importer, existing_path
from ...readers import Places
from .places import DEFAULT, FULL, SUMMARY, SessionFile, SessionsPlace, days, found_on
from .reading import read_head, read_session, session_id
from .rows import messages_of

NAME = "codearchitect"
KIND = "stored sessions"
MAX_WRONG_SHARE = 0.01


def find(places: Places) -> Iterator[Path]:
    yield from (project / DEFAULT for project in places.projects)


def locate(path: Path) -> Path:
    """Return the folder of days: that of a project, of its `.codearchitect`, or the path itself."""
    path = existing_path(path)
    if not path.is_dir():
        raise InvalidInput(f"{path} is not a folder.", hint="Name the project, or its sessions folder.")
    for folder in (path / DEFAULT, path / DEFAULT.name, path):
        if folder.is_dir() and any(_sessions(folder)):
            return folder
    raise Unreadable(f"{path} has no stored sessions.", hint="Nothing was imported.")


def folder(path: Path) -> Path:
    """Return the project that the sessions belong to."""
    return path.parent.parent if path.parts[-2:] == DEFAULT.parts else path


def read(path: Path) -> Iterator[Record]:
    tracked = _tracked(path)
    for session in _sessions(path):
        try:
            reading = _readable(session)
            if reading.file in tracked and is_by_others(reading.file):
                yield UnplacedRecords(KIND, "came with the repository, and is found in that project anyway")
                continue
            yield _conversation(reading, path)
        except Unreadable as error:
            yield UnplacedRecords(KIND, error.message)


def _tracked(path: Path) -> set[Path]:
    """Return the files that git tracks. Only for these, git is asked for their committers."""
    return {path / name for name in names(git(path, "ls-files", "-z"))}


def _sessions(path: Path) -> Iterator[SessionFile]:
    place = SessionsPlace(path, path)
    return (file for day in days(place) for file in found_on(place, day))


def _conversation(file: SessionFile, path: Path) -> ForeignConversation:
    head, reading = read_head(file), read_session(file)
    row = Conversation(
        id=session_id(file, head, reading),
        title=head.topic,
        project="",
        surface=NAME,
        created_at=head.date,
        updated_at=head.modified,
        source=str(file.file),
        directory=str(folder(path)),
    )
    return ForeignConversation(KIND, row, tuple(messages_of(row, reading.turns)))


def _readable(session_file: SessionFile) -> SessionFile:
    """Return the summary if the full text is damaged. Raises Unreadable if both are."""
    name = session_file.file.name
    summary = f"{name.removesuffix(FULL)}{SUMMARY}" if name.endswith(FULL) else name
    for file in dict.fromkeys((session_file.file, session_file.file.with_name(summary))):
        if _is_text(file):
            return session_file._replace(file=file)
    raise Unreadable(f"{session_file.file} is not a text.")


def _is_text(file: Path) -> bool:
    try:
        raw = file.read_bytes()
    except OSError:
        return False
    # a few invalid bytes are a character cut in half; many mean another encoding or binary data
    replaced = raw.decode("utf-8", "replace").count("\N{REPLACEMENT CHARACTER}")
    return b"\0" not in raw and replaced <= len(raw) * MAX_WRONG_SHARE


importer = Importer(NAME, "CodeArchitect", read, locate, find, folder, realm=lambda path: "")
