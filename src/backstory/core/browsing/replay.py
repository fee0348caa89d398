"""Replay of a conversation in parts: messages, tool calls, the user's requests, and related conversations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate
from typing import Any, NamedTuple

from ...domain.census import ConversationTally
from ...domain.errors import NotFound
from ...domain.filters import ConversationFilter
from ...domain.neutral import neutral
from ...domain.records import Conversation, Message, Trace
from ...domain.tool_results import StoredCall
from ..part import CorePart
from .todos import TodoList, todo_lists

LONGEST_PROMPT = 160  # characters of a prompt, enough to distinguish it from others
PASSAGE_CHARS = 200


class ReplayPart(NamedTuple):
    """A stretch of a conversation."""

    places: range
    """The range of `seq` numbers in this part."""
    end: int
    """The number after the last message of the conversation."""
    messages: list[Message]
    traces: dict[str, list[Trace]]
    """Traces by message id."""
    calls: dict[str, list[StoredCall]]
    """Tool calls with their results, by message."""

    def call_bodies(self, message: Message) -> list[dict[str, Any]]:
        """The tool calls of a message as JSON.

        Results are marked as program output, so that tags in them cannot pass for ours."""
        return [_call_body(call, message) for call in self.calls.get(message.id, ())]


class ReplayPrompt(NamedTuple):
    """A message of the user, and the time that the assistant took for it."""

    seq: int
    text: str
    """The beginning of the text."""
    worked: timedelta
    """The time until the last message before the next prompt, without long pauses; zero if the log does not record it."""


class FoundPlace(NamedTuple):
    """A message in which a text was found."""

    seq: int
    role: str
    passage: str


class Replay(CorePart):
    def conversation(self, id: str) -> Conversation:
        """The one of exactly this id."""
        conversations = self._find(ConversationFilter(ids=(id,)))
        if not conversations:
            raise NotFound("conversation", id)
        return conversations[0]

    def end(self, conversation: Conversation) -> int:
        """One after the last place."""
        return self.engine.store.messages.last_place(conversation.id) + 1

    def part(self, conversation: Conversation, start: int = 0, size: int | None = None) -> ReplayPart:
        """The part with `size` places from `start` on, or all to the end; a negative `start` counts from the end."""
        store, end = self.engine.store, self.end(conversation)
        start = max(end + start, 0) if start < 0 else start
        places = range(start, end if size is None else start + size)
        traces: dict[str, list[Trace]] = {}
        for trace in store.traces.of(conversation.id, places):
            traces.setdefault(trace.message, []).append(trace)
        calls: dict[str, list[StoredCall]] = {}
        for call in store.results.of(conversation.id, places):
            calls.setdefault(call.message, []).append(call)
        return ReplayPart(places, end, store.messages.of(conversation.id, places), traces, calls)

    def message(self, conversation: Conversation, id: str) -> Message:
        """The message of a conversation with exactly this id. Raises NotFound."""
        message = self.engine.store.messages.get(id)
        if message is None or message.conversation != conversation.id:
            raise NotFound("message", id)
        return message

    def places_after(self, conversation: Conversation, start: int, size: int, *, most: int) -> int:
        """The number of places from `start` on, at most `size` and at least one, that have at most `most` messages
        and calls together."""
        counts = self.engine.store.messages.counts(conversation.id, range(start, start + size))
        return _fitting([counts.get(seq, 0) for seq in range(start, start + size)], most)

    def places_before(self, conversation: Conversation, end: int, size: int, *, most: int) -> int:
        """The number of places before `end`, at most `size`, that have at most `most` messages and calls together; at
        least one, if there is any."""
        places = range(max(end - size, 0), end)
        counts = self.engine.store.messages.counts(conversation.id, places)
        return min(_fitting([counts.get(seq, 0) for seq in reversed(places)], most), len(places))

    def prompts(self, conversation: Conversation) -> list[ReplayPrompt]:
        room = self.engine.store.messages
        texts = dict(room.prompts(conversation.id, LONGEST_PROMPT))
        return [
            ReplayPrompt(seq, texts[seq], worked)
            for seq, (_, worked) in room.prompt_times(conversation.id).items()
        ]

    def search(self, conversation: Conversation, text: str, limit: int) -> list[FoundPlace]:
        """Places that contain a text in any case, in messages and in results of tools; the first `limit` of them."""
        store = self.engine.store
        places = [
            FoundPlace(each.seq, each.role, _passage(each.text, text))
            for each in store.messages.containing(conversation.id, text, limit=limit)
        ]
        results = {
            call.message: call.result.text
            for call in store.results.of(conversation.id)
            if call.result and text.casefold() in call.result.text.casefold()
        }
        seqs = store.messages.places(conversation.id, list(results)) if results else {}
        places += [
            FoundPlace(seqs[message], "result", _passage(result, text)) for message, result in results.items()
        ]
        return sorted(places, key=lambda each: each.seq)[:limit]

    def course(self, conversation: Conversation) -> list[tuple[int, str, bool]]:
        """The place and role of each message, and whether a tool call there failed."""
        return self.engine.store.messages.course(conversation.id)

    def has_changes(self, conversation: Conversation) -> bool:
        """True if a file was written in the conversation."""
        return bool(self.engine.store.traces.last_writes([conversation.id]))

    def todo_lists(self, conversation: Conversation) -> list[TodoList]:
        return todo_lists(self.engine.store.sayings.of(conversation.id))

    def subagents(self, conversation: Conversation) -> dict[int, list[Conversation]]:
        """Subagents by the `seq` of the last message before each of them began."""
        places: dict[int, list[Conversation]] = {}
        for each in self._find(ConversationFilter(parents=(conversation.id,), kinds=("subagent",)))[::-1]:
            seq = self.engine.store.messages.place_at(conversation.id, each.created_at)
            places.setdefault(seq, []).append(each)
        return places

    def relatives(self, conversation: Conversation) -> tuple[list[Conversation], list[Conversation]]:
        """The parent conversations and the child conversations."""
        above = self._find(ConversationFilter(ids=(conversation.parent,))) if conversation.parent else []
        return above, self._find(ConversationFilter(parents=(conversation.id,)))[::-1]

    def tally(self, which: ConversationFilter) -> list[ConversationTally]:
        """The number of conversations per assistant and project, last updated first."""
        return self.engine.store.conversations.tally(self.caller.visible_conversations(which))

    def _find(self, which: ConversationFilter) -> list[Conversation]:
        return self.engine.store.conversations.find(self.caller.visible_conversations(which))


def _fitting(counts: Sequence[int], most: int) -> int:
    """The length of the longest prefix whose sum is at most `most`; at least one."""
    return max(bisect_right(list(accumulate(counts)), most), 1)


def _passage(text: str, wanted: str) -> str:
    """The text around the first occurrence."""
    place = max(text.casefold().find(wanted.casefold()), 0)
    start = max(place - PASSAGE_CHARS // 3, 0)
    end = start + PASSAGE_CHARS
    return f"{'…' * bool(start)}{' '.join(text[start:end].split())}{'…' * (end < len(text))}"


def _call_body(call: StoredCall, message: Message) -> dict[str, Any]:
    result = call.result
    return {
        "id": call.native_id,
        "name": call.name,
        "command": neutral(call.command.within(message.text)),
        "arguments": neutral(call.arguments.within(message.text)),
        "result": None
        if result is None
        else {
            "text": neutral(result.text),
            "bytes": result.bytes,
            "is_cut": result.is_cut,
            "is_error": result.is_error,
            "exit_code": result.exit_code,
            "duration_ms": result.duration_ms,
        },
    }
