"""Keep memory that calls are done with from staying with the process, and from being asked for at every call.

glibc gives each thread a heap of its own, and each keeps the most that any call on it ever needed: eight threads keep it
eight times. Python runs one of them at a time, so one heap serves them all as well. And a large block that is freed goes
back to the system only if it never was part of the heap, which glibc puts ever larger ones into unless it is told not to.
But whatever comes from the system comes page by page, and a search over a hundred thousand vectors needs a few megabytes
a few times: these stay in the heap, which keeps a little for the next call.
"""

from __future__ import annotations

import ctypes
import sys

# the numbers of the options in malloc.h
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
LARGE_BYTES = 4 * 1024 * 1024
"""Blocks from here on are the system's own."""
SPARE_BYTES = 2 * LARGE_BYTES
"""That the heap keeps at its end."""


def share_heap() -> None:
    """Before the threads are started. Another C library is left as it is."""
    if sys.platform != "linux":
        return
    try:
        glibc = ctypes.CDLL(None)
        glibc.mallopt(_ARENA_MAX, 1)
        glibc.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        glibc.mallopt(_TRIM_THRESHOLD, SPARE_BYTES)
    except (OSError, AttributeError):
        return
