"""Determine at the end of a conversation which of its statements are still in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...domain.statements import PlacedSaying, StatementKind, StatementState
from . import endings
from .lists import DONE, LIST


class ConversationCourse(NamedTuple):
    """Events of a conversation besides its statements, as numbers of messages; -1 for an event that did not
    happen."""

    last_request: int = -1
    """The user's last message."""
    last_commit: int = -1
    last_edit: int = -1


class SettledSaying(NamedTuple):
    placed: PlacedSaying
    state: StatementState


def settle(
    sayings: Iterable[PlacedSaying], course: ConversationCourse, ending: Iterable[PlacedSaying] = ()
) -> list[SettledSaying]:
    """The statements to store, with their state. Outdated ones are left out: all but the last verdict of a check and
    the last version of a list. `ending` are the items that the end of the conversation leaves open."""
    every = sorted(sayings, key=lambda placed: placed.place)
    settled = [
        *_lasting(every),
        *_todos(every, course),
        *_checks(every),
        *_recap(every, course),
        *(SettledSaying(placed, StatementState.OPEN) for placed in ending),
    ]
    return sorted(settled, key=lambda each: each.placed.place)


def _lasting(every: Sequence[PlacedSaying]) -> Iterable[SettledSaying]:
    kinds = (
        StatementKind.DECISION,
        StatementKind.DROPPED,
        StatementKind.PREFERENCE,
        StatementKind.FIX,
        StatementKind.COMMIT,
    )
    for placed in every:
        if placed.saying.kind in kinds:
            yield SettledSaying(placed, StatementState.IN_FORCE)
    links = {
        placed.saying.text: placed for placed in every if placed.saying.kind is StatementKind.PULL_REQUEST
    }
    yield from (SettledSaying(placed, StatementState.OPEN) for placed in links.values())


def _todos(every: Sequence[PlacedSaying], course: ConversationCourse) -> Iterable[SettledSaying]:
    todos = [placed for placed in every if placed.saying.kind is StatementKind.TODO]
    listed = [placed for placed in todos if placed.saying.subject == LIST]
    last = listed[-1].message if listed else ""
    tasks: dict[str, PlacedSaying] = {}
    for placed in todos:
        if placed.saying.subject != LIST:
            former = tasks.get(placed.saying.subject, placed)
            text = placed.saying.text or former.saying.text
            # An update names only number and state; the text is that of the creation.
            tasks[placed.saying.subject] = placed._replace(saying=placed.saying._replace(text=text))
    current = [placed for placed in listed if placed.message == last] + [
        task for task in tasks.values() if task.saying.text
    ]
    updated = max((placed.place for placed in current), default=-1)
    # the list is outdated if the user continued after its work was committed
    is_stale = course.last_commit > updated and course.last_request > updated
    for placed in current:
        if placed.saying.outcome == DONE:
            state = StatementState.DONE
        else:
            state = StatementState.STALE if is_stale else StatementState.OPEN
        yield SettledSaying(placed, state)


def _checks(every: Sequence[PlacedSaying]) -> Iterable[SettledSaying]:
    """The last verdict of each runner."""
    last = {placed.saying.subject: placed for placed in every if placed.saying.kind is StatementKind.CHECK}
    for placed in last.values():
        is_red = placed.saying.outcome == "fail"
        yield SettledSaying(placed, StatementState.OPEN if is_red else StatementState.DONE)


def _recap(every: Sequence[PlacedSaying], course: ConversationCourse) -> Iterable[SettledSaying]:
    """The last recap. It is in force until work continues, and so is the next step that it names."""
    recaps = [placed for placed in every if placed.saying.kind is StatementKind.RECAP]
    if not recaps:
        return
    last = recaps[-1]
    # Edits and commits after a recap are work that it does not know of.
    is_overtaken = max(course.last_commit, course.last_edit) > last.place
    yield SettledSaying(last, StatementState.STALE if is_overtaken else StatementState.IN_FORCE)
    if not is_overtaken and (step := endings.next_in_recap(last.saying.text)):
        saying = last.saying._replace(kind=StatementKind.NEXT_STEP, text=step)
        yield SettledSaying(last._replace(saying=saying), StatementState.OPEN)
