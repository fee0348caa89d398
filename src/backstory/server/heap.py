"""Limits memory that stays with the process after a call, without requesting it from the system at every call.

glibc gives each thread its own heap, and each retains the maximum that any call on it needed: eight threads retain
it eight times. Python runs one thread at a time, so one heap serves them all. A large block returns to the system
when freed only if it was never part of the heap, and by default glibc puts ever larger blocks there. However, memory
from the system arrives page by page, and a search over a hundred thousand vectors needs a few megabytes a few times:
these stay in the heap, which retains a little for the next call.
"""

from __future__ import annotations

import ctypes
import sys

# the numbers of the options in malloc.h
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
LARGE_BYTES = 4 * 1024 * 1024
"""Blocks from here on are the system's own."""
SPARE_BYTES = 2 * LARGE_BYTES
"""Free memory that the heap retains at its end."""


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
