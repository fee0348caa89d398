"""`backstory archive`: archive old records now, independent of the setting. Without --yes it only lists them."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_engine
from ..core.calls import Call
from ..core.forgetting.retention import Retention
from ..domain.errors import InvalidInput
from ..domain.lines import counted
from ..settings import Settings
from .numbers import days
from .report import Report, show_progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--older-than",
        type=days,
        metavar="DAYS",
        help="minimum age in days, by last message or change (default: the setting retention_days)",
    )
    parser.add_argument(
        "--yes", action="store_true", help="archive the records, instead of only listing them"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    age = settings.retention_days if options.older_than is None else options.older_than
    if age is None:
        raise InvalidInput("--older-than is missing.", hint="--older-than 90, or BACKSTORY_RETENTION_DAYS.")
    with closing(open_engine(settings)) as engine:
        retention = Retention(engine)
        old = retention.find(age)
        if options.yes:
            retention.archive(old, Call(progress=show_progress))
    conversations, memories = len(old.conversations), len(old.memories)
    body = {"conversations": conversations, "memories": memories, "archived": options.yes}
    summary = f"{counted(conversations, 'conversation')} and {counted(memories, 'reflection')} older than {age:g} days"
    if options.yes:
        return Report(body, f"Archived {summary}; `backstory unarchive ID` restores one.")
    return Report(body, f"{summary} would be archived; --yes archives them.")
