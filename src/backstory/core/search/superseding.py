"""Hits that later hits supersede: memories, or statements in conversations, on one subject.

A message never supersedes a saved memory. Only a reversal on the same subject supersedes; repeating a statement does
not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ...domain.records import OF_TEAM, Entry, Memory
from ...domain.statements import StatementKind
from ...search.engine import Hit
from ...store import Store
from ..statements.relations import StatedText, StatementRelation, relation

COMPARED_KINDS = (StatementKind.DECISION,)
LEAST_SHARE = 0.5
"""The minimum score of a superseding hit, as a share of the superseded one's."""
MAX_STATED_CHARS = 600
"""Longer memories are documents: words alone do not show which of their sentences another one reverses."""


def later_decisions(entries: Iterable[Entry], store: Store) -> dict[str, Entry]:
    """For each superseded entry, the latest of the entries that supersedes it."""
    groups: dict[tuple[str, bool, bool], list[Entry]] = {}
    for entry in entries:
        # where a team and this user disagree, both are shown
        key = (entry.project, isinstance(entry, Memory), entry.trust in OF_TEAM)
        groups.setdefault(key, []).append(entry)
    comparable = [group for group in groups.values() if len(group) > 1]
    messages = store.sayings.by_message(
        [each.id for group in comparable for each in group if not isinstance(each, Memory)], COMPARED_KINDS
    )
    later: dict[str, Entry] = {}
    for group in comparable:
        later |= _later_in(group, messages)
    return later


def _later_in(group: Sequence[Entry], messages: Mapping[str, list[str]]) -> dict[str, Entry]:
    """For each superseded entry of one project and kind, the latest that supersedes it."""
    stated = [(each, [StatedText.of(text) for text in _texts(each, messages)]) for each in group]
    later: dict[str, Entry] = {}
    for entry, texts in stated:
        newer = [
            other
            for other, others in stated
            if _at(other) > _at(entry)
            and texts
            and all(
                any(relation(new, old) is StatementRelation.SUPERSEDES for new in others) for old in texts
            )
        ]
        if newer:
            later[entry.id] = max(newer, key=_at)
    return later


def may_state(hits: Sequence[Hit], store: Store) -> list[int]:
    """The entries of hits that may supersede another or be superseded: memories, and messages with a statement."""
    stating = store.sayings.stating(
        (hit.entry for hit in hits if hit.conversation is not None), COMPARED_KINDS
    )
    return [hit.entry for hit in hits if hit.conversation is None or hit.entry in stating]


def superseding_hits(hits: Sequence[Hit], entries: Mapping[int, Entry], store: Store) -> dict[int, int]:
    """For each superseded hit, the entry of the hit that supersedes it.

    A later entry that hardly answers the query supersedes nothing: two notes in the same words about two tickets are
    not versions of one fact if the query is about one of the tickets."""
    numbers = {entry.id: number for number, entry in entries.items()}
    by_number = {hit.entry: hit for hit in hits}
    return {
        numbers[id]: numbers[entry.id]
        for id, entry in later_decisions(entries.values(), store).items()
        if by_number[numbers[entry.id]].score >= LEAST_SHARE * by_number[numbers[id]].score
    }


def latest_first(hits: Sequence[Hit], later: Mapping[int, int]) -> list[Hit]:
    """The hits with each superseded one right behind the one that supersedes it."""
    by_number = {hit.entry: hit for hit in hits}
    ordered: dict[int, Hit] = {}
    for hit in hits:
        if hit.entry in later:
            ordered.setdefault(later[hit.entry], by_number[later[hit.entry]])
        ordered.setdefault(hit.entry, hit)
    return list(ordered.values())


def _texts(entry: Entry, messages: Mapping[str, list[str]]) -> list[str]:
    if isinstance(entry, Memory):
        return [entry.text] if len(entry.text) <= MAX_STATED_CHARS else []
    return messages.get(entry.id, [])


def _at(entry: Entry) -> datetime:
    return entry.updated_at if isinstance(entry, Memory) else entry.created_at
