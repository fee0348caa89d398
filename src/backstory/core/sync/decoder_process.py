"""Decoding of large amounts of data in a second process, while this one writes to the store.

The process gets files on its standard input and writes their contents to its standard output. It exits when its
input is closed, so it does not outlive its parent.
"""

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
from ..exclusion import Exclusion
from .decoding import DueSource, Portion, SourceDecoder
from .redacting import Redaction

MUCH_BYTES = 24_000_000
"""Below this, starting an interpreter costs more time than it saves."""
AHEAD = 16
"""The number of batches that may wait for the parent process."""
GONE_S = 2.0  # to wait for a killed process


class DecoderLost(Exception):
    """The process could not be started, or exited too early."""


def is_worth_it(due: Sequence[DueSource]) -> bool:
    return sum(each.stamp.size for each in due) >= MUCH_BYTES and (os.cpu_count() or 1) > 1


class DecoderProcess:
    """One decoder process for all readers of a sync: starting it takes longer than decoding a few megabytes."""

    def __init__(self, redaction: Redaction, exclusion: Exclusion) -> None:
        self._mode = redaction.mode
        self._excluded = exclusion.patterns
        self._process: subprocess.Popen[bytes] | None = None
        self._is_busy = False

    def portions(self, reader: Reader, due: Sequence[DueSource]) -> Iterator[list[Portion]]:
        """Portions of all files in order, in batches. Raises DecoderLost."""
        if self._is_busy:  # with portions that the caller has abandoned
            self.close()
        self._is_busy = True
        try:
            process = self._process = self._process or self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            pickle.dump((reader, list(due)), process.stdin)
            process.stdin.flush()
            left = len(due)
            while left:
                portions: list[Portion] = pickle.load(process.stdout)
                left -= sum(portion.is_last for portion in portions)
                yield portions
            self._is_busy = False
        except (OSError, EOFError, pickle.PickleError, AttributeError, ValueError) as error:
            raise DecoderLost from error

    def _started(self) -> subprocess.Popen[bytes]:
        # -P: the user's current directory may contain modules of any name.
        command = [
            sys.executable,
            "-P",
            "-c",
            f"from {__name__} import main; main({self._mode!r}, {self._excluded!r})",
        ]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def close(self) -> None:
        """Kill the process. The next call of `portions` starts another."""
        process, self._process, self._is_busy = self._process, None, False
        if process is not None:
            process.kill()
            with suppress(subprocess.TimeoutExpired):  # it hangs in a system call and exits when that returns
                process.communicate(timeout=GONE_S)


def main(mode: str, excluded: Sequence[str]) -> None:
    """The main function of the decoder process. Runs until its input is closed."""
    # pickle cannot write a mapping proxy.
    copyreg.pickle(MappingProxyType, lambda facts: cast(Any, (dict, (dict(facts),))))
    # `given` is not stored, so it need not be sent
    copyreg.pickle(ToolCall, lambda call: (ToolCall, call[:-1]))
    redaction, exclusion = Redaction(mode), Exclusion(excluded)
    ready: Queue[bytes] = Queue(AHEAD)
    # A thread writes, so that decoding continues while the parent is busy.
    threading.Thread(target=_send, args=(ready,), daemon=True).start()
    with suppress(EOFError):
        while True:
            reader, due = pickle.load(sys.stdin.buffer)
            for some in SourceDecoder(reader, redaction, exclusion).portions_of(due):
                ready.put(pickle.dumps(some))


def _send(ready: Queue[bytes]) -> None:
    try:
        while True:
            sys.stdout.buffer.write(ready.get())
            sys.stdout.buffer.flush()
    except OSError:
        os._exit(1)  # the parent has closed the pipe
