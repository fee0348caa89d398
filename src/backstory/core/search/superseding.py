"""Which of several decisions holds: of those on one matter in one project the latest, whether saved or said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from ...domain.kinds import MemoryKind, kind_of
from ...domain.records import Entry, Memory, Trust
from ...domain.words import query_units
from ...search.terms import stem
from ...store import Store
from .conclusions import decisions

ALIKE = 0.5  # of the words of the one that has fewer, those that both have
_WORDS = ("decide", "decided", "decision", "agreed", "settled", "chose", "picked", "choose", "use", "going", "keep", "switch")  # fmt: skip
_DECIDING = set(map(stem, _WORDS))


def later_decisions(entries: Iterable[Entry], store: Store) -> dict[str, Entry]:
    """By the id of an earlier decision the latest of these on the same matter. What others wrote supersedes nothing of the user's own."""
    decided = [(entry, texts) for entry in entries if (texts := _decisions(entry, store))]
    of_project = Counter(entry.project for entry, _ in decided)
    stated = [
        (entry, words)
        for entry, texts in decided
        if of_project[entry.project] > 1 and (words := _telling_words(texts))
    ]
    later: dict[str, Entry] = {}
    for entry, words in stated:
        newer = [
            other
            for other, others in stated
            if other.project == entry.project
            and _at(other) > _at(entry)
            and (other.trust is Trust.OWN or entry.trust is not Trust.OWN)
            and len(words & others) >= ALIKE * min(len(words), len(others))
        ]
        if newer:
            later[entry.id] = max(newer, key=_at)
    return later


def _decisions(entry: Entry, store: Store) -> list[str]:
    """What it decides, if anything."""
    if isinstance(entry, Memory):
        return [entry.text] if kind_of(entry) is MemoryKind.DECISION else []
    return [conclusion.text for conclusion in decisions([entry], store)]


def _telling_words(texts: Iterable[str]) -> set[str]:
    units = (unit for text in texts for unit in query_units(text))
    return {stem(unit.words[0]) for unit in units if len(unit.words) == 1 and not unit.is_bonus} - _DECIDING


def _at(entry: Entry) -> datetime:
    return entry.updated_at if isinstance(entry, Memory) else entry.created_at
