"""Much to read is decoded by another process, while this one keeps what that one gives.

It gets the files on its standard input and writes what stands in them to its standard output. It ends when that is
closed, so it does not outlive whoever started it."""

from __future__ import annotations

import copyreg
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Queue
from types import MappingProxyType
from typing import Any, cast

from ...readers import Reader, ToolCall
from .decoding import DueSource, Portion, SourceDecoder
from .redacting import Redaction

MUCH_BYTES = 24_000_000
"""Below this, starting an interpreter costs more time than it saves."""
AT_ONCE_BYTES = 500_000
"""Of files whose portions are handed over together: each time wakes the other process."""
AHEAD = 16
"""How often it may do so before what it gave is kept."""
GONE_S = 2.0


class DecoderLost(Exception):
    """The process could not be started, or ended before its work did."""


def is_worth_it(due: Sequence[DueSource]) -> bool:
    return sum(each.stamp.size for each in due) >= MUCH_BYTES and (os.cpu_count() or 1) > 1


class DecoderProcess:
    def __init__(self, reader: Reader, redaction: Redaction, due: Sequence[DueSource]) -> None:
        self._work = (reader, redaction.mode, list(due))
        self._process: subprocess.Popen[bytes] | None = None

    def portions(self) -> Iterator[list[Portion]]:
        """Of all files, in their order, some at a time. Raises DecoderLost."""
        try:
            work = pickle.dumps(self._work)
            # safe path: the directory that a user happens to be in may hold modules of any name
            command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(work)
            self._process.stdin.flush()
            left = len(self._work[2])
            while left:
                portions: list[Portion] = pickle.load(self._process.stdout)
                left -= sum(portion.is_last for portion in portions)
                yield portions
        except (OSError, EOFError, pickle.PickleError, AttributeError, ValueError) as error:
            raise DecoderLost from error

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            with suppress(subprocess.TimeoutExpired):  # it hangs in the kernel, and ends when that lets it go
                self._process.communicate(timeout=GONE_S)


def main() -> None:
    """What the other process does."""
    copyreg.pickle(MappingProxyType, lambda facts: cast(Any, (dict, (dict(facts),))))
    copyreg.pickle(ToolCall, lambda call: (ToolCall, call[:-1]))  # nothing of what is `given` is kept
    reader, mode, due = pickle.load(sys.stdin.buffer)
    decoder = SourceDecoder(reader, Redaction(mode))
    ready: Queue[bytes] = Queue(AHEAD)
    sender = threading.Thread(target=_send, args=(ready,), daemon=True)
    sender.start()
    some: list[Portion] = []
    size = 0
    for each in due:
        for portion in decoder.portions(each):
            some.append(portion)
            size += each.stamp.size
            if size >= AT_ONCE_BYTES:
                ready.put(pickle.dumps(some))
                some, size = [], 0
    ready.put(pickle.dumps(some))
    ready.put(b"")
    sender.join()


def _send(ready: Queue[bytes]) -> None:
    try:
        while portion := ready.get():
            sys.stdout.buffer.write(portion)
            sys.stdout.buffer.flush()
    except OSError:
        os._exit(1)  # nobody listens any more
