"""Commands that passed in a project, found by words of their text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import log
from typing import NamedTuple

from ...domain.filters import Filter
from ...domain.lazy import lazy_pattern
from ...domain.runs import CommandCount
from ...domain.words import STOP_WORDS
from ...search.terms import stem
from ...store import Store
from .commands import normalized, without_values

MAX_ANSWERS = 5
MAX_RUNS = 5_000
"""Stored runs that are looked at for one question, the newest."""
MIN_SHARE = 0.7
"""The minimum share of the best match's word weight that a command must have."""
_WORD = lazy_pattern(r"[\w.:/-]*\w")
_REQUEST_WORDS = frozenset(["run", "execute", "do", "use", "call", "get", "command", "commands"])
"""Words that say nothing about a particular command."""


class KnownCommand(NamedTuple):
    command: str
    """The command as it last passed."""
    passed: int
    failed: int
    last_at: datetime
    """The time when it last passed."""
    conversation: str


def known_commands(
    store: Store, words: str, where: Filter, *, limit: int = MAX_ANSWERS
) -> list[KnownCommand]:
    """Commands with the words that passed at least once, the most passed and newest first.

    Runs that differ only in numbers, quoted texts and the part of the output that is shown count as one command."""
    terms = _terms(words)
    runs = store.runs.commands(terms, where, limit=MAX_RUNS) if terms else []
    grouped: dict[str, list[CommandCount]] = {}
    for run in runs:
        grouped.setdefault(without_values(run.command), []).append(run)
    weights = _weights(terms, [group[0] for group in grouped.values()])
    # A command that never passed is no answer to "how do we …".
    passing = [group for group in grouped.values() if not all(run.has_failed for run in group)]
    shares = [sum(weights[term] for term in terms if _has(group[0], term)) for group in passing]
    best = max(shares, default=0.0)
    chosen = [
        _known(group) for group, share in zip(passing, shares, strict=True) if share >= MIN_SHARE * best
    ]
    return sorted(chosen, key=lambda each: (each.passed, each.last_at), reverse=True)[:limit]


def _terms(words: str) -> list[str]:
    plain = [word.lower() for word in _WORD.findall(words)]
    # A question of request words alone ("run it") still means these words.
    telling = [word for word in plain if word not in STOP_WORDS and word not in _REQUEST_WORDS]
    return list(dict.fromkeys(map(stem, telling or plain)))


def _weights(terms: Sequence[str], commands: Sequence[CommandCount]) -> dict[str, float]:
    """The weight of each word: a rare word counts more."""
    frequency = {term: sum(_has(each, term) for each in commands) for term in terms}
    return {
        term: log(1 + len(commands) / (0.5 + frequency[term])) if frequency[term] else 0.0 for term in terms
    }


def _has(run: CommandCount, term: str) -> bool:
    return term in run.command.lower() or any(term in family for family in run.families)


def _known(group: Sequence[CommandCount]) -> KnownCommand:
    """The runs of one command, newest first, as one answer."""
    last = next(run for run in group if not run.has_failed)
    failed = sum(run.has_failed for run in group)
    return KnownCommand(normalized(last.command), len(group) - failed, failed, last.at, last.conversation)
