"""`backstory embed`: compute the vectors of all waiting texts in this process."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_engine
from ..core import Engine
from ..core.contents import waiting_texts
from ..domain.lines import counted
from ..search.backlog import Backlog
from ..settings import Settings
from .report import Report, show_progress


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_engine(settings)) as engine:
        if engine.backlog is None:
            return Report({"embedded": 0}, "Embeddings are off: search is by words alone.")
        count = _drain(engine, engine.backlog)
    return Report(
        {"embedded": count}, f"Embedded {counted(count, 'text')}." if count else "No text was waiting."
    )


def _drain(engine: Engine, backlog: Backlog) -> int:
    total = waiting_texts(engine)
    return backlog.drain(lambda count: show_progress(count, total, "Embedding"))
