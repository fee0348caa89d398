"""The JSON messages between a laptop and the team server about a space.

The server lists its memories as 256 digests, one for each bucket of ids. A laptop whose digest of a bucket differs
asks for the ids and stamps in it, then for the memories that are new or changed. It costs the same however long
the laptop was away, and needs no journal of deletions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from ...domain.errors import InvalidInput
from ...domain.kinds import MemoryKind
from ...domain.lazy import lazy_pattern
from ...domain.lines import printable_line

Json = dict[str, Any]

BUCKETS = 256
MAX_MEMORIES_AT_ONCE = 200
MAX_ANSWER_CHARS = 1_000_000
"""An answer with more texts ends early; the laptop asks for the rest."""
MAX_NAME_CHARS = 500
MAX_PERSON_CHARS = 80
LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that Python's `datetime` supports."""
_KEY = lazy_pattern(r"[0-9a-f]{24}", re.ASCII)


class SharedMemory(NamedTuple):
    """A memory of a space, as a member reads it."""

    id: str
    stamp: str
    text: str
    category: str | None
    project: str
    """A name of the project that is the same on every machine; empty for all projects."""
    key: str | None
    tags: tuple[str, ...]
    files: tuple[str, ...]
    created_ms: int
    updated_ms: int
    author: str
    """The author's display name; empty for the calling member."""


class DeliveredMemory(NamedTuple):
    """A memory that a laptop delivers. The same key again is the same delivery."""

    key: str
    text: str
    kind: MemoryKind
    project: str
    files: tuple[str, ...]
    made_ms: int
    replaces: str
    """The id of the memory that it corrects; empty for a new one."""


class DeliveryReceipt(NamedTuple):
    state: str
    """A value of ContributionState."""
    memory: str
    """The id of the memory that has the text now.

    It differs from the key for a correction, and for a text that the space already had."""
    is_listed: bool
    """True if members see the memory whose id is the key."""


def bucket_of(id: str) -> int:
    return sha256(id.encode(errors="replace")).digest()[0]


def bucket_digests(stamps: Iterable[tuple[str, str]]) -> list[str]:
    """The digest of each bucket, from ids and stamps."""
    lines: list[list[str]] = [[] for _ in range(BUCKETS)]
    for id, stamp in stamps:
        lines[bucket_of(id)].append(f"{id}\0{stamp}")
    return [
        sha256("\n".join(sorted(each)).encode(errors="replace")).hexdigest()[:16] if each else ""
        for each in lines
    ]


def read_shared(body: object) -> SharedMemory:
    """Raises ValueError for what no server of ours sends."""
    fields = _fields(body)
    return SharedMemory(
        id=_text(fields, "id"),
        stamp=_text(fields, "stamp"),
        text=_text(fields, "text"),
        category=_optional(fields, "category"),
        project=printable_line(_text(fields, "project"), MAX_NAME_CHARS),
        key=_optional(fields, "key"),
        tags=tuple(printable_line(each, MAX_NAME_CHARS) for each in _texts(fields, "tags")),
        files=tuple(printable_line(each, MAX_NAME_CHARS) for each in _texts(fields, "files")),
        created_ms=_number(fields, "created_ms"),
        updated_ms=_number(fields, "updated_ms"),
        author=printable_line(_text(fields, "author"), MAX_PERSON_CHARS),
    )


def read_receipt(body: object) -> DeliveryReceipt:
    """Raises ValueError for what no server of ours sends."""
    fields = _fields(body)
    return DeliveryReceipt(_text(fields, "state"), _text(fields, "memory"), fields.get("is_listed") is True)


def read_delivered(body: object) -> DeliveredMemory:
    """Raises InvalidInput, which names the field."""
    try:
        fields = _fields(body)
        delivered = DeliveredMemory(
            key=_text(fields, "key"),
            text=_text(fields, "text"),
            kind=MemoryKind(_text(fields, "kind")),
            project=_text(fields, "project"),
            files=_texts(fields, "files"),
            made_ms=_number(fields, "made_ms"),
            replaces=_text(fields, "replaces"),
        )
    except ValueError as error:
        raise InvalidInput(f"The delivery is invalid: {error}.", field="delivery") from None
    if not _KEY.fullmatch(delivered.key):
        raise InvalidInput("key must be 24 hexadecimal digits.", field="key")
    if len(delivered.project) > MAX_NAME_CHARS or any(len(each) > MAX_NAME_CHARS for each in delivered.files):
        raise InvalidInput(f"project and files may have {MAX_NAME_CHARS} characters each.", field="project")
    return delivered


def _fields(body: object) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise ValueError("it is no object")
    return body


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not is_unicode(value):
        raise ValueError(f"{name} is no text")
    return value


def is_unicode(text: str) -> bool:
    """False for half a surrogate pair, which JSON can express but no store can save."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _optional(fields: Mapping[str, Any], name: str) -> str | None:
    return None if fields.get(name) is None else _text(fields, name)


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = fields.get(name)
    if not isinstance(values, list) or not all(isinstance(each, str) and is_unicode(each) for each in values):
        raise ValueError(f"{name} is no list of texts")
    return tuple(values)


def _number(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LAST_MS:
        raise ValueError(f"{name} is no time in milliseconds")
    return value
