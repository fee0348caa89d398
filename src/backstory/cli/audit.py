"""`backstory audit`: the audit log of a team server."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import CONTROL, find_spaces, open_store
from ..domain.team import AuditRecord
from ..domain.when import iso, parse_when, utc_now
from ..settings import Settings
from .report import Report, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", default="1 weeks ago", help='a date, or "2 hours ago" (default: a week ago)'
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    since = parse_when(options.since, utc_now(), field="--since")
    records: list[AuditRecord] = []
    if CONTROL in find_spaces(settings):  # a look makes no store
        with closing(open_store(settings, CONTROL)) as control:
            records = control.team.audit_log(since)
    # of who was not let in only the address is known
    rows = [
        (iso(each.at), each.person or each.credential, each.space, each.outcome, each.tool, each.memories)
        for each in records
    ]
    body = {
        "calls": [
            {**each._asdict(), "at": iso(each.at), "memories": each.memories.split()} for each in records
        ]
    }
    return Report(body, table(rows) or "Nothing was changed in that time.")
