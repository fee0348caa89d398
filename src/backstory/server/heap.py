"""Keep memory that calls are done with from staying with the process.

glibc gives each thread a heap of its own, and each keeps the most that any call on it ever needed: eight threads keep it
eight times. Python runs one of them at a time, so one heap serves them all as well. And a large block that is freed goes
back to the system only if it never was part of the heap, which glibc puts ever larger ones into unless it is told not to.
"""

from __future__ import annotations

import sys

# the numbers of the options in malloc.h
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
LARGE_BYTES = 128 * 1024
"""Blocks from here on are the system's own."""


def share_heap() -> None:
    """Before the threads are started. Another C library is left as it is."""
    if sys.platform != "linux":
        return
    import ctypes  # not for start-up

    try:
        glibc = ctypes.CDLL(None)
        glibc.mallopt(_ARENA_MAX, 1)
        glibc.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
    except (OSError, AttributeError):
        return
