"""The Store contract: blobs, copies of memories, cached files and the archive. Every test runs on every backend."""

from __future__ import annotations

import random
import zlib
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.checkpoints import CachedFile, Checkpoint, CheckpointManifest
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


def make_checkpoint(copy: CheckpointManifest, id: str = "c", **changes: object) -> Checkpoint:
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
    hashes = store.database.values("SELECT hash FROM content")
    return sum(len(zlib.compress(content, 1)) for content in store.files.read_blobs(hashes).values())


def test_a_blob_is_read_under_the_sha256_of_its_bytes(store: Store) -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    hashes = store.files.put_blobs([b"", b"\0\xff" * 1000, b""])
    assert hashes[0] == hashes[2] == empty
    assert store.files.read_blobs([*hashes, "unknown"]) == {empty: b"", hashes[1]: b"\0\xff" * 1000}


def test_any_number_of_blobs_is_kept_once_each(store: Store) -> None:
    contents = [str(number).encode() for number in range(1_200)]
    assert store.files.put_blobs(contents) == store.files.put_blobs(contents)
    assert len(store.files.read_blobs(store.files.put_blobs(contents))) == 1_200


def test_a_copy_holds_every_field(store: Store) -> None:
    plain = make_memory("plain", "short", summary="short", session="s")
    store.memories.put([FULL, plain, make_memory("other", session="t")])
    copy = store.checkpoints.copy(MINE, [])
    assert copy.items == 2
    assert store.checkpoints.read(make_checkpoint(copy)).memories == [FULL, plain]


@given(text=st.text(min_size=1), key=st.text(), milliseconds=st.integers(-(10**12), 10**13))
def test_any_text_is_copied_as_it_was(store: Store, text: str, key: str, milliseconds: int) -> None:
    moment = from_ms(milliseconds)
    memory = make_memory(
        "any", text, key=key, summary=text, session="s", created_at=moment, updated_at=moment
    )
    store.memories.put([memory])
    copy = store.checkpoints.copy(MINE, [])
    assert store.checkpoints.read(make_checkpoint(copy)).memories == [memory]


def test_a_copy_stays_what_it_was(store: Store) -> None:
    memories = many(300)
    store.memories.put(memories)
    checkpoint = make_checkpoint(store.checkpoints.copy(MINE, []))
    store.memories.put([memory._replace(text="changed", summary="changed") for memory in memories[:100]])
    store.archive.put_memories(memories[100:200])
    store.memories.delete(Filter(ids=tuple(memory.id for memory in memories[200:])))
    assert store.checkpoints.read(checkpoint).memories == memories


def test_a_second_copy_of_unchanged_memories_stores_nothing(store: Store) -> None:
    store.memories.put(many(2_000))
    first = store.checkpoints.copy(MINE, [])
    before = stored_bytes(store)
    assert store.checkpoints.copy(MINE, []) == first
    assert stored_bytes(store) == before


@pytest.mark.parametrize("change", ["edit", "delete", "add"])
def test_a_change_stores_its_own_chunk_and_the_manifest(store: Store, change: str) -> None:
    memories = many(2_000)
    store.memories.put(memories)
    store.checkpoints.copy(MINE, [])
    before = stored_bytes(store)
    if change == "edit":
        store.memories.put([memories[700]._replace(text="edited")])
    elif change == "delete":
        store.memories.delete(Filter(ids=(memories[700].id,)))
    else:
        store.memories.put([make_memory("new", session="s")])
    store.checkpoints.copy(MINE, [])
    assert stored_bytes(store) < before * 1.2


def test_checkpoints_come_newest_first_and_by_what_is_asked(store: Store) -> None:
    copy = store.checkpoints.copy(MINE, [])
    for id, name, session in (("a", "one", "s"), ("b", "two", "s"), ("c", "one", "t")):
        store.checkpoints.put(make_checkpoint(copy, id, name=name, session=session, git_branch="main"))

    def ids(**wanted: str) -> list[str]:
        return [checkpoint.id for checkpoint in store.checkpoints.find("test", **wanted)]

    assert ids() == ["c", "b", "a"]
    assert ids(name="one") == ["c", "a"]
    assert ids(session="s") == ["b", "a"]
    assert ids(id="b") == ["b"]
    assert ids(id="b", name="one") == []
    assert store.checkpoints.find("another surface") == []
    expected = make_checkpoint(copy, "b", name="two", git_branch="main")
    assert store.checkpoints.find("test", id="b") == [expected]


def test_a_cached_file_is_replaced_in_its_session_only(store: Store) -> None:
    first, second = store.files.put_blobs([b"one", b"two"])
    store.files.put(make_file("/p/a", first))
    store.files.put(make_file("/p/a", first, session="t", id="other"))
    store.files.put(make_file("/p/a", second, size=9))
    assert store.files.find("s") == [make_file("/p/a", second, size=9)]
    assert store.files.get("t", "/p/a") == make_file("/p/a", first, session="t", id="other")
    assert store.files.get("s", "/p/b") is None


def test_the_latest_of_all_sessions_is_known_by_its_path(store: Store) -> None:
    [hash] = store.files.put_blobs([b"one"])
    late = make_file("/p/a", hash, session="t", id="late")
    late = late._replace(cached_at=late.cached_at + timedelta(minutes=1))
    for file in (make_file("/p/a", hash), late, make_file("/p/b", hash, id="other")):
        store.files.put(file)
    assert store.files.latest("/p/a") == late
    assert store.files.latest("/p/c") is None


def test_contents_that_nothing_refers_to_are_dropped_and_no_others(store: Store) -> None:
    store.memories.put(many(200))
    kept, copied, unused = store.files.put_blobs([b"kept", b"copied", b"unused"])
    store.files.put(make_file("/p/kept", kept))
    checkpoint = make_checkpoint(store.checkpoints.copy(MINE, [make_file("/p/copied", copied)]))
    store.checkpoints.put(checkpoint)
    assert store.checkpoints.drop_unused_blobs() == 1
    assert set(store.files.read_blobs([kept, copied, unused])) == {kept, copied}
    contents = store.checkpoints.read(checkpoint)
    assert contents.files == [make_file("/p/copied", copied)]
    assert contents.memories == many(200)


def test_archived_memories_are_gone_from_everything_live(store: Store) -> None:
    store.memories.put([FULL, make_memory("live", session="s")])
    packed = store.archive.put_memories([FULL])
    assert packed.items == 1
    assert [memory.id for memory in store.memories.find(Filter(), ALL)] == ["live"]
    assert store.problems() == []


def test_archived_memories_come_back_with_every_field_and_their_history(store: Store) -> None:
    store.memories.put([FULL._replace(text="former", private=False)])
    store.memories.add_former(FULL)
    store.memories.put([FULL])
    history = store.memories.former("full")
    store.archive.put_memories([FULL])
    (archived,) = store.archive.find_memories(Filter(keys=("auth.jwt",)))
    assert archived == (FULL, tuple(history))
    store.archive.restore_memories(["full"])
    assert store.memories.find(Filter(), ALL) == [FULL]
    assert store.memories.former("full") == history
    assert store.archive.find_memories(Filter()) == []


def test_the_archive_is_found_by_the_words_of_a_filter(store: Store) -> None:
    other = make_memory("other", session="t", key="other", surface="elsewhere")
    store.memories.put([FULL, other])
    store.archive.put_memories([FULL, other])

    def ids(**words: object) -> list[str]:
        return [each.memory.id for each in store.archive.find_memories(Filter(**words))]  # type: ignore[arg-type]

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
    store.memories.put(memories)
    store.archive.put_memories(memories)
    assert store.archive.delete_memories(Filter(keys=("key 0", "key 7"))) == 2
    store.archive.restore_memories([memory.id for memory in memories])
    restored = store.memories.find(MINE, ALL)
    assert sorted(memory.id for memory in restored) == sorted(
        memory.id for memory in [*memories[1:7], *memories[8:]]
    )
    assert store.archive.find_memories(Filter()) == []


def test_many_alike_texts_become_a_fraction_of_their_size(store: Store) -> None:
    memories = [
        memory._replace(text=f"We decided to use JWT for login {memory.id} " * 5) for memory in many(1_000)
    ]
    store.memories.put(memories)
    packed = store.archive.put_memories(memories)
    assert packed.items == 1_000
    assert packed.original > 4 * packed.packed


def test_copies_and_the_archive_survive_a_restart(open_store: OpenStore) -> None:
    first = open_store()
    first.memories.put([FULL, make_memory("b", session="s")])
    first.checkpoints.put(make_checkpoint(first.checkpoints.copy(MINE, [])))
    first.archive.put_memories([FULL])
    again = open_store()
    (checkpoint,) = again.checkpoints.find("test")
    assert [memory.id for memory in again.checkpoints.read(checkpoint).memories] == ["full", "b"]
    assert [each.memory for each in again.archive.find_memories(Filter())] == [FULL]


def test_large_memories_share_no_pack(store: Store) -> None:
    """To take one out of the archive, the others of its pack are packed anew."""
    memories = [FULL._replace(id=f"large{n}", key=f"large{n}", text=f"{n}" * 150_000) for n in range(4)]
    store.memories.put(memories)
    store.archive.put_memories(memories)
    assert store.database.value("SELECT count(*) FROM archive_pack") == 4
    assert store.archive.oldest(Filter(keys=("large1",))) == FULL.created_at
    assert store.archive.oldest(Filter(keys=("none",))) is None
