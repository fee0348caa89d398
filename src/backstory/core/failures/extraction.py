"""The runs of a conversation's commands: which failed, and the lines with the reason.

Most commands only look or print, and most results need no analysis: only the output of failed commands and of checks
is searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...domain.lazy import lazy_pattern
from ...domain.runs import CommandRun, RunLine, RunOutcome
from ...readers import CallResult, Turn
from .commands import families, has_reliable_exit, is_check
from .lines import error_lines, output_of, signatures

RUN_RULES = 1
"""Version of the rules, raised with a migration that makes sources be read again.

Conversations without a source are derived again from stored data.
"""
MAX_HARMLESS_LINES = 20
VERDICT_CHARS = 3_000
_SOME_FAILED = lazy_pattern(r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b")
_ALL_PASSED = lazy_pattern(r"\b[1-9]\d* (?:tests? )?pass(?:ed|ing)?\b|\b0 (?:failed|failures|errors)\b|\bAll checks passed|^OK\b", re.MULTILINE)  # fmt: skip


def with_runs(turns: Sequence[Turn]) -> list[Turn]:
    """The turns with the runs of their commands. Lines get their signatures later, after redaction."""
    return [turn._replace(runs=tuple(_runs_of(turn))) if turn.calls else turn for turn in turns]


def _runs_of(turn: Turn) -> Iterator[CommandRun]:
    place = 0
    for call in turn.calls:
        # the order in which the traces of a call are stored: files that it read and wrote, its command, its error
        place += sum(map(bool, (*call.reads, *call.writes)))
        if call.command and call.result is not None:
            run = run_of(call.command, call.result)
            if run is not None:
                yield run._replace(place=place)
        place += bool(call.command) + bool(call.error)


def run_of(command: str, result: CallResult) -> CommandRun | None:
    """The outcome of a command; None if it does nothing or did not run."""
    parts = families(command)
    if not parts:
        return None
    if result.is_error:
        if result.text.strip() and not output_of(result.text).strip() and result.exit_code is None:
            return None  # the user refused it, or it was interrupted
        lines = error_lines(result.text, has_failed=True)
        return CommandRun(0, parts, RunOutcome.FAILED, result.exit_code, _lines(lines))
    # A program without a verdict that exits with 0 has passed, whatever words it prints.
    if not any(map(is_check, parts)):
        return CommandRun(0, parts, RunOutcome.PASSED, result.exit_code)
    if has_reliable_exit(command):
        # Lines that look like errors in a passing run mean nothing in a failing one either, and are stored to say so.
        harmless = error_lines(result.text, has_failed=True, limit=MAX_HARMLESS_LINES)
        return CommandRun(0, parts, RunOutcome.PASSED, result.exit_code, _lines(harmless))
    # The exit status belongs to another program here, so only the output can show the result.
    lines = error_lines(result.text, has_failed=False)
    if not lines or _has_passed(result.text):
        return CommandRun(0, parts, RunOutcome.PASSED, result.exit_code)
    return CommandRun(0, parts, RunOutcome.PRINTED_ERRORS, result.exit_code, _lines(lines))


def _has_passed(text: str) -> bool:
    """True if the last lines count passed tests and no failed ones."""
    tail = text[-VERDICT_CHARS:]
    return _SOME_FAILED.search(tail) is None and _ALL_PASSED.search(tail) is not None


def _lines(texts: Sequence[str]) -> tuple[RunLine, ...]:
    return tuple(map(RunLine, texts))


def signed(run: CommandRun) -> CommandRun:
    """The run with the signatures of its lines; of one that passed, the signatures alone."""
    lines = []
    for line in run.lines:
        exact, loose = signatures(line.text)
        lines.append(RunLine(line.text if run.has_failed else "", exact, loose if run.has_failed else 0))
    return run._replace(lines=tuple(lines))
