"""The `backstory` command: serve at once when that is what is asked for, else do what a person wants.

Clients start the server anew for every window, so nothing is imported here before it is needed.
"""

from __future__ import annotations

import gc
import os
import sys

from .cli.flags import take_settings
from .domain.errors import BackstoryError, InvalidInput

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def main() -> int:
    try:
        flags, words = take_settings(sys.argv[1:])
        if words == ["serve"] or (not words and not os.isatty(0)):
            gc.disable()  # until the server is ready: nothing is garbage yet, and looking for it takes 3 ms
            from .cli.serve import serve

            return serve(flags)
        from .cli.commands import run

        return run(words, flags)
    except BackstoryError as error:
        print("backstory:", error.message, file=sys.stderr)
        if error.hint:
            print(error.hint, file=sys.stderr)
        return MISUSED if isinstance(error, InvalidInput) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python complains when it flushes at exit
        return 0


if __name__ == "__main__":
    sys.exit(main())
