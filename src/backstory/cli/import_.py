"""`backstory import`: import the data of another program, or an archive from a service."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..app import history_places, open_engine
from ..core.calls import Call
from ..domain.lines import counted
from ..importers import (
    Choices,
    FoundStore,
    Outcome,
    find_stores,
    load_importers,
    run_import,
)
from ..importers.counts import Count, Fate
from ..settings import Settings, expand_home
from .report import Json, Report, show_progress, size, table, terminal_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "program",
        nargs="?",
        metavar="PROGRAM",
        help=f"{', '.join(load_importers())}; without it, list the sources on this machine and import nothing",
    )
    parser.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        type=Path,
        help="its store, its folder, or a downloaded archive (default: the program's usual location)",
    )
    parser.add_argument("--dry-run", action="store_true", help="count the records without importing them")
    parser.add_argument(
        "--with-deleted",
        action="store_true",
        help="include records deleted in the other program, as archived memories",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_engine(settings)) as engine:
        places = history_places(engine)
        if options.program is None:
            return _listing(list(find_stores(places)))
        choices = Choices(options.dry_run, options.with_deleted)
        path = None if options.path is None else expand_home(options.path)
        store, outcome = run_import(
            engine, options.program, path, places, choices, Call(progress=show_progress)
        )
    return Report(_body(options.program, store, choices, outcome), _text(store, choices, outcome))


def _listing(stores: Sequence[FoundStore]) -> Report:
    body = [
        {
            "program": store.importer.name,
            "path": str(store.path),
            "bytes": store.size,
            "kinds": dict(store.kinds),
            "problem": store.problem,
        }
        for store in stores
    ]
    if not stores:
        known = ", ".join(load_importers())
        return Report(
            {"found": []},
            f"No stores of other memory programs were found; nothing was imported.\n"
            f"`backstory import PROGRAM PATH` imports a store from another place. Programs: {known}.",
        )
    rows = []
    for store in stores:
        kinds = ", ".join(_counted(count, kind) for kind, count in store.kinds.items())
        rows.append(
            (store.importer.name, size(store.size), f"{store.path}: {store.problem or kinds or 'empty'}")
        )
    text = f"{table(rows)}\n\nNothing was imported. `backstory import PROGRAM [PATH] --dry-run` shows what would come."
    return Report({"found": body}, text)


def _body(program: str, store: Path, choices: Choices, outcome: Outcome) -> Json:
    return {
        "program": program,
        "path": str(store),
        "dry_run": choices.dry_run,
        "kinds": {kind: _counts(count) for kind, count in outcome.kinds.items()},
        "superseded": outcome.superseded,
        "redacted": outcome.redacted,
        "unmapped_projects": list(outcome.unmapped),
    }


def _counts(count: Count) -> Json:
    return {
        "found": count.found,
        **{fate.value: count.fates[fate] for fate in Fate},
        "skipped": dict(count.skipped),
        "examples": count.examples,
    }


def _counted(count: int, kind: str) -> str:
    """Kinds are in the plural."""
    one = f"{kind[:-3]}y" if kind.endswith("ies") else kind.removesuffix("s")
    return counted(count, one, kind)


def _text(store: Path, choices: Choices, outcome: Outcome) -> str:
    head = f"{'Would import from' if choices.dry_run else 'Imported from'} {store}:"
    rows: list[tuple[str, str]] = []
    for kind, count in outcome.kinds.items():
        fates = [f"{count.fates[fate]:,} {fate.value}" for fate in Fate if count.fates[fate]]
        fates += [f"{number:,} skipped: {reason}" for reason, number in sorted(count.skipped.items())]
        rows.append((_counted(count.found, kind), "; ".join(fates)))
        if choices.dry_run:
            rows += [("", f"“{terminal_line(example, 90)}”") for example in count.examples]
    notes = []
    if outcome.superseded:
        notes.append(f"{counted(outcome.superseded, 'former statement')} superseded.")
    if outcome.redacted:
        notes.append(f"{counted(outcome.redacted, 'secret')} redacted.")
    if outcome.unmapped:
        notes.append(
            f"No directory is known for: {', '.join(outcome.unmapped)}; they stay names of projects."
        )
    return "\n".join([head, table(rows, indent="  ") or "  It is empty.", *notes])
