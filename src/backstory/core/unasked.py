"""Texts that a session receives without asking: secrets in briefs and handoffs are redacted, although tools store text verbatim."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.records import Memory
from ..settings import Settings
from .secrets import redactor

QUOTED_CHARS = 4_000
"""The part of a text that may be quoted. It is redacted before it is shortened, because no rule recognises half a token."""


def redacted_texts(texts: Sequence[str], settings: Settings) -> list[str]:
    """The beginnings of texts, with secrets redacted."""
    return redactor(settings.redaction).redact_all([text[:QUOTED_CHARS] for text in texts])[0]


def redacted_memories(memories: Sequence[Memory], settings: Settings) -> list[Memory]:
    texts = redacted_texts([memory.text for memory in memories], settings)
    return [memory._replace(text=text) for memory, text in zip(memories, texts, strict=True)]
