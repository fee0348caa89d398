"""What a log tells, record by record: conversations, their turns, and where to go on reading.

Only one turn of a log is open at a time. The cursor is where it starts, so that what is appended to it later is read
together with it; everything else that is remembered must come out the same when its records are told again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any, BinaryIO, TypeVar

import msgspec

from ...domain.usage import ModelCall
from .. import (
    PIECE_BYTES,
    PLACE,
    CallResult,
    ConversationHeader,
    ConversationKind,
    Cursor,
    Piece,
    Role,
    ToolCall,
    Turn,
    WitnessRank,
)
from .echoes import without_echoes
from .lines import raw_records
from .noise import head_and_tail, without_payloads
from .occurrences import Occurrences
from .results import with_result
from .titles import headline, is_command, is_silent

T = TypeVar("T")

REMEMBERED = 50
"""Conversations and unanswered calls that a cursor speaks of: of a log of prompts there may be thousands."""


_NEWS = ("turns", "is_changed", "usage", "late_results")
"""What a conversation holds that was not given yet."""
NAMED = "named"
"""Where a cursor has the names that were given to records; one of an earlier version has none."""


class Title(IntEnum):
    """How good a title is. Of equal ones the first prompt stays, and the last of the others counts."""

    NONE = 0
    ANSWER = 1
    COMMAND = 2
    PROMPT = 3
    SUMMARY = 4
    GENERATED = 5
    CHOSEN = 6


class OpenConversation:
    """What is known of one conversation so far, and the turns that are not given yet."""

    def __init__(
        self,
        native_id: str,
        kind: ConversationKind = ConversationKind.MAIN,
        parent: str | None = None,
        standing: WitnessRank = WitnessRank.OWN,
        completeness: str = "full",
    ) -> None:
        self.native_id = native_id
        self.kind = kind
        self.parent = parent
        self.standing = standing
        self.completeness = completeness
        self.title = ""
        self.rank = Title.NONE
        self.directory = ""
        self.branch = ""
        self.model = ""
        self.started_ms: int | None = None
        self.ended_ms: int | None = None
        self.is_spoken = False
        """Somebody said something in it; before that it is not told of."""
        self.is_idle = False
        """Nothing was done in it so far: it is not told of."""
        self.is_changed = False
        self.turns: dict[str, Turn] = {}
        self.usage: dict[str, ModelCall] = {}
        """By key."""
        self.late_results: dict[str, CallResult] = {}
        """Of calls whose turns were given before."""

    def entitle(self, title: str, rank: Title) -> None:
        if title and (rank > self.rank or (rank == self.rank and rank >= Title.SUMMARY)):
            self.title, self.rank = title, rank
            self.is_changed = True

    def entitle_by(self, text: str, rank: Title) -> None:
        """What was said is a title as long as there is no better one."""
        if rank > self.rank:
            self.entitle(headline(text), rank)

    def entitle_by_prompt(self, text: str) -> None:
        self.entitle_by(text, Title.COMMAND if is_command(text) else Title.PROMPT)

    def happened(self, at_ms: int | None) -> None:
        if at_ms is not None:
            if self.started_ms is None or at_ms < self.started_ms:
                self.started_ms = at_ms
            if self.ended_ms is None or at_ms > self.ended_ms:
                self.ended_ms = at_ms

    def spend(self, call: ModelCall) -> None:
        """Count a call of the model. Of several records of one call, that with the most output has its totals."""
        known = self.usage.get(call.key)
        if known is None or call.output >= known.output:
            self.usage[call.key] = call

    def answer_late(self, call_id: str, result: CallResult) -> None:
        """Add a result to the call of a turn that is closed, or keep it for the call that was given before."""
        for turn in reversed(self.turns.values()):
            for position, call in enumerate(turn.calls):
                if call.id == call_id:
                    calls = (
                        *turn.calls[:position],
                        call._replace(result=result),
                        *turn.calls[position + 1 :],
                    )
                    self.turns[turn.id] = turn._replace(calls=calls)
                    return
        self.late_results[call_id] = result

    def has_news(self) -> bool:
        has_parts = bool(self.turns or self.usage or self.late_results)
        return self.is_spoken and not self.is_idle and (has_parts or self.is_changed)

    def is_only_spent(self) -> bool:
        """Whether it is a subagent that nobody spoke to, such as one that was started in advance: all there is to tell are its
        tokens, which the conversation that started it spent."""
        is_told = self.is_spoken and not self.is_idle
        return not is_told and self.parent is not None and bool(self.usage)

    def header(self, source: str) -> ConversationHeader:
        return ConversationHeader(
            native_id=self.native_id,
            source=source,
            title=self.title,
            directory=self.directory,
            kind=self.kind,
            parent=self.parent,
            branch=self.branch,
            model=self.model,
            started_ms=self.started_ms,
            ended_ms=self.ended_ms,
            completeness=self.completeness,
            standing=self.standing,
        )

    def saved(self) -> dict[str, Any]:
        """Fit for JSON, with the turns that were not given because nobody said anything yet."""
        known = {name: value for name, value in vars(self).items() if name not in _NEWS}
        silent = () if self.is_spoken else self.turns.values()
        turns = [(turn.id, turn.role, turn.text, turn.at_ms, turn.former_id) for turn in silent]
        spent = [] if self.is_spoken else [list(call) for call in self.usage.values()]
        return {**known, "silent": turns, "spent": spent}

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> OpenConversation:
        conversation = cls(saved["native_id"])
        known = {name: value for name, value in saved.items() if name not in ("silent", "spent")}
        vars(conversation).update(known)
        for id, role, text, at_ms, former_id in saved.get("silent", ()):
            conversation.turns[id] = Turn(id, Role(role), text, at_ms, former_id=former_id)
        for call in saved.get("spent", ()):
            conversation.spend(ModelCall(*call))
        conversation.kind, conversation.standing, conversation.rank = (
            ConversationKind(conversation.kind),
            WitnessRank(conversation.standing),
            Title(conversation.rank),
        )
        return conversation


class OpenTurn:
    """A turn whose records are still coming."""

    __slots__ = (
        "asked_ms",
        "at_ms",
        "calls",
        "conversation",
        "former_id",
        "id",
        "key",
        "model",
        "role",
        "seen",
        "start",
        "texts",
        "thoughts",
        "waiting",
    )

    def __init__(
        self, conversation: OpenConversation, id: str, role: Role, at_ms: int | None, start: int, key: str
    ) -> None:
        self.conversation = conversation
        self.id = id
        self.former_id = ""
        self.role = role
        self.at_ms = at_ms
        self.start = start
        self.key = key
        self.model = ""
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[ToolCall] = []
        self.waiting: dict[str, int] = {}
        self.asked_ms: dict[str, int] = {}
        """By the id of a call, when it was made."""
        self.seen: set[str] = set()
        """Ids of its records, where they may come twice."""

    def call(self, id: str, call: ToolCall, at_ms: int | None = None) -> None:
        """Add a call whose result is still to come. With its time, it lasts until its result."""
        self.waiting[id] = len(self.calls)
        self.calls.append(call._replace(id=id))
        if at_ms is not None:
            self.asked_ms[id] = at_ms

    def turn(self) -> Turn | None:
        """As it is by now; None while it says nothing."""
        text = self.texts[0] if len(self.texts) == 1 else "\n\n".join(self.texts)
        text, thinking = without_payloads(text).strip(), without_payloads("\n\n".join(self.thoughts)).strip()
        calls = tuple(self.calls)
        turn = Turn(self.id, self.role, text, self.at_ms, thinking, calls, self.model, self.former_id)
        turn = without_echoes(turn)
        return None if turn.is_empty else turn


class Log:
    """What the records of one source say, gathered until it is given as pieces."""

    def __init__(self, source: str, cursor: Cursor) -> None:
        self.source = source
        if NAMED not in cursor.state:
            cursor = (
                Cursor()
            )  # an earlier version named records by their place: all are told again, by their names of now
        state = cursor.state
        self.conversations = {
            id: OpenConversation.restored(conversation)
            for id, conversation in state.get("conversations", {}).items()
        }
        self.late: dict[str, str] = dict(state.get("late", {}))
        """Calls of turns that are closed and were not answered by then: the tool's name by the call's id."""
        self.memory: dict[str, dict[str, Any]] = _copy(state.get("memory", {}))
        """The reader's own, fit for JSON."""
        self.skipped: Counter[str] = Counter()
        self.open: OpenTurn | None = None
        self.offset = self._given = cursor.offset
        self._nth = -1
        self._line = b""
        self._names = Occurrences(state.get(NAMED, {}))
        self._former_ids: dict[str, str] = {}

    def read(
        self,
        stream: BinaryIO,
        decoder: msgspec.json.Decoder[T],
        hear: Callable[[T], None],
        is_wanted: Callable[[bytes], bool] | None = None,
    ) -> Iterator[Piece]:
        """Have `hear` take in each record from the cursor on, and give the pieces as they get full."""
        for offset, line, record in raw_records(stream, decoder, self.skipped, self.offset, is_wanted):
            if self.goes_on(offset, line):
                yield from self.pieces()
            hear(record)
        yield from self.pieces(is_last=True)

    def goes_on(self, offset: int, line: bytes) -> bool:
        """Say where the next record stands, and its bytes. Whether it is time to give the pieces before it."""
        self._nth = self._nth + 1 if offset == self.offset else 0
        self.offset = offset
        self._line = line
        return offset - self._given >= PIECE_BYTES

    def name(self, at_ms: int | None, prefix: str = "") -> str:
        """An id for the record at hand where it has none of its own. What a prefix names is told apart."""
        name = prefix + self._names.name(self._line, at_ms, self.offset)
        place = f"{PLACE}{self.offset}.{self._nth}" if self._nth else f"{PLACE}{self.offset}"
        self._former_ids = {name: prefix + place}
        return name

    def conversation(self, native_id: str, **made: Any) -> OpenConversation:
        conversation = self.conversations.get(native_id)
        if conversation is None:
            conversation = self.conversations[native_id] = OpenConversation(native_id, **made)
        return conversation

    def begin(
        self, conversation: OpenConversation, id: str, role: Role, at_ms: int | None, key: str = ""
    ) -> OpenTurn:
        """Close the open turn, and open another. Records with the same key may join it."""
        former = self.open
        self.close()
        # two objects on one line cannot be told apart by where they start
        start = former.start if former is not None and self._nth else self.offset
        self.open = OpenTurn(conversation, id, role, at_ms, start, key)
        self.open.former_id = self._former_ids.pop(id, "")
        self.conversations[conversation.native_id] = self.conversations.pop(
            conversation.native_id
        )  # the last ones spoken of are remembered
        return self.open

    def prompt(self, native_id: str, text: str, at_ms: int | None) -> OpenConversation:
        """A line of a log of prompts, which is all that is left of some conversations."""
        traits = {
            "kind": ConversationKind.PROMPT_LOG,
            "standing": WitnessRank.PROMPTS,
            "completeness": "partial",
        }
        conversation = self.conversation(native_id, **traits)
        conversation.entitle_by_prompt(text)
        self.begin(conversation, self.name(at_ms), Role.USER, at_ms).texts.append(text)
        return conversation

    def close(self) -> None:
        if self.open is not None:
            self._keep_open()
            for id, position in self.open.waiting.items():
                self.late[id] = self.open.calls[position].name
            while len(self.late) > REMEMBERED:
                del self.late[next(iter(self.late))]
            self.open = None

    def answer(
        self,
        conversation: OpenConversation,
        call_id: str,
        text: Callable[[], str],
        at_ms: int | None,
        *,
        is_error: bool,
        exit_code: int | None = None,
        duration_ms: int | None = None,
    ) -> None:
        """Add the result of a tool to its call, which may be in a turn that is closed or was given before. The failure of
        such a call becomes a turn itself."""
        if self.open is not None and (position := self.open.waiting.pop(call_id, None)) is not None:
            if duration_ms is None and at_ms is not None and call_id in self.open.asked_ms:
                duration_ms = max(at_ms - self.open.asked_ms[call_id], 0)
            output = text()
            call = self.open.calls[position]
            call = call._replace(error=_failure(output)) if is_error else call
            self.open.calls[position] = with_result(
                call, output, exit_code, is_error=is_error, duration_ms=duration_ms
            )
        elif (name := self.late.pop(call_id, None)) is not None:
            output = text()
            call = with_result(ToolCall(name), output, exit_code, is_error=is_error, duration_ms=duration_ms)
            if call.result is not None:
                conversation.answer_late(call_id, call.result)
            if is_error:
                failure = ToolCall(name, error=_failure(output))
                self.begin(conversation, f"{call_id}!", Role.SYSTEM, at_ms).calls.append(failure)

    def pieces(self, *, is_last: bool = False) -> Iterator[Piece]:
        """What was told since the last ones. They are kept together: only the last has a cursor."""
        if is_last:
            self._keep_open()
        changed = [
            conversation
            for conversation in self.conversations.values()
            if conversation.has_news() or conversation.is_only_spent()
        ]
        for conversation in changed:
            turns = [] if conversation.is_only_spent() else list(conversation.turns.values())
            cursor = self._cursor() if conversation is changed[-1] else None
            skipped = dict(self.skipped) if cursor else {}
            yield Piece(
                conversation.header(self.source),
                turns,
                cursor,
                skipped=skipped,
                usage=list(conversation.usage.values()),
                late_results=dict(conversation.late_results),
            )
            if not conversation.is_only_spent():
                conversation.turns.clear()
            conversation.usage.clear()
            conversation.late_results.clear()
            conversation.is_changed = False
        if changed:
            self.skipped.clear()
        self._given = self.offset

    def _keep_open(self) -> None:
        if self.open is not None and (turn := self.open.turn()) is not None:
            conversation = self.open.conversation
            conversation.turns[turn.id] = turn
            conversation.is_spoken = conversation.is_spoken or not is_silent(turn)
            if turn.role is Role.ASSISTANT:
                conversation.entitle_by(turn.text, Title.ANSWER)
            conversation.happened(turn.at_ms)

    def _cursor(self) -> Cursor:
        offset = self.offset if self.open is None else self.open.start
        conversations = {
            conversation.native_id: conversation.saved()
            for conversation in list(self.conversations.values())[-REMEMBERED:]
        }
        state = {
            "conversations": conversations,
            "late": dict(self.late),
            "memory": _copy(self.memory),
            NAMED: self._names.saved(offset),
        }
        return Cursor(offset, state)


def _failure(text: str) -> str:
    return head_and_tail(without_payloads(text.strip() or "failed"))


def _copy(memory: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: dict(facts) for name, facts in memory.items()}
