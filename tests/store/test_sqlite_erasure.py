"""Deleted words leave no byte in SQLite's files, whatever FTS5 merged before and whichever SQLite does it."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.domain.errors import TimedOut
from backstory.domain.filters import Filter, Page
from backstory.domain.words import query_units
from backstory.store.sqlite import SqliteStore, fts, residue
from backstory.store.tables import Forgettable, with_words_of

from ..doubles import make_memory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "store.db")
    yield store
    store.close()


def erase(store: SqliteStore, id: str) -> None:
    with store.transaction():
        store.memories.delete(Filter(ids=(id,)))
        store.residue.note(with_words_of([Forgettable.MEMORIES]))
    store.residue.overwrite()


def bytes_on_disk(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def count_bystanders(store: SqliteStore) -> int:
    return len(store.text.holding(*query_units("bystander")))


class Writer:
    """Saves, changes and erases memories of very different lengths, so that segments of every size come about."""

    def __init__(self, store: SqliteStore, folder: Path, seed: int) -> None:
        self.store = store
        self.folder = folder
        self.random = random.Random(seed)
        self.words: dict[str, list[str]] = {}
        """For each memory the words that only it has or had."""

    def step(self) -> None:
        chance = self.random.random()
        if chance < 0.6 or not self.words:
            self._save(
                [f"m{len(self.words)}-{self.random.random()}" for _ in range(self.random.choice([1, 1, 6]))]
            )
        elif chance < 0.7:
            self._save([self.random.choice(list(self.words))])
        elif chance < 0.75:
            with self.store.transaction():
                self.store.text.compact()
        else:
            self._erase(self.random.choice(list(self.words)))

    def _save(self, ids: list[str]) -> None:
        self.store.memories.put([make_memory(id, self._text(id), key=self._new_word(id)) for id in ids])

    def _text(self, id: str) -> str:
        length = self.random.choice([3, 10, 300, 3_000])
        others = " ".join(f"w{self.random.randrange(5_000)}" for _ in range(length))
        return f"bystander {self._new_word(id)} {others}"

    def _new_word(self, id: str) -> str:
        word = "".join(self.random.choices("bcdfghjklmnpqrtvwxz", k=14))
        self.words.setdefault(id, []).append(word)
        return word

    def _erase(self, id: str) -> None:
        words = self.words.pop(id)
        erase(self.store, id)
        content = bytes_on_disk(self.folder)
        # the first letters may be those of the word before it, which a page of the index then leaves out
        assert [word for word in words if word[4:].encode() in content] == []


@pytest.mark.parametrize("seed", range(16))
def test_erased_words_leave_no_byte_after_any_order_of_writes_and_merges(
    store: SqliteStore, tmp_path: Path, seed: int
) -> None:
    writer = Writer(store, tmp_path, seed)
    for _ in range(40):
        writer.step()
    assert store.problems() == []
    assert count_bystanders(store) == len(writer.words) == len(store.memories.find(Filter(), Page()))


def test_an_index_that_no_merge_purges_is_built_anew(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fts, "MERGE_ATTEMPTS", 0)
    monkeypatch.setattr(fts, "REBUILD_BATCH_SIZE", 3)
    store.memories.put([make_memory(f"m{n}", f"bystander number{n}", key=f"key{n}") for n in range(8)])
    erase(store, "m4")
    content = bytes_on_disk(tmp_path)
    assert (b"number4" in content, b"key4" in content) == (False, False)
    assert count_bystanders(store) == 7
    assert store.problems() == []


HOLD_CHECKPOINT_LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as index:
    fcntl.lockf(index, fcntl.LOCK_EX, 1, 121)  # of the write-ahead index, as a checkpoint locks it
    print("up", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def checkpoint_elsewhere(store: SqliteStore, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is in a checkpoint until its input ends."""
    store.memories.put([make_memory("a", "quokkaword")])
    command = [sys.executable, "-c", HOLD_CHECKPOINT_LOCK, str(tmp_path / "store.db-shm")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield process
        process.communicate()


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX locks")


@posix_only
def test_an_erasure_waits_for_a_checkpoint_that_somebody_else_began(
    store: SqliteStore,
    tmp_path: Path,
    checkpoint_elsewhere: subprocess.Popen[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []

    def end_checkpoint(seconds: float) -> None:
        pauses.append(seconds)
        checkpoint_elsewhere.communicate()

    monkeypatch.setattr(time, "sleep", end_checkpoint)
    erase(store, "a")
    assert len(pauses) == 1
    assert b"quokkaword" not in bytes_on_disk(tmp_path)


@posix_only
@pytest.mark.usefixtures("checkpoint_elsewhere")
def test_an_erasure_gives_up_on_a_checkpoint_that_does_not_end(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residue, "PATIENCE_MS", 50)
    with pytest.raises(TimedOut):
        erase(store, "a")
    assert store.residue.get() is not None
