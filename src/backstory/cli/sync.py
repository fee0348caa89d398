"""`backstory sync`: read new histories of other assistants now."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ..app import history_places, open_engine
from ..core import Engine
from ..core.brief.files import Briefs
from ..core.calls import Call
from ..core.client_memories import ClientMemories, MemoryReport
from ..core.client_memories.feeding import Feeding
from ..core.sync import Sync, SyncReport
from ..domain.errors import Unavailable
from ..domain.lines import counted
from ..readers import Reader, load_readers
from ..settings import Settings
from .report import Json, Report, conversation_count, show_progress, table

PATIENCE_S = 60.0  # for a server that is reading already
FILE_PATIENCE_S = 5.0  # a hook is stopped by its client soon after


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reader",
        action="append",
        default=[],
        metavar="NAME",
        help="read only this assistant; can be repeated",
    )
    parser.add_argument(
        "--file",
        metavar="PATH",
        help="read only this log, in its assistant's own folder; used by hooks after a turn",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    if not settings.reads_histories and not options.reader:
        return Report({"assistants": {}, "briefs": 0}, "Histories are not read (histories = off).")
    readers = load_readers(options.reader or settings.histories)
    with closing(open_engine(settings)) as engine:
        places = history_places(engine)
        memories: dict[str, MemoryReport] = {}
        if options.file is not None:
            outcome = _read_file(engine, readers, Path(options.file).absolute())
            rendered = _render_briefs(engine, outcome)
        else:
            outcome = read_histories(engine, list(readers.values()))
            if not options.reader:
                memories = ClientMemories(engine).run(places) or {}
            rendered = render_all_briefs(engine, Call(progress=_show))
        fed = Feeding(engine, places).refresh()
    body = {
        "assistants": {name: _body(sync_report) for name, sync_report in outcome.items()},
        "memory_files": [step._asdict() for step in fed],
        "client_memories": {
            name: report._asdict() | {"problems": dict(report.problems)} for name, report in memories.items()
        },
        "briefs": rendered,
    }
    titles = ", ".join(reader.title for reader in readers.values() if not reader.is_export)
    searched = list(dict.fromkeys(titles.split(", ")))  # two readers read Kilo Code
    return Report(body, _text(outcome, searched, memories))


def read_histories(engine: Engine, readers: Sequence[Reader]) -> dict[str, SyncReport]:
    """Read new histories with a progress display. Raises Unavailable while another process reads."""
    places = history_places(engine)
    outcome = Sync(engine).run(readers, places, call=Call(progress=_show), patience_s=PATIENCE_S)
    if outcome is None:
        raise _busy()
    return outcome


def _read_file(engine: Engine, readers: Mapping[str, Reader], path: Path) -> dict[str, SyncReport]:
    places = history_places(engine)
    report = Sync(engine).run_file(readers.values(), places, path, patience_s=FILE_PATIENCE_S)
    if report is None:
        raise _busy()
    return {reader.name: report for reader in readers.values() if reader.title == report.title}


def _busy() -> Unavailable:
    return Unavailable("Another process is still reading the histories.", hint="Try again.")


def render_all_briefs(engine: Engine, call: Call) -> int:
    """Render the briefs that are missing or out of date. Returns their number."""
    return 0 if engine.settings.brief == "off" else Briefs(engine).refresh(call)


def _render_briefs(engine: Engine, outcome: Mapping[str, SyncReport]) -> int:
    if engine.settings.brief == "off":
        return 0
    projects = {project for report in outcome.values() for project in report.projects}
    return sum(Briefs(engine).refresh_project(project) for project in sorted(projects))


def _show(current: float, total: float | None, message: str) -> None:
    show_progress(current / 1e6, total and total / 1e6, message, "MB")


def _body(report: SyncReport) -> Json:
    return report._asdict() | {
        "skipped": dict(report.skipped),
        "problems": dict(report.problems),
        "projects": sorted(report.projects),
    }


def _text(outcome: dict[str, SyncReport], searched: Sequence[str], memories: dict[str, MemoryReport]) -> str:
    present = {
        name: sync_report
        for name, sync_report in outcome.items()
        if sync_report.sources or sync_report.problems or sync_report.vanished or sync_report.excluded
    }
    if not present and not memories:
        return f"No conversations were found on this machine. Supported assistants: {', '.join(searched)}."
    rows: list[tuple[str, str]] = []
    for sync_report in present.values():
        rows.append((sync_report.title, _summary(sync_report)))
        rows += [
            ("", f"skipped {count:,}: {reason}") for reason, count in sorted(sync_report.skipped.items())
        ]
        rows += [("", f"{path or 'not found'}: {problem}") for path, problem in sync_report.problems.items()]
    for report in memories.values():
        rows.append((f"{report.title}'s memories", _memory_summary(report)))
        rows += [("", f"{path}: {problem}") for path, problem in report.problems.items()]
    return table(rows)


def _memory_summary(report: MemoryReport) -> str:
    counts = {
        "new": report.added,
        "changed": report.changed,
        "deleted there, and archived": report.retired,
        "back": report.returned,
        "forgotten here before": report.forgotten,
        "excluded": report.excluded,
        "of unknown projects": report.unplaced,
    }
    parts = [f"{count:,} {name}" for name, count in counts.items() if count]
    return f"{', '.join(parts) or 'nothing new'} in {counted(report.files, 'file')}"


def _summary(report: SyncReport) -> str:
    if changed := report.sources - report.unchanged:
        read = conversation_count(report.conversations - report.subagents, report.subagents)
        parts = [f"{read} read from {counted(changed, 'file')}"]
        parts += [f"{report.unchanged:,} unchanged"] if report.unchanged else []
    else:
        parts = [f"nothing new in {counted(report.unchanged, 'file')}"]
    if report.vanished:
        parts.append(f"{counted(report.vanished, 'file')} deleted since, their conversations stay")
    if report.redacted:
        parts.append(f"{counted(report.redacted, 'secret')} redacted")
    if report.private:
        parts.append(f"{counted(report.private, 'private passage')} left out")
    if report.excluded:
        parts.append(f"{report.excluded:,} excluded")
    return "; ".join(parts)
