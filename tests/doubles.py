"""What tests put in the place of the outside world: time, ids, an embedding model, and records to keep."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backstory.core import Core
from backstory.core.ask import Inquiry
from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Kind
from backstory.domain.records import Conversation, Memory, Message
from backstory.settings import Settings

DAWN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)

SYNONYMS = {
    "car": "automobile",
    "vehicle": "automobile",
    "login": "authentication",
    "signin": "authentication",
}


class SteppedClock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self._now = DAWN

    def __call__(self) -> datetime:
        return self._now

    def step(self, seconds: float = 1) -> None:
        self._now += timedelta(seconds=seconds)


def make_settings(home: Path = Path("/nowhere"), **changes: Any) -> Settings:
    """What a user set; everything that is written by default lies in `home`."""
    own = {
        "project": Path("/p"),
        "conversation_exports": home / ".gandalf" / "exports",
        "erasure_window": "always",  # tables that tests share may have any size
    }
    return Settings(home=home, **own | changes)


def counted_ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"id-{next(numbers)}"


@dataclass
class HashedWords:
    """An embedder whose dimensions are words: texts without a word or a synonym in common are at right angles."""

    model: str = "hashed-words"
    dimensions: int = 512
    at_once: int = 4
    synonyms: Mapping[str, str] = field(default_factory=lambda: SYNONYMS)
    failure: Unavailable | None = None
    meanwhile: Callable[[], None] = lambda: None
    """Called in the middle of embedding."""
    embedded: list[str] = field(default_factory=list)
    is_loaded: bool = True

    def load(self) -> None:
        self.is_loaded = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.meanwhile()
        if self.failure is not None:
            raise self.failure
        self.embedded += texts
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()) or [""]:
                row[zlib.crc32(self.synonyms.get(word, word).encode()) % self.dimensions] += 1
            row /= np.linalg.norm(row)
        return vectors


def make_memory(id: str, text: str = "a text", **changes: Any) -> Memory:
    plain = Memory(id=id, text=text, project="/p", surface="test", created_at=DAWN, updated_at=DAWN)
    return plain._replace(**changes)


def make_messages(conversation: str, *texts: str, **changes: Any) -> list[Message]:
    return [
        Message(
            id=f"{conversation}:{seq}",
            conversation=conversation,
            seq=seq,
            role="user" if seq % 2 == 0 else "assistant",
            text=text,
            project="/p",
            surface="test",
            created_at=DAWN + timedelta(minutes=seq),
        )._replace(**changes)
        for seq, text in enumerate(texts)
    ]


def make_conversation(id: str, **changes: Any) -> Conversation:
    plain = Conversation(
        id=id, title=f"About {id}", project="/p", surface="test", created_at=DAWN, updated_at=DAWN
    )
    return plain._replace(**changes)


def found_memories(core: Core, query: str, limit: int = 5) -> list[Memory]:
    """The memories that a search finds."""
    ranking = core.ask.find(Inquiry(query, where=Filter(kinds=(Kind.MEMORY,)), limit=limit))
    return [memory for memory, _ in core.ask.memories(ranking, limit)]
