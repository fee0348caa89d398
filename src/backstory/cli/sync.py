"""`backstory sync`: read what other assistants left on disk since the last time, here and now."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from ..app import history_places, open_engine
from ..core.calls import Call
from ..core.sync import Sync, SyncReport
from ..domain.errors import Unavailable
from ..domain.lines import counted
from ..readers import load_readers
from ..settings import Settings
from .report import Json, Report, show_progress, table

PATIENCE_S = 60.0  # for a server that is reading already


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reader", action="append", default=[], metavar="NAME", help="only this assistant's; may be repeated"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    if not settings.reads_histories and not options.reader:
        return Report({"assistants": {}}, "Histories are switched off (histories = off).")
    readers = load_readers(options.reader or settings.histories)
    with closing(open_engine(settings)) as engine:
        outcome = Sync(engine).run(
            readers.values(),
            history_places(settings, engine.store),
            call=Call(progress=_show),
            patience_s=PATIENCE_S,
        )
    if outcome is None:
        raise Unavailable("Another process has been reading the histories all the time.", hint="Try again.")
    body = {"assistants": {name: _body(told) for name, told in outcome.items()}}
    searched = [reader.title for reader in readers.values() if not reader.is_export]
    return Report(body, _text(outcome, searched))


def _show(done: float, total: float | None, message: str) -> None:
    show_progress(done / 1e6, total and total / 1e6, f"{message}, MB:")


def _body(told: SyncReport) -> Json:
    return told._asdict() | {"skipped": dict(told.skipped), "problems": dict(told.problems)}


def _text(outcome: dict[str, SyncReport], searched: Sequence[str]) -> str:
    present = {name: told for name, told in outcome.items() if told.sources or told.problems or told.vanished}
    if not present:
        return f"No histories found. Looked for: {', '.join(searched)}."
    rows: list[tuple[str, str]] = []
    for told in present.values():
        rows.append((told.title, _summary(told)))
        rows += [("", f"skipped {count:,}: {reason}") for reason, count in sorted(told.skipped.items())]
        rows += [("", f"{path or 'not found'}: {problem}") for path, problem in told.problems.items()]
    return table(rows)


def _summary(told: SyncReport) -> str:
    if changed := told.sources - told.unchanged:
        read = f"{counted(told.turns, 'turn')} of {counted(told.conversations, 'conversation')} read"
        parts = [f"{read} from {counted(changed, 'file')}"]
        parts += [f"{told.unchanged:,} unchanged"] if told.unchanged else []
    else:
        parts = [f"nothing new in {counted(told.unchanged, 'file')}"]
    if told.vanished:
        parts.append(f"{told.vanished:,} vanished, what was read of them stays")
    if told.redacted:
        parts.append(f"{counted(told.redacted, 'secret')} redacted")
    return "; ".join(parts)
