"""Devices: whatever a file synchroniser does, all machines show the same, nothing is lost, and what is forgotten is nowhere."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.core.background import Background
from backstory.core.calls import Call
from backstory.core.devices import Carry, Devices
from backstory.core.devices.folder import SUBFOLDER, DeviceFolder
from backstory.core.devices.loading import LIVE, load_memory
from backstory.core.devices.setup import synced_place
from backstory.core.devices.vault import key_of_code, new_vault, recovery_code
from backstory.core.forgetting.erasure import Erasure
from backstory.core.forgetting.removal import ForgetRequest
from backstory.domain.errors import InvalidInput, NotAllowed, Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.links import MemoryLink
from backstory.domain.records import Event, Trace, Trust
from backstory.domain.statements import MessageSaying, Saying, Speaker, StatementKind
from backstory.domain.team import SpaceCopy
from backstory.readers import Places
from backstory.store import Store
from backstory.store.tables import TABLES, Travel

from ..device_world import PROJECT, Machine, World
from ..doubles import DAWN, make_conversation, make_memory, make_messages
from ..patience import until
from ..repositories import git

OPERATIONS = int(os.environ.get("BACKSTORY_DEVICE_OPERATIONS", "60"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Three machines with right clocks, none of which has anything."""
    world = World(Random(0), tmp_path)
    for machine in world.machines:
        machine.skew *= 0
    yield world
    world.close()


def sync_all(world: World, rounds: int = 2) -> None:
    for _ in range(rounds):
        for machine in world.machines:
            world._carry(machine, everything=True)
            machine.sync()


def newest_segment(machine: Machine) -> str:
    own = machine.store.devices.identity()
    return max(name for name in machine.files() if name.startswith(f"{own}/"))


def texts(machine: Machine) -> list[str]:
    return sorted(memory.text for memory in machine.store.memories.find(Filter(), Page()))


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_machines_converge_and_nothing_is_lost_whatever_the_synchroniser_does(seed: int) -> None:
    with TemporaryDirectory() as top:
        world = World(Random(seed), Path(top))
        try:
            world.play(OPERATIONS, with_clone=seed % 2 == 0)
            world.settle()
            world.check()
        finally:
            world.close()


def test_edits_made_apart_are_both_kept_and_the_later_is_shown(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "first", project=PROJECT)])
    sync_all(world)
    one.core.memories.revise("m", "edit of one")
    two.skew += timedelta(days=1)
    two.core.memories.revise("m", "edit of two")
    sync_all(world)
    for machine in world.machines:
        loaded = load_memory(machine.store, "m")
        assert loaded is not None
        assert loaded.memory.text == "edit of two"
        assert [each.text for each in loaded.history] == ["first", "edit of one"]


def test_an_edit_made_after_seeing_another_wins_whatever_the_clocks_say(world: World) -> None:
    one, two, _ = world.machines
    one.skew += timedelta(days=4_000)
    one.store.memories.put([make_memory("m", "first", project=PROJECT)])
    one.core.memories.revise("m", "from the future")
    sync_all(world)
    two.core.memories.revise("m", "afterwards")
    sync_all(world)
    assert [texts(machine) for machine in world.machines] == [["afterwards"]] * 3
    (peer,) = [each for each in two.devices.status().devices if each.name == one.name]
    assert peer.clock_ahead_s > 86_400 * 3_000


def test_everything_that_belongs_to_a_memory_travels(world: World) -> None:
    one, two, _ = world.machines
    memory = make_memory(
        "m", "text", project=PROJECT, key="k", category="decision", channel="c", tags=("a", "b"), private=True,
        session="s", metadata={"n": [1, {"x": None}]}, trust=Trust.IMPORTED, summary="short",
    )  # fmt: skip
    one.store.memories.put([memory, make_memory("n", "other", project=PROJECT)])
    link = MemoryLink("l", "m", "n", "supersedes", DAWN, DAWN, {"why": "newer"})
    event = Event("e", "s", PROJECT, "test", "tool", "type", {"a": 1}, DAWN, "n")
    one.store.links.put(link)
    one.store.sessions.add_event(event)
    one.store.sayings.dismiss("statement", DAWN)
    sync_all(world)
    loaded = load_memory(two.store, "m")
    assert loaded is not None
    assert loaded.memory._replace(project=PROJECT) == memory
    assert two.store.links.get("m", "n", "supersedes") == link
    assert [each._replace(project=PROJECT) for each in two.store.sessions.events_of_type("tool", "type")] == [
        event
    ]
    assert two.store.sayings.dismissed() == {"statement"}


def test_a_conversation_travels_with_its_traces_and_statements(world: World, tmp_path: Path) -> None:
    one, two, _ = world.machines
    conversation = make_conversation(
        "codex:c", project=PROJECT, surface="codex", rules=99, source="/h/log.jsonl"
    )
    messages = make_messages("codex:c", "use redis", "Done.", project=PROJECT, surface="codex")
    saying = MessageSaying(messages[0].id, Saying(StatementKind.DECISION, "use redis", Speaker.USER))
    traces = [
        Trace(messages[1].id, "written", f"{PROJECT}/src/a.py"),
        Trace(messages[1].id, "command", "make"),
    ]
    one.store.conversations.add(conversation, messages, traces, [saying])
    sync_all(world)
    (arrived,) = two.store.conversations.get(["codex:c"])
    assert (arrived.title, arrived.rules, arrived.source) == (conversation.title, 99, "/h/log.jsonl")
    assert [each.text for each in two.store.messages.of("codex:c")] == ["use redis", "Done."]
    assert [each.value for each in two.store.traces.of("codex:c")] == [f"{arrived.project}/src/a.py", "make"]
    assert two.store.sayings.of("codex:c") == [saying]


def test_only_new_messages_of_a_conversation_are_written_again(world: World) -> None:
    one, *_ = world.machines
    conversation = make_conversation("codex:c", project=PROJECT, surface="codex")
    messages = make_messages("codex:c", *[f"long text {n} " * 50 for n in range(200)], project=PROJECT)
    one.store.conversations.add(conversation, messages[:199], [])
    sync_all(world)
    one.store.conversations.add(conversation, messages[199:], [])
    outcome = one.devices.sync(Call())
    assert outcome.sent.conversations == 1
    assert sorted(filter(None, (text.count("long text") for _, text in one.segments()))) == [50, 199 * 50]
    assert [machine.devices.sync(Call()).sent.conversations for machine in world.machines] == [0, 0, 0]


def test_memories_alone_travel_where_that_is_chosen(world: World) -> None:
    one, two, _ = world.machines
    one.devices.join(one.folder, one.name, Carry.MEMORIES, code=one.devices.code())
    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    one.store.conversations.put(make_conversation("codex:c"), make_messages("codex:c", "a secret plan"))
    two.store.conversations.put(make_conversation("codex:d"), make_messages("codex:d", "said on two"))
    sync_all(world)
    assert texts(two) == ["text"]
    assert two.conversation_ids() == ["codex:d"]
    assert one.conversation_ids() == ["codex:c", "codex:d"]
    assert not any("a secret plan" in text for machine in world.machines for _, text in machine.segments())


def test_what_is_forgotten_while_a_machine_is_away_is_erased_there_and_never_comes_back(world: World) -> None:
    one, two, three = world.machines
    one.store.memories.put(
        [make_memory("m", "planted-secret-words", project=PROJECT), make_memory("n", "stays")]
    )
    sync_all(world)
    two.core.memories.revise("m", "planted-secret-words, edited offline")
    Erasure(one.engine).forget(ForgetRequest(memories=Filter(ids=("m",))))
    sync_all(world, rounds=8)
    for machine in world.machines:
        assert texts(machine) == ["stays"]
        assert b"planted-secret-words" not in machine.bytes_on_disk()
        assert not any("planted-secret-words" in text for _, text in machine.segments())
    three.store.memories.put([make_memory("m", "planted-secret-words again")])  # as an importer would
    sync_all(world)
    assert [texts(machine) for machine in world.machines] == [["stays"]] * 3


def test_forgetting_in_checkpoints_reaches_the_checkpoints_of_other_machines(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "planted-checkpoint-words", session="s")])
    sync_all(world)
    manifest = two.store.checkpoints.copy(Filter(ids=("m",)), [])
    from backstory.domain.checkpoints import Checkpoint

    two.store.checkpoints.put(
        Checkpoint(
            "c", "before", "", "s", PROJECT, "test", manifest.root, manifest.items, 0, None, None, DAWN
        )
    )
    Erasure(one.engine).forget(ForgetRequest(memories=Filter(ids=("m",)), with_checkpoints=True))
    sync_all(world)
    assert b"planted-checkpoint-words" not in two.bytes_on_disk()


def test_forgetting_a_text_that_was_saved_on_two_machines_forgets_it_on_both(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put(
        [make_memory("m", "said twice", project=str(world.top)), make_memory("o", "stays")]
    )
    two.store.memories.put([make_memory("n", "said twice", project=str(world.top))])
    for machine in world.machines:
        machine.devices._user_home = world.top.parent  # the project is at the same place below each home
    sync_all(world)
    assert texts(one) == ["said twice", "said twice", "stays"]
    Erasure(one.engine).forget(ForgetRequest(memories=Filter(ids=("n",))))
    sync_all(world)
    assert [texts(machine) for machine in world.machines] == [["stays"]] * 3


def test_forgetting_a_copy_of_a_space_hides_it_on_that_machine_only(world: World) -> None:
    one, two, _ = world.machines
    for machine in (one, two):
        machine.store.memories.put([make_memory("m", "the team's words", trust=Trust.SPACE)])
        machine.store.space_copies.put([SpaceCopy("m", "ops", "1", "ann")])
    sync_all(world)
    Erasure(one.engine).forget(ForgetRequest(memories=Filter(ids=("m",))))
    sync_all(world)
    assert (texts(one), texts(two)) == ([], ["the team's words"])


def test_git_carries_the_folder_where_that_is_chosen(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "shared.git")
    world = World(Random(3), tmp_path / "world", count=2)
    one, two = world.machines
    clones = []
    for machine in world.machines:
        machine.devices.leave()
        clone = tmp_path / f"clone-{machine.name}"
        git(tmp_path, "clone", "-q", str(tmp_path / "shared.git"), str(clone))
        for name, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
            git(clone, "config", name, value)
        clones.append(clone)
    git(clones[0], "commit", "-q", "--allow-empty", "-m", "first")
    git(clones[0], "push", "-q", "-u", "origin", "HEAD")
    git(clones[1], "pull", "-q")
    (clones[0] / "mine.txt").write_text("not yours to commit")
    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    one.devices.init(clones[0], one.name, Carry.CONVERSATIONS, with_git=True)
    one.devices.sync(Call())
    git(clones[1], "pull", "-q")
    two.devices.join(clones[1], two.name, Carry.CONVERSATIONS, code=one.devices.code(), with_git=True)
    two.store.memories.put([make_memory("n", "other", project=PROJECT)])
    two.devices.sync(Call())
    one.devices.sync(Call())
    assert texts(one) == texts(two) == ["other", "text"]
    assert git(clones[0], "status", "--porcelain") == "?? mine.txt\n"
    world.close()


def test_a_segment_deleted_by_mistake_is_written_again(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    one.sync()
    for name in one.files():
        if name.endswith(".seg"):
            (one.folder / SUBFOLDER / name).unlink()
            world.deleted.add(name)
    sync_all(world)
    assert texts(two) == ["text"]


def test_what_two_copies_of_a_machine_wrote_under_one_id_is_written_again_too(world: World) -> None:
    one, two, _ = world.machines
    one.sync()
    world._clone(one)
    copy = world.machines[-1]
    copy.skew *= 0
    former = one.store.devices.identity()
    for machine, text in ((one, "of the machine"), (copy, "of its copy")):
        machine.store.memories.put([make_memory(text, text, project=PROJECT)])
        machine.sync()
        world.deleted.add(newest_segment(machine))
    shutil.copytree(one.folder, copy.folder, dirs_exist_ok=True)
    shutil.copytree(copy.folder, one.folder, dirs_exist_ok=True)
    for machine in (one, copy):
        machine.sync()
        assert machine.store.devices.identity() != former
    sync_all(world)
    assert texts(two) == ["of its copy", "of the machine"]


def test_losing_the_folder_loses_nothing(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    one.sync()
    shutil.rmtree(one.folder)
    with pytest.raises(Unavailable, match="does not exist"):
        one.devices.sync(Call())
    one.folder.mkdir()
    with pytest.raises(Unavailable, match="no vault"):
        one.devices.sync(Call())
    one.devices.init(one.folder, one.name, Carry.CONVERSATIONS)
    assert key_of_code(one.devices.code()) == two.devices.setup().vault.key
    world.files.clear()
    world.deleted.clear()
    sync_all(world)
    assert texts(two) == ["text"]


def test_a_store_restored_from_a_backup_takes_another_id_and_loses_nothing(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "before the backup", project=PROJECT)])
    sync_all(world)
    backup = world.top / "backup.db"
    with closing(sqlite3.connect(one.home / "store.db")) as store, closing(sqlite3.connect(backup)) as copy:
        store.backup(copy)
    one.store.memories.put([make_memory("n", "after the backup", project=PROJECT)])
    sync_all(world)
    former = one.store.devices.identity()
    one.engine.close()
    for path in one.home.glob("store.db*"):
        path.unlink()
    shutil.copy(backup, one.home / "store.db")
    world.machines[0] = one = Machine(world, one.name, one.home, 0)
    sync_all(world)
    assert one.store.devices.identity() != former
    assert texts(one) == ["after the backup", "before the backup"]
    loaded = load_memory(two.store, "m")
    assert loaded is not None
    assert list(loaded.history) == []


def test_two_machines_that_had_the_same_memories_before_they_met_do_not_double_them(tmp_path: Path) -> None:
    world = World(Random(1), tmp_path, count=1)
    (one,) = world.machines
    other = Machine(world, "copy", tmp_path / "copied", 0)
    for machine in (one, other):
        machine.store.memories.put([make_memory("m", "first", project=PROJECT)])
        machine.store.conversations.put(make_conversation("codex:c"), make_messages("codex:c", "said"))
    one.sync()
    shutil.copytree(one.folder, other.folder, dirs_exist_ok=True)
    other.devices.join(other.folder, "copy", Carry.CONVERSATIONS, code=one.devices.code())
    outcome = other.devices.sync(Call())
    assert (outcome.sent.memories, outcome.sent.conversations) == (0, 0)
    loaded = load_memory(other.store, "m")
    assert loaded is not None
    assert (loaded.history, loaded.state) == ([], LIVE)
    world.machines.append(other)
    world.close()


def test_files_of_others_wrong_keys_and_half_files_are_named_and_do_not_stop_the_rest(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    one.sync()
    segment = newest_segment(one)
    root = two.folder / SUBFOLDER
    folder = root / segment.partition("/")[0]
    folder.mkdir(exist_ok=True)
    raw = one.files()[segment]
    (root / segment).write_bytes(raw[: len(raw) // 2])
    (root / "notes.txt").write_text("mine")
    from backstory.core.devices.segments import make_segment

    name, sealed = make_segment(new_vault(), "0123456789ab", 1, {}, [b"{}"])
    (root / "0123456789ab").mkdir()
    (root / str(name)).write_bytes(sealed)
    outcome = two.devices.sync(Call())
    assert outcome.waiting == (segment,)
    assert {each.file: each.why for each in outcome.skipped} == {
        "notes.txt": "not a file of Backstory",
        str(name): "encrypted with another key",
    }
    (root / segment.replace(".seg", " 2.seg")).write_bytes(raw)  # the whole one arrives under another name
    two.devices.sync(Call())
    assert texts(two) == ["text"]


def test_a_segment_moved_into_another_directory_is_not_believed(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    one.sync()
    segment = newest_segment(one)
    forged = two.folder / SUBFOLDER / "aaaaaaaaaaaa"
    forged.mkdir()
    (forged / segment.partition("/")[2]).write_bytes(one.files()[segment])
    outcome = two.devices.sync(Call())
    assert texts(two) == []
    assert [each.file for each in outcome.skipped] == [f"aaaaaaaaaaaa/{segment.partition('/')[2]}"]


def test_a_folder_that_cannot_be_written_leaves_everything_unsent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, _ = world.machines
    one.sync()

    def full(self: DeviceFolder, path: Path, raw: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    with monkeypatch.context() as patch:
        patch.setattr(DeviceFolder, "_write", full)
        with pytest.raises(Exception, match="full"):
            one.devices.sync(Call())
    assert one.devices.status().unsent > 0
    sync_all(world)
    assert texts(two) == ["text"]
    assert one.devices.status().unsent == 0


def test_projects_are_matched_by_their_repository_not_by_their_path(world: World, tmp_path: Path) -> None:
    one, two, three = world.machines
    here, there = (
        clone(tmp_path / name, "git@github.com:acme/shop.git") for name in ("a/shop", "b/web-shop")
    )
    one.store.memories.put([make_memory("m", "text", project=str(here))])
    two.store.memories.put([make_memory("n", "other", project=str(there))])
    sync_all(world)
    assert {memory.project for memory in two.store.memories.find(Filter(), Page())} == {str(there)}
    assert {memory.project for memory in one.store.memories.find(Filter(), Page())} == {str(here)}
    assert {memory.project for memory in three.store.memories.find(Filter(), Page())} == {
        "github.com/acme/shop"
    }
    late = clone(tmp_path / "c" / "shop", "https://user@github.com/acme/shop")
    three.store.memories.put([make_memory("o", "third", project=str(late))])
    sync_all(world)
    assert {memory.project for memory in three.store.memories.find(Filter(), Page())} == {str(late)}


def test_a_fork_with_another_remote_is_another_project(world: World, tmp_path: Path) -> None:
    one, two, _ = world.machines
    ours, fork = (
        clone(tmp_path / "a", "git@github.com:acme/shop.git"),
        clone(tmp_path / "b", "git@github.com:me/shop.git"),
    )
    one.store.memories.put([make_memory("m", "text", project=str(ours))])
    two.store.memories.put([make_memory("n", "other", project=str(fork))])
    sync_all(world)
    projects = {memory.id: memory.project for memory in two.store.memories.find(Filter(), Page())}
    assert projects == {"m": "github.com/acme/shop", "n": str(fork)}


def clone(path: Path, remote: str) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q")
    git(path, "remote", "add", "origin", remote)
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def test_a_recovery_code_survives_being_typed_and_a_wrong_one_is_refused() -> None:
    key = new_vault().key
    code = recovery_code(key)
    assert key_of_code(code.lower().replace("-", " ")) == key
    for wrong in ("", "BK1-AAAAA", code[:-1] + ("A" if code[-1] != "A" else "B"), code + "A"):
        with pytest.raises(InvalidInput, match="not a recovery code"):
            key_of_code(wrong)


@pytest.mark.parametrize(
    "place", ["Dropbox/x", "OneDrive - Acme/x", "Library/Mobile Documents/x", "Nextcloud/b"]
)
def test_a_data_directory_that_a_synchroniser_copies_is_recognised(place: str) -> None:
    assert synced_place(Path("/home/ann") / place)
    assert synced_place(Path("/home/ann/.local/share/backstory")) == ""


def test_a_data_directory_below_a_syncthing_folder_is_recognised(tmp_path: Path) -> None:
    (tmp_path / ".stfolder").mkdir()
    assert ".stfolder" in synced_place(tmp_path / "deep" / "home")


def test_a_machine_with_a_vault_refuses_another(world: World, tmp_path: Path) -> None:
    one, *_ = world.machines
    other = World(Random(2), tmp_path / "other", count=1)
    stranger = other.machines[0]
    with pytest.raises(NotAllowed, match="another vault"):
        one.devices.join(stranger.folder, "x", Carry.MEMORIES, code=stranger.devices.code())
    before = one.devices.setup()
    shutil.copy(stranger.folder / SUBFOLDER / "vault-1.json", one.folder / SUBFOLDER / "vault-1 (copy).json")
    with pytest.raises(NotAllowed, match="another vault"):
        one.devices.sync(Call())
    assert one.devices.setup() == before
    other.close()


def test_the_journal_hears_of_every_row_that_travels_and_of_every_deletion(world: World) -> None:
    triggers = world.machines[0].store.database.rows(
        "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'device%'"
    )
    heard = {
        (table, event) for table, sql in triggers for event in ("INSERT", "DELETE") if f"AFTER {event}" in sql
    }
    rows = {(table.name, "INSERT") for table in TABLES.values() if table.travel is Travel.AS_ROW}
    assert rows <= heard
    deletions = {(table.name, "DELETE") for table in TABLES.values() if table.repeats_deletions}
    assert deletions == {each for each in heard if each[1] == "DELETE"}


def test_a_store_in_postgresql_is_refused(store: Store, open_core: object) -> None:
    from backstory.core import Engine

    from ..doubles import make_settings

    engine = Engine(make_settings(), store, None)
    if store.devices.is_possible:
        Devices(engine, Path("/home"))
        return
    with pytest.raises(NotAllowed, match="PostgreSQL"):
        Devices(engine, Path("/home"))


def test_nothing_of_the_sealing_is_imported_before_it_is_needed() -> None:
    import backstory.core.devices as package

    for path in Path(package.__file__).parent.glob("*.py"):
        module = ast.parse(path.read_text("utf-8"))
        names = [ast.unparse(node) for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]
        assert not any("nacl" in name for name in names), path.name


def test_the_key_is_readable_by_the_user_alone(world: World) -> None:
    path = world.machines[0].home / "devices.json"
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text("utf-8"))["name"] == "m0"


def test_a_running_server_syncs_in_the_background(world: World) -> None:
    one, two, _ = world.machines
    one.store.memories.put([make_memory("m", "text", project=PROJECT)])
    places = Places(home=one.home, environment={}, platform="linux")
    background = Background(one.engine, lambda: places)
    try:
        background.wake()
        until(lambda: one.devices.status().unsent == 0)
    finally:
        background.close()
    world.files.update(one.files())
    sync_all(world)
    assert texts(two) == ["text"]
