"""The FTS5 indexes, and the removal of deleted words from their pages.

Deleting a row from an FTS5 index adds a marker for each of its words to a new segment. Words and markers leave the
index only when all segments are merged into the bottom level, which is done in steps, so that other writers never
wait long. Whether a merge reaches the bottom depends on the sizes of the segments, on former merges and on the version
of SQLite. No statement reports it, so a probe word is used to find out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...domain.words import indexed_text
from ..database import Database, Row
from ..text import Words
from .fts_levels import drop_empty_levels

# after a failed merge the second one finds one large old segment and merges a small new one into it
MERGE_ATTEMPTS = 2
MERGE_PAGES = 128  # of an index, for one transaction: 15 to 34 ms of CPU at 100,000 notes
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


def purge(database: Database, index: FtsIndex, rest: Callable[[], None]) -> None:
    """Remove every trace of deleted rows from the live pages of an index, in short transactions."""
    if not any(_is_purged_by_merge(database, index, rest) for _ in range(MERGE_ATTEMPTS)):
        with database.transaction():
            _rebuild(database, index)


def _is_purged_by_merge(database: Database, index: FtsIndex, rest: Callable[[], None]) -> bool:
    """Merge all segments, among them a row that was just deleted: its word goes or stays as all deleted words do."""
    probe = str(int.from_bytes(os.urandom(16), "big")).zfill(PROBE_DIGITS)
    with database.transaction():
        drop_empty_levels(database, index.name)
        _plant(database, index, probe)
        # A negative number makes one level of all segments, and starts to merge it.
        is_unfinished = _merge(database, index, -MERGE_PAGES)
    while is_unfinished:
        rest()
        with database.transaction():
            # A positive number continues that merge, even if others have written meanwhile.
            is_unfinished = _merge(database, index, MERGE_PAGES)
    # A page contains only the end of a word that begins like the word before it.
    end = probe[PROBE_DIGITS // 2 :].encode()
    sql = f"SELECT EXISTS (SELECT 1 FROM {index.name}_data WHERE instr(block, ?))"
    return not database.value(sql, [end])


def _plant(database: Database, index: FtsIndex, probe: str) -> None:
    """Add a row and delete it, each in its own segment, invisible to other connections."""
    number = database.value(f"SELECT coalesce(max(id), 0) + 1 FROM {index.name}_docsize")
    rows = index.rows([Words(number, probe, "", probe)])
    database.change_many(index.insertion, rows)
    with database.transaction():  # FTS5 writes a segment when a savepoint begins
        database.change_many(index.deletion, rows)


def _merge(database: Database, index: FtsIndex, pages: int) -> bool:
    """Write about this many merged pages. False if there was nothing to merge."""
    before = int(database.value("SELECT total_changes()"))
    database.change(f"INSERT INTO {index.name} ({index.name}, rank) VALUES ('merge', ?)", [pages])
    # The statement itself counts as one change.
    return int(database.value("SELECT total_changes()")) - before > 1


def _rebuild(database: Database, index: FtsIndex) -> None:
    database.change(index.command("delete-all"))
    sql = "SELECT n, text, heading, key FROM entry WHERE n > ? ORDER BY n LIMIT ?"
    last = 0
    while entries := [Words(*row) for row in database.rows(sql, [last, REBUILD_BATCH_SIZE])]:
        database.change_many(index.insertion, index.rows(entries))
        last = entries[-1].n
