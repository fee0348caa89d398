"""Build a complete conversation, and derive missing properties from its turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ...domain.usage import ModelCall
from .. import ConversationHeader, ConversationKind, Cursor, Piece, Role, Turn
from .echoes import without_echoes
from .noise import without_payloads
from .titles import headline, is_silent, title_of

NOTHING: Mapping[str, int] = MappingProxyType({})
END = Cursor()
"""The cursor of a document, which is always read from its start."""


def whole(
    header: ConversationHeader,
    turns: Sequence[Turn],
    skipped: Mapping[str, int] = NOTHING,
    cursor: Cursor | None = END,
    usage: Sequence[ModelCall] = (),
) -> Piece:
    """Return a piece with all turns. Blank turns are dropped, and if two turns share an id, the last one wins.

    There are no turns if all are silent. Missing properties come from the turns: the title from the first prompt, the
    times from the first and last turn with a time, the model from the last turn that names one."""
    if header.kind is ConversationKind.SUBAGENT:
        header, turns = _given_by_agent(header, turns)
    turns = [turn for turn in map(_legible, {turn.id: turn for turn in turns}.values()) if not turn.is_empty]
    times = [turn.at_ms for turn in turns if turn.at_ms is not None]
    models = [turn.model for turn in turns if turn.model]
    completed = header._replace(
        title=headline(header.title) or title_of(turns),
        model=models[-1] if models else header.model,
        started_ms=header.started_ms or min(times, default=None),
        ended_ms=header.ended_ms or max(times, default=None),
    )
    spoken = () if all(map(is_silent, turns)) else turns
    return Piece(completed, spoken, cursor, is_whole=True, skipped=skipped, usage=usage if spoken else ())


def _given_by_agent(
    header: ConversationHeader, turns: Sequence[Turn]
) -> tuple[ConversationHeader, Sequence[Turn]]:
    """Treat user turns in a subagent's conversation as those of the agent that gave the task, which is also its
    title."""
    tasks = (headline(turn.text) for turn in turns if turn.role is Role.USER)
    named = header if header.title else header._replace(title=next(filter(None, tasks), ""))
    return named, [turn._replace(role=Role.SYSTEM) if turn.role is Role.USER else turn for turn in turns]


def in_order(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the non-empty pieces of a document with several conversations.

    The last one has the cursor: all of them are stored before the document counts as read."""
    last: Piece | None = None
    for piece in pieces:
        if piece.turns or piece.skipped:
            if last is not None:
                yield last
            last = piece
    if last is not None:
        yield last._replace(cursor=END)


def _legible(turn: Turn) -> Turn:
    text, thinking = without_payloads(turn.text).strip(), without_payloads(turn.thinking).strip()
    return without_echoes(turn._replace(text=text, thinking=thinking))
