"""Forgetting to the byte: markers are planted through every tool that keeps text, forgotten, and looked for in the raw
bytes of everything that is on disk."""

from __future__ import annotations

import json
import random
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backstory.core import Caller, Core, Engine
from backstory.core.forgetting import erasure
from backstory.core.forgetting.erasure import Erasure
from backstory.core.forgetting.removal import ForgetRequest
from backstory.core.sync import Sync
from backstory.domain import zstd
from backstory.domain.errors import TimedOut
from backstory.domain.filters import ConversationFilter, Filter, Page
from backstory.readers import Places, load_readers
from backstory.store import Store
from backstory.store.postgres import residue as postgres_residue
from backstory.store.sqlite import SqliteStore, residue

from ..conftest import Call, caller_of
from ..doubles import SteppedClock, make_conversation, make_settings
from ..postgres_server import admin_url, server, url

THEIRS = "theirs"
"""The folder of what is not ours: a project, and the files of other assistants."""

PACKED = {"content": "packed", "archive_pack": "packed", "archived_conversation": "packed"}


def bytes_on_disk(store: Store, home: Path) -> bytes:
    """Of everything that we keep. What is compressed follows as it was before."""
    if isinstance(store, SqliteStore):
        packed = [
            row
            for table, column in PACKED.items()
            for row in store.database.rows(f"SELECT {column} FROM {table}")
        ]
        files = [path for path in home.rglob("*") if path.is_file() and THEIRS not in path.parts]
    else:
        with psycopg.connect(admin_url(), autocommit=True) as connection:
            connection.execute("CHECKPOINT")  # what is in its buffers is on disk then
            packed = [
                row
                for table, column in PACKED.items()
                for row in connection.execute(f"SELECT {column} FROM backstory.{table}".encode())
            ]
        files = [path for path in (Path(server().pgdata) / "base").rglob("*") if path.is_file()]
        files += [path for path in home.rglob("*") if path.is_file() and THEIRS not in path.parts]
    results = [zstd.decompress(row[0]) for row in _results(store)]
    unpacked = [zlib.decompress(row[0]) for row in packed]
    return b"\0".join([*map(_contents, files), *unpacked, *results])


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # PostgreSQL removes its caches, such as pg_internal.init, at any time
        return b""


def _results(store: Store) -> list[Any]:
    rows: list[Any] = store.database.rows("SELECT packed FROM result WHERE packed IS NOT NULL")
    return rows


def assert_gone(store: Store, home: Path, *markers: str) -> None:
    found = bytes_on_disk(store, home).lower()
    left = {marker: found.count(marker.lower().encode()) for marker in markers}
    assert left == dict.fromkeys(markers, 0)


def assert_there(store: Store, home: Path, *markers: str) -> None:
    found = bytes_on_disk(store, home).lower()
    assert [marker for marker in markers if marker.lower().encode() not in found] == []


def fill(call: Call, count: int = 150) -> None:
    """Others' texts, so that pages of the database are shared, split and merged."""
    for n in range(count):
        call(
            "save_context",
            context_text=f"Bystander number {n} says that {'nothing matters much ' * (n % 30)}.",
        )


@pytest.fixture
def marker() -> str:
    """A word that no other test leaves in the database."""
    return "Qu" + "".join(random.choices("bcdfghjklmnpqrstvwxz", k=12))


@pytest.fixture
def project(core: Core, tmp_path: Path) -> Path:
    """Where the caller works; a handoff is written into it."""
    root = tmp_path / THEIRS / "project"
    root.mkdir(parents=True)
    (root / "readme.md").write_text("# Project\n")
    core.caller.project = core.caller.directory = str(root)
    return root


def test_a_deleted_text_leaves_no_byte(call: Call, core: Core, tmp_path: Path, marker: str) -> None:
    fill(call)
    id = call("save_context", context_text=f"{marker}former: the staging server is called heron.")["id"]
    fill(call)
    call("replace_context", id=id, context_text=f"{marker}present: the staging server is called egret.")
    assert core.engine.backlog is not None
    core.engine.backlog.drain()
    call("retrieve_context", query=marker)
    assert_there(core.engine.store, tmp_path, f"{marker}present")
    assert call("delete_context", id=id) == {"status": "success"}
    assert_gone(core.engine.store, tmp_path, marker)
    assert core.engine.store.problems() == []


def test_clearing_everything_leaves_no_byte(call: Call, core: Core, tmp_path: Path, marker: str) -> None:
    for n in range(60):
        call("save_context", context_text=f"{marker}{n} is called heron {'and egret ' * n}.")
    assert call("clear_all_context", confirmation="confirm")["deleted_count"] == 60
    assert_gone(core.engine.store, tmp_path, marker)


def test_many_memories_are_forgotten_in_short_transactions(
    call: Call, core: Core, tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "MEMORIES_AT_ONCE", 3)
    store = core.engine.store
    for n in range(10):
        call("save_context", context_text=f"{marker}{n} is called heron.")
    left: list[int] = []

    def save_one_more() -> None:
        if not left:
            call("save_context", context_text=f"{marker}later is called egret.")
        left.append(store.census().memories)

    monkeypatch.setattr(erasure, "_let_others_write", save_one_more)
    receipt = Erasure(core.engine).forget(ForgetRequest(memories=Filter(surfaces=("projectmemory",))))
    assert left[:3] == [8, 5, 2]
    assert receipt.removed["memories"] == 11
    assert_gone(store, tmp_path, marker)


def test_forgetting_many_memories_goes_on_where_it_was_interrupted(
    call: Call, core: Core, tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "MEMORIES_AT_ONCE", 3)
    store, everything = core.engine.store, ForgetRequest(memories=Filter(surfaces=("projectmemory",)))
    for n in range(10):
        call("save_context", context_text=f"{marker}{n} is called heron.")
    with monkeypatch.context() as patched:

        def interrupt() -> None:
            raise KeyboardInterrupt

        patched.setattr(erasure, "_let_others_write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            Erasure(core.engine).forget(everything)
    assert (store.census().memories, store.residue.get() is None) == (7, False)
    assert Erasure(core.engine).forget(everything).removed["memories"] == 7
    assert_gone(store, tmp_path, marker)


def plant(call: Call, key: str, marker: str) -> None:
    """A task with a former value, through every tool that makes something of it."""
    call(
        "context_save",
        key=key,
        value=f"{marker}Former must call TokenRepository.",
        category="task",
        priority="high",
    )
    value = f"{marker} in src/{marker}.ts calls TokenRepository; fixes AUTH-12."
    call(
        "context_save",
        key=key,
        value=value,
        category="task",
        priority="high",
        metadata={"by": f"{marker}meta"},
    )
    call("context_search", query=marker)
    call("context_semantic_search", query=f"who calls {marker}?")
    call("context_analyze")
    call("context_find_related", key=key)
    call("context_summarize")
    call("context_timeline", includeItems=True)


@pytest.mark.usefixtures("project")
def test_a_deleted_item_leaves_no_byte_in_what_was_made_of_it(
    call: Call, core: Core, clock: SteppedClock, tmp_path: Path, marker: str
) -> None:
    store = core.engine.store
    call("init")
    plant(call, f"{marker}key", marker)
    call("context_save", key="filler", value=f"{marker} " + "padding " * 6_000, category="note")
    assert call("reflect_on_past", query=marker, min_score=0.1)["chunked"]
    assert call("quick_search", query=marker, min_score=0.1)["cache_key"]
    call(
        "context_integrate_tool",
        toolName="ci",
        eventType="failed",
        data={"why": f"{marker}event"},
        important=True,
    )
    fill(call, 40)
    handoff = Path(call("end")["handoff_file_path"])
    assert f"{marker} in src" in handoff.read_text()
    session = store.sessions.events(Filter(), 1)[0].session
    assert_there(store, tmp_path, f"{marker}former", f"{marker}meta", f"{marker}event", f"{marker}key")
    for memory in store.memories.find(Filter(threads=(session,), surfaces=("memory-keeper",)), Page()):
        assert call("context_delete", key=memory.key, sessionId=session)["deletedCount"] == 1
    assert_gone(store, tmp_path, marker, f"{marker}key")
    assert marker not in handoff.read_text()
    assert "## Open tasks" not in handoff.read_text()
    assert "## Next steps" in handoff.read_text()
    assert store.problems() == []


def test_an_archived_item_leaves_no_byte(
    call: Call, core: Core, clock: SteppedClock, tmp_path: Path, marker: str
) -> None:
    call("context_session_start", name="one")
    call("context_save", key="stays", value=f"Stays{marker[::-1]}")
    plant(call, "goes", marker)
    clock.step(3600)
    call("context_compress", olderThan="1 minute ago")
    assert core.engine.store.memories.find(Filter(keys=("goes",)), Page()) == []
    assert_there(core.engine.store, tmp_path, f"{marker}former")
    assert call("context_delete", key="goes")["deletedCount"] == 1
    assert_gone(core.engine.store, tmp_path, marker)
    assert_there(core.engine.store, tmp_path, f"stays{marker[::-1]}")


def test_checkpoints_keep_what_is_deleted_unless_they_are_told_to_forget_it_too(
    call: Call, core: Core, tmp_path: Path, marker: str
) -> None:
    store = core.engine.store
    call("context_session_start", name="one")
    for n in range(150):
        call("context_save", key=f"k{n}", value=f"Bystander {n}")
    plant(call, "goes", marker)
    call("context_checkpoint", name="before")
    (item,) = store.memories.find(Filter(keys=("goes",)), Page())
    call("context_delete", key="goes")
    assert_there(store, tmp_path, marker)
    receipt = Erasure(core.engine).forget(
        ForgetRequest(memories=Filter(ids=(item.id,)), with_checkpoints=True)
    )
    assert receipt.removed == {"checkpoints": 1}
    assert_gone(store, tmp_path, marker)
    assert call("context_restore_checkpoint", name="before")["restoredItems"] == 150


def test_a_checkpoint_that_forgets_while_it_is_about_to_be_restored_is_restored_without_it(
    call: Call, core: Core, marker: str
) -> None:
    call("context_session_start", name="one")
    call("context_save", key="stays", value="Bystander")
    plant(call, "goes", marker)
    call("context_checkpoint", name="before")
    keeper = core.through("memory-keeper")
    found = keeper.checkpoints.find(id=None, name="before")
    Erasure(core.engine).forget(ForgetRequest(memories=Filter(keys=("goes",)), with_checkpoints=True))
    assert keeper.checkpoints.restore(found, files=False, merge=False).items == 1


def test_a_branch_is_another_memory_and_is_forgotten_by_itself(
    call: Call, core: Core, tmp_path: Path, marker: str
) -> None:
    first = call("context_session_start", name="one")["sessionId"]
    plant(call, "goes", marker)
    call("context_branch_session", branchName="experiment", copyDepth="deep")
    call("context_delete", key="goes")
    assert_there(core.engine.store, tmp_path, marker)
    call("context_delete", key="goes", sessionId=first)
    assert_gone(core.engine.store, tmp_path, marker)


def test_the_receipt_says_what_was_removed_from_where(core: Core, call: Call, marker: str) -> None:
    plant(call, "goes", marker)
    call("quick_search", query=marker, min_score=0.0)
    receipt = Erasure(core.engine).forget(ForgetRequest(memories=Filter(keys=("goes",))))
    assert receipt.removed == {"former values": 1, "memories": 1}
    assert (receipt.memories, receipt.pending, receipt.notices) == (1, "", [])
    assert Erasure(core.engine).forget(ForgetRequest(memories=Filter(keys=("goes",)))).removed == {}


LOG = "11111111-2222-3333-4444-555555555555"


def write_log(home: Path, name: str, *records: dict[str, Any]) -> Path:
    log = home / ".claude" / "projects" / "-w-app" / f"{name}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return log


def said(role: str, text: str, n: int, session: str = LOG) -> dict[str, Any]:
    return {
        "type": role, "uuid": f"{session}-{n}", "sessionId": session, "cwd": "/w/numbatfolder",
        "timestamp": f"2026-01-02T10:00:{n:02}Z", "message": {"role": role, "content": text},
    }  # fmt: skip


def used(command: str, n: int) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "call", "name": "Bash", "input": {"command": command}}
    return said("assistant", "", n) | {"message": {"role": "assistant", "content": [block]}}


def printed(text: str, n: int) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "call", "content": text}
    return said("user", "", n) | {"message": {"role": "user", "content": [block]}}


def sync(core: Core, home: Path) -> None:
    places = Places(home=home, environment={}, platform="linux")
    Sync(core.engine).run(load_readers(["claude-code"]).values(), places)


def test_a_forgotten_conversation_leaves_no_byte_and_its_cursor_does_not_bring_any_back(
    core: Core, call: Call, tmp_path: Path, marker: str
) -> None:
    store, theirs = core.engine.store, tmp_path / THEIRS
    log = write_log(
        theirs, LOG, said("user", f"Why is {marker}asked slow?", 1), said("assistant", f"{marker}answered.", 2),
        used("profile", 4), printed(f"{marker}printed", 5),
        {"type": "ai-title", "aiTitle": f"{marker}title", "sessionId": LOG},
    )  # fmt: skip
    other = LOG.replace("1", "9")
    write_log(
        theirs, other, {"type": "summary", "leafUuid": f"{LOG}-2", "summary": f"{marker}title"},
        said("user", "Potoroo stays", 1, other),
    )  # fmt: skip
    fill(call, 60)
    sync(core, theirs)
    assert core.engine.backlog is not None
    core.engine.backlog.drain()
    call("reflect_on_past", query=marker)
    markers = (f"{marker}asked", f"{marker}answered", f"{marker}title", f"{marker}printed")
    assert_there(store, tmp_path, *markers, "numbatfolder", "potoroo")
    receipt = Erasure(core.engine).forget(ForgetRequest([f"claude-code:{LOG}"]))
    assert receipt.removed["conversations"] == 1
    assert receipt.removed["cursors"] == 2
    assert_gone(store, tmp_path, *markers)
    write_log(theirs, LOG, said("user", f"And {marker} again?", 3))
    assert log.exists()
    sync(core, theirs)
    assert_gone(store, tmp_path, *markers)
    assert [talk.native_id for talk in store.conversations.find(ConversationFilter())] == [other]
    assert_there(store, tmp_path, "potoroo")


def test_subagents_are_forgotten_with_the_conversation_that_started_them(core: Core, store: Store) -> None:
    parent, child, fork = (
        make_conversation("c1"),
        make_conversation("c2")._replace(parent="c1", kind="subagent"),
        make_conversation("c3")._replace(parent="c1", kind="fork"),
    )
    grandchild = make_conversation("c4")._replace(parent="c2", kind="subagent")
    for conversation in (parent, child, fork, grandchild):
        store.conversations.put(conversation, [])
    found = Erasure(core.engine).with_subagents([parent])
    assert [conversation.id for conversation in found] == ["c1", "c2", "c4"]


def test_bytes_that_another_reads_meanwhile_are_overwritten_later(
    call: Call, core: Core, tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads in a transaction sees what was there at its beginning, so that must stay until it ends."""
    monkeypatch.setattr(residue, "PATIENCE_MS", 50)
    monkeypatch.setattr(postgres_residue, "PATIENCE_S", 0.05)
    store = core.engine.store
    id = call("save_context", context_text=f"{marker} is called heron.")["id"]
    with reading(store, tmp_path):
        answer = call("delete_context", id=id)
        assert "not overwritten yet" in answer["notices"][0]
        assert call("retrieve_context", query=marker)["results"] == []
        with pytest.raises(TimedOut):
            store.residue.overwrite()
    assert store.residue.get() is not None
    assert Erasure(core.engine).finish() == ""
    assert store.residue.get() is None
    assert_gone(store, tmp_path, marker)


@contextmanager
def reading(store: Store, home: Path) -> Iterator[None]:
    if isinstance(store, SqliteStore):
        with closing(sqlite3.connect(home / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM entry").fetchall()
            yield
    else:
        with psycopg.connect(url()) as other:
            other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            other.execute("SELECT 1")
            yield


def backed_up(core: Core, clock: SteppedClock) -> Path:
    """A backup of the store as it is now."""
    assert core.engine.store.backups is not None
    core.engine.store.backups.make(clock(), "daily")
    return core.engine.store.backups.find()[-1].path


@pytest.fixture
def sqlite_core(tmp_path: Path, clock: SteppedClock) -> Iterator[Core]:
    """Only a store that is a file has backups."""
    engine = Engine(make_settings(tmp_path), SqliteStore(tmp_path / "store.db"), None, now=clock)
    yield Core(engine, Caller(project="/p"))
    engine.close()


def test_the_answer_names_the_backups_that_may_hold_it_and_how_long(
    sqlite_core: Core, clock: SteppedClock
) -> None:
    call = caller_of(sqlite_core)
    backed_up(sqlite_core, clock)
    clock.step(3600)
    id = call("save_context", context_text="The staging server is called heron.")["id"]
    clock.step(3600)
    path = backed_up(sqlite_core, clock)
    (notice,) = call("delete_context", id=id)["notices"]
    assert notice.startswith(f"Backups may still contain it: {path} until about 2026-03-08.")


def test_backups_forget_when_they_are_told_to(
    sqlite_core: Core, clock: SteppedClock, tmp_path: Path, marker: str
) -> None:
    call, store = caller_of(sqlite_core), sqlite_core.engine.store
    call("context_session_start", name="one")
    fill(call, 40)
    plant(call, "goes", marker)
    call("context_checkpoint", name="before")
    path = backed_up(sqlite_core, clock)
    log = path.with_name(path.name.replace("daily", "log")).with_suffix(".wal")
    log.write_bytes(b"a log without its store: " + marker.encode())
    request = ForgetRequest(memories=Filter(keys=("goes",)), with_checkpoints=True)
    receipt = Erasure(sqlite_core.engine).forget(request, with_backups=True)
    assert {name: receipt.removed[name] for name in ("memories", "checkpoints", "backups", "removed backups")} == {
        "memories": 1, "checkpoints": 1, "backups": 1, "removed backups": 1,
    }  # fmt: skip
    assert receipt.notices == []
    assert_gone(store, tmp_path, marker)
    with closing(SqliteStore(path, is_copy=True)) as copy:
        assert copy.problems() == []
        assert copy.census().memories == 40


def test_what_was_deleted_before_can_still_be_taken_out_of_backups(
    sqlite_core: Core, clock: SteppedClock, tmp_path: Path, marker: str
) -> None:
    call = caller_of(sqlite_core)
    id = call("save_context", context_text=f"{marker} is called heron.")["id"]
    backed_up(sqlite_core, clock)
    call("delete_context", id=id)
    assert_there(sqlite_core.engine.store, tmp_path, marker)
    request = ForgetRequest(memories=Filter(ids=(id,)))
    assert Erasure(sqlite_core.engine).forget(request, with_backups=True).removed == {"backups": 1}
    assert_gone(sqlite_core.engine.store, tmp_path, marker)
