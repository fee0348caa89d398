"""Lineage, arrivals, the archive and git's word on a project, through the core."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.memories import MemoryDraft
from backstory.core.projects import git_status
from backstory.core.sessions import lineage
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory
from backstory.guests.memory_keeper.branching import Branches, Resolution
from backstory.store import Store

from ..conftest import OpenCore
from ..doubles import DAWN, HashedWords, SteppedClock, found_memories


@pytest.fixture
def keeper(core: Core) -> Core:
    return core.through("memory-keeper")


def texts(core: Core, session: str | None = None) -> list[str]:
    where = Filter(threads=(session,) if session else ())
    return sorted(memory.text for memory in core.memories.find(where, Page()))


def compress_all(core: Core, clock: SteppedClock) -> list[Memory]:
    clock.step()
    return core.archive.compress(clock(), keep=(), target_bytes=None, session=None).moved


def test_a_lineage_goes_from_a_session_to_its_first_ancestor(keeper: Core, store: Store) -> None:
    first = keeper.sessions.start("first")
    second = keeper.sessions.start("second", parent=first.id)
    third = keeper.sessions.start("third", parent=second.id)
    assert lineage(store, third.id) == [third.id, second.id, first.id]
    assert lineage(store, None) == []


def test_a_lineage_that_bites_its_tail_ends(keeper: Core, store: Store) -> None:
    first = keeper.sessions.start("first")
    second = keeper.sessions.start("second", parent=first.id)
    store.sessions.put(first._replace(parent=second.id))
    assert lineage(store, second.id) == [second.id, first.id]


def test_memories_without_a_key_are_merged_once(keeper: Core) -> None:
    keeper.memories.save_item(MemoryDraft("Dear diary"))
    source = keeper.sessions.current()
    keeper.sessions.start("target")
    first = Branches(keeper).merge(source.id, Resolution.KEEP_SOURCE, ())
    again = Branches(keeper).merge(source.id, Resolution.KEEP_SOURCE, ())
    assert (len(first.added), len(again.added), len(again.known)) == (1, 0, 1)


def test_memories_without_a_key_that_say_the_same_are_all_copied(keeper: Core) -> None:
    for _ in range(2):
        keeper.memories.save_item(MemoryDraft("Dear diary"))
    assert Branches(keeper).branch("copy", description="", deep=True).items == 2


def test_a_private_value_stays_private_when_a_public_one_takes_its_place(keeper: Core, store: Store) -> None:
    keeper.memories.save_item(MemoryDraft("public", key="k"))
    source = keeper.sessions.current()
    keeper.sessions.start("target")
    mine = keeper.memories.save_item(MemoryDraft("private", key="k", private=True))
    Branches(keeper).merge(source.id, Resolution.KEEP_SOURCE, ())
    (merged,) = store.memories.find(Filter(ids=(mine.id,)), Page())
    assert (merged.text, merged.private) == ("public", True)
    assert [former.text for former in store.memories.former(mine.id)] == ["private"]
    assert len(Branches(keeper).merge(source.id, Resolution.KEEP_SOURCE, ()).known) == 1


def test_archived_memories_are_found_read_and_restored(keeper: Core, clock: SteppedClock) -> None:
    saved = keeper.memories.save_item(MemoryDraft("first", key="k", metadata={"a": 1}))
    clock.step()
    changed = keeper.memories.save_item(MemoryDraft("second", key="k", metadata={"a": 2}))
    assert [memory.id for memory in compress_all(keeper, clock)] == [saved.id]
    assert texts(keeper) == []
    assert keeper.archive.find("k", None) == [changed]
    assert keeper.archive.find("k", saved.session) == [changed]
    assert keeper.archive.find("k", "another session") == []
    assert [former.text for former in keeper.archive.history(changed)] == ["first"]
    assert keeper.archive.restore((saved.id,)) == [changed]
    assert texts(keeper) == ["second"]
    assert [former.text for former in keeper.engine.store.memories.former(saved.id)] == ["first"]
    assert keeper.archive.find("k", None) == []
    assert keeper.archive.restore(()) == []


def test_restored_memories_are_found_by_words_again(keeper: Core, clock: SteppedClock) -> None:
    saved = keeper.memories.save_item(MemoryDraft("JWT expires after a day", key="k"))
    compress_all(keeper, clock)
    assert found_memories(keeper, "jwt", 5) == []
    keeper.archive.restore((saved.id,))
    assert [memory.id for memory in found_memories(keeper, "jwt", 5)] == [saved.id]


def test_restoring_never_overwrites_what_was_saved_since(keeper: Core, clock: SteppedClock) -> None:
    old = keeper.memories.save_item(MemoryDraft("old", key="k"))
    compress_all(keeper, clock)
    keeper.engine.store.memories.put([old._replace(id="imported", text="new")])
    assert keeper.archive.restore((old.id,)) == []
    assert texts(keeper) == ["new"]
    assert [memory.text for memory in keeper.archive.find("k", None)] == ["old"]


def test_forgetting_a_key_removes_it_from_the_archive_of_that_session(
    keeper: Core, clock: SteppedClock
) -> None:
    first = keeper.memories.save_item(MemoryDraft("secret", key="k"))
    keeper.sessions.start("other")
    keeper.memories.save_item(MemoryDraft("kept", key="k"))
    compress_all(keeper, clock)
    assert keeper.deletion.by_key("k", first.session or "").memories == 1
    assert [memory.text for memory in keeper.archive.find("k", None)] == ["kept"]
    assert keeper.deletion.by_key("k", first.session or "").memories == 0


def test_the_archive_hides_private_memories_of_other_sessions(
    keeper: Core, open_core: OpenCore, store: Store, clock: SteppedClock
) -> None:
    saved = keeper.memories.save_item(MemoryDraft("mine", key="k", private=True))
    stranger = open_core(store, HashedWords()).through("memory-keeper")
    assert compress_all(stranger, clock) == []
    assert compress_all(keeper, clock) != []
    assert stranger.archive.find("k", None) == []
    assert stranger.archive.find("k", saved.session) == []
    assert stranger.archive.history(saved) == []
    assert stranger.archive.restore((saved.id,)) == []
    assert stranger.deletion.by_key("k", saved.session or "").memories == 0
    assert [memory.text for memory in keeper.archive.find("k", None)] == ["mine"]


def test_what_other_surfaces_saved_is_never_archived(core: Core, clock: SteppedClock) -> None:
    core.through("projectmemory").memories.save("a loose text")
    assert compress_all(core.through("memory-keeper"), clock) == []


def test_memories_without_a_key_stay_live(keeper: Core, clock: SteppedClock) -> None:
    keeper.memories.save_item(MemoryDraft("Dear diary"))
    assert compress_all(keeper, clock) == []


def test_git_status_is_none_outside_a_repository_and_without_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_status(tmp_path) is None
    assert git_status(tmp_path / "missing") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_status(tmp_path) is None


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_status_reads_and_never_writes(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "feature", str(tmp_path)], check=True)
    assert git_status(tmp_path) == ""
    (tmp_path / "new.txt").write_text("new")
    subprocess.run(["git", "-C", str(tmp_path), "add", "new.txt"], check=True)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / ".git").rglob("*")}
    (tmp_path / "other.txt").write_text("other")
    assert git_status(tmp_path) == "A  new.txt\n?? other.txt"
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / ".git").rglob("*")} == before


def test_times_of_copies_are_those_of_the_originals(keeper: Core, clock: SteppedClock) -> None:
    keeper.memories.save_item(MemoryDraft("old", key="k"))
    clock.step(3600)
    branch = Branches(keeper).branch("later", description="", deep=True)
    (copy,) = keeper.memories.find(Filter(threads=(branch.session.id,)), Page())
    assert copy.created_at == copy.updated_at == DAWN
