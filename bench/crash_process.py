"""One process that is killed: forked, so that it starts in a millisecond, and ended by SIGKILL at a given moment."""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import NamedTuple, Protocol

LONGEST_S = 120.0
ACKNOWLEDGED = b"."


class Outcome(NamedTuple):
    trial: str
    is_acknowledged: bool
    faults: tuple[str, ...]


class Trial(Protocol):
    name: str

    def run(self, chosen: random.Random) -> Outcome: ...


class Ended(NamedTuple):
    is_acknowledged: bool
    took_s: float
    """Until the answer, or until it was killed."""


def run_process(
    work: Callable[[], None], *, kill_after_s: float | None = None, is_hasty: bool = False
) -> Ended:
    """Run in a process of its own, until it has acknowledged or the moment has come; then it is killed. Without a moment
    it must succeed. A hasty one acknowledges before it has done anything: the lab must notice that."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _be_killed(work, writing, is_hasty)
    os.close(writing)
    try:
        return _watch(child, reading, kill_after_s)
    finally:
        os.close(reading)


def _be_killed(work: Callable[[], None], writing: int, is_hasty: bool) -> None:
    """Never returns, so that the child does not close the parent's resources."""
    try:
        if is_hasty:
            os.write(writing, ACKNOWLEDGED)
        work()
        if not is_hasty:
            os.write(writing, ACKNOWLEDGED)
        signal.alarm(int(LONGEST_S))  # the lab itself may be gone
        signal.pause()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)


def _watch(child: int, reading: int, kill_after_s: float | None) -> Ended:
    started = time.perf_counter()
    wait_s = LONGEST_S if kill_after_s is None else kill_after_s
    select.select([reading], [], [], wait_s)
    took_s = time.perf_counter() - started
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    is_acknowledged = os.read(reading, 1) == ACKNOWLEDGED
    if kill_after_s is None and not is_acknowledged:
        raise RuntimeError("what should be killed fails by itself")
    return Ended(is_acknowledged, took_s)
