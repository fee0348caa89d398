"""Export archives of assistants on the web: a zip file that contains JSON, or the JSON alone.

An archive may be malicious: nothing is unpacked to disk, and the amount of data read is limited to what a genuine
archive could contain."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from .. import Form, Places, Source
from .documents import parse
from .files import open_regular
from .values import items_of, records_of

CONVERSATIONS = lazy_pattern(r"(?:.*/)?conversations(?:-\d+)?\.json")
MAX_EXPORT_BYTES = 1 << 29
"""Maximum size in bytes of one file in an archive."""
MAX_EXPORT_FILES = 64
"""Maximum number of files with conversations in an archive."""
RATIO = 200
"""Maximum compression ratio. Text does not compress better."""
_ANY = msgspec.json.Decoder()


def find_exports(places: Places, reader: str) -> Iterator[Source]:
    """Yield the sources named by the user: an archive, its conversations, or the directory it was unpacked to."""
    for path in places.roots.get(reader, ()):
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if CONVERSATIONS.fullmatch(file.name))
            yield from (Source(file, Form.DOCUMENT) for file in inside)
        elif path.is_file():
            yield Source(path, Form.DOCUMENT)


def conversations_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the conversations of all lists. Raises Unreadable if the file is not an export archive."""
    with open_regular(path) as stream:
        if zipfile.is_zipfile(stream):
            yield from _packed(stream, path)
            return
        stream.seek(0)
        raw = stream.read(MAX_EXPORT_BYTES + 1)
    if len(raw) > MAX_EXPORT_BYTES:
        raise Unreadable(f"{path} is too large.")
    yield from _conversations(raw, str(path))


def _packed(stream: BinaryIO, path: Path) -> Iterator[dict[str, Any]]:
    try:
        with zipfile.ZipFile(stream) as archive:
            lists = [info for info in archive.infolist() if CONVERSATIONS.fullmatch(info.filename)]
            if not lists:
                raise Unreadable(
                    f"{path} has no conversations.json.", hint="Choose the archive as it was downloaded."
                )
            if len(lists) > MAX_EXPORT_FILES:
                raise Unreadable(f"{path} has more than {MAX_EXPORT_FILES} lists of conversations.")
            for info in lists:
                yield from _conversations(_bytes(archive, info, path), f"{info.filename} in {path}")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise Unreadable(f"{path} cannot be unpacked: {error}.") from error


def _bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> bytes:
    """Read a file of the archive. Its declared sizes are not trusted: reading stops once they are exceeded."""
    limit = min(MAX_EXPORT_BYTES, info.file_size, max(info.compress_size, 1) * RATIO)
    if info.file_size > limit:
        raise Unreadable(
            f"{info.filename} in {path} would unpack to {info.file_size} bytes, which is too much."
        )
    with archive.open(info) as stream:
        raw = stream.read(limit + 1)
    if len(raw) > limit:
        raise Unreadable(f"{info.filename} in {path} is larger than it claims.")
    return raw


def _conversations(raw: bytes, name: str) -> Iterator[dict[str, Any]]:
    try:
        value = _ANY.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = _loosely(raw, name)
    if not isinstance(value, list):
        raise Unreadable(f"{name} is not a list of conversations.")
    return records_of(items_of(value))


def _loosely(raw: bytes, name: str) -> Any:
    """Parse JSON with lone surrogates, which the strict decoder refuses."""
    try:
        return parse(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{name} is not JSON: {error}.") from error
