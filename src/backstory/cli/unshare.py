"""`backstory unshare ID`: remove the file of a shared memory; your own memory stays."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core.team import Team
from ..settings import Settings
from .report import Hint, Report
from .share import add_proposing, branch_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="id of a memory, or the beginning of one")
    add_proposing(parser)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        team = Team(core.engine, core.caller)
        memory = core.browsing.memory(options.id)
        branch = branch_of(options, f"withdraw-{team.path_of(memory).rpartition('/')[2]}")
        path = team.unshare(memory, branch)
    where = f"Removed on {branch}: git push -u origin {branch}" if branch else "Not committed."
    return Report({"removed": path, "branch": branch}, [path, Hint(where)])
