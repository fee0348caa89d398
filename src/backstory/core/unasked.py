"""Texts for a session that did not ask for them: in briefs and handoffs secrets are redacted, though what a tool saved is stored word for word."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.records import Memory
from ..settings import Settings
from .secrets import redactor

QUOTED_CHARS = 4_000
"""Of a text: more than is ever quoted unasked. It is redacted before it is shortened, for half a token is known to no rule."""


def redacted_texts(texts: Sequence[str], settings: Settings) -> list[str]:
    """Their beginnings, without secrets."""
    return redactor(settings.redaction).redact_all([text[:QUOTED_CHARS] for text in texts])[0]


def redacted_memories(memories: Sequence[Memory], settings: Settings) -> list[Memory]:
    texts = redacted_texts([memory.text for memory in memories], settings)
    return [memory._replace(text=text) for memory, text in zip(memories, texts, strict=True)]
