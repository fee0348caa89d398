"""Entire: sessions of Claude Code on a branch of the project's repository, with a copy in each checkpoint.

The branch is read from git's object store. Nothing is checked out or fetched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..domain.errors import Unreadable
from ..domain.lazy import lazy_pattern
from . import Cursor, Form, Piece, Places, Reader, Source, claude_code
from .formats.files import read_text
from .formats.git import ask, git, names
from .formats.pieces import in_order
from .formats.values import fields_of, text_of, time_ms

BRANCH = "entire/checkpoints/v1"
TIMEOUT_S = 60.0
_SESSION_METADATA = lazy_pattern(r"(?P<folder>[0-9a-f]{2}/[0-9a-f]{10}/\d+)/metadata\.json")
_NAME = lazy_pattern(r"[\w.-]+")
_HEADER = lazy_pattern(rb"[0-9a-f]+ (?P<kind>\w+) (?P<size>\d+)\n|[^\n]* missing\n")


class _Copy(NamedTuple):
    """The session as stored in one checkpoint."""

    session: str
    folder: str
    created_ms: int


def find(places: Places) -> Iterator[Source]:
    """Yield the files in which git stores the position of the branch. They change when a checkpoint is added."""
    for project in places.projects:
        references = project / ".git" / "refs"
        present = [references / "heads" / BRANCH, *sorted(references.glob(f"remotes/*/{BRANCH}"))]
        packed = project / ".git" / "packed-refs"
        if not any(path.is_file() for path in present) and _is_packed(packed):
            present = [packed]
        for path in [path for path in present if path.is_file()][:1]:
            yield Source(path, Form.DOCUMENT, str(project))


def _is_packed(file: Path) -> bool:
    try:
        return f"/{BRANCH}" in read_text(file)
    except (OSError, Unreadable):
        return False


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    yield from in_order(_pieces(source))


def _pieces(source: Source) -> Iterator[Piece]:
    repository = Path(source.directory)
    tip = _tip(repository)
    for copy in _latest(repository, tip):
        (transcript,) = _blobs(repository, [f"{tip}:{copy.folder}/full.jsonl"])
        yield from _session(source, copy.session, transcript)


def _tip(repository: Path) -> str:
    """Return the commit of the user's own branch, otherwise of the one that was fetched last."""
    patterns = (f"refs/heads/{BRANCH}", f"refs/remotes/*/{BRANCH}")
    listed = git(repository, "for-each-ref", "--format=%(objectname)", *patterns)
    if not listed:
        raise Unreadable("Git does not find the branch of Entire's checkpoints.")
    return listed.split()[0]


def _latest(repository: Path, tip: str) -> list[_Copy]:
    """Return the last checkpoint's copy of each session, which includes all earlier ones."""
    paths = names(git(repository, "ls-tree", "-r", "-z", "--name-only", tip, timeout_s=TIMEOUT_S))
    folders = [match["folder"] for path in paths if (match := _SESSION_METADATA.fullmatch(path))]
    present = set(paths)
    folders = [folder for folder in folders if f"{folder}/full.jsonl" in present]
    latest: dict[str, _Copy] = {}
    for folder, blob in zip(
        folders, _blobs(repository, [f"{tip}:{each}/metadata.json" for each in folders]), strict=True
    ):
        copy = _copy(folder, blob)
        if copy is not None and copy.created_ms >= latest.get(copy.session, copy).created_ms:
            latest[copy.session] = copy
    return sorted(latest.values())


def _copy(folder: str, metadata: bytes) -> _Copy | None:
    try:
        fields = fields_of(json.loads(metadata))
    except ValueError:
        return None
    session = text_of(fields.get("session_id"))
    # the session id becomes a file name
    return (
        _Copy(session, folder, time_ms(fields.get("created_at")) or 0) if _NAME.fullmatch(session) else None
    )


def _blobs(repository: Path, objects: Sequence[str]) -> list[bytes]:
    """Return the contents of objects in order; empty for a missing one."""
    if not objects:
        return []
    answer = ask(repository, "cat-file", "--batch", stdin="\n".join(objects) + "\n", timeout_s=TIMEOUT_S)
    if not answer.is_ok:
        raise Unreadable("Git cannot read Entire's checkpoints.")
    raw, at = os.fsencode(answer.text), 0
    blobs = []
    for _ in objects:
        header = _HEADER.match(raw, at)
        if header is None:
            raise Unreadable("Git sent an unexpected answer.")
        size = int(header["size"] or 0)
        blobs.append(raw[header.end() : header.end() + size])
        at = header.end() + (size + 1 if header["kind"] else 0)
    return blobs


def _session(source: Source, session: str, transcript: bytes) -> Iterator[Piece]:
    """Read a session with the reader of Claude Code, which finds nothing in the transcript of another agent.

    The recorded directory may be on another machine. The conversation belongs to the project whose repository contains
    it."""
    with TemporaryDirectory() as folder:
        log = Path(folder, f"{session}.jsonl")
        log.write_bytes(transcript)
        pieces = list(claude_code.read(Source(log, Form.LOG), Cursor()))
    for piece in pieces:
        header = piece.header._replace(
            source=f"{source.path}#{session}", directory=source.directory, session=piece.header.native_id
        )
        yield piece._replace(header=header, cursor=None)


reader = Reader("entire", "Entire", find, read, in_projects=True, by_projects=True)
