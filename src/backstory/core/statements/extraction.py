"""The statements of a conversation's turns: first signals of the log, then sentences in the places where people conclude."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...domain.statements import Saying, Speaker, StatementKind
from ...readers import PULL_REQUEST, Role, ToolCall, Turn
from . import commands, endings, lists, words
from .foreign import reads_others

RULES = 3
"""Raised when the rules change: conversations that were extracted by older ones are gone through again."""
MAX_CHARS = 400


def with_sayings(turns: Sequence[Turn]) -> list[Turn]:
    """The turns with their statements."""
    stated = sayings_of(turns)
    return [turn._replace(sayings=tuple(stated[turn.id])) if turn.id in stated else turn for turn in turns]


def sayings_of(turns: Sequence[Turn]) -> dict[str, list[Saying]]:
    """The statements by the id of their turn, in the order of turns. The ending of a conversation is not included, because
    it is valid only until the conversation continues (`endings`)."""
    stated: dict[str, list[Saying]] = {}
    closing = _closing(turns)
    calls: list[ToolCall] = []
    """Calls made for the current request."""
    is_reciting = False
    """True if the assistant called Backstory for the current request: its conclusions may come from Backstory's answer."""
    for turn in turns:
        if turn.role is Role.USER:
            # Each request starts clean: text that was read for the previous request does not taint this one.
            calls.clear()
            is_reciting = False
        calls += turn.calls
        is_reciting = is_reciting or (turn.recites and turn.role is not Role.USER)
        is_closing = turn.id in closing
        for saying in _of_turn(turn, is_closing=is_closing and not is_reciting):
            # after reading text of others, "we decided" may be their decision
            if not (words.is_shared(saying) and any(map(reads_others, calls))):
                _add(stated, turn, saying)
        # Other pull requests are mentioned too; one after a push of the same request is its own.
        link = commands.pull_request_in(turn.text) if is_closing else ""
        if link and any(map(commands.has_pushed, calls)):
            _add(stated, turn, Saying(StatementKind.PULL_REQUEST, link, Speaker.ASSISTANT))
    _drop_former_lists(turns, stated)
    return stated


def _of_turn(turn: Turn, *, is_closing: bool) -> Iterator[Saying]:
    for call in turn.calls:
        yield from _of_call(call)
    if turn.role is Role.SUMMARY:
        yield from _of_summary(turn.text)
    elif turn.role is Role.USER and not turn.recites:
        yield from words.by_user(turn.text)
    elif is_closing:
        yield from words.by_assistant(turn.text)


def _of_call(call: ToolCall) -> Iterator[Saying]:
    if call.name == PULL_REQUEST:
        yield Saying(StatementKind.PULL_REQUEST, call.arguments, Speaker.LOG)
    elif call.command:
        yield from commands.sayings_of(call)
    else:
        yield from lists.sayings_of(call)


def _of_summary(text: str) -> Iterator[Saying]:
    """An assistant's own recap, or the part of a compaction summary about the state of the work."""
    if recap := endings.recap_in(text):
        yield Saying(StatementKind.RECAP, recap, Speaker.LOG)


def _closing(turns: Sequence[Turn]) -> set[str]:
    """The last assistant turn for each request; earlier turns are narration."""
    spoken = [turn for turn in turns if turn.text.strip() and turn.role in (Role.USER, Role.ASSISTANT)]
    ends = {turn.id for turn, after in pairwise(spoken) if after.role is Role.USER}
    ends |= {spoken[-1].id} if spoken else set()
    return {turn.id for turn in spoken if turn.role is Role.ASSISTANT and turn.id in ends}


def _drop_former_lists(turns: Sequence[Turn], stated: dict[str, list[Saying]]) -> None:
    """Drop all but the last version of each list that assistants rewrite completely."""
    is_later = False
    for turn in reversed(turns):
        sayings = stated.get(turn.id, [])
        listed = [
            saying for saying in sayings if saying.kind is StatementKind.TODO and saying.subject == lists.LIST
        ]
        # Each version of such a list repeats the items of the one before it.
        if is_later and listed:
            stated[turn.id] = [saying for saying in sayings if saying not in listed]
        is_later = is_later or bool(listed)


def _add(stated: dict[str, list[Saying]], turn: Turn, saying: Saying) -> None:
    saying = clipped(saying)
    sayings = stated.setdefault(turn.id, [])
    # an update of a task names it by its number only
    if (saying.text or saying.subject) and not any(_is_same(each, saying) for each in sayings):
        sayings.append(saying)


def _is_same(one: Saying, other: Saying) -> bool:
    return one.kind is other.kind and (one.text or one.subject) == (other.text or other.subject)


def clipped(saying: Saying) -> Saying:
    """On one line and of at most MAX_CHARS characters."""
    return saying._replace(text=" ".join(saying.text.split())[:MAX_CHARS])
