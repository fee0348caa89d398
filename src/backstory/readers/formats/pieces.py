"""A conversation that is given as a whole, with what its turns tell of it besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from .. import Cursor, Header, Piece, Role, Turn
from .noise import headline, without_payloads
from .titles import title_of

NOTHING: Mapping[str, int] = MappingProxyType({})
END = Cursor()
"""Of a document, which is always read anew from its start."""


def whole(
    header: Header,
    turns: Sequence[Turn],
    skipped: Mapping[str, int] = NOTHING,
    cursor: Cursor | None = END,
) -> Piece:
    """All there is; no turns when no one speaks but the harness, and of turns with the same id the last. What the
    header leaves open is taken from them: the title from the first prompt, the times from the first and the last
    turn that have one. The last model seen counts."""
    turns = [_legible(turn) for turn in {turn.id: turn for turn in turns}.values()]
    times = [turn.at_ms for turn in turns if turn.at_ms is not None]
    models = [turn.model for turn in turns if turn.model]
    completed = header._replace(
        title=headline(header.title) or title_of(turns),
        model=models[-1] if models else header.model,
        started_ms=header.started_ms or min(times, default=None),
        ended_ms=header.ended_ms or max(times, default=None),
    )
    is_spoken = any(turn.role is not Role.SYSTEM for turn in turns)
    return Piece(completed, turns if is_spoken else (), cursor, is_whole=True, skipped=skipped)


def _legible(turn: Turn) -> Turn:
    return turn._replace(text=without_payloads(turn.text), thinking=without_payloads(turn.thinking))
