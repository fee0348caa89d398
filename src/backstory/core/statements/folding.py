"""Follow statements through later conversations of their project: confirmed, superseded, answered or done.

A message never ends a saved memory, but it may confirm one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta

from ...domain.records import Memory
from ...domain.statements import Statement, StatementKind, StatementState
from .relations import StatedText, StatementRelation, is_same_subject, relation
from .words import recites_memory

STALE_AFTER = timedelta(days=30)
ANSWERING_WORDS = 2
"""Content words that a later session must share with an open item to have taken it up."""
COMPARED_KINDS = (StatementKind.DECISION, StatementKind.PREFERENCE, StatementKind.DROPPED)
ENDED_BY_WORK = (StatementKind.QUESTION, StatementKind.NEXT_STEP, StatementKind.ENDING, StatementKind.TODO)


class _Standing:
    """A decision or rule while later ones are compared with it."""

    def __init__(self, statement: Statement | None, text: str) -> None:
        self.statement = statement
        """None for a saved memory, which stays as it is."""
        self.stated = StatedText.of(text)
        self.conversations = {statement.conversation} if statement else set()

    @property
    def is_dropped(self) -> bool:
        return self.statement is not None and self.statement.kind is StatementKind.DROPPED

    @property
    def id(self) -> str:
        return self.statement.id if self.statement else ""

    @property
    def is_in_force(self) -> bool:
        return self.statement is None or self.statement.state is StatementState.IN_FORCE

    def end(self, state: StatementState, by: Statement) -> None:
        assert self.statement is not None
        self.statement = self.statement._replace(state=state, superseded_by=by.id)


def fold(
    statements: Iterable[Statement], memories: Sequence[Memory], dismissed: AbstractSet[str] = frozenset()
) -> list[Statement]:
    """The statements of one project with their final state, without repetitions of earlier ones.

    A dismissed statement supersedes nothing, and its repetitions are left out too, because it would otherwise return
    in other words."""
    folded: list[Statement] = []
    standing: dict[str, list[_Standing]] = {}
    # Memories come first whatever their age: a sentence in a conversation may repeat one, and never ends one.
    for memory in memories:
        _index(standing, _Standing(None, memory.text))
    for statement in sorted(statements, key=lambda each: each.at):
        if statement.kind not in COMPARED_KINDS or statement.state is not StatementState.IN_FORCE:
            folded.append(statement)
        elif not recites_memory(statement.text) and not _repeats(statement, standing, dismissed):
            _index(standing, _Standing(statement, statement.text))
    compared = {id(each): each for group in standing.values() for each in group if each.statement}
    folded += [each.statement for each in compared.values() if each.statement]
    return sorted(folded, key=lambda each: each.at)


def _index(standing: dict[str, list[_Standing]], new: _Standing) -> None:
    # "Let's go with 9090" has no word to compare, but is in force anyway
    for word in new.stated.words or [""]:
        standing.setdefault(word, []).append(new)


def _repeats(
    statement: Statement, standing: Mapping[str, list[_Standing]], dismissed: AbstractSet[str]
) -> bool:
    """Return whether a statement confirms an earlier one. Statements that it reverses are marked as superseded."""
    stated = StatedText.of(statement.text)
    # Only statements with a common word can be related; comparing all pairs is quadratic in years of work.
    earlier = {id(each): each for word in stated.words for each in standing.get(word, ()) if each.is_in_force}
    relations = [(each, relation(stated, each.stated)) for each in earlier.values()]
    confirmed = [
        each
        for each, kind in relations
        if kind is StatementRelation.CONFIRMS
        # dropping an attempt does not confirm it
        and (statement.kind is StatementKind.DROPPED) == each.is_dropped
    ]
    is_dismissed = not dismissed.isdisjoint({statement.id, *(each.id for each in confirmed)})
    for each, kind in relations if not is_dismissed else ():
        if each.statement is None or each in confirmed:
            continue
        if kind is StatementRelation.SUPERSEDES:
            each.end(StatementState.SUPERSEDED, statement)
        elif (
            statement.kind is StatementKind.DROPPED
            and not each.is_dropped
            and is_same_subject(stated, each.stated)
        ):
            each.end(StatementState.DROPPED, statement)
    for each in confirmed:
        _confirm(each, statement)
    return bool(confirmed)


def _confirm(each: _Standing, by: Statement) -> None:
    # A session that says the same thing five times confirms it once.
    if each.statement is None or by.conversation in each.conversations:
        return
    each.conversations.add(by.conversation)
    each.statement = each.statement._replace(
        confirmations=each.statement.confirmations + 1,
        # The reason is often given only in a later answer.
        reason=each.statement.reason or by.reason,
    )


def ended(
    statements: Iterable[Statement],
    later_words: Callable[[str], Iterable[frozenset[str]]],
    last_work: datetime | None,
) -> list[Statement]:
    """The statements with open items updated by later sessions.

    `later_words` returns the content words of each message in the conversations after the given one. An item is stale
    after work of STALE_AFTER that did not touch it. A pause does not count: after a pause, users want to know the
    open items."""
    endings = []
    for statement in statements:
        if statement.state is StatementState.OPEN and statement.kind in ENDED_BY_WORK:
            own = StatedText.of(statement.text).words
            needed = min(ANSWERING_WORDS, len(own))
            if needed and any(len(own & other) >= needed for other in later_words(statement.conversation)):
                is_question = statement.kind is StatementKind.QUESTION
                state = StatementState.ANSWERED if is_question else StatementState.DONE
                statement = statement._replace(state=state)
        is_passed_by = last_work is not None and last_work - statement.at > STALE_AFTER
        if statement.state is StatementState.OPEN and is_passed_by:
            statement = statement._replace(state=StatementState.STALE)
        endings.append(statement)
    return endings


def with_checks_ended(statements: Sequence[Statement]) -> list[Statement]:
    """A red check ends with the next green run of the same runner, in whichever conversation."""
    green: dict[str, datetime] = {}
    for statement in statements:
        if statement.kind is StatementKind.CHECK and statement.outcome == "pass":
            green[statement.subject] = max(statement.at, green.get(statement.subject, statement.at))
    return [
        statement._replace(state=StatementState.DONE)
        if statement.kind is StatementKind.CHECK
        and statement.state is StatementState.OPEN
        and green.get(statement.subject, statement.at) > statement.at
        else statement
        for statement in statements
    ]
