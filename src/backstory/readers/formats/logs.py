"""The conversations of a log, built record by record: their turns, and the position from which to continue.

Only one turn of a log is open at a time. The cursor points to its start, which lets later additions be read together
with it. All other remembered state must be the same after its records are read again."""

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
"""Maximum number of conversations and unanswered calls in a cursor. A log of prompts may have thousands."""


_NEWS = ("turns", "is_changed", "usage", "late_results")
"""Attributes of a conversation that are not part of a cursor, because they were not yielded yet."""
NAMED = "named"
"""Key in a cursor for the names assigned to records. Cursors of earlier versions do not have it."""


class Title(IntEnum):
    """Quality of a title. Among equal ones, the first prompt wins, and for all other ranks the last one."""

    NONE = 0
    ANSWER = 1
    COMMAND = 2
    PROMPT = 3
    SUMMARY = 4
    GENERATED = 5
    CHOSEN = 6


class OpenConversation:
    """The state of one conversation, and the turns that were not yielded yet."""

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
        """True once the conversation contains a message. Before that it is not yielded."""
        self.is_idle = False
        """True while the conversation has no activity. Such a conversation is not yielded."""
        self.is_changed = False
        self.turns: dict[str, Turn] = {}
        self.usage: dict[str, ModelCall] = {}
        """Model calls by key."""
        self.late_results: dict[str, CallResult] = {}
        """Results of calls whose turns were yielded before."""

    def entitle(self, title: str, rank: Title) -> None:
        if title and (rank > self.rank or (rank == self.rank and rank >= Title.SUMMARY)):
            self.title, self.rank = title, rank
            self.is_changed = True

    def entitle_by(self, text: str, rank: Title) -> None:
        """Use the first line of a message as the title while there is no better one."""
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
        """Count a model call. Among several records of one call, the one with the most output has the totals."""
        known = self.usage.get(call.key)
        if known is None or call.output >= known.output:
            self.usage[call.key] = call

    def answer_late(self, call_id: str, result: CallResult) -> None:
        """Add a result to the call in a closed turn, or store it for a call that was yielded before."""
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
        """True for a subagent without dialogue, such as one started in advance.

        Only its tokens are reported, and they count for the conversation that started it."""
        has_dialogue = self.is_spoken and not self.is_idle
        return not has_dialogue and self.parent is not None and bool(self.usage)

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
        """Return a JSON-compatible state, including the turns that were not yielded because there is no message yet."""
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
    """A turn whose records are still arriving."""

    __slots__ = (
        "asked_ms", "at_ms", "calls", "conversation", "former_id", "id", "key", "model", "role", "seen", "start",
        "texts", "thoughts", "waiting",
    )  # fmt: skip

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
        """The time of each call, by call id."""
        self.seen: set[str] = set()
        """Ids of its records, in logs that may repeat them."""

    def call(self, id: str, call: ToolCall, at_ms: int | None = None) -> None:
        """Add a call whose result is still missing. If `at_ms` is set, the call's duration ends with its result."""
        self.waiting[id] = len(self.calls)
        self.calls.append(call._replace(id=id))
        if at_ms is not None:
            self.asked_ms[id] = at_ms

    def turn(self) -> Turn | None:
        """Return the current turn; None while it is empty."""
        text = self.texts[0] if len(self.texts) == 1 else "\n\n".join(self.texts)
        text, thinking = without_payloads(text).strip(), without_payloads("\n\n".join(self.thoughts)).strip()
        calls = tuple(self.calls)
        turn = Turn(self.id, self.role, text, self.at_ms, thinking, calls, self.model, self.former_id)
        turn = without_echoes(turn)
        return None if turn.is_empty else turn


class Log:
    """The records of one source, collected until they are yielded as pieces."""

    def __init__(self, source: str, cursor: Cursor) -> None:
        self.source = source
        if NAMED not in cursor.state:
            # an earlier version named records by their offset: read everything again under the present names
            cursor = Cursor()
        state = cursor.state
        self.conversations = {
            id: OpenConversation.restored(conversation)
            for id, conversation in state.get("conversations", {}).items()
        }
        self.late: dict[str, str] = dict(state.get("late", {}))
        """Calls in closed turns that have no result yet: the tool's name by call id."""
        self.memory: dict[str, dict[str, Any]] = _copy(state.get("memory", {}))
        """The reader's own state, JSON-compatible."""
        self.skipped: Counter[str] = Counter()
        self.open: OpenTurn | None = None
        self.offset = self._piece_start = cursor.offset
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
        """Pass each record from the cursor on to `hear`, and yield pieces when they are full."""
        for offset, line, record in raw_records(stream, decoder, self.skipped, self.offset, is_wanted):
            if self.goes_on(offset, line):
                yield from self.pieces()
            hear(record)
        yield from self.pieces(is_last=True)

    def goes_on(self, offset: int, line: bytes) -> bool:
        """Set the position and bytes of the next record. Return True if it is time to yield the pieces before it."""
        self._nth = self._nth + 1 if offset == self.offset else 0
        self.offset = offset
        self._line = line
        return offset - self._piece_start >= PIECE_BYTES

    def name(self, at_ms: int | None, prefix: str = "") -> str:
        """Return an id for the current record if it has none of its own. A prefix separates namespaces."""
        name = prefix + self._names.name(self._line, at_ms, self.offset)
        place = f"{PLACE}{self.offset}.{self._nth}" if self._nth else f"{PLACE}{self.offset}"
        self._former_ids = {name: prefix + place}
        return name

    def conversation(self, native_id: str, **traits: Any) -> OpenConversation:
        conversation = self.conversations.get(native_id)
        if conversation is None:
            conversation = self.conversations[native_id] = OpenConversation(native_id, **traits)
        return conversation

    def begin(
        self, conversation: OpenConversation, id: str, role: Role, at_ms: int | None, key: str = ""
    ) -> OpenTurn:
        """Close the open turn and open another. Records with the same key may join it."""
        former = self.open
        self.close()
        # two objects on one line have the same offset
        start = former.start if former is not None and self._nth else self.offset
        self.open = OpenTurn(conversation, id, role, at_ms, start, key)
        self.open.former_id = self._former_ids.pop(id, "")
        # move it to the end: a cursor remembers only the last REMEMBERED conversations
        self.conversations[conversation.native_id] = self.conversations.pop(conversation.native_id)
        return self.open

    def prompt(self, native_id: str, text: str, at_ms: int | None) -> OpenConversation:
        """Add a line of a log of prompts, which is all that remains of some conversations."""
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
        """Add the result of a tool to its call, which may be in a turn that is closed or was yielded before.

        The failure of such a call becomes a separate turn."""
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
        """Yield everything since the last pieces. They are stored together: only the last one has a cursor."""
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
            # turns of a silent conversation are yielded once it contains a message
            if not conversation.is_only_spent():
                conversation.turns.clear()
            conversation.usage.clear()
            conversation.late_results.clear()
            conversation.is_changed = False
        if changed:
            self.skipped.clear()
        self._piece_start = self.offset

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
