"""`backstory share ID…`: write memories as files of the repository, for the team to review."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import PurePosixPath

from ..app import open_core
from ..core.team import Team, check_branch_name
from ..settings import Settings
from .report import Hint, Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="id of a memory, or the beginning of one")
    add_proposing(parser)


def add_proposing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--propose",
        action="store_true",
        help="commit to a separate branch; your work tree and index do not change",
    )
    parser.add_argument(
        "--branch", metavar="NAME", type=check_branch_name, help="name of the branch for --propose"
    )


def branch_of(options: argparse.Namespace, path: str) -> str | None:
    """The branch that was asked for, or one named after a file; None to change the work tree."""
    if not (options.propose or options.branch):
        return None
    return options.branch or f"backstory/{PurePosixPath(path).stem}"


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        team = Team(core.engine, core.caller)
        memories = [core.browsing.memory(id) for id in options.ids]
        branch = branch_of(options, team.path_of(memories[0]))
        paths = team.share(memories, branch)
    body = {"wrote": paths, "branch": branch}
    if branch:
        return Report(body, [*paths, Hint(f"Committed on {branch}: git push -u origin {branch}")])
    return Report(body, [*paths, Hint("Not committed. Review it, then `git add` and commit it.")])
