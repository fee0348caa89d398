"""`backstory embed`: give every text that waits its vectors, here and now."""

from __future__ import annotations

import argparse

from ..app import open_engine
from ..core import Engine
from ..search.backlog import Backlog
from ..settings import Settings
from .progress import show_progress
from .report import Report, counted
from .status import count_waiting


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace, settings: Settings) -> Report:
    engine = open_engine(settings)
    try:
        if engine.backlog is None:
            return Report({"embedded": 0}, "Embeddings are off: search is by words alone.")
        done = _drain(engine, engine.backlog)
    finally:
        engine.close()
    return Report(
        {"embedded": done}, f"Embedded {counted(done, 'text')}." if done else "No text was waiting."
    )


def _drain(engine: Engine, backlog: Backlog) -> int:
    total = count_waiting(engine)
    return backlog.drain(lambda done: show_progress(done, total, "Embedding"))
