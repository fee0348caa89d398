"""Which memory came from which place in another program's file."""

from __future__ import annotations

from backstory.domain.origins import MemoryFileCensus, MemoryFileState, MemoryOrigin
from backstory.store import Store

from ..doubles import make_memory

FILE = MemoryFileState("/h/MEMORY.md", "codex-memory", "/h", "/w", 10, 20)
ORIGIN = MemoryOrigin("/h/MEMORY.md", "a1", "codex-memory", "m1", "/w", "d1")


def test_a_file_is_known_by_its_path_as_it_was_put_last(store: Store) -> None:
    store.origins.put_file(FILE)
    store.origins.put_file(FILE._replace(size=11, problem="too large", is_gone=True))
    assert store.origins.files() == {FILE.path: FILE._replace(size=11, problem="too large", is_gone=True)}


def test_origins_are_found_by_file_memory_and_digest_until_they_are_deleted(store: Store) -> None:
    other = ORIGIN._replace(path="/g/MEMORY.md", program="gemini-memory", digest="d2")
    store.origins.put([ORIGIN, other])
    store.origins.put([ORIGIN._replace(is_gone=True)])
    assert store.origins.of_file(ORIGIN.path) == {"a1": ORIGIN._replace(is_gone=True)}
    assert [each.path for each in store.origins.of_memories(["m1", "m2"])] == [other.path, ORIGIN.path]
    assert store.origins.with_digests(["d2"]) == [other]
    assert store.origins.with_digests([]) == []
    store.origins.delete([other])
    assert store.origins.of_memories(["m1"]) == [ORIGIN._replace(is_gone=True)]


def test_the_census_counts_memories_that_are_there_and_files_that_are_not_gone(store: Store) -> None:
    store.memories.put([make_memory("m1", "The cache is cold.")])
    store.origins.put_file(FILE)
    store.origins.put_file(FILE._replace(path="/h/gone.md", is_gone=True))
    store.origins.put_file(FILE._replace(path="/h/large.md", problem="too large"))
    store.origins.put([ORIGIN, ORIGIN._replace(anchor="a2"), ORIGIN._replace(anchor="a3", memory="deleted")])
    assert store.origins.census() == {"codex-memory": MemoryFileCensus(memories=1, files=2, problems=1)}
