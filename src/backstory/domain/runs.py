"""Runs of commands: which failed, with which error, and what made the same command pass later."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class RunOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    PRINTED_ERRORS = "printed errors"
    """Its exit code is hidden, by a pipe or a further command, but its output shows errors."""


class RunLine(NamedTuple):
    """A line of output that looks like an error."""

    text: str
    """Empty for a run that passed: there it only shows that the line means nothing."""
    signature: int = 0
    """A number that the same error has in every run."""
    loose: int = 0
    """A number that similar errors share; 0 where the line is too short for it."""


class CommandRun(NamedTuple):
    """One run of a shell command that does something, as its output shows it."""

    place: int
    """Of its command among the traces of the message."""
    families: tuple[str, ...]
    """What the parts of the command line run, such as `git push`."""
    outcome: RunOutcome
    exit_code: int | None = None
    """None where the assistant does not record it."""
    lines: tuple[RunLine, ...] = ()

    @property
    def has_failed(self) -> bool:
        return self.outcome is not RunOutcome.PASSED


class MessageRun(NamedTuple):
    message: str
    run: CommandRun


class FailureMatch(NamedTuple):
    """A stored line that has a signature which was asked for, and the run that printed it."""

    entry: int
    place: int
    conversation: str
    seq: int
    at: datetime
    signature: int
    loose: int
    outcome: RunOutcome
    project: str

    @property
    def has_failed(self) -> bool:
        return self.outcome is not RunOutcome.PASSED


class WorkStep(NamedTuple):
    """What an assistant did after a failure: ran a command or edited a file."""

    entry: int
    place: int
    at: datetime
    value: str
    """The command, or the file."""
    families: tuple[str, ...] = ()
    """Empty for an edit."""
    has_failed: bool = False
    exit_code: int | None = None
    message: str = ""
    signatures: frozenset[int] = frozenset()

    @property
    def is_edit(self) -> bool:
        return not self.families


class CommandCount(NamedTuple):
    """A command as it was typed, and how one run of it ended."""

    command: str
    has_failed: bool
    at: datetime
    conversation: str
    families: tuple[str, ...]


class FixKind(StrEnum):
    EDIT = "edit"
    COMMAND = "command"
    """The command that passed is another one."""
    BEFORE = "before"
    """Another command ran before the same one."""
    AGAIN = "again"
    """Nothing happened in between: it passes by itself."""


class Solution(NamedTuple):
    """What happened between a failure and the next run of the same command that passed."""

    kind: FixKind
    edits: tuple[str, ...]
    """Files, in the order in which they were first edited."""
    commands: tuple[str, ...]
    """That succeeded in between."""
    passed: str
    """The command that passed."""
    passed_at: datetime


class ErrorMatch(StrEnum):
    SAME = "same"
    SIMILAR = "similar"


class Fix(NamedTuple):
    """A failure that was met before, and what made it pass."""

    match: ErrorMatch
    error: tuple[str, ...]
    command: str
    exit_code: int | None
    conversation: str
    message: str
    seq: int
    at: datetime
    project: str
    solution: Solution
