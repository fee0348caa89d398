"""How far the copy of a store into another has come."""

from __future__ import annotations

from typing import Any, NamedTuple


class CopyProgress(NamedTuple):
    """All tables before this one were copied from the source, and this one up to a key."""

    source: str
    table: str
    after: tuple[Any, ...] = ()
    is_void: bool = False
    """What was copied is not what is there now."""
    is_done: bool = False
    """Everything arrived."""
