"""Forgetting a memory: found nowhere at once, brought back within a month, erased to the byte after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.core import Caller, Core
from backstory.core.forgetting import erase_expired
from backstory.core.memories import MemoryDraft
from backstory.domain.errors import InvalidInput, NotAllowed, NotFound
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory

from ..conftest import OpenCore, OpenStore
from ..doubles import SteppedClock, found_memories, make_conversation, make_memory, make_messages

DAY_S = 86_400
SURFACES = ["backstory", "memory-keeper", "projectmemory", "session-mgmt"]


def save(core: Core, text: str, surface: str = "memory-keeper", **fields: object) -> Memory:
    return core.through(surface).memories.save_item(MemoryDraft(text, **fields))  # type: ignore[arg-type]


def live(core: Core) -> list[str]:
    return [memory.text for memory in core.engine.store.memories.find(Filter(), Page())]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_memory_of_any_surface_is_found_nowhere_and_comes_back(core: Core, surface: str) -> None:
    saved = save(core, "The zebra crossing", surface, key="zebra")
    forgotten = core.forgetting.forget(saved.id)
    assert forgotten.until is not None
    assert (forgotten.until - core.engine.now()).days == 30
    assert live(core) == []
    assert not found_memories(core, "zebra", 5)
    assert not core.through(surface).archive.find("zebra", None)
    with pytest.raises(NotFound, match=f"backstory unarchive {saved.id}"):
        core.pages.open(saved.id)
    assert core.forgetting.restore(saved.id) == [saved]
    assert live(core) == ["The zebra crossing"]
    assert [memory.id for memory in found_memories(core, "zebra", 5)] == [saved.id]
    assert core.forgetting.restore(saved.id) == []


def test_history_comes_back_too(core: Core) -> None:
    saved = save(core, "Port 8080", key="port")
    save(core, "Port 9090", key="port")
    core.forgetting.forget(saved.id)
    core.forgetting.restore(saved.id)
    assert [former.text for former in core.engine.store.memories.former(saved.id)] == ["Port 8080"]


def test_a_key_that_is_saved_again_is_another_memory(core: Core) -> None:
    first = save(core, "Port 8080", key="port")
    core.forgetting.forget(first.id)
    second = save(core, "Port 9090", key="port")
    assert second.id != first.id
    assert core.engine.store.memories.former(second.id) == []
    with pytest.raises(NotAllowed, match="'port' was saved anew"):
        core.forgetting.restore(first.id)
    core.forgetting.forget(second.id)
    assert core.forgetting.restore(first.id) == [first]


def test_after_a_month_it_is_erased(core: Core, clock: SteppedClock) -> None:
    saved = save(core, "The zebra crossing", key="zebra")
    core.forgetting.forget(saved.id)
    kept = save(core, "Archived to be kept", key="kept")
    core.engine.store.archive.put_memories([kept])
    clock.step(30 * DAY_S - 1)
    assert erase_expired(core.engine) == 0
    clock.step(1)
    assert erase_expired(core.engine) == 1
    assert core.forgetting.restore(saved.id) == []
    assert [memory.text for memory in core.through("memory-keeper").archive.all()] == ["Archived to be kept"]
    assert erase_expired(core.engine) == 0


@pytest.mark.parametrize("for_good", [True, False])
def test_no_byte_is_left_of_what_is_erased(
    open_store: OpenStore, open_core: OpenCore, clock: SteppedClock, tmp_path: Path, for_good: bool
) -> None:
    core = open_core(open_store(), None)
    saved = save(core, "The Quetzalcoatlus crossing", key="quetzalcoatlus")
    save(core, "Another Quetzalcoatlus crossing", key="quetzalcoatlus")
    core.forgetting.forget(saved.id, for_good=for_good)
    clock.step(31 * DAY_S)
    erase_expired(core.engine)
    core.engine.store.residue.overwrite()
    core.engine.close()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(b"uetzalcoatlus" in file.read_bytes() for file in files)


def test_for_good_cannot_be_brought_back(core: Core) -> None:
    saved = save(core, "The zebra crossing")
    assert core.forgetting.forget(saved.id, for_good=True).until is None
    assert core.forgetting.restore(saved.id) == []
    with pytest.raises(NotFound):
        core.forgetting.forget(saved.id)


def test_what_others_keep_private_is_not_forgotten_and_an_own_private_one_comes_back(core: Core) -> None:
    core.engine.store.memories.put([make_memory("m1", "theirs", private=True, session="other")])
    with pytest.raises(NotFound):
        core.forgetting.forget("m1")
    mine = core._replace(caller=Caller(project="/p", session="other"))
    mine.forgetting.forget("m1")
    assert live(core) == []
    (memory,) = core.forgetting.restore("m1")
    assert (memory.private, memory.session) == (True, "other")


def test_a_conversation_is_not_forgotten_here(core: Core) -> None:
    core.engine.store.conversations.add(make_conversation("c:1"), make_messages("c:1", "Hello."), [])
    for id in ("c:1", "c:1:0"):
        with pytest.raises(InvalidInput, match="backstory forget c:1"):
            core.forgetting.forget(id)


def test_an_answer_that_is_fetched_piece_by_piece_does_not_quote_it(core: Core) -> None:
    saved = save(core, "The zebra crossing")
    key = core.answers.keep("test", ["The zebra crossing"], owner="")
    core.forgetting.forget(saved.id)
    with pytest.raises(NotFound):
        core.answers.fetch("test", key)


def test_an_export_and_the_archive_of_a_key_do_not_have_it(core: Core) -> None:
    saved = save(core, "The zebra crossing", key="zebra")
    core.forgetting.forget(saved.id)
    assert core.engine.store.archive.find_memories(Filter()) == []
    assert [m.id for m in core.through("memory-keeper").archive.all()] == [saved.id]


def test_what_is_deleted_meanwhile_leaves_nothing_in_the_archive(core: Core) -> None:
    saved = save(core, "The zebra crossing")
    core.engine.store.memories.delete(Filter(ids=(saved.id,)))
    core.engine.store.archive.put_memories([saved], forgotten_at=core.engine.now())
    assert core.engine.store.archive.find_memories(Filter(), with_forgotten=True) == []
