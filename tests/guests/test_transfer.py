"""Sessions go out of a store into a file, and come back as they were."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.core import Caller, Core, Engine, export_paths
from backstory.core.memories import MemoryDraft
from backstory.domain.errors import InvalidInput, NotAllowed, NotFound, StorageFull, Unreadable
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Priority
from backstory.guests.memory_keeper.exports import Transfer
from backstory.guests.memory_keeper.file_cache import FileCache
from backstory.store import Store

from ..conftest import BACKENDS, OpenCore
from ..doubles import (
    SteppedClock,
    counted_ids,
    found_memories,
    make_conversation,
    make_messages,
    make_settings,
)

SURFACE = "memory-keeper"

texts = st.text(st.characters(codec="utf-8"), max_size=30)
words = texts.filter(str.strip)
keys = st.sampled_from(["a", "b", "Ключ", "=1+1", 'quo"ted,\r\nkey'])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
drafts = st.builds(
    MemoryDraft,
    text=words,
    key=st.none() | keys,
    category=st.none() | st.sampled_from(["task", "decision"]),
    priority=st.sampled_from(Priority),
    channel=st.none() | st.sampled_from(["ops", "general"]),
    tags=st.lists(words, max_size=2).map(tuple),
    metadata=st.dictionaries(texts, values, max_size=3),
    private=st.booleans(),
)


class Life:
    """Everything that can happen to a session before it is exported."""

    def __init__(self, core: Core, clock: SteppedClock) -> None:
        self.core, self.clock = core, clock

    def save(self, draft: MemoryDraft) -> None:
        self.clock.step(0.001)
        self.core.memories.save_item(draft)

    def cache(self, content: bytes) -> None:
        FileCache(self.core).remember(f"src/{len(content)}.py", content.hex(), {"lines": 1})

    def check(self, name: str) -> None:
        self.core.checkpoints.take(name, description="d", files=True, git=False)

    def archive(self, keep: int) -> None:
        store = self.core.engine.store
        mine = Filter(threads=(self.core.sessions.current().id,))
        store.archive.put_memories(store.memories.find(mine, Page())[keep:])


events = st.lists(
    st.tuples(st.just("save"), drafts)
    | st.tuples(st.just("cache"), st.binary(max_size=3))
    | st.tuples(st.just("check"), words)
    | st.tuples(st.just("archive"), st.integers(0, 3)),
    max_size=8,
)


@contextmanager
def fresh_core(backend: Callable[[Path], Store], path: Path) -> Iterator[tuple[Core, SteppedClock]]:
    """Over the store of that path, emptied: making one in PostgreSQL costs more than an example."""
    with tempfile.TemporaryDirectory() as folder:
        clock = SteppedClock()
        home = Path(folder)
        store = backend(path)
        store.copying.clear()
        engine = Engine(make_settings(home), store, None, now=clock, new_id=counted_ids())
        yield Core(engine, Caller(project="/p"), SURFACE), clock
        engine.close()


def export(core: Core, *sessions: str, path: str | None = None, as_table: bool = False) -> Path:
    return Transfer(core).export(sessions, as_table=as_table, path=path, with_facts=False).path


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
@given(history=events)
def test_an_export_that_was_imported_is_exported_the_same(
    backend: Callable[[Path], Store], tmp_path: Path, history: list[tuple[str, Any]]
) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with fresh_core(backend, here) as (core, clock), fresh_core(backend, there) as (other, _):
        core.sessions.start("A session", description="ünï", channel="work")
        life = Life(core, clock)
        for name, argument in history:
            getattr(life, name)(argument)
        first = export(core).read_bytes()
        source = other.engine.settings.home / "exports" / "in.json"
        source.parent.mkdir()
        source.write_bytes(first)
        arrived = Transfer(other).bring("in.json")
        assert arrived.problems == ()
        other.caller.session = arrived.sessions[0]
        assert export(other).read_bytes() == first
        assert other.engine.store.problems() == []


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
@given(items=st.lists(drafts, max_size=5))
def test_items_come_back_from_a_table_as_they_were(
    backend: Callable[[Path], Store], tmp_path: Path, items: list[MemoryDraft]
) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with fresh_core(backend, here) as (core, clock), fresh_core(backend, there) as (other, _):
        core.sessions.start("=HYPERLINK(1)")
        for item in items:
            clock.step(0.001)
            core.memories.save_item(item)
        first = export(core, as_table=True)
        source = other.engine.settings.home / "exports" / "in.csv"
        source.parent.mkdir()
        source.write_bytes(first.read_bytes())
        arrived = Transfer(other).bring("in.csv")
        assert arrived.problems == ()
        assert arrived.counts.items == len(core.memories.find(Filter(), Page()))
        if arrived.sessions:
            other.caller.session = arrived.sessions[0]
            assert export(other, as_table=True).read_bytes() == first.read_bytes()


@pytest.fixture
def keeper(core: Core) -> Core:
    return core.through(SURFACE)


@pytest.fixture
def exports(core: Core) -> Path:
    folder = core.engine.settings.home / "exports"
    folder.mkdir()
    return folder


def test_a_large_file_is_imported(open_core: OpenCore, store: Store, exports: Path) -> None:
    keeper = open_core(store, None).through(SURFACE)
    keeper.sessions.start("Large")
    keeper.memories.save_item(MemoryDraft(key="large", text=f"{'word' * 249}    " * 12_000))
    path = export(keeper, path="large.json")
    assert path.stat().st_size > 10_000_000
    arrived = Transfer(keeper).bring("large.json")
    assert arrived.counts.items == 1
    found = keeper.memories.find(Filter(threads=arrived.sessions), Page())
    assert len(found[0].text) == 12_000_000


def test_a_file_beyond_the_limit_is_refused(
    keeper: Core, exports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_paths, "LARGEST_MB", 0.001)
    (exports / "huge.json").write_text(" " * 1001)
    with pytest.raises(InvalidInput, match="larger than"):
        Transfer(keeper).bring("huge.json")


def test_an_export_is_for_its_owner_only(keeper: Core) -> None:
    keeper.sessions.start("Mine")
    path = export(keeper, path="deep/er/mine.json")
    assert path.stat().st_mode & 0o777 == 0o600
    for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_failed_export_leaves_the_former_one_and_no_draft(
    keeper: Core, exports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper.sessions.start("Mine")
    path = export(keeper, path="mine.json")
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFull):
        export(keeper, path="mine.json")
    assert [each.name for each in exports.iterdir()] == ["mine.json"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "given", ["../x.json", "a/../../x.json", "/tmp/../etc/x.json", "a\\..\\x.json", ".."]
)
def test_no_path_climbs_out(keeper: Core, exports: Path, given: str) -> None:
    keeper.sessions.start("Mine")
    with pytest.raises(NotAllowed, match=r"\.\."):
        export(keeper, path=given)
    with pytest.raises(NotAllowed, match=r"\.\."):
        Transfer(keeper).bring(given)


@pytest.mark.parametrize("given", ["", "  ", "a\0b"])
def test_what_is_no_path_is_refused(keeper: Core, exports: Path, given: str) -> None:
    keeper.sessions.start("Mine")
    with pytest.raises(InvalidInput):
        export(keeper, path=given)
    with pytest.raises(InvalidInput):
        Transfer(keeper).bring(given)


def test_no_link_leads_out(keeper: Core, exports: Path, tmp_path: Path) -> None:
    keeper.sessions.start("Mine")
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = export(keeper, path=str(outside / "export.json"))
    (exports / "folder").symlink_to(outside)
    (exports / "file.json").symlink_to(secret)
    (exports / "ring").symlink_to(exports / "ring")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file.json").symlink_to(secret)
    paths = [
        "folder/export.json",
        "file.json",
        "ring",
        str(exports / "file.json"),
        str(elsewhere / "file.json"),
    ]
    for path in paths:
        with pytest.raises(NotAllowed):
            export(keeper, path=path)
        with pytest.raises(NotAllowed):
            Transfer(keeper).bring(path)


def test_a_link_that_stays_inside_is_followed(keeper: Core, exports: Path) -> None:
    keeper.sessions.start("Mine")
    target = export(keeper, path="target.json")
    (exports / "link.json").symlink_to(target)
    assert export(keeper, path="link.json") == target
    assert Transfer(keeper).bring("link.json").counts.sessions == 1


@pytest.mark.parametrize("present", ["", "notes", '{"version": "0.5.0"}'])
def test_a_file_that_is_not_an_export_is_never_overwritten(keeper: Core, exports: Path, present: str) -> None:
    keeper.sessions.start("Mine")
    (exports / "mine.json").write_text(present)
    with pytest.raises(NotAllowed, match="not an export"):
        export(keeper, path="mine.json")
    assert (exports / "mine.json").read_text() == present


def test_a_place_that_cannot_hold_a_file_is_refused(keeper: Core, exports: Path, tmp_path: Path) -> None:
    keeper.sessions.start("Mine")
    (exports / "folder").mkdir()
    with pytest.raises(InvalidInput, match="not a file"):
        export(keeper, path="folder")
    with pytest.raises(InvalidInput, match="export directory itself"):
        export(keeper, path=".")
    with pytest.raises(InvalidInput, match="not a file"):
        Transfer(keeper).bring("folder")
    with pytest.raises(InvalidInput, match="no directory"):
        export(keeper, path=str(tmp_path / "nowhere" / "mine.json"))
    with pytest.raises(InvalidInput):
        export(keeper, path="x" * 300)


def test_an_unreadable_file_is_told_apart_from_a_missing_one(keeper: Core, exports: Path) -> None:
    (exports / "latin.json").write_bytes(b'{"a": "\xe4"}')
    with pytest.raises(Unreadable, match="UTF-8"):
        Transfer(keeper).bring("latin.json")
    with pytest.raises(NotFound):
        Transfer(keeper).bring("missing.json")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,]", "[" * 100_000, '{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 2}', "9" * 5_000],
)
def test_what_is_not_json_is_unreadable(keeper: Core, exports: Path, text: str) -> None:
    (exports / "bad.json").write_text(text)
    with pytest.raises(Unreadable, match="not JSON"):
        Transfer(keeper).bring("bad.json")


def test_a_table_with_loose_quotes_is_unreadable(keeper: Core, exports: Path) -> None:
    (exports / "bad.csv").write_text('session_id,"a"b\n')
    with pytest.raises(Unreadable, match="not CSV"):
        Transfer(keeper).bring("bad.csv")


def test_an_id_that_a_message_has_is_not_taken_from_it(keeper: Core, exports: Path) -> None:
    keeper.engine.store.conversations.put(make_conversation("talk"), make_messages("talk", "said"))
    keeper.sessions.start("Mine")
    keeper.memories.save_item(MemoryDraft(key="k", text="v"))
    path = export(keeper, path="mine.json")
    text = path.read_text().replace(keeper.memories.find(Filter(), Page())[0].id, "talk:0")
    path.write_text(text)
    assert Transfer(keeper).bring("mine.json").counts.items == 1
    assert [message.text for message in keeper.engine.store.messages.of("talk")] == ["said"]


def test_a_parent_in_the_same_file_stays_the_parent(keeper: Core, exports: Path) -> None:
    parent = keeper.sessions.start("Parent")
    child = keeper.sessions.start("Child", parent=parent.id)
    export(keeper, child.id, parent.id, path="both.json")
    first, second = Transfer(keeper).bring("both.json").sessions
    assert {first, second}.isdisjoint({parent.id, child.id})
    assert keeper.sessions.get(first).parent == second


def test_an_import_that_fails_half_way_leaves_nothing(
    keeper: Core, exports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper.sessions.start("Mine")
    for key in ("a", "b", "c"):
        keeper.memories.save_item(MemoryDraft(key=key, text=key))
    export(keeper, path="mine.json")
    store = keeper.engine.store
    put, calls = store.memories.put, iter(range(9))

    def failing(memories: Any) -> None:
        if next(calls) == 2:
            raise StorageFull("full")
        put(memories)

    monkeypatch.setattr(store.memories, "put", failing)
    with pytest.raises(StorageFull):
        Transfer(keeper).bring("mine.json")
    assert store.entries.count(Filter()) == 3
    assert len(store.sessions.find(SURFACE, after=None, before=None)) == 1


def test_sessions_of_other_surfaces_are_not_exported(core: Core) -> None:
    other = core.through("another").sessions.start("Theirs")
    core.caller.session = None  # the one that the connection works in is for all its surfaces
    with pytest.raises(NotFound):
        export(core.through(SURFACE), other.id)


def test_an_imported_memory_is_found_by_meaning(keeper: Core, exports: Path) -> None:
    keeper.sessions.start("Mine")
    memory = keeper.memories.save_item(MemoryDraft(key="k", text="the vehicle is parked"))
    path = export(keeper)
    keeper.engine.store.memories.delete(Filter())
    Transfer(keeper).bring(str(path))
    assert keeper.engine.backlog is not None
    keeper.engine.backlog.drain()
    assert [memory.id for memory in found_memories(keeper, "automobile")] == [memory.id]


def test_times_are_read_to_the_millisecond_in_any_zone(keeper: Core, exports: Path) -> None:
    session = keeper.sessions.start("Mine")
    memory = keeper.memories.save_item(MemoryDraft(key="k", text="v"))
    path = export(keeper, path="mine.json")
    body = json.loads(path.read_text())
    body["sessions"][0]["items"][0]["createdAt"] = "2026-03-01T11:30:00.1239+02:00"
    path.write_text(json.dumps(body))
    arrived = Transfer(keeper).bring("mine.json")
    found = keeper.memories.find(Filter(threads=arrived.sessions), Page())[0]
    assert found.created_at == memory.created_at + timedelta(milliseconds=123)
    assert found.session != session.id
