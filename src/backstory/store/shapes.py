"""The shape of every entry, in memory and by number: its length, whether a person or assistant wrote it, and its thread.

Candidates are chosen among all entries that contain a word of a query, and reading their rows would read their
texts. Each array is read once, from a covering index, and then extended: numbers are never reused and messages never
move. The length of an edited memory may be that of its former text, which is accurate enough for choosing
candidates. Deleted entries stay in the arrays: no word matches them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..domain.arrays import np
from .database import Database
from .mirror import Mirror

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..domain.entries import Flags, Numbers

NO_THREAD = 0


# compared by identity: search derives arrays from these and caches them by it
@dataclass(frozen=True, eq=False)
class Shapes:
    """The first five arrays are by the number of an entry, the others by the code of a thread."""

    size: NDArray[np.int32]
    """Characters of the text; 0 for a number that no entry has."""
    is_quiet: Flags
    """True for entries that neither a person nor an assistant wrote, for example tool output."""
    is_memory: Flags
    thread: NDArray[np.int32]
    """Code of the session or conversation; NO_THREAD for an entry without one."""
    said_thread: NDArray[np.int32]
    """One more than the code of the thread; 0 for a quiet entry."""
    thread_names: list[str | None]
    said_count: NDArray[np.int64]
    """Entries of the thread that are not quiet."""
    said_size: NDArray[np.int64]
    """Characters of their texts."""


class EntryShapes:
    """The shapes of all entries, kept current with writes of any process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._mirror = Mirror(lambda: _KnownShapes(database))

    def latest(self) -> Shapes:
        """The shapes of all entries that there are now."""
        return self.up_to(int(self._database.value("SELECT coalesce(max(n), 0) FROM entry")))

    def up_to(self, last: int) -> Shapes:
        """The shapes of the entries up to a number, and of later ones if they are known."""
        with self._mirror.at(self._database.generation) as known:
            if last >= len(known.shapes.size):
                known.shapes = known.continued(last)
            return known.shapes

    def codes(self, threads: Iterable[str | None]) -> list[int]:
        """The codes of the threads that have entries."""
        with self._mirror.at(self._database.generation) as known:
            return [code for thread in threads if (code := known.codes.get(thread, NO_THREAD))]


class _KnownShapes:
    """The shapes that were read, and the code of each thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.codes: dict[str | None, int] = {None: NO_THREAD}
        self.shapes = _nothing()

    def continued(self, last: int) -> Shapes:
        known = self.shapes
        first = len(known.size)
        more = last + 1 - first
        size, thread = np.pad(known.size, (0, more)), np.pad(known.thread, (0, more))
        is_quiet, is_memory = np.pad(known.is_quiet, (0, more)), np.pad(known.is_memory, (0, more))
        newer = f"WHERE n >= {first:d} AND n <= {last:d}"
        columns = ", ".join(map(self._database.listed, ("n", "size", "is_quiet", "is_memory")))
        for row in self._database.rows(f"SELECT {columns} FROM shape {newer}"):
            entries, sizes, quiet, memory = map(_numbers, row)
            size[entries], is_quiet[entries], is_memory[entries] = sizes, quiet, memory
        # without a condition the index of threads suffices; with one, rows with texts are read
        newer, numbers = newer if first else "", self._database.listed("n")
        for name, listed in self._database.rows(
            f"SELECT thread, {numbers} FROM entry {newer} GROUP BY thread"
        ):
            entries = _numbers(listed)
            thread[entries[entries <= last]] = self.codes.setdefault(name, len(self.codes))
        spoken = first + np.flatnonzero(~is_quiet[first:])
        count = np.bincount(thread[spoken], minlength=len(self.codes))
        total = np.bincount(thread[spoken], size[spoken], minlength=len(self.codes)).astype(np.int64)
        count[: len(known.said_count)] += known.said_count
        total[: len(known.said_size)] += known.said_size
        said_thread = np.where(is_quiet, np.int32(0), thread + np.int32(1))
        return Shapes(size, is_quiet, is_memory, thread, said_thread, list(self.codes), count, total)


def _nothing() -> Shapes:
    codes, flags, sums = np.zeros(0, np.int32), np.zeros(0, bool), np.zeros(0, np.int64)
    return Shapes(codes, flags, flags, codes, codes, [], sums, sums)


def _numbers(listed: str | None) -> Numbers:
    return np.fromstring(listed or "", np.int64, sep=",")
