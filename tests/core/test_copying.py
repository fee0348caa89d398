"""A whole store goes to the other backend and comes back the same, however often the move is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.copying import copy_store
from backstory.domain.entries import TextFields
from backstory.domain.errors import Incompatible, InvalidInput
from backstory.domain.filters import Filter, Page
from backstory.domain.words import Unit
from backstory.store import Store
from backstory.store.copying import fingerprints
from backstory.store.tables import COPIED_TABLES, VECTOR

from .. import postgres_server
from ..conftest import BACKENDS
from ..doubles import make_memory
from ..filled_store import fill, fill_store

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
                opened.callback(postgres_server.drop, postgres_server.tenant_of(path))
            return opened.enter_context(closing(BACKENDS[backend](path)))

        yield open_at


@pytest.fixture
def other(backend: str, open_at: Elsewhere) -> Store:
    return open_at("sqlite" if backend == "postgres" else "postgres")


def hush(message: str, done: int, total: int) -> None:
    pass


def contents(store: Store) -> dict[str, list[object]]:
    """All rows; of vectors what both backends can keep."""
    return {
        table: [
            fingerprints(table, [row]) if table == VECTOR else tuple(row)
            for row in store.copying.export(table, ())
        ]
        for table in COPIED_TABLES
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
    with pytest.raises(InvalidInput, match="has changed since; nothing was copied"):
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


def test_a_column_that_this_program_does_not_know_is_not_left_behind(store: Store, other: Store) -> None:
    with store.transaction():
        store.database.change("ALTER TABLE link ADD COLUMN strength INTEGER")
    try:
        with pytest.raises(Incompatible, match="another version"):
            copy_store(store, other, "here", hush)
    finally:
        with store.transaction():
            store.database.change("ALTER TABLE link DROP COLUMN strength")
    assert other.copying.is_empty()


def test_a_store_that_was_only_looked_at_is_empty(store: Store, other: Store) -> None:
    store.vectors.open_space("one")
    store.memories.put([make_memory("a")])
    other.vectors.open_space("another")
    assert all(each.is_equal for each in copy_store(store, other, "here", hush))
    assert other.vectors.open_space("one") == 1
