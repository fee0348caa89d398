"""Keep memory that calls are done with from staying with the process.

glibc gives each thread a heap of its own, and each keeps the most that any call on it ever needed: eight threads keep it
eight times. Python runs one of them at a time, so one heap beside the main one serves them all as well.
"""

from __future__ import annotations

import sys

_ARENA_MAX = -8  # the number of the option in malloc.h
HEAPS = 2


def share_heap() -> None:
    """Before the threads are started. Another C library is left as it is."""
    if sys.platform != "linux":
        return
    import ctypes  # not for start-up

    try:
        ctypes.CDLL(None).mallopt(_ARENA_MAX, HEAPS)
    except (OSError, AttributeError):
        return
