"""The process that a hook starts when a session begins, no server runs, and some assistant has unread messages.

Run as `python -I -m backstory.cli.recent DATA PROJECT SECONDS READER...`. It prints nothing, and leaves vectors to
the next server: the session waits for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing

from ..app import open_engine, read_settings


def read_recent(words: Sequence[str]) -> None:
    """Read new conversations for a limited time, and render the brief of the project."""
    home, project, wait_s, *readers = words
    settings = read_settings({"home": home, "project": project, "embeddings": "off"})
    with closing(open_engine(settings)) as engine:
        engine.read_recent(readers, project, float(wait_s))


if __name__ == "__main__":
    read_recent(sys.argv[1:])
