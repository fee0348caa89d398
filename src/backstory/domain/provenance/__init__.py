"""Separate a speaker's own words in a message from words that are quoted, pasted or relayed.

Everything that turns messages into decisions, tasks or preferences reads `own_text` or `segments`. Text counts as the
speaker's own unless something marks it as foreign, and markers are generous: missing a statement costs less than
attributing one to the wrong speaker."""

from __future__ import annotations

from collections.abc import Callable

from . import documents, layout, speech
from .ground import Ground, Provenance, Segment, line_after, line_before

__all__ = [
    "ELISION",
    "MAX_CHARS",
    "Provenance",
    "Segment",
    "foreign_part",
    "own_text",
    "segments",
    "without_quotations",
]

MAX_CHARS = 20_000  # only this part of a message is analysed: people do not type more
ELISION = "[…]"
"""Placeholder in `own_text` for a quotation inside a sentence."""
USER = "user"

_QUOTATION_SIGNS = (">", "<", "```", "~~~", "&gt;", "[/")
_QUOTATION_MARKERS = (layout.mark_fences, layout.mark_elements, layout.mark_block_quotes)
_MARKERS: tuple[Callable[[Ground], None], ...] = (
    *_QUOTATION_MARKERS,
    layout.mark_indented_code,
    documents.mark_output,
    documents.mark_letters,
    documents.mark_documents,
    speech.mark_quotations,
    speech.mark_presented,
    speech.mark_reported,
    documents.mark_long_text,
)
"""Applied in this order. A marker skips text that an earlier one has marked."""


def segments(text: str, role: str) -> list[Segment]:
    """Split a text into consecutive segments of one provenance each. `role` is the role of the message."""
    return _segments(text, Ground(text[:MAX_CHARS], is_user=role == USER))


def _segments(text: str, ground: Ground) -> list[Segment]:
    for mark in _MARKERS:
        mark(ground)
    pieces = ground.segments()
    if len(text) > MAX_CHARS:
        # The rest counts as pasted without analysis: people do not type that much.
        pieces.append(Segment(MAX_CHARS, len(text), Provenance.PASTED))
    return pieces


def own_text(text: str, role: str) -> str:
    """Return the speaker's own words. ELISION replaces a quotation inside a sentence."""
    parts: list[str] = []
    for start, end, provenance in segments(text, role):
        if provenance is Provenance.OWN:
            parts.append(text[start:end])
        else:
            # Inside a sentence a gap must stay visible, or its two halves would read as one statement.
            is_inside = line_before(text, start) or line_after(text, end)
            parts.append(ELISION if provenance is Provenance.QUOTED and is_inside else "\n")
    return "".join(parts).strip()


def without_quotations(text: str) -> str:
    """Return a text without its block quotes, fences and elements.

    Cheaper than `own_text`, and used on every message."""
    if not any(sign in text for sign in _QUOTATION_SIGNS):
        return text
    ground = Ground(text[:MAX_CHARS], is_user=True)
    for mark in _QUOTATION_MARKERS:
        mark(ground)
    return "".join(
        text[start:end] for start, end, provenance in ground.segments() if provenance is Provenance.OWN
    )


def foreign_part(text: str, role: str, start: int, end: int) -> Provenance:
    """Return the provenance of the first foreign words between two positions, or OWN if there are none."""
    ground = Ground(text[:MAX_CHARS], is_user=role == USER, wanted=(start, end))
    return next(
        (
            piece.provenance
            for piece in _segments(text, ground)
            if piece.provenance is not Provenance.OWN
            and text[max(start, piece.start) : min(end, piece.end)].strip()
        ),
        Provenance.OWN,
    )
