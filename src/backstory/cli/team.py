"""`backstory team`: what a team shares in this repository, whether it is trusted, and what is wrong with the files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing

from ..app import open_core
from ..core.team import Team, TeamReport
from ..core.team.checks import NoteProblem
from ..domain.shared_notes import FOLDER
from ..settings import Settings
from ..tools.origin import safe_excerpt
from .report import FAILED, Block, Hint, Json, Report, Span, Style, Table, terminal_line

ACTIONS = ("list", "trust", "distrust", "check")
TITLE_CHARS = 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=ACTIONS,
        default="list",
        help="list what is shared (default); trust or distrust the shared branch; check files before a commit",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files for check (default: all shared ones)")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        team = Team(core.engine, core.caller)
        match options.action:
            case "check":
                return _check_report(team.check(options.paths))
            case "distrust":
                team.distrust()
                return Report(
                    {"trusted": False}, "Nothing of this repository is read as a team's words any more."
                )
            case "trust":
                owners = f"For review, CODEOWNERS can name who may approve: /{FOLDER}/ @your-team"
                return _list_report(team.trust(), [owners])
            case _:
                report = team.refresh()
                hint = (
                    []
                    if report.is_trusted
                    else ["Not trusted here: `backstory team trust` reads it from the shared branch."]
                )
                return _list_report(report, hint)


def _list_report(report: TeamReport, notes: Sequence[str]) -> Report:
    rows: list[list[str | list[Span]]] = [
        [
            [Span(each.note.id[:10], Style.ID)],
            each.state,
            each.note.kind,
            terminal_line(each.author or "-", 30),
            each.note.date,
            terminal_line(safe_excerpt(each.note.title), TITLE_CHARS),
        ]
        for each in report.notes
    ]
    blocks: list[Block] = []
    if rows:
        blocks.append(Table(("ID", "STATE", "KIND", "BY", "DATE", "TITLE"), rows))
    else:
        blocks.append(f"Nothing is shared in {FOLDER}.")
    blocks += [Hint(f"Not read: {line}") for line in _lines(report.problems)]
    return Report(_body(report), [*blocks, *map(Hint, notes)])


def _body(report: TeamReport) -> Json:
    return {
        "trusted": report.is_trusted,
        "memories": [
            {
                "id": each.note.id,
                "title": safe_excerpt(each.note.title),
                "kind": each.note.kind,
                "path": each.path,
                "by": each.author,
                "date": each.note.date,
                "state": each.state,
            }
            for each in report.notes
        ],
        "problems": _problems(report.problems),
    }


def _check_report(problems: Mapping[str, Sequence[NoteProblem]]) -> Report:
    body = {"problems": _problems(problems)}
    if not problems:
        return Report(body, "No problems.")
    return Report(body, "\n".join(_lines(problems)), exit_code=FAILED)


def _problems(problems: Mapping[str, Sequence[NoteProblem]]) -> list[Json]:
    return [
        {"file": path, "line": each.line, "problem": each.problem}
        for path, listed in problems.items()
        for each in listed
    ]


def _lines(problems: Mapping[str, Sequence[NoteProblem]]) -> list[str]:
    return [
        f"{terminal_line(path, 200)}:{each.line}: {each.problem}"
        for path, listed in problems.items()
        for each in listed
    ]
