"""`backstory import`: bring in an archive that another program or service handed out."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..app import open_engine
from ..core.calls import Call
from ..core.imports import ImportReport, load_importers, run_import
from ..settings import Settings, expand_home
from .progress import show_progress
from .report import Report, counted, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("importer", metavar="NAME", help=f"what made the file: {', '.join(load_importers())}")
    parser.add_argument("file", metavar="FILE", type=Path, help="the archive as it was downloaded")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    engine = open_engine(settings)
    try:
        outcome = run_import(engine, options.importer, expand_home(options.file), Call(progress=_show))
    finally:
        engine.close()
    return Report(outcome._asdict() | {"skipped": dict(outcome.skipped)}, _text(outcome))


def _show(done: float, total: float | None, message: str) -> None:
    show_progress(done / 1e6, total and total / 1e6, f"{message}, MB:")


def _text(outcome: ImportReport) -> str:
    if not outcome.conversations and not outcome.memories:
        return "Nothing new."
    brought = [f"{counted(outcome.turns, 'turn')} of {counted(outcome.conversations, 'conversation')}"]
    if outcome.memories:
        brought.append(f"{outcome.memories:,} memories")
    text = f"Imported {' and '.join(brought)}."
    if outcome.redacted:
        text += f" {counted(outcome.redacted, 'secret')} redacted."
    skipped = [("", f"skipped {count:,}: {reason}") for reason, count in sorted(outcome.skipped.items())]
    return "\n".join(filter(None, [text, table(skipped)]))
