"""Sign bits of many vectors, in memory as planes of 64 dimensions, and the scan over them.

The signs of a vector take 48 bytes where its floats take 1,536: a process can have those of a whole store in memory,
and reads full codes only for the few hundred best vectors by sign.
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

COARSE = 8  # candidates by Hamming distance for each vector that the weighted comparison keeps
FEW_PASSING = 16  # fewer than one in so many vectors that pass a filter are copied: faster than comparing all

_WORD = 64
_FIRST_CAPACITY = 1024
_COUNTED = 100_000  # sample size for estimating the distribution of distances
_AT_ONCE = 65_536  # vectors whose intermediate results fit into the processor's cache


def pack_signs(vectors: Floats) -> list[bytes]:
    padded = -len(vectors[0]) % _WORD  # planes are whole 64-bit words
    bits = np.pad(vectors > 0, ((0, 0), (0, padded)))
    return [row.tobytes() for row in np.packbits(bits, axis=1)]


def encode(vectors: Floats) -> list[bytes]:
    """Each vector as a float32 scale and an int8 for each dimension."""
    scale = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float32) / 127
    scale[scale == 0] = 1  # a zero vector must not divide by zero
    codes = np.round(vectors / scale).astype(np.int8)
    return [s.tobytes() + c.tobytes() for s, c in zip(scale, codes, strict=True)]


def decode(signs: bytes, code: bytes) -> Floats:
    """A vector with these signs and codes.

    A small positive value replaces positive dimensions that were too small for the code."""
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
    """`rows @ query` on this thread alone: for a product this small, BLAS would wake threads that spin for it."""
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
        """Append rows of (v, entry, signs) in the order of v. Known rows are skipped."""
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
        """The v of about `limit` vectors with the best matching signs, among the entries that pass."""
        with self._lock:
            v, planes = self._v[: self.count], self._planes[:, : self.count]
            if not len(v):
                return v
            is_passing = None if passing is None else passing.among(self._entry[: self.count])
            if is_passing is not None and FEW_PASSING * np.count_nonzero(is_passing) < len(v):
                v, planes, is_passing = v[is_passing], planes[:, is_passing], None
            distance = _hamming(planes, np.frombuffer(pack_signs(query[None])[0], np.uint64))
            farthest = _WORD * len(planes) + 1  # beyond any real distance: marks entries that do not pass
            if is_passing is not None:
                distance[~is_passing] = farthest
            near = _closest(distance, COARSE * limit)
            near = near[distance[near] < farthest]
            return v[near[_most_aligned(planes[:, near], query, limit)]]

    def _reserve(self, wanted: int, words: int) -> None:
        if wanted <= len(self._v) and self._planes.shape[0] == words:
            return
        # Grow by half, so that appending a few vectors does not copy all of them each time.
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
    """Places of about `limit` smallest distances: all below the border distance, then the newest on it.

    For large arrays the border is estimated from a sample."""
    if len(distance) <= limit:
        return np.arange(len(distance))
    inside, on_border = _around(distance, limit, len(distance) // _COUNTED or 1)
    is_misled = len(inside) > 2 * limit or 2 * (len(inside) + len(on_border)) < limit
    if is_misled:  # the sample was not representative
        inside, on_border = _around(distance, limit, 1)
    return np.concatenate([inside, on_border[::-1][: max(limit - len(inside), 0)]])


def _around(distance: NDArray[np.uint16], limit: int, step: int) -> tuple[Ints, Ints]:
    """Places below the distance where `limit` is reached, and places on it, estimated from every `step`-th distance."""
    reach = int(np.searchsorted(step * np.bincount(distance[::step]).cumsum(), limit))
    near = np.flatnonzero(distance <= reach)
    is_inside = distance[near] < reach
    return near[is_inside], near[~is_inside]
