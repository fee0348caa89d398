"""Which of several hits a later one supersedes: of two memories, or of two statements in conversations, on one subject.

A message never supersedes a saved memory. Only a reversal on the same subject supersedes; saying the same again does not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ...domain.records import Entry, Memory
from ...domain.statements import StatementKind
from ...store import Store
from ..statements.relations import StatedText, StatementRelation, relation

COMPARED_KINDS = (StatementKind.DECISION,)
MAX_STATED_CHARS = 600
"""A longer memory is a document: which of its sentences another one reverses cannot be told from words."""


def later_decisions(entries: Iterable[Entry], store: Store) -> dict[str, Entry]:
    """By the id of a superseded entry, the latest of the entries that supersedes it."""
    every = list(entries)
    messages = store.sayings.by_message(
        [each.id for each in every if not isinstance(each, Memory)], COMPARED_KINDS
    )
    stated = [(each, [StatedText.of(text) for text in _texts(each, messages)]) for each in every]
    later: dict[str, Entry] = {}
    for entry, texts in stated:
        newer = [
            other
            for other, others in stated
            if other.project == entry.project
            and isinstance(other, Memory) == isinstance(entry, Memory)
            and _at(other) > _at(entry)
            and texts
            and all(
                any(relation(new, old) is StatementRelation.SUPERSEDES for new in others) for old in texts
            )
        ]
        if newer:
            later[entry.id] = max(newer, key=_at)
    return later


def _texts(entry: Entry, messages: dict[str, list[str]]) -> list[str]:
    if isinstance(entry, Memory):
        return [entry.text] if len(entry.text) <= MAX_STATED_CHARS else []
    return messages.get(entry.id, [])


def _at(entry: Entry) -> datetime:
    return entry.updated_at if isinstance(entry, Memory) else entry.created_at
