"""Backstory: one memory for every AI coding assistant. `backstory.open` is the memory for a Python program (docs/library.md)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from .core.lookup import LookupHit as Hit
    from .domain.errors import (
        BackstoryError,
        InvalidInput,
        NotAllowed,
        NotFound,
        StorageFull,
        TimedOut,
        Unavailable,
        Unreadable,
    )
    from .library import Backstory
    from .library import PastMessage as Message
    from .library import PastSession as Session
    from .library import SavedMemory as Memory

__version__ = "0.1.0"
__all__ = [
    "Backstory", "BackstoryError", "Hit", "InvalidInput", "Memory", "Message", "NotAllowed", "NotFound", "Session",
    "StorageFull", "TimedOut", "Unavailable", "Unreadable", "open",
]  # fmt: skip

_RECORDS = {
    "Backstory": "Backstory",
    "Hit": "LookupHit",
    "Memory": "SavedMemory",
    "Message": "PastMessage",
    "Session": "PastSession",
}
"""The internal names of the library's records."""


def open(home: str | Path | None = None, project: str | Path | None = None) -> Backstory:
    """The memory in the data directory `home`, which is made when it is not there, as work on `project` sees it. Defaults are
    those of the command line. Close it, or use it in a `with` statement."""
    from .library import open_library  # 80 ms: a program that only imports this waits for nothing

    return open_library(home, project)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{'library' if name in _RECORDS else 'domain.errors'}")
    return getattr(module, _RECORDS.get(name, name))
