"""The FTS5 indexes, and the removal of deleted words from their pages.

Deleting a row from an FTS5 index adds a marker for each of its words to a new segment. Words and markers leave the
index only when all segments are merged into the bottom level. Whether "optimize" does that depends on the sizes of
the segments, on former merges and on the version of SQLite. No statement reports it, so a probe word is used to find
out.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...domain.words import indexed_text
from ..database import Row
from ..text import Words

MERGE_ATTEMPTS = (
    2  # after a failed merge the second one finds one large old segment and merges a small new one into it
)
PROBE_DIGITS = 39  # 128 random bits; letters might be stemmed
REBUILD_BATCH_SIZE = 2_000


class FtsIndex(NamedTuple):
    name: str
    columns: tuple[str, ...]
    rows: Callable[[Sequence[Words]], list[Row]]
    """The rowid and the values of the columns for each entry that belongs into the index."""

    @property
    def insertion(self) -> str:
        names, marks = ", ".join(self.columns), ", ".join("?" * len(self.columns))
        return f"INSERT INTO {self.name} (rowid, {names}) VALUES (?, {marks})"

    @property
    def deletion(self) -> str:
        names, marks = ", ".join(self.columns), ", ".join("?" * len(self.columns))
        return f"INSERT INTO {self.name} ({self.name}, rowid, {names}) VALUES ('delete', ?, {marks})"

    def command(self, name: str) -> str:
        return f"INSERT INTO {self.name} ({self.name}) VALUES ('{name}')"


def _text_rows(entries: Sequence[Words]) -> list[Row]:
    # The messages of a day share a heading, so each heading is processed once.
    headings = {heading: indexed_text(heading) for heading in {entry.heading for entry in entries}}
    return [(entry.n, indexed_text(entry.text), headings[entry.heading]) for entry in entries]


def _key_rows(entries: Sequence[Words]) -> list[Row]:
    return [(entry.n, indexed_text(entry.key)) for entry in entries if entry.key is not None]


INDEXES = (
    FtsIndex("entry_text", ("body", "heading"), _text_rows),
    FtsIndex("key_text", ("key",), _key_rows),
)


def purge(connection: sqlite3.Connection, index: FtsIndex) -> None:
    """Remove every trace of deleted rows from the live pages of an index, within the caller's transaction."""
    if not any(_is_purged_by_merge(connection, index) for _ in range(MERGE_ATTEMPTS)):
        _rebuild(connection, index)


def _is_purged_by_merge(connection: sqlite3.Connection, index: FtsIndex) -> bool:
    """Merge all segments, among them a row that was just deleted: its word goes or stays as all deleted words do."""
    probe = str(int.from_bytes(os.urandom(16), "big")).zfill(PROBE_DIGITS)
    number = connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {index.name}_docsize").fetchone()[0]
    rows = index.rows([Words(number, probe, "", probe)])
    connection.executemany(index.insertion, rows)
    connection.executemany(index.deletion, rows)
    connection.execute(index.command("optimize"))
    # A page contains only the end of a word that begins like the word before it.
    end = probe[PROBE_DIGITS // 2 :].encode()
    sql = f"SELECT EXISTS (SELECT 1 FROM {index.name}_data WHERE instr(block, ?))"
    return not connection.execute(sql, [end]).fetchone()[0]


def _rebuild(connection: sqlite3.Connection, index: FtsIndex) -> None:
    connection.execute(index.command("delete-all"))
    sql = "SELECT n, text, heading, key FROM entry WHERE n > ? ORDER BY n LIMIT ?"
    last = 0
    while entries := [Words(*row) for row in connection.execute(sql, [last, REBUILD_BATCH_SIZE])]:
        connection.executemany(index.insertion, index.rows(entries))
        last = entries[-1].n
