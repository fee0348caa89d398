"""Sign bits of many vectors, kept in memory as planes of 64 dimensions, and the scan over them.

A vector's signs are 48 bytes where its floats are 1,536: a process holds those of a whole store, and reads
full codes only for the few hundred vectors that the signs put in front.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...domain.arrays import np
from ...domain.entries import Passing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float32]

COARSE = 8  # times as many are taken by counting agreements as are kept by weighing them

_WORD = 64
_FIRST_CAPACITY = 1024
_COUNTED = 100_000  # distances that tell how many there are of each
_AT_ONCE = 65_536  # vectors: what is computed of so many stays in the processor's cache


def pack_signs(vectors: Floats) -> list[bytes]:
    padded = -len(vectors[0]) % _WORD
    bits = np.pad(vectors > 0, ((0, 0), (0, padded)))
    return [row.tobytes() for row in np.packbits(bits, axis=1)]


def encode(vectors: Floats) -> list[bytes]:
    """Each vector as a float32 scale and an int8 for each dimension."""
    scale = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float32) / 127
    scale[scale == 0] = 1
    codes = np.round(vectors / scale).astype(np.int8)
    return [s.tobytes() + c.tobytes() for s, c in zip(scale, codes, strict=True)]


def decode(signs: bytes, code: bytes) -> Floats:
    """A vector that has the same signs and code. A little more than nothing stands for what was positive, but too
    small for the code."""
    codes = np.frombuffer(code, np.int8, offset=4).astype(np.float32)
    if codes.any():
        is_positive = np.unpackbits(np.frombuffer(signs, np.uint8), count=len(codes))
        codes[(codes == 0) & (is_positive == 1)] = 1 / 64
    vector: Floats = codes * np.frombuffer(code, np.float32, count=1)
    return vector


def unpacked(codes: Sequence[bytes]) -> Floats:
    """Encoded vectors as the rows of a matrix."""
    if not codes:
        return np.zeros((0, 0), np.float32)
    raw = np.frombuffer(b"".join(codes), np.uint8).reshape(len(codes), -1)
    scale = np.ascontiguousarray(raw[:, :4]).view(np.float32)
    rows: Floats = raw[:, 4:].view(np.int8) * scale
    return rows


def cosines(codes: Sequence[bytes], query: Floats) -> Floats:
    """Similarity of encoded unit vectors to a unit vector."""
    return _products(unpacked(codes), query)


def _products(rows: Floats, query: Floats) -> Floats:
    """`rows @ query` on this thread alone: BLAS would share so small a product with others that spin for it."""
    products: Floats = np.einsum("ij,j->i", rows, query)
    return products


class SignPlanes:
    """A vector that was deleted from the store stays until its reader misses it there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.last_v = 0
        self.count = 0
        self._v = np.zeros(0, np.int64)
        self._entry = np.zeros(0, np.int64)
        self._planes = np.zeros((0, 0), np.uint64)

    def append(self, rows: Sequence[tuple[int, int, bytes]]) -> None:
        """Rows of (v, entry, signs) in the order of v; what is known already is passed over."""
        with self._lock:
            rows = [row for row in rows if row[0] > self.last_v]
            if not rows:
                return
            signs = np.frombuffer(b"".join(row[2] for row in rows), np.uint64).reshape(len(rows), -1)
            self._reserve(self.count + len(rows), signs.shape[1])
            new = slice(self.count, self.count + len(rows))
            self._v[new] = [row[0] for row in rows]
            self._entry[new] = [row[1] for row in rows]
            self._planes[:, new] = signs.T
            self.count = new.stop
            self.last_v = rows[-1][0]

    def drop(self, gone: Collection[int]) -> None:
        """Vectors that are in the store no more, by their v."""
        with self._lock:
            stays = ~np.isin(self._v[: self.count], list(gone))
            count = int(stays.sum())
            for rows in (self._v, self._entry, *self._planes):
                rows[:count] = rows[: self.count][stays]
            self.count = count

    def nearest(self, query: Floats, limit: int, passing: Passing | None = None) -> Ints:
        """The v of about `limit` vectors whose signs agree best, of the entries that pass."""
        with self._lock:
            v, planes = self._v[: self.count], self._planes[:, : self.count]
            if not len(v):
                return v
            distance = _hamming(planes, np.frombuffer(pack_signs(query[None])[0], np.uint64))
            farthest = _WORD * len(planes) + 1
            if passing is not None:
                distance[~passing.among(self._entry[: self.count])] = farthest
            near = _closest(distance, COARSE * limit)
            near = near[distance[near] < farthest]
            return v[near[_most_aligned(planes[:, near], query, limit)]]

    def _reserve(self, wanted: int, words: int) -> None:
        if wanted <= len(self._v) and self._planes.shape[0] == words:
            return
        capacity = max(wanted, len(self._v) * 3 // 2, _FIRST_CAPACITY)
        self._v = np.resize(self._v, capacity) if self.count else np.zeros(capacity, np.int64)
        self._entry = np.resize(self._entry, capacity) if self.count else np.zeros(capacity, np.int64)
        planes = np.zeros((words, capacity), np.uint64)
        if self.count:
            planes[:, : self.count] = self._planes[:, : self.count]
        self._planes = planes


def _hamming(planes: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.uint16]:
    distance = np.zeros(planes.shape[1], np.uint16)
    for start in range(0, len(distance), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        for plane, word in zip(planes, query, strict=True):
            distance[some] += np.bitwise_count(plane[some] ^ word)
    return distance


def _most_aligned(planes: NDArray[np.uint64], query: Floats, limit: int) -> Ints:
    """Places of the signs that agree with the query where it is large: much finer than counting agreements."""
    bits = np.unpackbits(np.ascontiguousarray(planes.T).view(np.uint8), axis=1, count=len(query))
    alignment = _products(bits.astype(np.float32), query)
    return np.argsort(-alignment, kind="stable")[:limit]


def _closest(distance: NDArray[np.uint16], limit: int) -> Ints:
    """Places of the smallest distances: all below the distance where `limit` is reached, then the newest on it. Among very
    many about so many, as some of them tell where that is."""
    if len(distance) <= limit:
        return np.arange(len(distance))
    inside, on_border = _around(distance, limit, len(distance) // _COUNTED or 1)
    if (
        len(inside) > 2 * limit or 2 * (len(inside) + len(on_border)) < limit
    ):  # those were not like the others
        inside, on_border = _around(distance, limit, 1)
    return np.concatenate([inside, on_border[::-1][: max(limit - len(inside), 0)]])


def _around(distance: NDArray[np.uint16], limit: int, step: int) -> tuple[Ints, Ints]:
    """Places below the distance where `limit` is reached, and on it, as every so many tell."""
    reach = int(np.searchsorted(step * np.bincount(distance[::step]).cumsum(), limit))
    near = np.flatnonzero(distance <= reach)
    is_inside = distance[near] < reach
    return near[is_inside], near[~is_inside]
