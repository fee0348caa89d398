"""`backstory injected`: all texts that hooks and briefs added to sessions, and whether they were used."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core.hooks.receipts import injected, injection_precision
from ..domain.records import Injection
from ..domain.tokens import count_tokens
from ..domain.when import iso
from ..settings import Settings
from .narrowing import add_limit
from .report import Block, Json, Report, Span, Style, Table, Text, project_name, terminal_line

LIMIT = 50
LONGEST_TEXT = 160
_USED = {True: "used", False: "not used", None: "-"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="only this session, by the assistant's own id")
    add_limit(parser, LIMIT)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        receipts = injected(core, options.limit, options.session)
        measured = injection_precision(core)
    body = {"injected": [_row(each) for each in receipts], "precision": measured.precision}
    return Report(body, _blocks(receipts))


def _row(receipt: Injection) -> Json:
    return {
        "session": receipt.session,
        "at": iso(receipt.given_at),
        "project": receipt.project,
        "event": receipt.event,
        "subject": receipt.subject,
        "text": receipt.text,
        "tokens": count_tokens(receipt.text),
        "certainty": receipt.certainty,
        "used": receipt.used,
    }


def _blocks(receipts: list[Injection]) -> list[Block]:
    if not receipts:
        return [
            "No hook has added text to a session yet. `backstory install` adds hooks; `backstory brief` prints the text for a new session."
        ]
    heads = ("when", "session", "event", "project", "used", "text")
    return [Table(heads, [_cells(each) for each in receipts])]


def _cells(receipt: Injection) -> list[Text]:
    return [
        f"{receipt.given_at:%Y-%m-%d %H:%M}",
        [Span(receipt.session[:13] or "-", Style.ID)],
        receipt.event,
        project_name(receipt.project),
        _USED[receipt.used],
        terminal_line(receipt.text, LONGEST_TEXT),
    ]
