"""Vectors from an OpenAI-compatible `/embeddings` endpoint."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..domain.arrays import np
from .remote import Remote

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_TEXTS, MOST_CHARACTERS = 64, 100_000


class Endpoint:
    at_once = MOST_TEXTS
    is_loaded = True

    def __init__(self, remote: Remote, model: str) -> None:
        self._remote = remote
        self._name = model
        self._dimensions = 0
        self._comparing = threading.Lock()

    @property
    def model(self) -> str:
        return f"endpoint:{self._remote.host}/{self._name}"

    @property
    def dimensions(self) -> int:
        if not self._dimensions:
            self.embed(["dimensions"])
        return self._dimensions

    def load(self) -> None:
        """Nothing: the model is where the endpoint is."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return np.concatenate([self._embed_batch(batch) for batch in _batches(texts)])

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        reply = self._remote.ask({"model": self._name, "input": texts, "encoding_format": "float"})
        try:
            vectors = _unit_vectors(_in_order(reply, len(texts)))
        except (ValueError, TypeError, KeyError) as error:
            raise self._remote.unavailable(f"did not send a list of vectors: {error}") from error
        with self._comparing:
            self._dimensions = self._dimensions or vectors.shape[1]
        if vectors.shape[1] != self._dimensions:
            raise self._remote.unavailable(
                f"sent {vectors.shape[1]} dimensions where it sent {self._dimensions} before"
            )
        return vectors


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == MOST_TEXTS or characters + len(text) > MOST_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text or " ")  # some servers refuse an empty text
        characters += len(text)
    yield batch


def _in_order(reply: Any, count: int) -> list[Any]:
    items = reply["data"]
    if len(items) != count:
        raise ValueError(f"{len(items)} vectors for {count} texts")
    rows = {item["index"]: item["embedding"] for item in items}
    if set(rows) != set(range(count)):
        raise ValueError("their indexes do not match the texts")
    return [rows[index] for index in range(count)]


def _unit_vectors(rows: list[Any]) -> NDArray[np.float32]:
    vectors = np.array(rows, np.float64)
    if vectors.ndim != 2:
        raise ValueError("they are not lists of numbers")
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise ValueError("one is zero or not finite")
    unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return unit
