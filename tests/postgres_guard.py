"""Stops a PostgreSQL server when the process that started it is gone, however it went.

Run as a script with the server's directory as its argument and a pipe of that process as standard input. Nothing is
ever written to the pipe: that it ends is the sign. A server that its owner stopped leaves nothing to do.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path


def main(directory: Path) -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(
            ignored, signal.SIG_IGN
        )  # meant for the one that is guarded, and the pipe tells of that
    sys.stdin.buffer.read()
    with suppress(OSError, ValueError, IndexError):
        os.kill(int((directory / "postmaster.pid").read_text().splitlines()[0]), signal.SIGQUIT)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
