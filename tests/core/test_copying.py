"""A whole store goes to the other backend and comes back the same, however often the move is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from backstory.core import Core
from backstory.core.copying import copy_store
from backstory.domain.entries import TextFields
from backstory.domain.errors import InvalidInput
from backstory.domain.filters import Filter, Page
from backstory.domain.records import CachedAnswer, Injection, Trace
from backstory.domain.sources import ImportedRecord, SourceState
from backstory.domain.statements import MessageSaying, Saying, Speaker, StatementKind
from backstory.domain.team import AuditRecord, Connection, Token
from backstory.domain.words import Unit
from backstory.store import Store
from backstory.store.copying import TABLES, VECTOR, fingerprints
from backstory.store.sqlite import SqliteStore
from backstory.surfaces import all_tools, load_surfaces

from .. import postgres_server
from ..conftest import BACKENDS, caller_of
from ..doubles import DAWN, make_conversation, make_memory, make_messages
from ..example_calls import DOOMED, Known, chunked_answer, example_calls

TOOLS = all_tools(load_surfaces())
DERIVED = {"migration", "lease", "entry_text", "key_text", "shape"}
"""Tables of a store that are about itself, or that it makes of others."""

Elsewhere = Callable[[str], Store]


@pytest.fixture(autouse=True)
def connections() -> None:
    postgres_server.pool()  # its threads are not the test's


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.node.callspec.params["open_store"]
    return name


@pytest.fixture
def open_at(tmp_path: Path) -> Iterator[Elsewhere]:
    """Opens another store of a backend."""
    with ExitStack() as opened:

        def open_at(backend: str) -> Store:
            path = tmp_path / f"{backend}-elsewhere.db"
            if backend == "postgres":
                opened.callback(postgres_server.drop, postgres_server.schema_of(path))
            return opened.enter_context(closing(BACKENDS[backend](path)))

        yield open_at


@pytest.fixture
def other(backend: str, open_at: Elsewhere) -> Store:
    return open_at("sqlite" if backend == "postgres" else "postgres")


def hush(message: str, done: int, total: int) -> None:
    pass


def fill(core: Core, directory: Path) -> None:
    """Every tool's example, and what no tool of a local server writes."""
    core.caller.directory = str(directory)
    call = caller_of(core)
    session = call("context_save", key=DOOMED, value="Not for long.")["sessionId"]
    call("context_save", key="packed", value="A NUL \0, a \ufdd0 and an owl 🦉.", metadata={"a": 1})
    call("context_save", key="packed", value="Another value.", private=True)
    call("context_compress", olderThan="2999-01-01")
    one, two = (core.through("projectmemory").memories.save(text).id for text in ("One.", "Two."))
    known = Known(one, two, session, str(directory), chunked_answer(call))
    core.caller.session = None
    for tool, arguments in example_calls(known):
        assert not TOOLS[tool].call(core, arguments).is_error, tool
    call("context_save", key="again", value="First.")
    call("context_save", key="again", value="Second.")
    fill_store(core.engine.store)
    assert core.engine.backlog is not None
    core.engine.backlog.drain()
    core.engine.backlog.close()  # the background may be about to put the same vectors once more
    core.engine.store.vectors.open_space("a model that embeds nothing")


def fill_store(store: Store) -> None:
    said = make_messages("talk", "Fix login.", "Done.")
    done = make_messages("talk", "", "", "", "src/login.ts")[-1]._replace(role="tool")
    store.conversations.add(
        make_conversation("talk"),
        [*said, done],
        [Trace(done.id, "read", "src/login.ts")],
        [MessageSaying(done.id, Saying(StatementKind.COMMIT, "[main 0a1b2c3] Log in", Speaker.LOG))],
    )
    store.sayings.dismiss("0a1b2c3d4e5f6071", DAWN)
    store.witnesses.change("talk", [(done.id, 7)], [])
    store.conversations.add(make_conversation("gone"), make_messages("gone", "Secret."), [])
    store.sync.forget(["gone"], DAWN)
    for old in ("old", "brought back"):
        store.conversations.add(make_conversation(old), make_messages(old, "Long ago."), [])
        store.archive.put_conversation(old)
    store.archive.restore_conversations(["brought back"])
    store.archive.exempt(["brought back"], DAWN)
    store.sync.put(SourceState("/talks.jsonl", "claude-code", 10, 7, state={"a": 1}, read_at=DAWN))
    store.imports.put([ImportedRecord("m", "mem0", "/history.db", "history/7", "part", "digest", DAWN)])
    store.injections.put(Injection("talk", DAWN, "/p", "Fix login."))
    store.answers.put(CachedAnswer("key", "chunks", "", {"a": [1]}, DAWN + timedelta(hours=1)), DAWN)
    store.team.put_connection(Connection("c", "owner", "p", "d", None, "info", DAWN))
    store.team.add_token(Token("t", "hash", "alice", "read", ("ops",), DAWN))
    store.team.audit([AuditRecord("1", DAWN, "alice", "t", "user-alice", "save_context", "completed")])


def contents(store: Store) -> dict[str, list[object]]:
    """All rows; of vectors what both backends can keep."""
    return {
        table: [
            fingerprints(table, [row]) if table == VECTOR else tuple(row)
            for row in store.copying.export(table, ())
        ]
        for table in TABLES
    }


def test_everything_goes_there_and_back(
    core: Core, other: Store, backend: str, open_at: Elsewhere, tmp_path: Path
) -> None:
    fill(core, tmp_path)
    store = core.engine.store
    before = contents(store)
    assert [table for table, rows in before.items() if not rows] == []
    for source, target in ((store, other), (other, open_at(backend))):
        compared = copy_store(source, target, "here", hush)
        assert all(each.is_equal for each in compared)
        assert {each.table: each.source.rows for each in compared} == {
            table: len(rows) for table, rows in before.items()
        }
        assert contents(target) == before == contents(source)
        assert target.problems() == []
        assert (done := target.copying.progress()) is not None
        assert done.is_done
        for unit in (Unit((word,)) for word in ("login", "token", "again")):
            found = target.text.match(unit, TextFields.BOTH).tolist()
            assert found == store.text.match(unit, TextFields.BOTH).tolist() != []
        entries = range(store.copying.last_number() + 1)
        (numbers, vectors), (owners, rows) = (each.vectors.passages(1, entries) for each in (target, store))
        assert sorted(numbers) == sorted(owners) != []
        of_each = [row for _, row in sorted(zip(owners, rows.tolist(), strict=True))]
        assert [row for _, row in sorted(zip(numbers, vectors.tolist(), strict=True))] == [
            pytest.approx(row, abs=0.002) for row in of_each
        ]


def test_new_rows_come_after_those_that_were_moved(store: Store, other: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b"), make_memory("c")])
    store.memories.delete(Filter(ids=("c",)))
    store.vectors.open_space("one")
    copy_store(store, other, "here", hush)
    other.memories.put([make_memory("d")])
    assert other.entries.size_hint() == 4
    assert other.vectors.open_space("two") == 2


def test_a_move_that_is_stopped_goes_on_where_it_was(store: Store, other: Store) -> None:
    store.memories.put([make_memory(f"m{n}", f"text {n}") for n in range(900)])
    fill_store(store)
    moved: list[tuple[str, int]] = []

    def stop_at_each_step(message: str, done: int, total: int) -> None:
        if message.startswith("Moving"):
            moved.append((message, done))
            raise InterruptedError

    starts = 1
    while True:
        try:
            compared = copy_store(store, other, "here", stop_at_each_step)
        except InterruptedError:
            starts += 1
        else:
            break
    assert starts > 9
    assert moved == sorted(set(moved), key=lambda step: step[1])  # nothing twice
    assert all(each.is_equal for each in compared)
    assert contents(other) == contents(store)
    assert other.problems() == []


def test_what_is_written_meanwhile_is_noticed_and_the_next_move_starts_anew(
    store: Store, other: Store
) -> None:
    store.memories.put([make_memory("a"), make_memory("b", "old")])

    def write(message: str, done: int, total: int) -> None:
        if message == "Moving entry":
            store.memories.put([make_memory("b", "new"), make_memory("c")])

    compared = {each.table: each for each in copy_store(store, other, "here", write)}
    assert not compared["entry"].is_equal
    assert compared["conversation"].is_equal
    assert other.copying.progress() is not None
    assert all(each.is_equal for each in copy_store(store, other, "here", hush))
    assert {memory.text for memory in other.memories.find(Filter(), Page())} == {"a text", "new"}


def test_a_store_that_holds_something_else_is_not_moved_to(store: Store, other: Store) -> None:
    store.memories.put([make_memory("a")])
    other.memories.put([make_memory("mine")])
    with pytest.raises(InvalidInput, match="not empty"):
        copy_store(store, other, "here", hush)
    assert [memory.id for memory in other.memories.find(Filter(), Page())] == ["mine"]


def test_a_move_that_was_killed_after_its_end_may_be_given_again(store: Store, other: Store) -> None:
    store.memories.put([make_memory("a")])
    assert all(each.is_equal for each in copy_store(store, other, "here", hush))
    before = contents(other)
    assert all(each.is_equal for each in copy_store(store, other, "here", hush))
    assert contents(other) == before
    with pytest.raises(InvalidInput, match="not empty"):
        copy_store(store, other, "elsewhere", hush)


def test_what_was_saved_in_the_new_store_is_not_moved_over(store: Store, other: Store) -> None:
    store.memories.put([make_memory("a")])
    copy_store(store, other, "here", hush)
    other.memories.put([make_memory("mine")])
    with pytest.raises(InvalidInput, match="written to; nothing was changed"):
        copy_store(store, other, "here", hush)
    assert other.entries.count(Filter()) == 2


def test_a_part_of_another_store_is_not_mixed_with_this_one(store: Store, other: Store) -> None:
    def stop(message: str, done: int, total: int) -> None:
        raise InterruptedError

    store.memories.put([make_memory("a")])
    with pytest.raises(InterruptedError):
        copy_store(store, other, "there", stop)
    with pytest.raises(InvalidInput, match="a part of there"):
        copy_store(store, other, "here", hush)
    assert all(each.is_equal for each in copy_store(store, other, "there", hush))


def test_a_store_that_was_only_looked_at_is_empty(store: Store, other: Store) -> None:
    store.vectors.open_space("one")
    store.memories.put([make_memory("a")])
    other.vectors.open_space("another")
    assert all(each.is_equal for each in copy_store(store, other, "here", hush))
    assert other.vectors.open_space("one") == 1


def test_every_table_is_moved_or_made_of_others(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        rows = store.database.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
    in_sqlite = {row[0] for row in rows if not row[0].startswith(("entry_text_", "key_text_"))}
    assert in_sqlite == set(TABLES) | DERIVED | {"moved"}
    with closing(postgres_server.open_shared()), psycopg.connect(postgres_server.url()) as admin:
        found = admin.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [postgres_server.SHARED]
        )
        in_postgres = {row[0] for row in found}
    assert in_postgres - {"embedding", "removal"} | {VECTOR, "moved"} == in_sqlite
