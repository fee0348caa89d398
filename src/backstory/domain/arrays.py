"""numpy, imported on first use: the import takes 60 to 100 ms of CPU, and saving, listing and hooks do not need it."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from .lazy import lazy_module

_THREADS = "OPENBLAS_NUM_THREADS"
_is_own_process = False


def use_one_thread() -> None:
    """Let numpy start no threads. Call it in a process that is ours alone, before numpy is used.

    The threads of OpenBLAS spin while they wait: 30 to 60 ms of CPU after the import alone. Our products are small, and
    on one thread they take less CPU and less time."""
    global _is_own_process
    _is_own_process = True


def _import(name: str) -> ModuleType:
    environment = os.environ  # noqa: TID251  (numpy has no other way to be told)
    if not _is_own_process or name in sys.modules or _THREADS in environment:
        return import_module(name)
    environment[_THREADS] = "1"
    try:
        return import_module(name)
    finally:
        environment.pop(_THREADS, None)  # an assistant that we start has its own programs


if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy", _import)

__all__ = ["np", "use_one_thread"]
