"""The Store contract: blobs, copies of memories, cached files and the archive. Every test runs on every backend."""

from __future__ import annotations

import random
import zlib
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.domain.checkpoints import CachedFile, Checkpoint, Manifest
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory, Priority
from backstory.domain.when import from_ms
from backstory.store import Store
from backstory.store.archive import PACK

from ..conftest import OpenStore
from ..doubles import DAWN, make_memory

ALL = Page()
MINE = Filter(threads=("s",))
FULL = make_memory(
    "full",
    "Whole text\nwith a line, a \0, a \u2028 and 🎉",
    summary="whole",
    key="auth.jwt",
    category="decision",
    priority=Priority.CRITICAL,
    channel="main",
    tags=("a", "b c"),
    session="s",
    private=True,
    metadata={"nested": {"n": 1.5, "list": [None, True, "ü"]}},
    updated_at=DAWN + timedelta(milliseconds=1),
)


def many(count: int) -> list[Memory]:
    dice = random.Random(7)
    return [
        make_memory(
            f"{dice.getrandbits(96):024x}", f"text {place} {dice.random()}", key=f"key {place}", session="s"
        )
        for place in range(count)
    ]


def make_checkpoint(copy: Manifest, id: str = "c", **changes: object) -> Checkpoint:
    plain = Checkpoint(
        id=id,
        name="name",
        description="",
        session="s",
        project="/p",
        surface="test",
        root=copy.root,
        items=copy.items,
        files=0,
        git_branch=None,
        git_status=None,
        created_at=DAWN,
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


def make_file(path: str, hash: str, **changes: object) -> CachedFile:
    plain = CachedFile(
        id=f"file {path}", session="s", path=path, hash=hash, size=4, cached_at=DAWN, metadata={"a": [1]}
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


def stored_bytes(store: Store) -> int:
    """Of all blobs, as they lie in the database."""
    hashes = [row[0] for row in store._rows("SELECT hash FROM content")]  # type: ignore[attr-defined]
    return sum(len(zlib.compress(content, 1)) for content in store.read_blobs(hashes).values())


def test_a_blob_is_read_under_the_sha256_of_its_bytes(store: Store) -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    hashes = store.put_blobs([b"", b"\0\xff" * 1000, b""])
    assert hashes[0] == hashes[2] == empty
    assert store.read_blobs([*hashes, "unknown"]) == {empty: b"", hashes[1]: b"\0\xff" * 1000}


def test_any_number_of_blobs_is_kept_once_each(store: Store) -> None:
    contents = [str(number).encode() for number in range(1_200)]
    assert store.put_blobs(contents) == store.put_blobs(contents)
    assert len(store.read_blobs(store.put_blobs(contents))) == 1_200


def test_a_copy_holds_every_field(store: Store) -> None:
    plain = make_memory("plain", "short", summary="short", session="s")
    store.put_memories([FULL, plain, make_memory("other", session="t")])
    copy = store.copy_memories(MINE, [])
    assert copy.items == 2
    assert store.read_copy(make_checkpoint(copy)).memories == [FULL, plain]


@settings(max_examples=50)
@given(text=st.text(min_size=1), key=st.text(), milliseconds=st.integers(-(10**12), 10**13))
def test_any_text_is_copied_as_it_was(store: Store, text: str, key: str, milliseconds: int) -> None:
    moment = from_ms(milliseconds)
    memory = make_memory(
        "any", text, key=key, summary=text, session="s", created_at=moment, updated_at=moment
    )
    store.put_memories([memory])
    copy = store.copy_memories(MINE, [])
    assert store.read_copy(make_checkpoint(copy)).memories == [memory]


def test_a_copy_stays_what_it_was(store: Store) -> None:
    memories = many(300)
    store.put_memories(memories)
    checkpoint = make_checkpoint(store.copy_memories(MINE, []))
    store.put_memories([memory._replace(text="changed", summary="changed") for memory in memories[:100]])
    store.archive_memories(memories[100:200])
    store.delete_memories(Filter(ids=tuple(memory.id for memory in memories[200:])))
    assert store.read_copy(checkpoint).memories == memories


def test_a_second_copy_of_unchanged_memories_stores_nothing(store: Store) -> None:
    store.put_memories(many(2_000))
    first = store.copy_memories(MINE, [])
    before = stored_bytes(store)
    assert store.copy_memories(MINE, []) == first
    assert stored_bytes(store) == before


@pytest.mark.parametrize("change", ["edit", "delete", "add"])
def test_a_change_stores_its_own_chunk_and_the_manifest(store: Store, change: str) -> None:
    memories = many(2_000)
    store.put_memories(memories)
    store.copy_memories(MINE, [])
    before = stored_bytes(store)
    if change == "edit":
        store.put_memories([memories[700]._replace(text="edited")])
    elif change == "delete":
        store.delete_memories(Filter(ids=(memories[700].id,)))
    else:
        store.put_memories([make_memory("new", session="s")])
    store.copy_memories(MINE, [])
    assert stored_bytes(store) < before * 1.2


def test_checkpoints_come_newest_first_and_by_what_is_asked(store: Store) -> None:
    copy = store.copy_memories(MINE, [])
    for id, name, session in (("a", "one", "s"), ("b", "two", "s"), ("c", "one", "t")):
        store.put_checkpoint(make_checkpoint(copy, id, name=name, session=session, git_branch="main"))

    def ids(**wanted: str) -> list[str]:
        return [checkpoint.id for checkpoint in store.find_checkpoints("test", **wanted)]

    assert ids() == ["c", "b", "a"]
    assert ids(name="one") == ["c", "a"]
    assert ids(session="s") == ["b", "a"]
    assert ids(id="b") == ["b"]
    assert ids(id="b", name="one") == []
    assert store.find_checkpoints("another surface") == []
    expected = make_checkpoint(copy, "b", name="two", git_branch="main")
    assert store.find_checkpoints("test", id="b") == [expected]


def test_a_cached_file_is_replaced_in_its_session_only(store: Store) -> None:
    first, second = store.put_blobs([b"one", b"two"])
    store.put_file(make_file("/p/a", first))
    store.put_file(make_file("/p/a", first, session="t", id="other"))
    store.put_file(make_file("/p/a", second, size=9))
    assert store.find_files("s") == [make_file("/p/a", second, size=9)]
    assert store.find_file("t", "/p/a") == make_file("/p/a", first, session="t", id="other")
    assert store.find_file("s", "/p/b") is None


def test_contents_that_nothing_refers_to_are_dropped_and_no_others(store: Store) -> None:
    store.put_memories(many(200))
    kept, copied, unused = store.put_blobs([b"kept", b"copied", b"unused"])
    store.put_file(make_file("/p/kept", kept))
    checkpoint = make_checkpoint(store.copy_memories(MINE, [make_file("/p/copied", copied)]))
    store.put_checkpoint(checkpoint)
    assert store.drop_unused_blobs() == 1
    assert set(store.read_blobs([kept, copied, unused])) == {kept, copied}
    contents = store.read_copy(checkpoint)
    assert contents.files == [make_file("/p/copied", copied)]
    assert contents.memories == many(200)


def test_archived_memories_are_gone_from_everything_live(store: Store) -> None:
    store.put_memories([FULL, make_memory("live", session="s")])
    packed = store.archive_memories([FULL])
    assert packed.items == 1
    assert [memory.id for memory in store.find_memories(Filter(), ALL)] == ["live"]
    assert store.problems() == []


def test_archived_memories_come_back_with_every_field_and_their_history(store: Store) -> None:
    store.put_memories([FULL._replace(text="former", private=False)])
    store.add_former(FULL)
    store.put_memories([FULL])
    history = store.find_former("full")
    store.archive_memories([FULL])
    (archived,) = store.find_archived(Filter(keys=("auth.jwt",)))
    assert archived == (FULL, tuple(history))
    store.restore_archived(["full"])
    assert store.find_memories(Filter(), ALL) == [FULL]
    assert store.find_former("full") == history
    assert store.find_archived(Filter()) == []


def test_the_archive_is_found_by_the_words_of_a_filter(store: Store) -> None:
    other = make_memory("other", session="t", key="other", surface="elsewhere")
    store.put_memories([FULL, other])
    store.archive_memories([FULL, other])

    def ids(**words: object) -> list[str]:
        return [each.memory.id for each in store.find_archived(Filter(**words))]  # type: ignore[arg-type]

    assert ids() == ["full", "other"]
    assert ids(threads=("t",)) == ["other"]
    assert ids(surfaces=("test",)) == ["full"]
    assert ids(categories=("decision",), priorities=(Priority.CRITICAL,), channels=("main",)) == ["full"]
    assert ids(created_before=DAWN) == []
    assert ids(key_glob="auth*") == ["full"]
    assert ids(public_or_in="") == ["other"]
    assert ids(public_or_in="s") == ["full", "other"]


def test_what_is_deleted_from_the_archive_is_gone_and_its_neighbours_stay(store: Store) -> None:
    memories = many(PACK + 50)
    store.put_memories(memories)
    store.archive_memories(memories)
    assert store.delete_archived(Filter(keys=("key 0", "key 7"))) == 2
    store.restore_archived([memory.id for memory in memories])
    restored = store.find_memories(MINE, ALL)
    assert sorted(memory.id for memory in restored) == sorted(
        memory.id for memory in [*memories[1:7], *memories[8:]]
    )
    assert store.find_archived(Filter()) == []


def test_many_alike_texts_become_a_fraction_of_their_size(store: Store) -> None:
    memories = [
        memory._replace(text=f"We decided to use JWT for login {memory.id} " * 5) for memory in many(1_000)
    ]
    store.put_memories(memories)
    packed = store.archive_memories(memories)
    assert packed.items == 1_000
    assert packed.original > 4 * packed.packed


def test_copies_and_the_archive_survive_a_restart(open_store: OpenStore) -> None:
    first = open_store()
    first.put_memories([FULL, make_memory("b", session="s")])
    first.put_checkpoint(make_checkpoint(first.copy_memories(MINE, [])))
    first.archive_memories([FULL])
    again = open_store()
    (checkpoint,) = again.find_checkpoints("test")
    assert [memory.id for memory in again.read_copy(checkpoint).memories] == ["full", "b"]
    assert [each.memory for each in again.find_archived(Filter())] == [FULL]
