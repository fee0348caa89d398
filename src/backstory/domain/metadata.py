"""Metadata is an object in the store and any JSON value for a caller; nothing is lost between the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BARE = ""
"""The one key of an object that stands for a value which is none."""


def as_object(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, dict) and list(value) != [_BARE]:
        return value
    return {_BARE: value}


def as_given(metadata: Mapping[str, Any]) -> Any:
    return metadata[_BARE] if list(metadata) == [_BARE] else dict(metadata)
