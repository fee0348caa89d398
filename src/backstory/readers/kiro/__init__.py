"""Kiro: logs of its command line, its earlier database, and the documents of its editor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .. import Cursor, Form, Piece, Places, Reader, Resume, Source
from ..formats.databases import read_database
from ..formats.paths import data_home, editor_directories, homes
from .conversations import read_conversations
from .documents import LIST, read_session
from .sessions import beside, read_log

DATABASE = "data.sqlite3"
EDITOR_SESSIONS = "globalStorage/kiro.kiroagent/workspace-sessions/*/*.json"


def find(places: Places) -> Iterator[Source]:
    named = places.roots.get("kiro", ())
    for root in dict.fromkeys([*_homes(places), *named]):
        for path in sorted(root.glob("sessions/cli/*.jsonl")):
            yield Source(path, Form.LOG, beside=beside(path))
    programs = [data_home(places) / "kiro-cli", *named]
    if places.platform == "darwin":
        programs.append(places.home / "Library/Application Support/kiro-cli")
    for program in dict.fromkeys(programs):
        if (path := program / DATABASE).is_file():
            yield Source(path, Form.DATABASE)
    for user in dict.fromkeys([*editor_directories(places, "Kiro"), *named]):
        for path in sorted(user.glob(EDITOR_SESSIONS)):
            if path.name != LIST:
                yield Source(path, Form.DOCUMENT)


def _homes(places: Places) -> Iterator[Path]:
    if named := places.environment.get("KIRO_HOME", ""):
        yield Path(named)
    yield from (home / ".kiro" for home in homes(places))


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.form is Form.LOG:
        yield from read_log(source.path, cursor)
    elif source.form is Form.DOCUMENT:
        yield read_session(source.path)
    else:
        yield from read_database(source.path, cursor, read_conversations)


reader = Reader(
    "kiro", "Kiro", find, read, resume=Resume(("kiro-cli", "chat", "--resume-id", "{id}"), "*/sessions/cli/*")
)
