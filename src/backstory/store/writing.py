"""Writing and deleting entries: the row, its words in the text index, its place in the queue for vectors, and all derived data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..domain.filters import Kind
from ..domain.links import ChangeKind
from ..domain.records import QUIET_ROLES, Entry
from .changes import note_changes
from .columns import marks
from .database import Database, Row, batches
from .entries import COLUMNS, SHARED_COLUMNS, entry_row
from .text import TextIndex, Words
from .vectors import Vectors

_INSERT = {
    columns: f"INSERT INTO entry (n, {', '.join(columns)}) VALUES (?, {marks(columns)})"
    for columns in (COLUMNS, SHARED_COLUMNS)
}
_UPDATE = f"UPDATE entry SET {', '.join(f'{c} = ?' for c in COLUMNS)}, revision = revision + ? WHERE n = ?"
_KIND, _TEXT, _HEADING, _KEY, _ROLE, _PRIVATE, _UPDATED_AT = map(
    COLUMNS.index, ("kind", "text", "heading", "key", "role", "private", "updated_at")
)
_WATCHED = ("private", "updated_at", "priority", "channel", "metadata")
"""Columns that watchers are notified of, besides the text. A better summary does not count as a change."""
_WATCHED_PLACES = [COLUMNS.index(name) for name in _WATCHED]


class EntryWriter:
    def __init__(self, database: Database, text: TextIndex, vectors: Vectors) -> None:
        self._database = database
        self._text = text
        self._vectors = vectors

    def put(self, entry: Entry) -> None:
        """Insert an entry, or replace the one with the same id. A replaced entry retains its number."""
        row = entry_row(entry)
        n = self._text.insert(row)
        if n is None:
            self.replace({entry.id: row})
        else:
            self._queue({n: row})
            self._note(ChangeKind.CREATE, {entry.id: row})

    def put_all(self, entries: Sequence[Entry]) -> None:
        """Insert or replace many entries in a few statements. If two share an id, the last one wins."""
        rows = {entry.id: entry_row(entry) for entry in entries}
        known = self.replace(rows)
        self.insert({id: row for id, row in rows.items() if id not in known})

    def insert(self, rows: Mapping[str, Row]) -> dict[str, int]:
        """Insert many new entries, given by id, and return their numbers."""
        first = self._database.reserve(len(rows))
        numbered = dict(enumerate(rows.values(), start=first))
        # to bind a NULL takes Python's sqlite3 longer than to bind a value, and a message would have six
        columns = COLUMNS if any(row[_KIND] != Kind.MESSAGE for row in rows.values()) else SHARED_COLUMNS
        values = [(n, *row[: len(columns)]) for n, row in numbered.items()]
        self._database.change_many(_INSERT[columns], values)
        self._make_findable(numbered)
        self._note(ChangeKind.CREATE, rows)
        return dict(zip(rows, numbered, strict=True))

    def replace(self, rows: Mapping[str, Row]) -> dict[str, int]:
        """Replace those entries that exist, and return their numbers.

        An entry whose text is unchanged retains its vectors. When one becomes private, stored answers that may quote
        it are deleted."""
        numbers: dict[str, int] = {}
        changed: dict[int, Row] = {}
        watched: dict[str, Row] = {}
        becomes_private = False
        for listed, some in batches(rows):
            columns = f"id, role, n, text, heading, key, {', '.join(_WATCHED)}"
            known = f"SELECT {columns} FROM entry WHERE id IN ({listed})"
            for id, role, n, text, heading, key, *former in self._database.rows(known, some):
                old, row = Words(n, text, heading, key), rows[id]
                numbers[id] = old.n
                becomes_private |= row[_PRIVATE] > former[0]
                is_same = (role, old) == (row[_ROLE], _words(old.n, row))
                if not is_same or former != [row[place] for place in _WATCHED_PLACES]:
                    watched[id] = row
                self._database.change(_UPDATE, [*row, int(not is_same), old.n])
                if not is_same:
                    self._text.remove([old])
                    changed[old.n] = row
        if becomes_private:
            self._database.change("DELETE FROM kept_answer")
        self._vectors.drop(changed)
        self._make_findable(changed)
        self._note(ChangeKind.UPDATE, watched)
        return numbers

    def delete(self, condition: str, values: Sequence[Any]) -> int:
        """Delete matching entries `e` with all derived data. Returns their number."""
        self._text.remove_where(condition, values)
        return self._database.change(f"DELETE FROM entry AS e WHERE {condition}", values)

    def _make_findable(self, rows: Mapping[int, Row]) -> None:
        """Index the text of entries, and queue them for embedding."""
        self._text.add([_words(n, row) for n, row in rows.items()])
        self._queue(rows)

    def _note(self, kind: ChangeKind, rows: Mapping[str, Row]) -> None:
        memories = [
            (kind.value, id, row[_UPDATED_AT]) for id, row in rows.items() if row[_KIND] == Kind.MEMORY
        ]
        note_changes(self._database, memories)

    def _queue(self, rows: Mapping[int, Row]) -> None:
        self._vectors.queue([n for n, row in rows.items() if row[_ROLE] not in QUIET_ROLES])


def _words(n: int, row: Row) -> Words:
    return Words(n, row[_TEXT], row[_HEADING], row[_KEY])
