"""The first turn of a continued conversation: where it took place, its decisions and its open points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...domain.handoffs import HANDOFF_MARK
from ...domain.lines import one_line
from ...domain.records import Conversation
from ...domain.statements import Statement, StatementKind
from ...domain.tokens import count_tokens
from ..quoting import quote
from .turns import shortened

MAX_HEAD_TOKENS = 2_000
FIRST_REQUEST_TOKENS = 300
SUMMARY_TOKENS = 600
STATEMENT_CHARS = 240
MAX_STATEMENTS = 8
MAX_FILES = 30
_OPEN = (StatementKind.QUESTION, StatementKind.NEXT_STEP, StatementKind.TODO)
CLOSING = "Tool calls stand as text in brackets: they were made by the other assistant, with its tools."


class ConversationState(NamedTuple):
    """The results of a conversation, besides its turns."""

    conversation: Conversation
    assistant: str
    """The name of the assistant that had it, as people know it."""
    name: str
    """A short id that commands take."""
    first_request: str
    statements: Sequence[Statement]
    files: Sequence[str]
    """Files it wrote, last first."""
    summary: str
    title: str


def head(state: ConversationState, left_out: int) -> str:
    """The first turn, in at most MAX_HEAD_TOKENS. The least important parts are left out if it would be longer."""
    conversation, name = state.conversation, state.name
    missing = (
        f" {left_out:,} earlier messages are left out; `recall` or `backstory show {name}` has them."
        if left_out
        else ""
    )
    lines = [
        f"{HANDOFF_MARK} This conversation was held in {state.assistant} until"
        f" {conversation.updated_at:%d %b %Y %H:%M} UTC (id {name}) and goes on here.{missing}"
    ]
    left = MAX_HEAD_TOKENS - count_tokens(lines[0]) - count_tokens(CLOSING)
    for line in _facts(state, with_request=bool(left_out)):
        cost = count_tokens(line) + 1
        if cost <= left:
            lines.append(line)
            left -= cost
    return "\n".join([*lines, CLOSING])


def _facts(state: ConversationState, *, with_request: bool) -> Iterable[str]:
    """The most important first."""
    if with_request and state.first_request:
        yield f"Asked first: {shortened(state.first_request, FIRST_REQUEST_TOKENS)}"
    yield from _listed("Decided", state.statements, (StatementKind.DECISION, StatementKind.PREFERENCE))
    yield from _listed("Open", state.statements, _OPEN)
    yield from _listed("Tried and dropped", state.statements, (StatementKind.DROPPED,))
    if state.files:
        more = f" and {len(state.files) - MAX_FILES} more" if len(state.files) > MAX_FILES else ""
        yield f"Files changed: {', '.join(quote(path, 200) for path in state.files[:MAX_FILES])}{more}"
    checks = [each for each in state.statements if each.kind is StatementKind.CHECK]
    if checks:
        yield f"Last check: {quote(checks[-1].text, STATEMENT_CHARS)}"
    if with_request and state.summary:
        yield f"Summary so far: {shortened(state.summary, SUMMARY_TOKENS)}"


def _listed(label: str, statements: Sequence[Statement], kinds: Sequence[StatementKind]) -> Iterable[str]:
    chosen = [each for each in statements if each.kind in kinds and each.holds][-MAX_STATEMENTS:]
    if len(chosen) == 1:
        yield f"{label}: {_said(chosen[0])}"
    elif chosen:
        yield "\n".join([f"{label}:", *(f"- {_said(each)}" for each in chosen)])


def _said(statement: Statement) -> str:
    """A statement in one line, including its reason."""
    return one_line(quote(statement.text, STATEMENT_CHARS), STATEMENT_CHARS)
