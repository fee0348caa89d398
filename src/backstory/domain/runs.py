"""Runs of commands: failures with their errors, and the changes that made the same command pass later."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class RunOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    PRINTED_ERRORS = "printed errors"
    """The exit code is hidden by a pipe or a further command, but the output contains errors."""


class RunLine(NamedTuple):
    """A line of output that looks like an error."""

    text: str
    """Empty for a run that passed: there it shows only that the line does not indicate a failure."""
    signature: int = 0
    """A number that the same error has in every run."""
    loose: int = 0
    """A number that similar errors share; 0 if the line is too short."""


class CommandRun(NamedTuple):
    """One run of a shell command, as its output describes it. Commands without an effect are left out."""

    place: int
    """Position of the command among the traces of the message."""
    families: tuple[str, ...]
    """Programs and subcommands in the command line, such as `git push`."""
    outcome: RunOutcome
    exit_code: int | None = None
    """None if the assistant does not record it."""
    lines: tuple[RunLine, ...] = ()

    @property
    def has_failed(self) -> bool:
        return self.outcome is not RunOutcome.PASSED


class MessageRun(NamedTuple):
    message: str
    run: CommandRun


class FailureMatch(NamedTuple):
    """A stored line with one of the requested signatures, and the run that printed it."""

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
    """A step of an assistant after a failure: a command or an edit."""

    entry: int
    place: int
    at: datetime
    value: str
    """The command, or the edited file."""
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
    """A command as it was typed, and the outcome of one run."""

    command: str
    has_failed: bool
    at: datetime
    conversation: str
    families: tuple[str, ...]


class FixKind(StrEnum):
    EDIT = "edit"
    COMMAND = "command"
    """A different command passed."""
    BEFORE = "before"
    """Another command ran before the same command passed."""
    AGAIN = "again"
    """The command passed on a later run without any change."""


class Solution(NamedTuple):
    """The steps between a failure and the next run of the same command that passed."""

    kind: FixKind
    edits: tuple[str, ...]
    """Files in the order of their first edit."""
    commands: tuple[str, ...]
    """Commands that succeeded in between."""
    passed: str
    """The command that passed."""
    passed_at: datetime


class ErrorMatch(StrEnum):
    SAME = "same"
    SIMILAR = "similar"


class Fix(NamedTuple):
    """An earlier failure, and the solution that made it pass."""

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
