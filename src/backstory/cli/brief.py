"""`backstory brief`: the brief that new sessions in a project receive, in any assistant."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core.brief import DEFAULT_BRIEF_TOKENS, MAX_BRIEF_TOKENS, MIN_BRIEF_TOKENS
from ..core.team import refresh_trusted
from ..domain.when import iso
from ..settings import Settings
from .narrowing import add_project
from .numbers import whole_number
from .report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "--max-tokens",
        type=whole_number(MIN_BRIEF_TOKENS, MAX_BRIEF_TOKENS),
        default=DEFAULT_BRIEF_TOKENS,
        metavar="N",
        help=f"maximum length in tokens (default: {DEFAULT_BRIEF_TOKENS})",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        refresh_trusted(core.engine, {})
        brief = core.briefing.brief(options.name, options.max_tokens)
    body = {
        "project": brief.project,
        "text": brief.text,
        "tokens": brief.tokens,
        "is_known": brief.is_known,
        "last_at": brief.last_at and iso(brief.last_at),
        "open_tasks": brief.open_tasks,
    }
    if brief.is_known:
        return Report(body, brief.text)
    hint = "`backstory sync` reads new conversations; `backstory sessions` lists those of all projects."
    return Report(body, f"{brief.text} {hint}")
