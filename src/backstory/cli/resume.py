"""`backstory resume`: go on with a conversation, in the assistant that had it or in another one."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing

from .. import console
from ..app import history_places, open_core
from ..core import Core
from ..core.browsing.resumption import Resumption, handoff_links, missing_directory, resumption
from ..core.handoff import DEFAULT_HANDOFF_TOKENS, MIN_HANDOFF_TOKENS, HandoffPlan, prompt_line
from ..domain.errors import BackstoryError, NotFound, Unavailable
from ..domain.filters import ConversationFilter
from ..domain.lines import counted
from ..domain.records import Conversation
from ..settings import Settings
from .numbers import whole_number
from .report import Hint, Report

LATEST = 50
"""Maximum number of this project's conversations to search for one that can be resumed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_conversation(parser)
    parser.add_argument(
        "--in",
        dest="assistant",
        metavar="ASSISTANT",
        help="continue in this assistant: claude-code, codex, gemini-cli, qwen-code, opencode, copilot or another",
    )
    add_tokens(parser)
    parser.add_argument(
        "--directory", metavar="DIR", help="working directory (default: that of the conversation)"
    )
    parser.add_argument(
        "--as",
        dest="form",
        choices=("native", "prompt"),
        default="native",
        help="prompt: start the assistant with a file to read, instead of a native session",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would happen, without writing or starting anything"
    )
    parser.add_argument(
        "--print",
        action="store_true",
        dest="is_printed",
        help="print the command instead of starting the assistant",
    )


def add_conversation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="id of a conversation (default: the latest one of the current project)",
    )


def add_tokens(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tokens",
        type=whole_number(MIN_HANDOFF_TOKENS),
        default=DEFAULT_HANDOFF_TOKENS,
        metavar="N",
        help=f"maximum length of the handoff in tokens (default: {DEFAULT_HANDOFF_TOKENS})",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    is_typed = sys.stdin.isatty() and sys.stdout.isatty()
    is_started = is_typed and not (options.is_printed or options.json)
    with closing(open_core(settings)) as core:
        if options.assistant is not None:
            plan, paths = _handed_over(core, options, settings)
        else:
            wanted = _wanted(core, options.id)
            continued = handoff_links(core.engine, wanted.conversation).sessions
    if options.assistant is not None:
        return _handoff_report(plan, paths, is_started=is_started and not options.dry_run)
    body = {
        "id": wanted.conversation.id,
        "command": list(wanted.words),
        "directory": wanted.directory,
        "line": wanted.line,
        "continued_in": continued,
    }
    notes = [Hint(f"It continues in {id}: backstory resume {id}") for id in continued]
    if not is_started:
        return Report(body, [wanted.line, *notes])
    return Report(body, (), exit_code=_start([], wanted, [note.text for note in notes]))


def latest_conversation(core: Core, id: str | None) -> Conversation:
    """The conversation with this id; without an id the latest of the project."""
    if id is not None:
        return core.browsing.conversation(id)
    which = ConversationFilter(projects=(core.caller.project,))
    for each in core.browsing.conversations(which, limit=1).conversations:
        return each.conversation
    raise _no_conversation(core)


def _no_conversation(core: Core) -> NotFound:
    return NotFound(
        "conversation in",
        core.caller.project,
        hint="`backstory sessions` lists all; pass the ID of one.",
    )


def _handed_over(
    core: Core, options: argparse.Namespace, settings: Settings
) -> tuple[HandoffPlan, Sequence[str]]:
    """The plan and the files that were written for it."""
    plan = core.handoff.plan(
        latest_conversation(core, options.id),
        options.assistant,
        history_places(core.engine),
        max_tokens=options.tokens,
        directory=options.directory or "",
        as_prompt=options.form == "prompt",
    )
    return plan, [] if options.dry_run else core.handoff.write(plan)


def _handoff_report(plan: HandoffPlan, paths: Sequence[str], *, is_started: bool) -> Report:
    takeover, session = plan.takeover, plan.session
    wanted = Resumption(takeover.state.conversation, session.command, plan.directory)
    steps = [*session.prepare, session.command]
    line = wanted.line_of(steps) if session.command else prompt_line(plan)
    body = {
        "id": takeover.state.conversation.id,
        "in": plan.reader.name,
        "method": plan.method,
        "session": session.id,
        "wrote": list(paths),
        "prepare": [list(words) for words in session.prepare],
        "command": list(session.command),
        "directory": plan.directory,
        "line": line,
        "messages": takeover.messages,
        "left_out": takeover.left_out,
        "tokens": takeover.tokens,
    }
    notes = list(_notes(plan, paths))
    if not is_started or not session.command:
        return Report(body, [line, *map(Hint, notes)])
    return Report(body, (), exit_code=_start(session.prepare, wanted, notes))


def _notes(plan: HandoffPlan, paths: Sequence[str]) -> Iterator[str]:
    takeover = plan.takeover
    left_out = f"; {counted(takeover.left_out, 'earlier one')} left out" if takeover.left_out else ""
    yield (
        f"{counted(takeover.messages, 'message')} of {takeover.state.conversation.id}"
        f" for {plan.reader.title}, about {takeover.tokens:,} tokens{left_out}."
    )
    if not paths:
        yield "Nothing was written: " + ", ".join(f"{path} would be new" for path in plan.session.files) + "."
    for path in paths:
        yield f"Wrote {path}. To undo it, delete that file."
    if plan.session.prepare:
        yield f"{plan.reader.title} copies it into its own store: delete it there too."
    if not plan.session.command:
        yield f"{plan.reader.title} is not started from here: paste the line above into it."


def _wanted(core: Core, id: str | None) -> Resumption:
    if id is not None:
        return resumption(core.engine, core.browsing.conversation(id))
    which = ConversationFilter(projects=(core.caller.project,))
    for each in core.browsing.conversations(which, limit=LATEST).conversations:
        try:
            return resumption(core.engine, each.conversation)
        except BackstoryError:
            continue  # an older one may be there still
    raise _no_conversation(core)


def _start(prepare: Sequence[tuple[str, ...]], wanted: Resumption, notes: Sequence[str]) -> int:
    """The assistant's exit status; nothing of ours is open meanwhile."""
    for note in notes:
        console.notify(note)
    line = wanted.line_of([*prepare, wanted.words])
    program = shutil.which(wanted.words[0])
    if program is None:
        raise Unavailable(f"There is no program {wanted.words[0]!r} on PATH.", hint=line)
    if missing_directory(wanted):
        raise Unavailable(f"The directory {wanted.directory} no longer exists.", hint=line)
    console.notify(line)
    for words in prepare:
        if status := subprocess.call([program, *words[1:]], cwd=wanted.directory or None):
            raise Unavailable(f"`{' '.join(words[:2])}` failed with status {status}.", hint=line)
    if os.name == "nt":  # exec would let the shell go on while the assistant runs
        return subprocess.call([program, *wanted.words[1:]], cwd=wanted.directory or None)
    if wanted.directory:
        os.chdir(wanted.directory)
    return os.execv(program, list(wanted.words))
