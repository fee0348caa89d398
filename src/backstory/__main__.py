"""The `backstory` command.

Clients start a server for every window, so nothing is imported before it is needed: a client first gets prepared
answers (front.py); then the product is imported, to serve it or to run a command.
"""

from __future__ import annotations

import os
import sys

from .domain.data_home import data_home
from .front import Heard, answer_start


def main() -> int:
    words = sys.argv[1:]
    heard = Heard()
    if not os.isatty(0):
        environment = os.environ  # noqa: TID251  (app.py would be the whole product)
        heard = answer_start(words, environment, data_home(sys.platform, environment))
    if heard.is_over:
        return 0
    from .cli.entry import run  # the product, 80 ms: a client has its first answers before

    return run(words, heard)


if __name__ == "__main__":
    sys.exit(main())
