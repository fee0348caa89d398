"""Limits for looking at a directory, which may be a whole disk, or on a drive that no longer responds.

Callers check their `Effort` between steps and stop when it is over; the answer then lists what was left out. A step
that hangs in the file system cannot be stopped, so `look` does not wait for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ...domain.errors import TimedOut
from ..abandoning import Stalled, run_aside
from ..calls import Call

LOOK_S = 10.0
"""Time after which the rest is left out."""
GIVE_UP_S = 45.0
"""Time after which there is no answer: clients wait for a minute."""
MOST_ENTRIES = 200_000
"""The maximum number of entries of one directory."""

TOO_SLOW = f"Looking took longer than {LOOK_S:g} seconds; the rest was not looked at."
ELSEWHERE = "Other file systems below the directory were not looked at."
CROWDED = f"Directories with more than {MOST_ENTRIES:,} entries were not looked at in full."

T = TypeVar("T")
Clock = Callable[[], float]


class Effort:
    def __init__(self, seconds: float = LOOK_S, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._deadline = clock() + seconds
        self._left_out: dict[str, None] = {}

    @property
    def left_s(self) -> float:
        return max(self._deadline - self._clock(), 0.0)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences."""
        return tuple(self._left_out)

    def is_over(self) -> bool:
        """True if the caller should stop and leave out the rest."""
        if self.left_s > 0:
            return False
        self.leave_out(TOO_SLOW)
        return True

    def leave_out(self, sentence: str) -> None:
        self._left_out[sentence] = None

    def end(self) -> None:
        self._deadline = self._clock()

    def entries(self, folder: str, device: int | None) -> list[os.DirEntry[str]]:
        """The entries of a directory, by name, without directories on other file systems than `device`."""
        try:
            with os.scandir(folder) as iterator:
                listed = list(islice(iterator, MOST_ENTRIES + 1))
        except OSError:
            return []  # vanished, or not ours to read
        if len(listed) > MOST_ENTRIES:
            self.leave_out(CROWDED)
        return [
            entry
            for entry in sorted(listed[:MOST_ENTRIES], key=lambda entry: entry.name)
            if not self._is_elsewhere(entry, device)
        ]

    def _is_elsewhere(self, entry: os.DirEntry[str], device: int | None) -> bool:
        try:
            if device is None or not entry.is_dir(follow_symlinks=False):
                return False
            is_elsewhere = entry.stat(follow_symlinks=False).st_dev != device
        except OSError:
            return True
        if is_elsewhere:
            self.leave_out(ELSEWHERE)
        return is_elsewhere


def device_of(root: Path) -> int | None:
    """The file system of a directory; None where it cannot be compared with that of its entries, as on Windows."""
    try:
        return os.stat(root).st_dev if os.name == "posix" else None
    except OSError:
        return None


def look(
    work: Callable[[Effort], T], call: Call, *, clock: Clock = time.monotonic, seconds: float = LOOK_S
) -> T:
    """Run `work`, which stops when its effort is over, and return its result.

    Raises Cancelled when the client withdraws, and TimedOut when the file system does not respond."""
    effort = Effort(seconds, clock)
    try:
        return run_aside(
            lambda: work(effort), "look", GIVE_UP_S, between=call.raise_if_cancelled, clock=clock
        )
    except Stalled:
        raise _no_answer() from None
    finally:
        effort.end()


def _no_answer() -> TimedOut:
    return TimedOut(
        "The project's file system does not answer.",
        hint="Is it on a disconnected drive? Try again, or use another directory.",
    )
