"""Deleted words leave no byte in SQLite's files, whatever FTS5 merged before and whichever SQLite does it."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from backstory.domain.errors import TimedOut
from backstory.domain.filters import Filter, Page
from backstory.domain.words import query_units
from backstory.store.sqlite import SqliteStore, fts, fts_levels, gaps, pool, residue
from backstory.store.sqlite.log import FRAME_HEADER_BYTES, log_of
from backstory.store.tables import Forgettable, with_words_of

from ..doubles import make_memory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "store.db")
    yield store
    store.close()


def delete(store: SqliteStore, *ids: str) -> None:
    with store.transaction():
        store.memories.delete(Filter(ids=ids))
        store.residue.note(with_words_of([Forgettable.MEMORIES]))


def erase(store: SqliteStore, id: str) -> None:
    delete(store, id)
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
        if seconds == residue.CHECKPOINT_RETRY_S:
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


def unique_word(random_: random.Random) -> str:
    return "".join(random_.choices("bcdfghjklmnpqrtvwxz", k=14))


def stale_bytes(store: SqliteStore) -> bytes:
    """The contents of all gaps in the pages of the file."""
    file = store.database.file
    size = file.header().page_bytes
    pages = [(number, file.read((number - 1) * size, size)) for number in gaps.stale_pages(file)]
    return b"\0".join(
        page[start:end]
        for number, page in pages
        for _, start, end in gaps._stale_gaps(page, size, is_first=number == 1)
    )


def delete_from_split_pages(store: SqliteStore) -> dict[str, list[str]]:
    """Delete memories that SQLite has copies of, because their pages were split and merged; the words of each."""
    random_ = random.Random(1)
    words = {f"m{n}": [unique_word(random_)] for n in range(300)}
    with store.transaction():
        store.memories.put([make_memory(id, "a bystander", key=word) for id, (word,) in words.items()])
        for id in random_.choices(list(words), k=900):
            words[id].append(unique_word(random_))
            text = f"{words[id][-1]} " + "pad " * random_.choice([5, 40, 150, 400])
            store.memories.put([make_memory(id, text, key=words[id][0])])
    residue.empty_log(store.database)
    stale = stale_bytes(store)
    copied = [id for id, own in words.items() if any(word.encode() in stale for word in own)][::3]
    delete(store, *copied)
    residue.empty_log(store.database)
    assert any(word.encode() in stale_bytes(store) for id in copied for word in words[id])
    return {id: words[id] for id in copied}


def left_of(copied: dict[str, list[str]], folder: Path) -> list[str]:
    content = bytes_on_disk(folder)
    return [word for own in copied.values() for word in own if word[4:].encode() in content]


def test_copies_that_split_pages_leave_behind_are_cleared(store: SqliteStore, tmp_path: Path) -> None:
    """`secure_delete` clears the row, but not what SQLite moved from one page to another."""
    copied = delete_from_split_pages(store)
    store.residue.overwrite()
    assert stale_bytes(store) == b""
    assert left_of(copied, tmp_path) == []
    assert store.problems() == []


@pytest.mark.parametrize("is_own", [True, False])
def test_pages_that_a_connection_has_in_memory_bring_no_byte_back(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_own: bool
) -> None:
    """A connection that has read a page before it was cleared, and writes it afterwards."""
    copied = delete_from_split_pages(store)
    with closing(SqliteStore(tmp_path / "store.db")) as other:
        writer = store if is_own else other

        def read_and_clear(file: object, pages: list[int], logged: set[int]) -> list[int]:
            writer.database.rows("SELECT * FROM entry NOT INDEXED")
            return gaps.clear(store.database.file, pages, logged)

        def write() -> None:
            with (
                writer.transaction()
            ):  # rows stay where they are, so that their pages are written as they are
                writer.database.change("UPDATE entry SET private = 1 - private")

        monkeypatch.setattr(residue, "clear", read_and_clear)
        monkeypatch.setattr(fts, "MERGE_PAGES", 10_000)
        store.residue.overwrite(write)
    assert left_of(copied, tmp_path) == []


def test_a_page_that_the_log_contains_is_cleared_after_the_next_checkpoint(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.memories.put(
        [make_memory(f"m{n}", f"bystander number{n} " + "pad " * 100, key=f"key{n}") for n in range(200)]
    )
    other = SqliteStore(tmp_path / "store.db")
    rounds: list[list[int]] = []

    def clear_after_a_save(file: object, pages: list[int], logged: set[int]) -> list[int]:
        # the log has pages that somebody saved since it was emptied; the first time it is as if it had all
        rounds.append(list(pages))
        return gaps.clear(store.database.file, pages, pages if len(rounds) == 1 else logged)

    monkeypatch.setattr(residue, "clear", clear_after_a_save)
    with closing(other):
        erase(store, "m77")
    assert len(rounds) >= 2
    assert rounds[1] == rounds[0]
    assert stale_bytes(store) == b""
    content = bytes_on_disk(tmp_path)
    assert (b"number77 " in content, b"key77" in content) == (False, False)


def test_others_read_and_write_while_bytes_are_overwritten(store: SqliteStore, tmp_path: Path) -> None:
    random_ = random.Random(2)
    words = {f"m{n}": unique_word(random_) for n in range(200)}
    store.memories.put(
        [make_memory(id, f"bystander {word} " + "pad " * 80, key=f"k{word}") for id, word in words.items()]
    )
    is_over = threading.Event()
    saved: list[str] = []
    failures: list[BaseException] = []

    def repeat(work: Callable[[SqliteStore], object]) -> None:
        try:
            with closing(SqliteStore(tmp_path / "store.db")) as other:
                while not is_over.is_set():
                    work(other)
        except BaseException as error:
            failures.append(error)

    def write(other: SqliteStore) -> None:
        id = f"new{len(saved)}"
        other.memories.put([make_memory(id, "bystander " + "later " * (len(saved) % 200), key=id)])
        saved.append(id)

    def read(other: SqliteStore) -> None:
        other.memories.find(Filter(), Page(limit=20))
        other.text.holding(*query_units("bystander"))

    threads = [threading.Thread(target=repeat, args=(work,)) for work in (write, read)]
    for thread in threads:
        thread.start()
    gone = list(words)[::40]
    for id in gone:
        erase(store, id)
    is_over.set()
    for thread in threads:
        thread.join()
    assert failures == []
    content = bytes_on_disk(tmp_path)
    assert [words[id] for id in gone if words[id][4:].encode() in content] == []
    assert store.problems() == []
    assert count_bystanders(store) == len(words) - len(gone) + len(saved)


def test_a_reader_that_stays_keeps_no_writer_waiting(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an erasure waits for a reader, the write lock is free."""
    monkeypatch.setattr(residue, "PATIENCE_MS", 50)
    store.memories.put([make_memory("a", "quokkaword")])
    saved: list[str] = []
    with (
        closing(SqliteStore(tmp_path / "store.db", busy_timeout_s=0.0)) as other,
        closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as reader,
    ):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entry").fetchall()

        def save(seconds: float) -> None:
            other.memories.put([make_memory(f"b{len(saved)}", "bystander")])
            saved.append("")

        monkeypatch.setattr(time, "sleep", save)
        with pytest.raises(TimedOut):
            erase(store, "a")
        assert saved
        reader.execute("COMMIT")
        monkeypatch.undo()
        store.residue.overwrite()
    assert b"quokkaword" not in bytes_on_disk(tmp_path)


def test_no_transaction_of_an_erasure_writes_more_than_a_few_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the store is."""
    monkeypatch.setattr(fts, "MERGE_PAGES", 8)
    monkeypatch.setattr(residue, "CLEARED_PAGES", 8)
    monkeypatch.setattr(pool, "PRAGMAS", (*pool.PRAGMAS, "wal_autocheckpoint = 0"))
    random_ = random.Random(3)
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        for start in range(0, 400, 50):
            store.memories.put(
                [
                    make_memory(f"m{n}", " ".join(unique_word(random_) for _ in range(60)))
                    for n in range(start, start + 50)
                ]
            )
        index_pages = store.database.value("SELECT count(*) FROM entry_text_data")
        delete(store, "m77")
        log, sizes = log_of(tmp_path / "store.db"), [0]
        page_bytes = store.database.file.header().page_bytes + FRAME_HEADER_BYTES
        residue.empty_log(store.database)

        def measure() -> None:
            sizes.append(log.stat().st_size)

        store.residue.overwrite(measure)
    # it is emptied after the last merge
    pages = [max(after - before, 0) // page_bytes for before, after in pairwise(sizes)]
    assert sum(pages) > index_pages > 100
    assert max(pages) < 60


DIE_WHILE_ERASING = """
import os, sys
from pathlib import Path
from backstory.store.sqlite import SqliteStore, fts, gaps, residue
steps = 99 if sys.argv[2] == "clear" else int(sys.argv[2])
def rest():
    global steps
    steps -= 1
    if steps < 0:
        os._exit(9)
def clear(file, pages, logged):
    gaps.clear(file, pages[:1], logged)
    os._exit(9)
fts.MERGE_PAGES = 2
residue.clear = clear
SqliteStore(Path(sys.argv[1])).residue.overwrite(rest)
"""


@pytest.mark.parametrize("moment", ["0", "1", "4", "clear"])
def test_the_next_process_finishes_the_erasure_of_a_killed_one(
    store: SqliteStore, tmp_path: Path, moment: str
) -> None:
    random_ = random.Random(4)
    words = {f"m{n}": unique_word(random_) for n in range(200)}
    memories = [make_memory(id, f"bystander {word} " + "pad " * 70, key=word) for id, word in words.items()]
    for start in range(0, len(memories), 20):
        store.memories.put(memories[start : start + 20])
    delete(store, "m77", "m99")
    command = [sys.executable, "-c", DIE_WHILE_ERASING, str(tmp_path / "store.db"), moment]
    assert subprocess.run(command, check=False).returncode == 9
    assert store.residue.get() is not None
    store.residue.overwrite()
    assert store.residue.get() is None
    content = bytes_on_disk(tmp_path)
    assert [id for id in ("m77", "m99") if words[id][4:].encode() in content] == []
    assert store.problems() == []
    assert count_bystanders(store) == 198


def test_a_file_with_unknown_pages_is_rewritten(store: SqliteStore, tmp_path: Path) -> None:
    store.database.rows("PRAGMA auto_vacuum = FULL")
    store.database.rows("VACUUM")
    store.memories.put([make_memory(f"m{n}", f"bystander number{n}", key=f"key{n}") for n in range(80)])
    residue.empty_log(store.database)
    assert not gaps.can_be_cleared(store.database.file)
    erase(store, "m44")
    content = bytes_on_disk(tmp_path)
    assert (b"number44" in content, b"key44" in content) == (False, False)
    assert store.problems() == []


def levels(store: SqliteStore) -> int:
    record = store.database.value("SELECT block FROM entry_text_data WHERE id = 10")
    structure = fts_levels.read_structure(record)
    assert structure is not None
    return len(structure.levels)


def test_an_index_that_is_merged_often_has_few_levels(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 3.40 each merge adds two, until SQLite takes the index for damaged."""
    monkeypatch.setattr(fts_levels, "MAX_LEVELS", 8)
    monkeypatch.setattr(fts_levels, "LEVELS_KEPT", 4)
    store.memories.put([make_memory(f"m{n}", f"bystander number{n} " + "pad " * 300) for n in range(40)])
    store.memories.put(
        [make_memory(f"l{n}", " ".join(f"bystander{n}x{k}" for k in range(400))) for n in range(20)]
    )
    for n in range(20):
        erase(store, f"m{n}")
        store.memories.put([make_memory(f"new{n}", "bystander")])
    assert levels(store) <= 8 + 4
    assert store.problems() == []
    assert count_bystanders(store) == 40


def test_a_structure_record_of_another_form_is_left_alone() -> None:
    assert fts_levels.read_structure(b"\0\0\0\0\x02\x01") is None
    assert fts_levels.read_structure(b"\0\0\0\0\x01\x01\x05\0\x01\x01\x01\x03\x07") is None
    record = b"\0\0\0\0\x01\x01\x05\0\x01\x01\x01\x03"
    structure = fts_levels.read_structure(record)
    assert structure is not None
    assert structure.encoded() == record
