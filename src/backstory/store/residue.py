"""The bytes that deleted rows leave in the files of a database.

A deleted row is gone for every statement, but not from the file: pages retain its bytes, the text index retains
words until its segments are merged, and the write-ahead log retains recent writes. Tables that may contain these
bytes (`tables.with_words_of`) are recorded in the transaction that deletes from them and stay recorded until they
are overwritten, so that the next process finishes the work of a killed one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection

from ..domain.erasure import Residue
from .database import Database

NOTE = "erasure"  # an expired lease, as for a copy: another process may continue the work
REST_S = 0.005  # waiting writers poll the write lock of SQLite more often than that


def _rest() -> None:
    time.sleep(REST_S)


class Residues:
    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, tables: Collection[str]) -> None:
        """Record tables, inside the transaction that deletes from them."""
        sql = (
            "INSERT INTO lease (name, holder, leased_until) VALUES (?, ?, 0)"
            " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder"
        )
        with self._database.joined():
            known = self.get()
            noted = sorted({*tables, *(known.tables if known else ())})
            self._database.change(sql, [NOTE, json.dumps([noted, self._database.moment()])])

    def get(self) -> Residue | None:
        for note in self._database.values("SELECT holder FROM lease WHERE name = ?", [NOTE]):
            return read_note(note)
        return None

    def overwrite(self, rest: Callable[[], None] = _rest) -> None:
        """Overwrite the bytes of deleted rows in the recorded tables.

        `rest` is called between two transactions and lets others write. An exception of `rest` ends the work, and the
        next call starts it again. Raises TimedOut while other transactions read the deleted rows; the tables then
        stay recorded."""
        residue = self.get()
        if residue is None:
            return
        self._database.overwrite(residue, rest)
        self.clear(residue)

    def overwrite_everywhere(self, rest: Callable[[], None] = _rest) -> list[str]:
        """Overwrite the bytes of deleted rows in this store, and in all others that share its tables.

        Returns the names of the others. Tables that several stores have bytes in are rewritten once."""
        names = self._database.overwrite_everywhere(rest)
        self.overwrite(rest)
        return names

    def pending(self) -> list[str]:
        """The names of all stores in a database of several that have bytes to overwrite."""
        return self._database.pending_erasures()

    def locked_bytes(self) -> int:
        """The size of the largest table that `overwrite` would lock for all others."""
        residue = self.get()
        return 0 if residue is None else self._database.locked_bytes(residue)

    def clear(self, residue: Residue) -> None:
        """Forget the record of bytes that were overwritten, unless something was deleted meanwhile."""
        with self._database.transaction():
            if self.get() == residue:
                self._database.change("DELETE FROM lease WHERE name = ?", [NOTE])


def read_note(note: str) -> Residue:
    tables, moment = json.loads(note)
    return Residue(frozenset(tables), moment)
