"""Find earlier failures with the error of a text, and their solutions. Empty unless the error occurred and was solved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from math import sqrt

from ...domain.filters import Filter
from ...domain.runs import ErrorMatch, FailureMatch, Fix, FixKind, RunOutcome, WorkStep
from ...store import Store
from .lines import MAX_ERROR_LINES, Signatures, error_lines, signatures
from .pairing import MAX_STEPS, solution_of

MAX_FIXES = 3
MAX_QUESTION_LINES = 20
MAX_MATCHES = 500
"""Stored lines that are looked at for one question, the newest."""
MAX_CANDIDATES = 12
"""The number of best matching failures whose solution is looked up."""
MIN_SCORE = 0.125
"""The minimum score for one line; with more lines in the query, more of them must match."""
SIMILAR_WEIGHT = 0.4
UNSURE_WEIGHT = 0.7
"""The weight of a failure that is visible only in the output."""
_KIND_BONUS = {FixKind.EDIT: 0.02, FixKind.COMMAND: 0.02, FixKind.BEFORE: 0.01, FixKind.AGAIN: -0.02}


def fixes(
    store: Store,
    text: str,
    where: Filter,
    *,
    running: Collection[str] = (),
    matches: Iterable[ErrorMatch] = ErrorMatch,
    limit: int = MAX_FIXES,
) -> list[Fix]:
    """Solved failures in messages that `where` matches, the best first: all of them the same error, or else all
    similar ones. Conversations in `running` are left out: they are not the past yet."""
    wanted = _signatures_in(text)
    if not wanted:
        return []
    loose = [each.loose for each in wanted if each.loose]
    lines = store.runs.matching([each.exact for each in wanted], loose, where, limit=MAX_MATCHES)
    # A line that passing runs of the same project print explains no failure there.
    harmless = {(each.project, each.signature) for each in lines if not each.has_failed}
    failed = [
        each
        for each in lines
        if each.has_failed
        and each.conversation not in running
        and (each.project, each.signature) not in harmless
    ]
    # Only now is the question cut: its first lines are often the harmless ones.
    wanted = [each for each in wanted if not any(number == each.exact for _, number in harmless)][
        :MAX_ERROR_LINES
    ]
    for match in matches:
        if answers := _answers(store, wanted, failed, match, limit=limit, until=where.created_before):
            return answers
    return []


def _signatures_in(text: str) -> list[Signatures]:
    return list(dict.fromkeys(map(signatures, error_lines(text, has_failed=True, limit=MAX_QUESTION_LINES))))


def _answers(
    store: Store,
    wanted: Sequence[Signatures],
    failed: Sequence[FailureMatch],
    match: ErrorMatch,
    *,
    limit: int,
    until: datetime | None,
) -> list[Fix]:
    asked = {each.exact if match is ErrorMatch.SAME else each.loose for each in wanted} - {0}
    scores = _scores(asked, failed, match)
    # Of a long output one common line is shared by chance; the square root asks for more without asking for all.
    floor = MIN_SCORE * sqrt(max(1, len(wanted))) / (1 if match is ErrorMatch.SAME else SIMILAR_WEIGHT)
    order = sorted(
        (each for each in scores if scores[each] >= floor),
        key=lambda each: (scores[each], each.at),
        reverse=True,
    )
    ranked: list[tuple[float, Fix]] = []
    for candidate in order[:MAX_CANDIDATES]:
        if fix := _fix(store, candidate, match, until):
            lines = store.runs.lines(candidate.entry, candidate.place)
            known = {line.signature if match is ErrorMatch.SAME else line.loose for line in lines} - {0}
            # Two runs that share one line of twenty are hardly the same failure.
            overlap = len(known & asked) / max(1, len(known | asked))
            sureness = 1 if candidate.outcome is RunOutcome.FAILED else UNSURE_WEIGHT
            ranked.append(
                (scores[candidate] * (overlap + 0.3) * sureness + _KIND_BONUS[fix.solution.kind], fix)
            )
    ranked.sort(key=lambda each: (each[0], each[1].at), reverse=True)
    return [fix for _, fix in ranked[:limit]]


def _scores(
    asked: Collection[int], failed: Iterable[FailureMatch], match: ErrorMatch
) -> dict[FailureMatch, float]:
    """The score of each failed run: the sum over lines shared with the query, with lines of many conversations
    weighted less."""
    conversations: dict[int, set[str]] = defaultdict(set)
    lines: dict[tuple[int, int], set[int]] = defaultdict(set)
    runs: dict[tuple[int, int], FailureMatch] = {}
    for each in failed:
        number = each.signature if match is ErrorMatch.SAME else each.loose
        if number in asked:
            conversations[number].add(each.conversation)
            lines[each.entry, each.place].add(number)
            runs.setdefault((each.entry, each.place), each)
    return {
        runs[key]: sum(1 / sqrt(1 + len(conversations[number])) for number in numbers)
        for key, numbers in lines.items()
    }


def _fix(store: Store, failure_match: FailureMatch, match: ErrorMatch, until: datetime | None) -> Fix | None:
    steps = store.runs.steps(failure_match.conversation, failure_match.seq, limit=MAX_STEPS * 20)
    place = next(
        (
            n
            for n, step in enumerate(steps)
            if (step.entry, step.place) == (failure_match.entry, failure_match.place)
        ),
        None,
    )
    if place is None:
        return None
    failure, later = steps[place], steps[place + 1 : place + 1 + MAX_STEPS]
    solution = solution_of(failure, later, _harmless(store, [failure, *later], failure_match.project))
    # For a question as of a time, a solution that came later is not known yet.
    if solution is None or (until is not None and solution.passed_at >= until):
        return None
    error = tuple(line.text for line in store.runs.lines(failure_match.entry, failure_match.place))
    return Fix(
        match, error, failure.value, failure.exit_code, failure_match.conversation, failure.message, failure_match.seq, failure_match.at, failure_match.project, solution
    )  # fmt: skip


def _harmless(store: Store, steps: Iterable[WorkStep], project: str) -> set[int]:
    """The signatures of the steps that passing runs of the project print too."""
    numbers = sorted({number for step in steps for number in step.signatures})
    return store.runs.harmless(numbers, project)
