"""What is remembered: once, corrected in place, about files as they were; tasks that are done; whichever surface saved it."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from backstory.core import Caller, Core
from backstory.core.ask import Inquiry
from backstory.core.file_marks import freshness
from backstory.core.memories import MemoryDraft
from backstory.core.tasks import is_open_task
from backstory.domain.errors import InvalidInput, NotFound
from backstory.domain.filters import Filter, Page
from backstory.domain.kinds import MemoryKind, kind_of
from backstory.domain.records import Memory, Trust

from ..doubles import make_memory
from ..planted import PLANTED, plant
from ..repositories import commit, git, write


def remember(core: Core, text: str, **arguments: object) -> Memory:
    return core.remembering.remember(text, **arguments).memory  # type: ignore[arg-type]


def stored(core: Core) -> list[Memory]:
    return core.engine.store.memories.find(Filter(), Page())


def history(core: Core, memory: Memory) -> list[str]:
    return [former.text for former in core.engine.store.memories.former(memory.id)]


def test_the_same_text_again_is_the_same_memory(core: Core) -> None:
    first = core.remembering.remember("Deploys are on Tuesdays")
    again = core.remembering.remember("  Deploys are on Tuesdays\n")
    assert (first.is_new, again.is_new) == (True, False)
    assert stored(core) == [first.memory] == [again.memory]
    elsewhere = remember(core, "Deploys are on Tuesdays", project="/q")
    assert elsewhere.id != first.memory.id


def test_the_same_text_from_two_callers_at_once_is_one_memory(core: Core) -> None:
    threads = [Thread(target=remember, args=(core, "Deploys are on Tuesdays")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored(core)) == 1


@pytest.mark.parametrize("kind", list(MemoryKind))
def test_a_memory_is_of_the_kind_it_was_saved_as(core: Core, kind: MemoryKind) -> None:
    assert kind_of(remember(core, "A text", kind=kind)) is kind


def test_another_kind_for_the_same_text_changes_the_memory(core: Core) -> None:
    fact = remember(core, "Use tabs")
    preference = remember(core, "Use tabs", kind=MemoryKind.PREFERENCE)
    assert (preference.id, kind_of(preference), len(stored(core))) == (fact.id, MemoryKind.PREFERENCE, 1)
    assert remember(core, "Use tabs") == preference


@pytest.mark.parametrize("surface", ["backstory", "memory-keeper", "projectmemory"])
def test_a_correction_keeps_the_id_the_key_and_what_was_said(core: Core, surface: str) -> None:
    saved = core.through(surface).memories.save_item(
        MemoryDraft("Port 8080", key="port", category="decision")
    )
    changed = remember(core, "Port 9090", replaces=saved.id)
    assert (changed.id, changed.key, changed.category, changed.surface) == (
        saved.id,
        "port",
        "decision",
        surface,
    )
    assert (changed.text, history(core, saved)) == ("Port 9090", ["Port 8080"])
    assert not core.remembering.remember("Port 9090", replaces=saved.id).is_new
    assert history(core, saved) == ["Port 8080"]


def test_what_is_corrected_is_the_users_own(core: Core) -> None:
    core.engine.store.memories.put([make_memory("m", "Imported", trust=Trust.IMPORTED)])
    assert remember(core, "Checked", replaces="m").trust is Trust.OWN


def test_similar_memories_are_shown_so_that_they_are_corrected(core: Core) -> None:
    old = remember(core, "The login token expires after 15 minutes")
    remember(core, "Bananas are yellow")
    remembered = core.remembering.remember("The login token expires after 60 minutes")
    assert [memory.id for memory in remembered.similar] == [old.id]


def test_what_another_session_keeps_private_is_neither_similar_nor_corrected(core: Core) -> None:
    private = make_memory("m", "The login token expires after 15 minutes", private=True, session="other")
    core.engine.store.memories.put([private])
    assert not core.remembering.remember("The login token expires after 60 minutes").similar
    with pytest.raises(NotFound):
        remember(core, "Mine now", replaces="m")
    with pytest.raises(NotFound):
        core.remembering.done("m")


@pytest.mark.parametrize(
    "name", ["aws access key", "anthropic api key", "bearer header", "azure storage key"]
)
def test_a_secret_is_refused_with_its_name(core: Core, name: str) -> None:
    planted = plant(PLANTED[name], 1)
    with pytest.raises(
        InvalidInput, match=r"contains a possible secret \([^()]+\); nothing was saved"
    ) as error:
        remember(core, f"Remember this: {planted.text}")
    assert not any(secret in str(error.value) for secret in planted.secrets)
    task = remember(core, "A task", kind=MemoryKind.TASK)
    with pytest.raises(InvalidInput, match="possible secret"):
        core.remembering.done(task.id, planted.text)
    assert [memory.text for memory in stored(core)] == ["A task"]


@pytest.mark.parametrize("text", ["", " \n ", "x" * 100_001])
def test_nothing_and_too_much_are_refused(core: Core, text: str) -> None:
    with pytest.raises(InvalidInput, match="text"):
        remember(core, text)


def test_a_task_of_any_surface_is_done_once(core: Core) -> None:
    keeper = core.through("memory-keeper").memories.save_item(
        MemoryDraft("Ship it", key="ship", category="task")
    )
    plain = core.through("projectmemory").memories.save("Write the note")
    done = core.remembering.done(keeper.id, "Shipped in 1.2")
    assert (done.text, done.metadata["status"]) == ("Done: Ship it\nShipped in 1.2", "done")
    assert not is_open_task(done)
    assert core.remembering.done(keeper.id, "Again") == done
    assert core.remembering.done(plain.id).text == "Done: Write the note"
    assert history(core, keeper) == ["Ship it"]
    assert [task.text for task in stored(core) if is_open_task(task)] == []


def test_a_decision_is_not_done(core: Core) -> None:
    decision = remember(core, "SQLite", kind=MemoryKind.DECISION)
    with pytest.raises(InvalidInput, match="is a decision, not a task"):
        core.remembering.done(decision.id)


@pytest.fixture
def shop(core: Core, tmp_path: Path) -> Core:
    root = commit(tmp_path / "shop", {"src/auth.py": "one\n", "src/other.py": "two\n"})
    return core._replace(caller=Caller(project=str(root), directory=str(root)))


@pytest.mark.usefixtures("ann")
def test_a_memory_about_files_says_whether_they_changed(shop: Core) -> None:
    root = Path(shop.caller.directory)
    memory = remember(shop, "Tokens are checked here", files=["src/auth.py", "./src/other.py"])
    assert [each["path"] for each in memory.metadata["files"]] == ["src/auth.py", "src/other.py"]
    assert freshness(memory, root) == "fresh"
    write(root, {"src/auth.py": "changed\n"})
    assert freshness(memory, root) == "src/auth.py changed since (not committed)"
    commit(root, {"src/auth.py": "changed\n"})
    commit(root, {"src/auth.py": "again\n"})
    assert freshness(memory, root) == "src/auth.py changed since (2 commits)"
    git(root, "rm", "-q", "src/other.py")
    assert freshness(memory, root) == "src/auth.py changed since (2 commits); src/other.py is gone"
    corrected = remember(shop, "Tokens are checked there", replaces=memory.id)
    assert freshness(corrected, root) == ""
    assert [hit.certainty for hit in shop.ask.find(Inquiry(file="auth.py")).hits] == [1.0]
    assert shop.ask.find(Inquiry(file="other/auth.py")).hits == []


@pytest.mark.usefixtures("ann")
@pytest.mark.parametrize("path", ["src/none.py", "../outside.py", "/etc/hostname", "src", "a\0b", ""])
def test_a_file_that_is_not_of_the_project_is_refused(shop: Core, path: str) -> None:
    with pytest.raises(InvalidInput, match="is not a file of the project shop") as error:
        remember(shop, "About it", files=[path])
    assert error.value.field == "files"
    assert stored(shop) == []


def test_files_of_a_caller_elsewhere_are_names_only(core: Core) -> None:
    away = core._replace(caller=Caller(project="/p", is_local=False))
    memory = remember(away, "About it", files=["/etc/hostname"])
    assert memory.metadata["files"] == [{"path": "/etc/hostname"}]
    assert freshness(memory, Path("/")) == ""


@pytest.mark.parametrize("files", [None, "x", [None], [{"path": 1}], [{"path": ""}], [{"sha256": "0"}]])
def test_metadata_that_others_wrote_under_the_same_name_is_no_mark(core: Core, files: object) -> None:
    core.engine.store.memories.put([make_memory("m", "about x", metadata={"files": files})])
    (memory,) = stored(core)
    assert freshness(memory, Path("/")) == ""
    assert core.ask.find(Inquiry(file="y.py")).hits == []


def test_another_project_is_given_by_name_or_path(core: Core) -> None:
    assert remember(core, "One", project="/work/shop").project == "/work/shop"
    assert remember(core, "Two", project="shop").project == "/work/shop"
    with pytest.raises(InvalidInput, match="There is no project 'nowhere'"):
        remember(core, "Three", project="nowhere")
    remember(core, "Four", project="/play/shop")
    with pytest.raises(InvalidInput, match="/play/shop, /work/shop"):
        remember(core, "Five", project="shop")
