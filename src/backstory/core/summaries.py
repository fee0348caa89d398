"""Summaries: sentences selected from the text, immediately and locally; a chat endpoint may write a better one.

Summaries are for people who scan a list; the complete text is always stored.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..domain.filters import Filter, Page
from ..domain.lazy import lazy_pattern
from ..domain.records import Memory
from ..domain.words import STOP_WORDS
from ..problems import Problems
from ..store import Store
from ..worker import Worker

if TYPE_CHECKING:
    from ..search.remote import Remote

NAME = "summaries"
MAX_SUMMARY_CHARS = 240
MOST_WAITING = 1_000  # beyond this number, the local summaries of the oldest texts stay
READ = 50_000  # characters of a text that are looked at; a summary of more is no better

SENTENCE = lazy_pattern(r"[^\n]+?(?:[.!?。！？](?=\s|$)|(?=\n|$))")
_WORD = lazy_pattern(r"\w+")
_WEIGHTY = lazy_pattern(
    r"\b(decid|decision|must|because|fix|caus|todo|next|bug|error|fail|agreed|never|always)", re.IGNORECASE
)

SENT = 20_000  # characters of a text, to the chat endpoint
LONGEST_WRITTEN = 400  # maximum length of a stored summary
TASK = (
    "Summarise the note of a software developer in one or two plain sentences, for a list of notes. "
    "Keep names, numbers and identifiers. Answer with the summary alone."
)


def summarize(text: str, longest: int = MAX_SUMMARY_CHARS) -> str:
    """The most informative sentences, in order; a text that is short enough is its own summary."""
    if len(text) <= longest:
        return " ".join(text.split())
    sentences = [" ".join(sentence.split()) for sentence in SENTENCE.findall(text[:READ]) if sentence.strip()]
    return _fitted(sentences, _by_weight(sentences), longest) or text[:longest].strip()


def _by_weight(sentences: Sequence[str]) -> list[int]:
    words = [{w for w in _WORD.findall(s.lower()) if w not in STOP_WORDS} for s in sentences]
    shared = Counter(word for spoken in words for word in spoken)

    def weight(place: int) -> float:
        spoken = words[place]
        common = sum(shared[word] for word in spoken) / (len(spoken) + 3)  # + 3: a lone word says little
        return common * (1.5 if place == 0 else 1.0) * (1.5 if _WEIGHTY.search(sentences[place]) else 1.0)

    return sorted(range(len(sentences)), key=lambda place: (-weight(place), place))


def _fitted(sentences: Sequence[str], order: Sequence[int], longest: int) -> str:
    chosen: list[int] = []
    left = longest
    for place in order:
        if len(sentences[place]) < left:
            chosen.append(place)
            left -= len(sentences[place]) + 1
    return " ".join(sentences[place] for place in sorted(chosen))


class Writer(Protocol):
    """A writer of summaries, for example a chat endpoint."""

    def write(self, text: str) -> str:
        """Write a summary. Raises Unavailable."""


class Summarizer:
    """Improves summaries after the answer was sent. After a failure or a restart the local summary remains."""

    def __init__(self, writer: Writer | None, problems: Problems) -> None:
        self._writer = writer
        self._problems = problems
        self._waiting: deque[tuple[Store, Memory]] = deque(maxlen=MOST_WAITING)
        self._worker = Worker(NAME, self._work, problems)

    def summary(self, text: str) -> str:
        """A local summary, without delay."""
        return summarize(text)

    def written(self, text: str) -> str | None:
        """The chat endpoint's summary of a text; None if there is no endpoint or it cannot answer now."""
        if self._writer is None:
            return None
        try:
            return self._writer.write(text)
        except Exception as error:  # after any error the local summary remains
            self._problems.failed(NAME, error)
            return None

    def improve(self, store: Store, memory: Memory) -> None:
        if self._writer is None or len(memory.text) <= MAX_SUMMARY_CHARS:
            return
        self._waiting.append((store, memory))
        self._worker.wake()

    def close(self) -> None:
        self._worker.close()

    def _work(self) -> None:
        assert self._writer is not None
        while self._waiting and not self._worker.is_closing:
            store, memory = self._waiting.popleft()
            _rewrite(store, memory, self._writer.write(memory.text))


def _rewrite(store: Store, memory: Memory, summary: str) -> None:
    with store.transaction():
        for current in store.memories.find(Filter(ids=(memory.id,)), Page(limit=1)):
            if current.text == memory.text:
                store.memories.put([current._replace(summary=summary)])


class ChatWriter:
    """Writes summaries with an OpenAI-compatible chat endpoint."""

    def __init__(self, remote: Remote, model: str) -> None:
        self._remote = remote
        self._model = model

    def write(self, text: str) -> str:
        question = {
            "model": self._model,
            "messages": [{"role": "system", "content": TASK}, {"role": "user", "content": text[:SENT]}],
        }
        reply = self._remote.ask(question)
        try:
            written = " ".join(reply["choices"][0]["message"]["content"].split())
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise self._remote.unavailable("sent no summary") from error
        if not written:
            raise self._remote.unavailable("sent an empty summary")
        return written[:LONGEST_WRITTEN]
