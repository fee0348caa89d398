"""Prepare texts of other programs for storage: remove secrets, and characters that a database refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, TypeVar

from ..core.secrets import redactor
from ..domain.private import without_private
from .contents import (
    ForeignCheckpoint,
    ForeignConversation,
    ForeignFile,
    ForeignLink,
    ForeignMemory,
    ForeignSession,
    Record,
    UnplacedRecords,
)

R = TypeVar("R", bound=Record)

_WRITTEN: dict[type, tuple[str, ...]] = {
    ForeignSession: ("name", "description"),
    ForeignMemory: ("text", "key", "category", "channel", "tags", "metadata", "history"),
    ForeignConversation: ("conversation", "messages", "traces"),
    ForeignFile: ("content",),
    ForeignCheckpoint: ("name", "description", "git_branch", "git_status", "files"),
    ForeignLink: ("metadata",),
    UnplacedRecords: (),
}
"""Fields with written text, by record type. Ids and places must stay unchanged even if they look random."""
_INSIDE = ("title", "branch", "model", "text", "content", "value", "metadata")
"""Fields with written text in nested records: messages, traces, former values, files."""


class Cleaning:
    def __init__(self, mode: str) -> None:
        self._redactor = redactor(mode)
        self.redacted = 0

    def record(self, record: R) -> R:
        fields = {name: getattr(record, name) for name in _WRITTEN[type(record)]}
        texts = sorted({text for value in fields.values() for text in _strings(value)})
        clean, secrets = self._redactor.redact_all([_sound(without_private(text).text) for text in texts])
        self.redacted += secrets
        changed = {text: now for text, now in zip(texts, clean, strict=True) if text != now}
        if not changed:
            return record
        # every record type above is a NamedTuple
        return record._replace(**{name: _replaced(value, changed) for name, value in fields.items()})  # type: ignore[return-value]  # of the same kind


def _sound(text: str) -> str:
    """Replace lone surrogates, which JSON can contain, and NUL, which PostgreSQL refuses."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


def _parts(value: Any) -> Iterator[Any]:
    if hasattr(value, "_fields"):
        yield from (getattr(value, name) for name in value._fields if name in _INSIDE)
    elif isinstance(value, Mapping):
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str) and not isinstance(value, Enum):
        yield value
    for part in _parts(value):
        yield from _strings(part)


def _replaced(value: Any, changed: Mapping[str, str]) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return changed.get(value, value)
    if hasattr(value, "_fields"):
        inside = {name: _replaced(getattr(value, name), changed) for name in value._fields if name in _INSIDE}
        return value._replace(**inside)
    if isinstance(value, Mapping):
        return {_replaced(key, changed): _replaced(part, changed) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_replaced(part, changed) for part in value)
    return value
