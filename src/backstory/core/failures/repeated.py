"""Failures that were solved in the same way in several conversations: evidence for a rule that was never stated."""

from __future__ import annotations

from typing import NamedTuple

from ...domain.filters import Filter
from ...domain.runs import FixKind, Solution, WorkStep
from ...store import Store
from .commands import without_values
from .pairing import solution_of

MIN_CONVERSATIONS = 2


class FixEvidence(NamedTuple):
    """One time that a command failed and then passed."""

    conversation: str
    failure: WorkStep
    solution: Solution


class RepeatedFix(NamedTuple):
    family: str
    """The family of the failed command, for example `npm test`."""
    kind: FixKind
    """`command` or `before`: no two edits are equal, and failures that pass by themselves need no rule."""
    remedy: str
    """The command that passed, or the one that ran before it."""
    evidence: tuple[FixEvidence, ...]
    """The evidence, oldest first, each conversation once."""


def repeated_fixes(store: Store, where: Filter) -> list[RepeatedFix]:
    """Commands in matching messages that failed with the same error and passed in the same way in at least
    MIN_CONVERSATIONS conversations; those with the most evidence first."""
    known: dict[tuple[str, FixKind, str, frozenset[int]], dict[str, FixEvidence]] = {}
    remedies: dict[tuple[str, FixKind, str, frozenset[int]], str] = {}
    for conversation in store.runs.failing(where):
        steps = store.runs.steps(conversation, 0)
        harmless = store.runs.harmless(
            sorted({n for step in steps for n in step.signatures}), _project(where)
        )
        for place, step in enumerate(steps):
            errors = step.signatures - harmless
            if not step.has_failed or not errors:
                continue
            solution = solution_of(step, steps[place + 1 :], harmless)
            if solution is not None and (remedy := _remedy(solution)):
                key = (step.families[-1], solution.kind, without_values(remedy), errors)
                # Ten failures in one session are one habit of that session, so each conversation counts once.
                known.setdefault(key, {}).setdefault(conversation, FixEvidence(conversation, step, solution))
                remedies.setdefault(key, remedy)
    repeated = [
        RepeatedFix(
            key[0], key[1], remedies[key], tuple(sorted(each.values(), key=lambda one: one.failure.at))
        )
        for key, each in known.items()
        if len(each) >= MIN_CONVERSATIONS
    ]
    return sorted(repeated, key=lambda each: (-len(each.evidence), each.family, each.remedy))


def _remedy(solution: Solution) -> str:
    if solution.kind is FixKind.COMMAND:
        return solution.passed
    return solution.commands[-1] if solution.kind is FixKind.BEFORE else ""


def _project(where: Filter) -> str:
    (project,) = where.projects
    return project
