"""`backstory how WORDS`: which command did something in a project before."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..domain.errors import InvalidInput
from ..domain.lines import counted
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import safe_excerpt
from .narrowing import read_projects
from .report import Block, Hint, Paragraph, Report, Span, Style, terminal_line

COMMAND_CHARS = 300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORDS", help="words that describe the command")
    parser.add_argument(
        "--project",
        metavar="NAME|DIR",
        help="only this project; `.` is the current one, `*` is all (default: the current one, or all if it has no match)",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    words = " ".join(options.words)
    if not words.strip():
        raise InvalidInput("The query is empty.", hint="Pass words that describe the command.")
    with closing(open_core(settings)) as core:
        projects = read_projects(options.project, core) if options.project else None
        commands = core.failures.how(words, projects)
        names = core.browsing.names()
    body = {
        "answers": [
            {
                "command": safe_excerpt(each.command),
                "passed": each.passed,
                "failed": each.failed,
                "last_at": iso(each.last_at),
                "conversation": each.conversation,
            }
            for each in commands
        ]
    }
    if not commands:
        none: list[Block] = [f"No command with {terminal_line(words, COMMAND_CHARS)!r} has passed yet."]
        return Report(body, [*none, Hint("Try fewer or other words.")], exit_code=1)
    blocks: list[Block] = []
    for each in commands:
        failures = f", failed {counted(each.failed, 'time')}" if each.failed else ""
        about = f"passed {counted(each.passed, 'time')}{failures}, last on {each.last_at:%Y-%m-%d} in "
        blocks.append(Paragraph(terminal_line(safe_excerpt(each.command), COMMAND_CHARS)))
        place = Span(names.short(each.conversation), Style.ID)
        blocks.append(Paragraph([Span(about, Style.QUIET), place], indent=3))
    return Report(body, blocks)
