"""`backstory resume`: go on with a conversation in the assistant that had it, in the directory where it was held."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from contextlib import closing

from .. import console
from ..app import open_core
from ..core import Core
from ..core.browsing.resumption import Resumption, missing_directory, resumption
from ..domain.errors import BackstoryError, NotFound, Unavailable
from ..domain.filters import ConversationFilter
from ..settings import Settings
from .report import Report

LATEST = 50
"""Conversations of this project that are looked through for one that can be resumed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="of a conversation; without it, the latest of the project you are in",
    )
    parser.add_argument(
        "--print",
        action="store_true",
        dest="is_printed",
        help="print the command instead of starting the assistant",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        wanted = _wanted(core, options.id)
    body = {
        "id": wanted.conversation.id,
        "command": list(wanted.words),
        "directory": wanted.directory,
        "line": wanted.line,
    }
    is_typed = sys.stdin.isatty() and sys.stdout.isatty()
    if options.is_printed or options.json or not is_typed:
        return Report(body, wanted.line)
    return Report(body, (), exit_code=_start(wanted))


def _wanted(core: Core, id: str | None) -> Resumption:
    if id is not None:
        return resumption(core.engine.store, core.browsing.conversation(id))
    which = ConversationFilter(projects=(core.caller.project,))
    for each in core.browsing.conversations(which, limit=LATEST).conversations:
        try:
            return resumption(core.engine.store, each.conversation)
        except BackstoryError:
            continue  # an older one may be there still
    raise NotFound(
        "conversation to resume in",
        core.caller.project,
        hint="`backstory sessions` lists all; name one by its ID.",
    )


def _start(wanted: Resumption) -> int:
    """The assistant's exit status; nothing of ours is open meanwhile."""
    program = shutil.which(wanted.words[0])
    if program is None:
        raise Unavailable(f"There is no program {wanted.words[0]!r} on PATH.", hint=wanted.line)
    if missing_directory(wanted):
        raise Unavailable(f"The directory {wanted.directory} is not there any more.", hint=wanted.line)
    console.notify(wanted.line)
    if os.name == "nt":  # exec would let the shell go on while the assistant runs
        return subprocess.call([program, *wanted.words[1:]], cwd=wanted.directory or None)
    if wanted.directory:
        os.chdir(wanted.directory)
    return os.execv(program, list(wanted.words))
