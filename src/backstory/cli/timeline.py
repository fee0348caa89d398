"""`backstory timeline`: conversations, memories and commits in the order of time, the newest day first."""

from __future__ import annotations

import argparse
from contextlib import closing
from itertools import groupby

from ..app import open_core
from ..core.browsing.chronicle import ChronicleEvent, EventKind
from ..core.names import ConversationNames, short_memory_id
from ..domain.errors import InvalidInput
from ..domain.when import iso
from ..settings import Settings
from .narrowing import add_limit, add_narrowing, read_bounds
from .report import Block, Report, Span, Style, Table, Text, project_name, terminal_line

LIMIT = 50
LONGEST_TITLE = 100
_SHORT_HASH = 9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_narrowing(parser)
    kinds = ", ".join(EventKind)
    parser.add_argument("--kind", metavar="KIND", help=f"only one of {kinds}")
    add_limit(parser, LIMIT)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    if options.kind and options.kind not in list(EventKind):
        raise InvalidInput(f"There is no kind {options.kind!r}.", hint=f"Known: {', '.join(EventKind)}.")
    with closing(open_core(settings)) as core:
        kinds = (EventKind(options.kind),) if options.kind else tuple(EventKind)
        events = core.chronicle.events(read_bounds(options, core), kinds, limit=options.limit)
        names = core.browsing.names()
    body = {
        "events": [{**event._asdict(), "at": iso(event.at), "kind": event.kind.value} for event in events]
    }
    return Report(body, _blocks(events, names))


def _blocks(events: list[ChronicleEvent], names: ConversationNames) -> list[Block]:
    if not events:
        return [
            "Nothing is recorded for that time. Try another time or project. `backstory sync` reads new conversations."
        ]
    rows = {event: _row(event, names) for event in events}
    return [
        Table((), [rows[event] for event in some], list(rows.values()), f"{day:%A, %Y-%m-%d}", f"{day}")
        for day, some in groupby(events, key=lambda event: event.at.date())
    ]


def _row(event: ChronicleEvent, names: ConversationNames) -> list[Text]:
    name = {
        EventKind.CONVERSATION: lambda: names.short(event.id),
        EventKind.MEMORY: lambda: short_memory_id(event.id),
        EventKind.COMMIT: lambda: event.id[:_SHORT_HASH],
    }[event.kind]()
    return [
        f"{event.at:%H:%M}",
        [Span(name, Style.ID)],
        [Span(_what(event), Style.ASSISTANT)],
        project_name(event.project),
        terminal_line(event.title, LONGEST_TITLE),
    ]


def _what(event: ChronicleEvent) -> str:
    return event.who if event.kind is EventKind.CONVERSATION else event.kind.value
