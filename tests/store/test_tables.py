"""The declarations of tables are the schema of both databases: what a migration adds is declared, or a test fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.forgetting.removal import ForgetRequest, Removal
from backstory.domain.filters import ConversationFilter, Filter
from backstory.store import Store
from backstory.store.sqlite import SqliteStore
from backstory.store.tables import (
    COPIED_TABLES,
    POSTGRES,
    SQLITE,
    TABLES,
    Forgettable,
    StoredTable,
    with_words_of,
)

from ..doubles import DAWN
from ..filled_store import fill

# a virtual table of SQLite has tables of its own behind it, which go and come with it
_NAMES = {
    SQLITE: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite%'",
    POSTGRES: (
        "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relispartition"
    ),
}
_KEYS = {
    SQLITE: "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
    POSTGRES: (
        "SELECT attname::text FROM pg_index, unnest(indkey) WITH ORDINALITY AS part (number, place)"
        " JOIN pg_attribute ON attnum = part.number"
        " WHERE indrelid = ?::regclass AND indisprimary AND attrelid = indrelid ORDER BY place"
    ),
}
_REFERENCES = {
    SQLITE: 'SELECT "table" FROM pragma_foreign_key_list(?)',
    POSTGRES: (
        "SELECT relname::text FROM pg_constraint JOIN pg_class ON pg_class.oid = confrelid"
        " WHERE conrelid = ?::regclass AND contype = 'f'"
    ),
}


def backend_of(store: Store) -> str:
    return SQLITE if isinstance(store, SqliteStore) else POSTGRES


def declared(store: Store) -> dict[str, StoredTable]:
    """The tables that this store must have."""
    return {name: table for name, table in TABLES.items() if table.only_in in ("", backend_of(store))}


def test_every_table_is_declared(store: Store) -> None:
    assert sorted(store.database.values(_NAMES[backend_of(store)])) == sorted(declared(store))


def test_every_column_is_declared_and_the_key_is_the_primary_key(store: Store) -> None:
    tables = {name: table for name, table in declared(store).items() if table.key}
    columns = {name: set(store.database.column_names(name)) for name in tables}
    assert columns == {name: set(table.columns) for name, table in tables.items()}
    keys = {name: tuple(store.database.values(_KEYS[backend_of(store)], [name])) for name in tables}
    begins = ("tenant_number",) if backend_of(store) == POSTGRES else ()
    assert keys == {
        name: (*(() if table.is_shared else begins), *table.key) for name, table in tables.items()
    }


def test_a_text_index_alone_has_columns_of_each_database(store: Store) -> None:
    assert {name for name, table in TABLES.items() if not table.key} == {"entry_text", "key_text"}


def test_a_table_is_copied_after_the_tables_that_it_refers_to(store: Store) -> None:
    tables = [name for name in declared(store) if name in COPIED_TABLES]
    for place, name in enumerate(tables):
        assert set(store.database.values(_REFERENCES[backend_of(store)], [name])) <= set(tables[:place])


def test_other_machines_repeat_only_deletions_of_rows_with_an_id_that_they_know() -> None:
    repeated = [table for table in TABLES.values() if table.repeats_deletions]
    assert all("id" in table.columns and table.travel.name != "STAYS" for table in repeated)


@pytest.mark.parametrize("subject", Forgettable)
def test_whatever_forgetting_takes_out_of_a_table_is_overwritten_there(
    core: Core, tmp_path: Path, subject: Forgettable
) -> None:
    """A string that is in the store no more, but may be in the bytes of a table, was in one that is declared to hold words
    of the subject. Every copied table has rows here."""
    store = core.engine.store
    fill(core, tmp_path)
    before = strings(store)
    counts = Removal(store, DAWN, core.engine.derivations()).forget(request(store, subject)).counts
    assert counts
    after = strings(store)
    everywhere = set[object]().union(*after.values())
    lost = {table for table, values in before.items() if values - everywhere}
    note = store.residue.get()
    assert note is not None
    assert lost
    assert lost <= note.tables
    assert with_words_of([subject]) <= note.tables


def request(store: Store, subject: Forgettable) -> ForgetRequest:
    """Forgets everything of a subject."""
    if subject is Forgettable.CONVERSATIONS:
        live = [talk.id for talk in store.conversations.find(ConversationFilter())]
        archived = [each.conversation.id for each in store.archive.find_conversations(ConversationFilter())]
        return ForgetRequest([*live, *archived])
    return ForgetRequest(memories=Filter(), with_checkpoints=subject is Forgettable.CHECKPOINTS)


def strings(store: Store) -> Mapping[str, set[object]]:
    """The texts and packed contents of every copied table."""
    rows: dict[str, Sequence[Sequence[object]]] = {
        name: store.database.rows(f"SELECT * FROM {name}")
        for name in COPIED_TABLES
        if name in declared(store)
    }
    return {
        name: {value for row in found for value in row if isinstance(value, str | bytes)}
        for name, found in rows.items()
    }
