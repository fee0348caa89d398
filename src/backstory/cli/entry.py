"""The entry point of the command line: serves, or runs a command, and prints errors."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence

from .. import console
from ..domain.arrays import use_one_thread
from ..domain.errors import BackstoryError, InvalidInput
from ..front import Heard, refuse_rest
from .flags import take_settings

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def run(words: Sequence[str], heard: Heard) -> int:
    """Run a command line and return its exit code. `heard` are messages a client sent before this module was imported."""
    use_one_thread()
    try:
        flags, rest = take_settings(words)
        if rest == ["serve"] or (not rest and not os.isatty(0)):
            gc.disable()  # until the server is ready: nothing is garbage yet, and looking for it takes 3 ms
            from .serve import serve  # 50 ms that commands do without

            return serve(flags, heard)
        from .commands import run  # argparse and all commands, which no server needs

        return run(rest, flags)
    except BackstoryError as error:
        console.notify(f"backstory: {error.message}")
        if error.hint:
            console.notify(error.hint)
        refuse_rest(heard, str(error))
        return MISUSED if isinstance(error, InvalidInput) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the pipe, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python complains when it flushes at exit
        return 0
