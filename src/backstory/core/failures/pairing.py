"""Pairing of a failure with the next run of the same command without its error, and the steps in between."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...domain.runs import FixKind, Solution, WorkStep
from .commands import is_check, normalized

MAX_STEPS = 60
"""Steps after which a failure counts as abandoned: a later success has other reasons."""
_REMOVING = frozenset({"rm", "rmdir", "unlink", "trash"})
_NOTHING: frozenset[int] = frozenset()


def solution_of(
    failure: WorkStep, later: Sequence[WorkStep], harmless: Collection[int] = _NOTHING
) -> Solution | None:
    """The step that made a failure pass; None if there is none. `later` are the steps after it.

    `harmless` are signatures of lines that passing runs print too."""
    errors = failure.signatures - set(harmless)
    wanted = _essential(failure.families)
    edits: list[str] = []
    edited: list[int] = []
    commands: list[str] = []
    for place, step in enumerate(later[:MAX_STEPS]):
        if step.is_edit:
            edits.append(step.value)
            edited.append(step.entry)
            continue
        if _REMOVING.issuperset(step.families):
            while edited and edited[-1] == step.entry:  # it is no edit to remove a file
                edited.pop()
                edits.pop()
        remaining = step.signatures - set(harmless)
        has_failed = step.has_failed and (bool(remaining) or not step.signatures)
        is_same_command = not wanted.isdisjoint(step.families)
        # A check may be one part of a longer line, so the families are compared and not the lines.
        if not has_failed and is_same_command:
            solution = _solution(failure, edits, commands, step)
            if not _comes_again(failure, solution, later[place + 1 : MAX_STEPS], errors):
                return solution
        if has_failed and is_same_command and remaining & errors:
            edits, edited, commands = [], [], []  # the attempts so far did not help
        # Only commands that passed can have helped.
        elif not has_failed and not is_same_command:
            commands.append(step.value)
    return None


def _comes_again(
    failure: WorkStep, solution: Solution, later: Sequence[WorkStep], errors: Collection[int]
) -> bool:
    """True if the same command fails with the same error again, although another command passed after edits.

    The other command then tested something else."""
    return (
        solution.kind is FixKind.EDIT
        and normalized(solution.passed) != normalized(failure.value)
        and any(
            step.has_failed
            and not step.signatures.isdisjoint(errors)
            and normalized(step.value) == normalized(failure.value)
            for step in later
        )
    )


def _essential(families: Sequence[str]) -> set[str]:
    """The parts of a command line that must pass: its checks, or else its first and last part."""
    return set(filter(is_check, families)) or {families[0], families[-1]}


def _solution(failure: WorkStep, edits: Sequence[str], commands: Sequence[str], passed: WorkStep) -> Solution:
    if edits:
        kind = FixKind.EDIT
    elif normalized(passed.value) != normalized(failure.value):
        kind = FixKind.COMMAND
    else:
        kind = FixKind.BEFORE if commands else FixKind.AGAIN
    return Solution(
        kind, tuple(dict.fromkeys(edits)), tuple(dict.fromkeys(commands)), passed.value, passed.at
    )
