"""`backstory fix TEXT`: earlier occurrences of an error, and their solutions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing

from ..app import open_core
from ..core.failures.hint import remedy
from ..core.names import ConversationNames
from ..domain.errors import InvalidInput
from ..domain.runs import ErrorMatch, Fix
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import safe_excerpt
from .narrowing import read_projects
from .report import Block, Hint, Json, Paragraph, Report, Span, Style, project_name, terminal_line

SHOWN_LINES = 3
LINE_CHARS = 300
STANDARD_INPUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", nargs="+", metavar="TEXT", help="output of the failed command; `-` reads standard input"
    )
    parser.add_argument(
        "--project",
        metavar="NAME|DIR",
        help="only this project; `.` is the current one, `*` is all (default: all, the current one first)",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    text = sys.stdin.read() if options.text == [STANDARD_INPUT] else " ".join(options.text)
    if not text.strip():
        raise InvalidInput(
            "The error text is empty.",
            hint="Pass the output of the failed command, or `-` for standard input.",
        )
    with closing(open_core(settings)) as core:
        projects = read_projects(options.project, core) if options.project else None
        fixes = core.failures.fixes(text, projects)
        names = core.browsing.names()
    body = {"answers": list(map(_body, fixes))}
    if not fixes:
        missing: list[Block] = ["This error was not met before, or nothing made it pass."]
        return Report(
            body, [*missing, Hint("`backstory search` finds conversations with its words.")], exit_code=1
        )
    return Report(body, [block for fix in fixes for block in _blocks(fix, names, is_first=fix is fixes[0])])


def _body(fix: Fix) -> Json:
    solution = fix.solution
    return {
        "match": fix.match.value,
        "kind": solution.kind.value,
        "error": list(map(safe_excerpt, fix.error)),
        "command": safe_excerpt(fix.command),
        "exit_code": fix.exit_code,
        "conversation": fix.conversation,
        "message": fix.message,
        "number": fix.seq + 1,
        "project": fix.project,
        "at": iso(fix.at),
        "fix": {
            "edits": [{"file": safe_excerpt(file)} for file in solution.edits],
            "commands": list(map(safe_excerpt, solution.commands)),
            "passed": safe_excerpt(solution.passed),
        },
    }


def _blocks(fix: Fix, names: ConversationNames, *, is_first: bool) -> Iterator[Block]:
    if not is_first:
        yield ""
    known = "The same error" if fix.match is ErrorMatch.SAME else "A similar error"
    place = Span(f"{names.short(fix.conversation)}#{fix.seq + 1}", Style.ID)
    about = f", {fix.at:%Y-%m-%d %H:%M} in {project_name(fix.project)}"
    yield Paragraph([Span(known, Style.HEADING), " ", place, Span(about, Style.QUIET)])
    for line in fix.error[:SHOWN_LINES]:
        yield Paragraph([Span(terminal_line(safe_excerpt(line), LINE_CHARS), Style.QUIET)], indent=3)
    yield Paragraph(terminal_line(remedy(fix), LINE_CHARS * 2), indent=3)
