"""Every table of the schema, declared once: its columns, how it is copied, whose text it contains, whether it is synced.

Copying between databases, erasure of bytes and devices use these declarations and have no lists of their own.
`tests/store/test_tables.py` compares them with the schemas of both databases, so a table or column that a migration
adds fails a test until it is declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple


class Forgettable(Enum):
    """The kinds of records that a user can forget."""

    MEMORIES = auto()
    CONVERSATIONS = auto()
    CHECKPOINTS = auto()


class Travel(Enum):
    """The way in which rows of a table reach the user's other machines."""

    STAYS = auto()
    IN_RECORD = auto()
    """Inside the record of a memory, a conversation or a deletion."""
    AS_ROW = auto()
    """Each row is a record of its own, with the table as its kind and its key as its id."""


class StoredTable(NamedTuple):
    """The declaration of a table, apart from the statements of the room that uses it."""

    name: str
    key: tuple[str, ...]
    """The primary key; empty for a text index, whose columns differ between the databases."""
    columns: tuple[str, ...]
    """All columns, those of the key first."""
    words_of: frozenset[Forgettable]
    """Rows may contain text of these kinds: forgetting one of them overwrites the bytes of this table."""
    copied_rows: int
    """Rows that a copy to another database takes in one transaction; NOT_COPIED where the other one makes its own."""
    travel: Travel
    repeats_deletions: bool
    """True if deletions here are repeated on other machines. The table then has a column `id`."""
    only_in: str
    """The one backend that has the table; empty where both have it."""
    is_shared: bool
    """True if all tenants of a PostgreSQL database share the table. Every other table has the tenant in its key."""
    is_partitioned: bool
    """True if PostgreSQL partitions the table by tenant: tables with rows for every entry, or with large rows."""


SQLITE, POSTGRES = "sqlite", "postgres"

NOT_COPIED = 0
FEW_ROWS = 50  # whole files and conversations
SOME_ROWS = 200  # where one may hold a large text
VECTOR_ROWS = 1_000
MANY_ROWS = 2_000

NO_WORDS = frozenset[Forgettable]()
MEMORIES = frozenset({Forgettable.MEMORIES})
CONVERSATIONS = frozenset({Forgettable.CONVERSATIONS})
CHECKPOINTS = frozenset({Forgettable.CHECKPOINTS})
BOTH = MEMORIES | CONVERSATIONS

STAYS, IN_RECORD, AS_ROW = Travel.STAYS, Travel.IN_RECORD, Travel.AS_ROW


def _table(
    name: str,
    key: str,
    others: str,
    words_of: frozenset[Forgettable],
    copied_rows: int,
    travel: Travel,
    *,
    repeats_deletions: bool = False,
    only_in: str = "",
    is_shared: bool = False,
    is_partitioned: bool = False,
) -> StoredTable:
    columns = (*key.split(), *others.split())
    return StoredTable(
        name,
        tuple(key.split()),
        columns,
        words_of,
        copied_rows,
        travel,
        repeats_deletions,
        only_in,
        is_shared,
        is_partitioned,
    )


VECTOR = "vector"

_DECLARATIONS = (
    # memories, messages and conversations
    _table(
        "entry", "n",
        "id kind text heading thread seq role speaker project surface private revision created_at updated_at summary key"
        " category priority channel tags metadata trust",
        BOTH, SOME_ROWS, IN_RECORD, repeats_deletions=True, is_partitioned=True,
    ),
    _table(
        "former", "entry place", "text category priority channel metadata private saved_at",
        MEMORIES, SOME_ROWS, IN_RECORD,
    ),
    _table(
        "conversation", "id",
        "title project surface created_at updated_at kind parent native_id source directory branch model completeness"
        " standing subject is_gone trust rules run_rules",
        CONVERSATIONS, MANY_ROWS, IN_RECORD, repeats_deletions=True,
    ),
    _table("trace", "entry place", "kind name value", CONVERSATIONS, MANY_ROWS, IN_RECORD, is_partitioned=True),
    # outputs of tools, usage and command runs are no part of the record of a conversation
    _table(
        "result", "entry place",
        "native_id name arguments_at arguments_length command_at command_length is_error exit_code duration_ms bytes"
        " is_cut dictionary packed",
        CONVERSATIONS, SOME_ROWS, STAYS, is_partitioned=True,
    ),
    _table(
        "usage", "conversation key",
        "entry surface model at input output cache_read cache_write cache_write_1h reasoning cost_usd is_partial",
        CONVERSATIONS, MANY_ROWS, STAYS,
    ),
    _table("saying", "entry place", "thread kind text speaker subject outcome", CONVERSATIONS, MANY_ROWS, IN_RECORD),
    _table("command_run", "entry place", "thread families outcome exit_code", CONVERSATIONS, MANY_ROWS, STAYS),
    _table("run_line", "entry place number", "signature loose text", CONVERSATIONS, MANY_ROWS, STAYS),
    _table("dismissal", "statement", "dismissed_at", NO_WORDS, MANY_ROWS, AS_ROW),
    _table("witness", "entry source", "conversation", NO_WORDS, MANY_ROWS, STAYS),
    _table(
        "session", "id", "name description project surface channel parent created_at updated_at",
        NO_WORDS, MANY_ROWS, AS_ROW,
    ),
    # whole files of a project stay where the project is
    _table("content", "hash", "packed", CHECKPOINTS, FEW_ROWS, STAYS),
    _table("cached_file", "session path", "id hash size metadata cached_at", NO_WORDS, MANY_ROWS, STAYS),
    _table(
        "checkpoint", "n",
        "id name description session project surface root items files git_branch git_status created_at",
        CHECKPOINTS, MANY_ROWS, STAYS,
    ),
    _table("archive_pack", "n", "thread project surface packed", MEMORIES, FEW_ROWS, IN_RECORD),
    _table(
        "archived", "id", "pack key private category priority channel created_at updated_at forgotten_at",
        MEMORIES, MANY_ROWS, IN_RECORD, repeats_deletions=True,
    ),
    _table(
        "archived_conversation", "id",
        "title project surface created_at updated_at kind parent native_id source directory branch model completeness"
        " standing subject is_gone said packed trust rules run_rules",
        CONVERSATIONS, FEW_ROWS, IN_RECORD, repeats_deletions=True,
    ),
    _table("brought_back", "id", "at", NO_WORDS, MANY_ROWS, AS_ROW),
    # each machine derives the graph itself
    _table("graphed", "entry revision extractor", "entity", NO_WORDS, MANY_ROWS, STAYS),
    _table("mention", "entry entity", "type name times", BOTH, MANY_ROWS, STAYS, is_partitioned=True),
    _table("relation", "entry subject predicate object", "confidence", BOTH, MANY_ROWS, STAYS),
    _table(
        "event", "id", "session project surface tool type data memory created_at",
        MEMORIES, SOME_ROWS, AS_ROW, repeats_deletions=True,
    ),
    _table(
        "link", "id", "source target relationship metadata created_at updated_at",
        MEMORIES, MANY_ROWS, AS_ROW, repeats_deletions=True,
    ),
    # requests of this machine's sessions, and changes that they were shown
    _table(
        "watcher", "id", "session surface filters existing sequence lifetime_s created_at expires_at stopped_at",
        NO_WORDS, MANY_ROWS, STAYS,
    ),
    _table(
        "memory_change", "sequence",
        "kind memory changed_at surface session key category priority channel private is_erased",
        MEMORIES, MANY_ROWS, STAYS,
    ),
    _table(
        "source", "path",
        "reader size modified_ns position head tail state skipped redacted problem is_gone read_at",
        CONVERSATIONS, MANY_ROWS, STAYS,
    ),
    _table("forgotten", "conversation", "forgotten_at", NO_WORDS, MANY_ROWS, IN_RECORD),
    _table("handoff", "conversation", "source handed_at paths", CONVERSATIONS, MANY_ROWS, STAYS),
    _table("injection", "session given_at", "project text event subject certainty used", BOTH, SOME_ROWS, STAYS),
    _table("imported", "id", "importer store place part digest imported_at", MEMORIES, MANY_ROWS, AS_ROW),
    # files of this machine's programs; the memories that were read from them travel. Anchors and digests are no words.
    _table(
        "memory_file", "path", "program root project size modified_ns problem is_gone", NO_WORDS, MANY_ROWS, STAYS
    ),
    _table("memory_origin", "path anchor", "program memory project digest is_gone", NO_WORDS, MANY_ROWS, STAYS),
    _table("kept_answer", "key", "kind owner body expires_at", BOTH, FEW_ROWS, STAYS),
    # the team server
    _table("stored_export", "path", "packed size quoted made_at", BOTH, FEW_ROWS, STAYS),
    _table("connection", "id", "owner project directory session seen_at level", NO_WORDS, MANY_ROWS, STAYS),
    _table("token", "id", "hash person scope spaces created_at expires_at revoked_at", NO_WORDS, MANY_ROWS, STAYS),
    _table("key_set", "url", "keys fetched_at", NO_WORDS, MANY_ROWS, STAYS),
    _table(
        "web_session", "hash", "id person name scope spaces roles created_at expires_at",
        NO_WORDS, MANY_ROWS, STAYS,
    ),
    _table("space_member", "space person", "role added_at", NO_WORDS, MANY_ROWS, STAYS),
    _table("tenant_setting", "tenant", "is_reviewed max_store_mb retention_days", NO_WORDS, MANY_ROWS, STAYS),
    _table(
        "contribution", "memory", "author author_name state replaces made_at reviewer reviewed_at",
        NO_WORDS, MANY_ROWS, STAYS,
    ),
    _table("space_copy", "memory", "space stamp author", NO_WORDS, MANY_ROWS, STAYS),
    _table("outgoing", "key", "memory replaces queued_at problem", NO_WORDS, MANY_ROWS, STAYS),
    _table("audited", "id", "at person credential space tool outcome memories", NO_WORDS, MANY_ROWS, STAYS),
    # vectors: a copy takes them from `vector` to `embedding` and back, under the first name
    _table("space", "number", "model", NO_WORDS, MANY_ROWS, STAYS),
    _table(VECTOR, "v", "space entry passage signs code", BOTH, VECTOR_ROWS, STAYS, only_in=SQLITE),
    _table(
        "embedding", "v", "space entry passage code",
        NO_WORDS, NOT_COPIED, STAYS, only_in=POSTGRES, is_partitioned=True,
    ),
    _table("waiting", "space urgency entry", "leased_until", NO_WORDS, MANY_ROWS, STAYS),
    # the text index: who inserts an entry indexes its words
    _table("entry_text", "", "", BOTH, NOT_COPIED, STAYS, is_partitioned=True),
    _table("key_text", "", "", MEMORIES, NOT_COPIED, STAYS),
    _table("moved", "m", "entry", NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE),
    _table("removal", "one", "count", NO_WORDS, NOT_COPIED, STAYS, only_in=POSTGRES),
    # the database itself
    _table("shape", "n", "is_quiet is_memory size", NO_WORDS, NOT_COPIED, STAYS, is_partitioned=True),
    _table("lease", "name", "holder leased_until", NO_WORDS, NOT_COPIED, STAYS),
    _table("migration", "version", "name compat applied_at", NO_WORDS, NOT_COPIED, STAYS, is_shared=True),
    _table("tenant", "number", "name part made_at", NO_WORDS, NOT_COPIED, STAYS, only_in=POSTGRES, is_shared=True),
    _table("counter", "name", "value", NO_WORDS, NOT_COPIED, STAYS, only_in=POSTGRES),
    # synchronisation with other machines: a copy joins them anew
    _table("device_self", "id", "synced synced_at", NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE),
    _table("device_journal", "kind id", "", NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE),
    _table(
        "device_version", "id kind stamp device", "digest rest is_dropped is_sent",
        NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE,
    ),
    _table(
        "device_conversation", "id", "mark messages revisions header is_unsent",
        NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE,
    ),
    _table(
        "device_forgotten", "id", "kind stamp device heard_sync heard_at with_checkpoints is_sent is_done",
        NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE,
    ),
    _table(
        "device_segment", "n", "name device number size is_mine state",
        NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE,
    ),
    _table("device_held", "entity segment", "is_content", NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE),
    _table(
        "device_peer", "id", "name platform version number seen_at alive state mark",
        NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE,
    ),
    _table("device_project", "path", "identity is_local", NO_WORDS, NOT_COPIED, STAYS, only_in=SQLITE),
)  # fmt: skip
"""All tables, ordered so that none refers to rows of a later one."""

TABLES = {table.name: table for table in _DECLARATIONS}
COPIED_TABLES = {name: table for name, table in TABLES.items() if table.copied_rows}
TENANT_TABLES = {
    name: table for name, table in TABLES.items() if not table.is_shared and table.only_in != SQLITE
}
"""The tables of PostgreSQL in which each row belongs to one tenant."""


def with_words_of(subjects: Iterable[Forgettable]) -> set[str]:
    """The tables that may contain bytes of the subjects after they were forgotten."""
    wanted = frozenset(subjects)
    return {name for name, table in TABLES.items() if table.words_of & wanted}
