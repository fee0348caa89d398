"""Cursor: composers and chats of all generations of the editor, and transcripts of its agents.

The editor stores conversations in SQLite, since 0.43 in one database for all projects. The database of a workspace
contains older conversations, and lists its composers. Agents write transcripts below ~/.cursor. If a conversation is in
both, the editor's version is used, because it has times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from .. import Cursor, Form, Piece, Places, Reader, Resume, Source
from ..formats.databases import read_database
from ..formats.paths import config_home, editor_directories, homes
from .agents import read_store, read_transcript
from .composers import read_composers
from .workspaces import Slugs, read_workspace

EDITORS = ("Cursor", "Cursor Nightly")
DATABASE = "state.vscdb"
STORE = "store.db"


def find(places: Places) -> Iterator[Source]:
    named = places.roots.get("cursor", ())
    for user in (*named, *editor_directories(places, *EDITORS)):
        for pattern in (f"globalStorage/{DATABASE}", f"workspaceStorage/*/{DATABASE}"):
            yield from (Source(path, Form.DATABASE) for path in sorted(user.glob(pattern)))
    slugs = Slugs(places.projects)
    hashes = {
        hashlib.md5(str(path).encode(), usedforsecurity=False).hexdigest(): str(path)
        for path in places.projects
    }
    for root in dict.fromkeys((*named, *_agent_roots(places))):
        for project in sorted(root.glob("projects/*/agent-transcripts")):
            yield from _transcripts(project, slugs.directory(project.parent.name))
        for pattern in (f"chats/*/*/{STORE}", f"acp-sessions/*/{STORE}"):
            for path in sorted(root.glob(pattern)):
                yield Source(path, Form.DATABASE, hashes.get(path.parents[1].name, ""))


def _agent_roots(places: Places) -> Iterator[Path]:
    if directory := places.environment.get("CURSOR_CONFIG_DIR", ""):
        yield Path(directory)
    for home in homes(places):
        yield home / ".cursor"
    yield config_home(places) / "cursor"


def _transcripts(directory: Path, project: str) -> Iterator[Source]:
    for path in sorted(directory.rglob("*.jsonl")):
        yield Source(path, Form.DOCUMENT, project)
    for path in sorted(directory.glob("*.txt")):
        if not path.with_suffix(".jsonl").exists() and not (directory / path.stem).is_dir():
            yield Source(path, Form.DOCUMENT, project)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.path.name == STORE:
        return read_store(source)
    if source.form is Form.DATABASE:
        is_workspace = source.path.parent.parent.name == "workspaceStorage"
        return read_database(source.path, cursor, read_workspace if is_workspace else read_composers)
    return read_transcript(source)


reader = Reader(
    "cursor",
    "Cursor",
    find,
    read,
    by_projects=True,
    resume=Resume(("cursor-agent", "--resume", "{id}"), "*/store.db"),
)
