"""`backstory team`: notes shared in this repository, and the spaces of a team server that this machine has joined."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from ..app import TEAM_TOKEN, open_core, open_engine, team_token
from ..core.calls import Call
from ..core.team import Team, TeamReport
from ..core.team.checks import NoteProblem
from ..core.team.spaces import Spaces, SpaceStatus, SpaceSync
from ..domain.errors import BackstoryError, InvalidInput, Unreadable
from ..domain.lines import counted
from ..domain.shared_notes import FOLDER
from ..domain.team import SpaceRole
from ..settings import Settings
from ..tools.origin import safe_excerpt
from .report import FAILED, Block, Hint, Json, Report, Span, Style, Table, terminal_line

ACTIONS = ("list", "trust", "distrust", "check", "join", "leave", "status", "sync")
TITLE_CHARS = 80
MAX_TOKEN_BYTES = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=ACTIONS,
        default="list",
        help="list shared notes (default); trust or distrust the shared branch; check files before a commit;"
        " join or leave a space of the team's server; status and sync of joined spaces",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH|URL|SPACE",
        help="check: files (default: all shared ones); join: the server's address; leave: the space",
    )
    parser.add_argument(
        "--space",
        metavar="NAME",
        default="",
        help="join: the space (default: the only one that the token opens)",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"join: a file with the token; - is standard input (default: {TEAM_TOKEN}, or a question)",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    if (action := SPACE_ACTIONS.get(options.action)) is not None:
        with closing(open_engine(settings)) as engine:
            return action(Spaces(engine), options)
    with closing(open_core(settings)) as core:
        team = Team(core.engine, core.caller)
        match options.action:
            case "check":
                return _check_report(team.check(options.paths))
            case "distrust":
                team.distrust()
                return Report({"trusted": False}, "Shared notes of this repository are no longer read.")
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


def _join(spaces: Spaces, options: argparse.Namespace) -> Report:
    url = _word(options, "the address of the team's server, such as https://memory.example.com")
    space, offered = spaces.join(url, _token(options), options.space)
    body: Json = {"space": space.name, "url": space.url, "user": space.person, "role": offered.role}
    lines = [f"Joined {space.name} of {space.url} as {space.person}, a {offered.role}."]
    if offered.is_reviewed and offered.role != SpaceRole.MAINTAINER:
        lines.append("A maintainer of the space accepts what you save there.")
    try:
        outcome = spaces.sync(Call(), is_forced=True).get(space.name, SpaceSync())
        body["received"] = outcome.received
        lines.append(f"Read {counted(outcome.received, 'memory', 'memories')}.")
    except BackstoryError as error:  # a server reads again later
        body["problem"] = error.message
        lines.append(f"Its memories could not be read yet: {error.message}")
    lines.append(
        "recall and brief have them too. What you save stays on this machine, unless it is saved for the space by name."
    )
    return Report(body, "\n".join(lines))


def _leave(spaces: Spaces, options: argparse.Namespace) -> Report:
    name = _word(options, "the name of a space")
    count = spaces.leave(name)
    lines = [f"Left {name}; its copies are deleted from this machine."]
    if count:
        lines.append(
            f"{counted(count, 'memory', 'memories')} that were never delivered stay here as your own."
        )
    return Report({"space": name, "kept": count}, "\n".join(lines))


def _status(spaces: Spaces, options: argparse.Namespace) -> Report:
    del options
    statuses = spaces.status()
    if not statuses:
        return Report(
            {"spaces": []}, "This machine has joined no space. `backstory team join URL` joins one."
        )
    rows: list[list[str | list[Span]]] = [
        [
            each.space.name,
            each.space.url,
            each.space.person,
            f"{each.memories:,}",
            str(len(each.waiting)),
            each.contact.at[:16].replace("T", " ") or "never",
        ]
        for each in statuses
    ]
    problems = [f"{each.space.name}: {each.contact.problem}" for each in statuses if each.contact.problem]
    refused = [
        f"{delivery.memory}: {delivery.problem}"
        for each in statuses
        for delivery in each.waiting
        if delivery.problem
    ]
    blocks: list[Block] = [Table(("SPACE", "SERVER", "AS", "MEMORIES", "WAITING", "LAST READ"), rows)]
    blocks += [Hint(terminal_line(line, 200)) for line in (*problems, *refused)]
    return Report({"spaces": [_status_body(each) for each in statuses]}, blocks)


def _sync(spaces: Spaces, options: argparse.Namespace) -> Report:
    del options
    outcomes = spaces.sync(Call(), is_forced=True)
    lines = [
        f"{name}: delivered {each.delivered}, refused {each.refused}, received {each.received}, removed {each.removed}."
        for name, each in outcomes.items()
    ]
    body: Json = {"spaces": {name: each._asdict() for name, each in outcomes.items()}}
    return Report(
        body, "\n".join(lines) or "No space was read: none is joined, or another process is reading them."
    )


def _status_body(status: SpaceStatus) -> Json:
    return {
        "space": status.space.name,
        "url": status.space.url,
        "user": status.space.person,
        "memories": status.memories,
        "waiting": [{"memory": each.memory, "problem": each.problem} for each in status.waiting],
        "last_read": status.contact.at,
        "problem": status.contact.problem,
    }


def _word(options: argparse.Namespace, meaning: str) -> str:
    if len(options.paths) != 1:
        raise InvalidInput(
            f"backstory team {options.action} needs {meaning}.",
            hint="`backstory team --help` describes the actions.",
        )
    return str(options.paths[0])


def _token(options: argparse.Namespace) -> str:
    if options.token_file:
        return _token_in(options.token_file)
    if token := team_token():
        return token
    if sys.stdin.isatty():
        return getpass.getpass("Token (it is not shown): ").strip()
    raise InvalidInput(
        "The token is missing; nothing was changed.",
        hint=f"Give --token-file FILE (- reads standard input), or set {TEAM_TOKEN}.",
        field="token",
    )


def _token_in(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read(MAX_TOKEN_BYTES).strip()
        with open(path, encoding="utf-8") as file:
            return file.read(MAX_TOKEN_BYTES).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}.", field="token_file") from None


SPACE_ACTIONS: Mapping[str, Callable[[Spaces, argparse.Namespace], Report]] = {
    "join": _join,
    "leave": _leave,
    "status": _status,
    "sync": _sync,
}
