"""Access to foreign JSON, which may contain anything: values of an unexpected type count as missing."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from .lines import to_ms

Value = str | bytes | int | float | None


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def fields_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def records_of(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects among the items."""
    return (item for item in items_of(value) if isinstance(item, dict))


def time_ms(value: object) -> int | None:
    """Parse a recorded time in any format, including numbers in text; None if it is not a time."""
    if isinstance(value, str):
        return to_ms(int(value)) if value.isdecimal() else to_ms(value)
    return to_ms(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def fingerprint(*values: Value) -> str:
    """Return a short hash of the values."""
    digest = blake2b(digest_size=8)
    for value in values:
        raw = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(raw))
        digest.update(raw)
    return digest.hexdigest()
