"""Memory Keeper's export and import: every promise of the chapter, through its tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.core.memories import MemoryDraft
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory, Trust
from backstory.guests.memory_keeper.file_cache import FileCache
from backstory.guests.memory_keeper.tools import surface
from backstory.guests.memory_keeper.transfer import MOST_PROBLEMS

from ..conftest import Call, caller_of
from ..doubles import SteppedClock

requirement = pytest.mark.requirement

SURFACE = "memory-keeper"
NOTHING = {"sessions": 0, "items": 0, "files": 0, "checkpoints": 0}

ORIGINAL: dict[str, Any] = {
    "version": "0.5.0",
    "exported": "2026-03-01T10:00:00.000Z",
    "session": {
        "id": "5e551011-0000",
        "name": "Auth",
        "description": "Logins",
        "branch": None,
        "working_directory": "/repo",
        "parent_id": None,
        "default_channel": "feature-auth",
        "created_at": "2026-02-01T08:00:00.354Z",
        "updated_at": "2026-02-01T09:00:00.000Z",
    },
    "contextItems": [
        {
            "id": "item-1",
            "session_id": "5e551011-0000",
            "key": "decision",
            "value": "JWT ✅\nfor 24h",
            "category": "decision",
            "priority": "high",
            "metadata": '{"by": "ann"}',
            "size": 0,
            "is_private": 0,
            "channel": "feature-auth",
            "created_at": "2026-02-01 08:30:00",
            "updated_at": "2026-02-01 08:31:00",
            "sequence_number": 2,
        },
        {
            "id": "item-2",
            "session_id": "5e551011-0000",
            "key": "secret",
            "value": "mock keys",
            "category": None,
            "priority": "normal",
            "metadata": None,
            "size": 9,
            "is_private": 1,
            "channel": None,
            "created_at": "2026-02-01 08:30:00",
            "updated_at": "2026-02-01 08:30:00",
            "sequence_number": 3,
        },
    ],
    "fileCache": [
        {
            "id": "file-1",
            "session_id": "5e551011-0000",
            "file_path": "src/login.ts",
            "content": "login()\n",
            "hash": "wrong",
            "size": 0,
            "last_read": "2026-02-01 08:30:00",
            "updated_at": "2026-02-01 08:30:00",
        }
    ],
    "checkpoints": [
        {
            "id": "check-1",
            "session_id": "5e551011-0000",
            "name": "before",
            "description": "all green",
            "metadata": None,
            "git_status": "clean",
            "git_branch": "main",
            "created_at": "2026-02-01 08:40:00",
        }
    ],
    "checkpointItems": [{"id": "l1", "checkpoint_id": "check-1", "context_item_id": "item-1"}],
    "checkpointFiles": [{"id": "l2", "checkpoint_id": "check-1", "file_cache_id": "file-1"}],
    "metadata": {"itemCount": 2, "fileCount": 1, "checkpointCount": 1, "totalSize": 1},
}
OLD: dict[str, Any] = {name: ORIGINAL[name] for name in ("exported", "session", "contextItems")} | {
    "version": "0.4.0",
    "fileCache": [],
}


@pytest.fixture
def keeper(core: Core) -> Core:
    return core.through(SURFACE)


@pytest.fixture
def exports(core: Core) -> Path:
    return core.engine.settings.home / "exports"


def another(core: Core) -> Core:
    """Another connection to the same store."""
    return core._replace(caller=Caller(project="/p"))


def read(reply: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(Path(reply["filePath"]).read_text("utf-8"))
    return body


def write(exports: Path, body: object, name: str = "in.json") -> str:
    exports.mkdir(exist_ok=True)
    text = body if isinstance(body, str) else json.dumps(body)
    (exports / name).write_text(text, "utf-8")
    return name


def held(keeper: Core, *sessions: str) -> dict[str | None, Memory]:
    """Return the items of sessions, including private ones."""
    found = keeper.engine.store.memories.find(Filter(threads=sessions), Page())
    return {memory.key: memory for memory in found}


def code(reply: dict[str, Any]) -> str:
    return str(reply["error"]["code"])


@requirement("keeper-transfer.parameters")
def test_the_documented_parameters_are_there() -> None:
    export = surface.tools["context_export"].describe()["inputSchema"]["properties"]
    assert {name: schema["type"] for name, schema in export.items()} == {
        "sessionId": "string",
        "sessionIds": "array",
        "format": "string",
        "outputPath": "string",
        "includeMetadata": "boolean",
    }
    assert (export["format"]["enum"], export["format"]["default"]) == (["json", "csv"], "json")
    schema = surface.tools["context_import"].describe()["inputSchema"]
    assert {name: each["type"] for name, each in schema["properties"].items()} == {
        "filePath": "string",
        "merge": "boolean",
        "mergeStrategy": "string",
        "sessionName": "string",
    }
    assert schema["required"] == ["filePath"]
    assert schema["properties"]["merge"]["default"] is False
    assert schema["properties"]["mergeStrategy"]["enum"] == ["skip", "overwrite", "rename"]


@requirement("keeper-transfer.parameters")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("context_export", {"format": "xml"}),
        ("context_export", {"sessionIds": []}),
        ("context_export", {"sessionIds": "s"}),
        ("context_import", {}),
        ("context_import", {"filePath": "x", "mergeStrategy": "both"}),
    ],
)
def test_wrong_arguments_are_refused(call: Call, tool: str, arguments: dict[str, Any]) -> None:
    assert code(call(tool, **arguments)) == "INVALID_PARAMS"


@requirement("keeper-transfer.export.session")
def test_the_current_session_is_exported_unless_another_is_named(call: Call) -> None:
    first = call("context_session_start", name="First")["sessionId"]
    call("context_save", key="one", value="1")
    second = call("context_session_start", name="Second")["sessionId"]
    current, named = read(call("context_export")), read(call("context_export", sessionId=first))
    assert [session["id"] for session in current["sessions"]] == [second]
    assert [session["id"] for session in named["sessions"]] == [first]
    assert [item["key"] for item in named["sessions"][0]["items"]] == ["one"]


@requirement("keeper-transfer.export.sessions")
def test_several_sessions_are_exported_into_one_file(call: Call) -> None:
    ids = [call("context_session_start", name=name)["sessionId"] for name in ("A", "B", "C")]
    reply = call("context_export", sessionId=ids[1], sessionIds=[ids[0], ids[1]])
    assert [session["id"] for session in read(reply)["sessions"]] == [ids[1], ids[0]]
    assert reply["stats"]["sessions"] == 2


@requirement("keeper-transfer.export.json")
def test_json_holds_everything(call: Call, keeper: Core, clock: SteppedClock) -> None:
    call("context_session_start", name="Whole", description="all of it")
    call("context_save", key="k", value="first", category="task", metadata={"n": 1})
    clock.step()
    keeper.memories.save_item(MemoryDraft(key="k", text="second", tags=("t",), channel="ops", private=True))
    FileCache(keeper).remember("/p/a.py", "print()", {"lang": "py"})
    keeper.checkpoints.take("check", description="d", files=True, git=False)
    keeper.memories.save_item(MemoryDraft(key="old", text="gone"))
    keeper.engine.store.archive.put_memories([held(keeper)["old"]])
    body = read(call("context_export"))
    assert (body["format"], body["version"]) == ("backstory-export", 1)
    (session,) = body["sessions"]
    assert (session["name"], session["description"], session["project"]) == ("Whole", "all of it", "/p")
    (item,) = session["items"]
    assert item == {
        "id": item["id"],
        "key": "k",
        "value": "second",
        "category": None,
        "priority": "normal",
        "channel": "ops",
        "tags": ["t"],
        "metadata": {},
        "private": True,
        "createdAt": "2026-03-01T09:30:00.000Z",
        "updatedAt": "2026-03-01T09:30:01.000Z",
        "history": [
            {
                "value": "first",
                "category": "task",
                "priority": "normal",
                "channel": item["history"][0]["channel"],
                "metadata": {"n": 1},
                "savedAt": "2026-03-01T09:30:00.000Z",
                "private": False,
            }
        ],
    }
    assert [(file["path"], file["content"]) for file in session["files"]] == [("/p/a.py", "print()")]
    (check,) = session["checkpoints"]
    assert (check["name"], [each["value"] for each in check["items"]]) == ("check", ["second"])
    assert [file["content"] for file in check["files"]] == ["print()"]
    assert [each["value"] for each in session["archived"]] == ["gone"]


@requirement("keeper-transfer.export.csv")
def test_csv_holds_the_items_exactly(call: Call) -> None:
    value = '=1+1, "quoted"\r\nnext line\t✅'
    session = call("context_session_start", name="Table")["sessionId"]
    call("context_save", key="k", value=value, category="note", priority="low", metadata={"a": [1]})
    reply = call("context_export", format="csv")
    assert reply["filePath"].endswith(".csv")
    with open(reply["filePath"], newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["session_id"], row["session_name"], row["key"], row["value"]) == (
        session,
        "Table",
        "k",
        value,
    )
    assert (row["category"], row["priority"], row["private"]) == ("note", "low", "false")
    assert json.loads(row["metadata"]) == {"a": [1]}
    assert row["created_at"] == "2026-03-01T09:30:00.000Z"


@requirement("keeper-transfer.export.path")
def test_the_file_lies_where_it_was_wanted(call: Call, exports: Path, tmp_path: Path) -> None:
    call("context_session_start", name="Mine")
    assert call("context_export", outputPath="sub/mine.json")["filePath"] == str(exports / "sub/mine.json")
    elsewhere = tmp_path / "elsewhere.json"
    assert call("context_export", outputPath=str(elsewhere))["filePath"] == str(elsewhere)
    call("context_save", key="k", value="new")
    assert call("context_export", outputPath=str(elsewhere))["stats"]["items"] == 1
    assert "new" in elsewhere.read_text()


@requirement("keeper-transfer.export.default-path")
def test_each_export_gets_a_new_file_of_its_own(call: Call, exports: Path) -> None:
    call("context_session_start", name="Auth / Käse: v2")
    paths = [Path(call("context_export")["filePath"]) for _ in range(3)]
    assert len(set(paths)) == 3
    for path in paths:
        assert path.parent == exports
        assert path.name.startswith("auth-käse-v2-20260301-093000-")


@requirement("keeper-transfer.export.metadata")
@pytest.mark.parametrize("format", ["json", "csv"])
def test_facts_on_the_export_are_added_on_request(call: Call, format: str) -> None:
    call("context_session_start", name="Mine")
    call("context_save", key="k", value="v")
    plain = call("context_export", format=format)
    asked = call("context_export", format=format, includeMetadata=True)
    assert "backstory 0" not in Path(plain["filePath"]).read_text()
    text = Path(asked["filePath"]).read_text()
    assert "backstory 0" in text
    assert "2026-03-01T09:30:00.000Z" in text
    if format == "json":
        counts = {"sessions": 1, "items": 1, "files": 0, "checkpoints": 0}
        assert read(asked)["metadata"]["counts"] == counts
    assert call("context_import", filePath=asked["filePath"])["imported"]["items"] == 1


@requirement("keeper-transfer.export.stats")
def test_the_reply_counts_what_was_written(call: Call, keeper: Core) -> None:
    call("context_session_start", name="Mine")
    call("context_save", key="k", value="v")
    FileCache(keeper).remember("/p/a.py", "print()", {})
    keeper.checkpoints.take("check", description="", files=True, git=False)
    reply = call("context_export")
    size = Path(reply["filePath"]).stat().st_size
    assert reply["stats"] == {"sessions": 1, "items": 1, "files": 1, "checkpoints": 1, "size": size}
    table = call("context_export", format="csv")["stats"]
    assert (table["items"], table["files"], table["checkpoints"]) == (1, 0, 0)


@requirement("keeper-transfer.export.private")
@pytest.mark.parametrize("format", ["json", "csv"])
def test_private_items_leave_with_their_own_session_only(call: Call, keeper: Core, format: str) -> None:
    session = call("context_session_start", name="Mine")["sessionId"]
    call("context_save", key="open", value="hush", private=True)
    call("context_save", key="old", value="hush", private=True)
    call("context_save", key="closed", value="hush", private=True)
    call("context_save", key="seen", value="public")
    keeper.checkpoints.take("check", description="", files=True, git=False)
    keeper.engine.store.archive.put_memories([held(keeper)["old"]])
    former = held(keeper)["open"]
    keeper.engine.store.memories.add_former(former)
    keeper.engine.store.memories.put([former._replace(text="public", private=False)])
    own = call("context_export", format=format)
    assert "hush" in Path(own["filePath"]).read_text()
    foreign = caller_of(another(keeper))("context_export", sessionId=session, format=format)
    assert "public" in Path(foreign["filePath"]).read_text()
    assert "hush" not in Path(foreign["filePath"]).read_text()
    assert foreign["stats"]["items"] == 2


@requirement("keeper-transfer.export.no-escape")
def test_an_export_stays_in_its_place(call: Call, exports: Path, tmp_path: Path) -> None:
    call("context_session_start", name="Mine")
    exports.mkdir()
    (exports / "out").symlink_to(tmp_path)
    (exports / "notes.txt").write_text("precious")
    for path in ("../x.json", "out/x.json", "notes.txt"):
        assert code(call("context_export", outputPath=path)) == "PERMISSION_ERROR"
        assert not (tmp_path / "x.json").exists()
    assert (exports / "notes.txt").read_text() == "precious"


@requirement("keeper-transfer.export.unknown-session")
def test_an_unknown_session_is_not_found(call: Call) -> None:
    assert code(call("context_export")) == "SESSION_NOT_FOUND"
    assert code(call("context_export", sessionId="nowhere")) == "SESSION_NOT_FOUND"
    known = call("context_session_start", name="Mine")["sessionId"]
    assert code(call("context_export", sessionIds=[known, "nowhere"])) == "SESSION_NOT_FOUND"


@requirement("keeper-transfer.import.ours", "keeper-transfer.import.new-sessions")
@pytest.mark.parametrize("format", ["json", "csv"])
def test_our_exports_come_back_as_new_sessions(call: Call, keeper: Core, format: str) -> None:
    session = call("context_session_start", name="Mine")["sessionId"]
    call("context_save", key="k", value="v", priority="critical", metadata={"a": 1}, private=True)
    path = call("context_export", format=format)["filePath"]
    reply = call("context_import", filePath=path)
    assert reply["imported"] == {**NOTHING, "sessions": 1, "items": 1}
    assert session not in reply["sessionIds"]
    copy = held(keeper, *reply["sessionIds"])["k"]
    original = held(keeper, session)["k"]
    assert copy == original._replace(id=copy.id, session=reply["sessionIds"][0], trust=Trust.IMPORTED)
    assert keeper.sessions.get(reply["sessionIds"][0]).name == "Mine"
    assert keeper.caller.session == session


@requirement("keeper-transfer.import.new-sessions")
def test_free_ids_are_kept(call: Call, keeper: Core, exports: Path) -> None:
    path = write(exports, ORIGINAL)
    assert call("context_import", filePath=path)["sessionIds"] == ["5e551011-0000"]
    assert held(keeper)["decision"].id == "item-1"
    again = call("context_import", filePath=path)
    assert again["imported"]["items"] == 2
    assert again["sessionIds"] != ["5e551011-0000"]
    assert keeper.caller.session is None


@requirement("keeper-transfer.import.original")
@pytest.mark.parametrize("body", [ORIGINAL, OLD], ids=["0.5.0", "0.4.0"])
def test_the_originals_exports_are_read(
    call: Call, keeper: Core, exports: Path, body: dict[str, Any]
) -> None:
    reply = call("context_import", filePath=write(exports, body))
    copies = len(body["fileCache"])
    assert reply["errors"] == []
    assert reply["imported"] == {"sessions": 1, "items": 2, "files": copies, "checkpoints": copies}
    session = keeper.sessions.get(reply["sessionIds"][0])
    assert (session.name, session.channel, session.project) == ("Auth", "feature-auth", "/repo")
    decision, secret = held(keeper)["decision"], held(keeper)["secret"]
    assert (decision.text, decision.priority, decision.metadata) == ("JWT ✅\nfor 24h", "high", {"by": "ann"})
    assert decision.created_at.isoformat() == "2026-02-01T08:30:00+00:00"
    assert decision.updated_at.isoformat() == "2026-02-01T08:31:00+00:00"
    assert (decision.private, secret.private, secret.channel) == (False, True, "feature-auth")


@requirement("keeper-transfer.import.original")
def test_the_originals_files_and_checkpoints_are_read(call: Call, keeper: Core, exports: Path) -> None:
    (id,) = call("context_import", filePath=write(exports, ORIGINAL))["sessionIds"]
    store = keeper.engine.store
    (file,) = store.files.find(id)
    assert (file.path, file.size) == ("/repo/src/login.ts", 8)
    assert store.files.read_blobs([file.hash])[file.hash] == b"login()\n"
    (checkpoint,) = store.checkpoints.find(SURFACE, session=id)
    assert (checkpoint.name, checkpoint.description, checkpoint.git_branch) == ("before", "all green", "main")
    assert (checkpoint.items, checkpoint.files) == (1, 1)
    copy = store.checkpoints.read(checkpoint)
    assert [memory.text for memory in copy.memories] == ["JWT ✅\nfor 24h"]


@requirement("keeper-transfer.import.original")
@pytest.mark.parametrize(
    ("metadata", "kept"),
    [({"a": 1}, {"a": 1}), ('{"a": 1}', {"a": 1}), ("plain", {"text": "plain"}), ("[1]", {"text": "[1]"})],
)
def test_the_originals_metadata_is_kept_in_every_form(
    call: Call, keeper: Core, exports: Path, metadata: Any, kept: dict[str, Any]
) -> None:
    items = [ORIGINAL["contextItems"][0] | {"metadata": metadata}]
    call("context_import", filePath=write(exports, OLD | {"contextItems": items}))
    assert held(keeper)["decision"].metadata == kept


@requirement("keeper-transfer.import.merge")
def test_a_merge_brings_everything_into_the_current_session(call: Call, keeper: Core, exports: Path) -> None:
    current = call("context_session_start", name="Current")["sessionId"]
    reply = call("context_import", filePath=write(exports, ORIGINAL), merge=True)
    assert reply["imported"] == {"sessions": 0, "items": 2, "files": 1, "checkpoints": 1}
    assert reply["sessionIds"] == [current]
    assert {(m.session, m.project, m.private) for m in held(keeper).values()} == {
        (current, "/p", False),
        (current, "/p", True),
    }
    assert keeper.sessions.get(current).name == "Current"
    assert "secret" in {memory.key for memory in keeper.memories.find(Filter(), Page())}
    assert "secret" not in {memory.key for memory in another(keeper).memories.find(Filter(), Page())}
    assert keeper.engine.store.files.get(current, "/repo/src/login.ts") is not None
    assert len(keeper.engine.store.checkpoints.find(SURFACE, session=current)) == 1


@requirement("keeper-transfer.import.skip")
@pytest.mark.parametrize("arguments", [{}, {"mergeStrategy": "skip"}])
def test_skip_keeps_what_is_there(call: Call, keeper: Core, exports: Path, arguments: dict[str, str]) -> None:
    call("context_session_start", name="Current")
    call("context_save", key="decision", value="mine")
    reply = call("context_import", filePath=write(exports, OLD), merge=True, **arguments)
    assert (reply["imported"]["items"], reply["skipped"]) == (1, 1)
    assert held(keeper)["decision"].text == "mine"


@requirement("keeper-transfer.import.overwrite")
def test_overwrite_replaces_and_remembers(
    call: Call, keeper: Core, exports: Path, clock: SteppedClock
) -> None:
    call("context_session_start", name="Current")
    saved = call("context_save", key="decision", value="mine")
    clock.step()
    path = write(exports, OLD)
    reply = call("context_import", filePath=path, merge=True, mergeStrategy="overwrite")
    assert (reply["imported"]["items"], reply["skipped"]) == (2, 0)
    memory = held(keeper)["decision"]
    assert (memory.id, memory.text, memory.updated_at) == (saved["id"], "JWT ✅\nfor 24h", clock())
    assert memory.created_at < memory.updated_at
    assert [former.text for former in keeper.engine.store.memories.former(memory.id)] == ["mine"]


@requirement("keeper-transfer.import.overwrite")
def test_overwrite_does_not_publish_what_was_private(call: Call, keeper: Core, exports: Path) -> None:
    call("context_session_start", name="Current")
    call("context_save", key="decision", value="mine", private=True)
    call("context_import", filePath=write(exports, OLD), merge=True, mergeStrategy="overwrite")
    assert held(keeper)["decision"].private


@requirement("keeper-transfer.import.rename")
def test_rename_keeps_both(call: Call, keeper: Core, exports: Path) -> None:
    call("context_session_start", name="Current")
    call("context_save", key="decision", value="mine")
    call("context_save", key="decision-2", value="mine too")
    for _ in range(2):
        path = write(exports, OLD)
        reply = call("context_import", filePath=path, merge=True, mergeStrategy="rename")
        assert (reply["imported"]["items"], reply["skipped"]) == (2, 0)
    texts = {key: memory.text for key, memory in held(keeper).items()}
    assert (texts["decision"], texts["decision-2"]) == ("mine", "mine too")
    assert texts["decision-3"] == texts["decision-4"] == "JWT ✅\nfor 24h"
    assert texts["secret"] == texts["secret-2"] == "mock keys"


@requirement("keeper-transfer.import.merge")
def test_items_without_a_key_and_archived_ones_are_merged_once(call: Call, keeper: Core) -> None:
    call("context_session_start", name="Source")
    keeper.memories.save_item(MemoryDraft(text="a journal entry", category="journal"))
    keeper.memories.save_item(MemoryDraft(key="old", text="gone"))
    keeper.engine.store.archive.put_memories([held(keeper)["old"]])
    path = call("context_export")["filePath"]
    current = call("context_session_start", name="Current")["sessionId"]
    first = call("context_import", filePath=path, merge=True, mergeStrategy="rename")
    second = call("context_import", filePath=path, merge=True, mergeStrategy="rename")
    assert (first["imported"]["items"], first["skipped"]) == (2, 0)
    assert (second["imported"]["items"], second["skipped"]) == (0, 2)
    assert list(held(keeper, current)) == [None]
    archived = keeper.engine.store.archive.find_memories(Filter(threads=(current,)))
    assert [each.memory.text for each in archived] == ["gone"]


@requirement("keeper-transfer.import.merge")
@pytest.mark.parametrize(
    ("strategy", "content"), [("skip", b"mine"), ("overwrite", b"login()\n"), ("rename", b"mine")]
)
def test_a_file_that_is_known_is_replaced_only_by_overwrite(
    call: Call, keeper: Core, exports: Path, strategy: str, content: bytes
) -> None:
    current = call("context_session_start", name="Current")["sessionId"]
    FileCache(keeper).remember("/repo/src/login.ts", "mine", {})
    reply = call("context_import", filePath=write(exports, ORIGINAL), merge=True, mergeStrategy=strategy)
    assert reply["skipped"] == (0 if strategy == "overwrite" else 1)
    store = keeper.engine.store
    (file,) = store.files.find(current)
    assert store.files.read_blobs([file.hash])[file.hash] == content


@requirement("keeper-transfer.import.original")
def test_a_file_of_the_original_without_a_time_has_its_sessions(
    call: Call, keeper: Core, exports: Path
) -> None:
    body: dict[str, Any] = json.loads(json.dumps(ORIGINAL))
    (file,) = body["fileCache"]
    del file["last_read"], file["updated_at"]
    (id,) = call("context_import", filePath=write(exports, body))["sessionIds"]
    (cached,) = keeper.engine.store.files.find(id)
    assert cached.cached_at == keeper.sessions.get(id).updated_at


@requirement("keeper-transfer.import.session-name")
def test_the_session_gets_the_name_that_is_given(call: Call, keeper: Core) -> None:
    ids = [call("context_session_start", name=name)["sessionId"] for name in ("A", "B")]
    path = call("context_export", sessionIds=ids)["filePath"]
    reply = call("context_import", filePath=path, sessionName="Copy")
    assert [keeper.sessions.get(id).name for id in reply["sessionIds"]] == ["Copy", "Copy 2"]
    refused = call("context_import", filePath=path, sessionName="Copy", merge=True)
    assert code(refused) == "INVALID_PARAMS"


@requirement("keeper-transfer.import.session-name")
def test_a_blank_name_leaves_the_session_its_own(call: Call, keeper: Core) -> None:
    call("context_session_start", name="A")
    path = call("context_export")["filePath"]
    (id,) = call("context_import", filePath=path, sessionName="  ")["sessionIds"]
    assert keeper.sessions.get(id).name == "A"


@requirement("keeper-transfer.import.reply")
def test_the_reply_has_the_documented_shape(call: Call, exports: Path) -> None:
    assert call("context_import", filePath=write(exports, OLD)) == {
        "imported": {"sessions": 1, "items": 2, "files": 0, "checkpoints": 0},
        "skipped": 0,
        "errors": [],
        "sessionIds": ["5e551011-0000"],
    }


def changed(*path: str | int, to: Any = None) -> dict[str, Any]:
    """The original's export with one field changed, or left out."""
    body: dict[str, Any] = json.loads(json.dumps(ORIGINAL))
    place: Any = body
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return body


@requirement("keeper-transfer.import.atomic")
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (changed("contextItems", 1, "key"), "contextItems[1].key is missing."),
        (changed("contextItems", 1, "key", to=7), "contextItems[1].key must be text."),
        (changed("contextItems", 1, "key", to=""), "contextItems[1].key is empty."),
        (changed("contextItems", 1, "key", to="decision"), "contextItems[1].key 'decision' stands twice."),
        (changed("contextItems", 1, "id", to="item-1"), "contextItems[1].id 'item-1' stands twice."),
        (changed("contextItems", 1, "value"), "contextItems[1].value is missing."),
        (changed("contextItems", 1, "priority", to="urgent"), "contextItems[1].priority must be one of "),
        (
            changed("contextItems", 1, "created_at", to="soon"),
            "contextItems[1].created_at 'soon' is not a time.",
        ),
        (changed("contextItems", 1, "is_private", to="yes"), "contextItems[1].is_private must be 0 or 1."),
        (changed("contextItems", 1, "value", to="\ud800"), "contextItems[1].value holds half of a surrogate"),
        (changed("contextItems", 1, to=5), "contextItems[1] must be an object."),
        (changed("contextItems", to={}), "contextItems must be a list."),
        (changed("contextItems"), "contextItems is missing."),
        (changed("session"), "session must be an object."),
        (changed("session", "name"), "session.name is missing."),
        (changed("version", to="9.9.9"), "version '9.9.9' is not one this Backstory can read"),
        (changed("fileCache", 0, "content"), "fileCache[0].content is missing."),
        (
            changed("checkpointItems", 0, "context_item_id", to="x"),
            "checkpointItems[0].context_item_id 'x' is not",
        ),
        ({"some": "json"}, "The file is no export"),
        ([], "The file must be an object."),
        ({"format": "backstory-export", "version": 2}, "version 2 is not one this Backstory can read"),
        ({"format": "backstory-export", "version": 1}, "sessions is missing."),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_bad_file_changes_nothing_and_its_problem_is_named(
    call: Call, keeper: Core, exports: Path, body: Any, error: str
) -> None:
    reply = call("context_import", filePath=write(exports, body))
    assert (reply["imported"], reply["skipped"], reply["sessionIds"]) == (NOTHING, 0, [])
    assert [each for each in reply["errors"] if each.startswith(error)] != []
    assert keeper.engine.store.entries.count(Filter()) == 0
    assert keeper.engine.store.sessions.find(SURFACE, after=None, before=None) == []


@requirement("keeper-transfer.import.atomic")
@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("tags", ["a", 1], "tags must be a list of texts."),
        ("tags", "a", "tags must be a list."),
        ("private", 1, "private must be true or false."),
        ("metadata", [], "metadata must be an object."),
        ("metadata", {"a": "\ud800"}, "metadata holds half of a surrogate"),
        ("metadata", json.loads('{"a":' * 150 + "1" + "}" * 150), "metadata is nested more than"),
        ("history", [{"value": "v", "savedAt": "x"}], "history[0].savedAt 'x' is not a time."),
    ],
)
def test_a_bad_field_of_our_own_format_is_named(
    call: Call, exports: Path, field: str, value: Any, error: str
) -> None:
    call("context_session_start", name="Mine")
    call("context_save", key="k", value="v")
    body = read(call("context_export"))
    body["sessions"][0]["items"][0][field] = value
    reply = call("context_import", filePath=write(exports, body), merge=True)
    assert reply["imported"] == NOTHING
    assert [each for each in reply["errors"] if each.startswith(f"sessions[0].items[0].{error}")] != []


@requirement("keeper-transfer.import.atomic")
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"hash": "0"}, "hash is not that of the content."),
        ({"content": "?", "encoding": "base64"}, "content is not base64."),
        ({"encoding": "latin-1"}, "encoding must be base64"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_named(
    call: Call, keeper: Core, exports: Path, change: dict[str, str], error: str
) -> None:
    call("context_session_start", name="Mine")
    FileCache(keeper).remember("/p/a.py", "print()", {})
    body = read(call("context_export"))
    body["sessions"][0]["files"][0] |= change
    errors = call("context_import", filePath=write(exports, body))["errors"]
    assert [each for each in errors if each.startswith(f"sessions[0].files[0].{error}")] != []


@requirement("keeper-transfer.import.atomic")
def test_rows_of_a_bad_table_are_named(call: Call, exports: Path) -> None:
    call("context_session_start", name="Mine")
    call("context_save", key="k", value="v")
    head, row = Path(call("context_export", format="csv")["filePath"]).read_text().splitlines()
    bad = [row.replace("{}", "{"), row.replace("normal", "x"), "too,few", ""]
    reply = call("context_import", filePath=write(exports, "\n".join([head, *bad]), "in.csv"))
    assert reply["imported"] == NOTHING
    starts = ["row 2.metadata is not JSON", "row 3.priority must be one of", "row 4 has 2 columns"]
    assert all(any(error.startswith(start) for error in reply["errors"]) for start in starts)
    assert call("context_import", filePath=write(exports, "a,b\n", "in.csv"))["errors"] != []


@requirement("keeper-transfer.import.atomic")
def test_every_problem_is_told_up_to_a_limit(call: Call, exports: Path) -> None:
    items = [{"id": str(number)} for number in range(MOST_PROBLEMS)]
    errors = call("context_import", filePath=write(exports, OLD | {"contextItems": items}))["errors"]
    assert errors[0] == "contextItems[0].created_at is missing."
    assert errors[-1] == f"… and {2 * MOST_PROBLEMS} more."
    assert len(errors) == MOST_PROBLEMS + 1


@requirement("keeper-transfer.import.errors")
def test_files_that_cannot_be_read_have_their_codes(call: Call, exports: Path, tmp_path: Path) -> None:
    write(exports, "no json", "bad.json")
    write(exports, "[" * 100_000, "deep.json")
    (tmp_path / "out.json").write_text("{}")
    (exports / "link.json").symlink_to(tmp_path / "out.json")
    expected = {
        "missing.json": "FILE_NOT_FOUND",
        str(tmp_path / "missing.json"): "PERMISSION_ERROR",
        "bad.json": "PARSE_ERROR",
        "deep.json": "PARSE_ERROR",
        "../out.json": "PERMISSION_ERROR",
        "link.json": "PERMISSION_ERROR",
    }
    assert {path: code(call("context_import", filePath=path)) for path in expected} == expected


@requirement("keeper-transfer.import.places")
def test_an_import_reads_the_export_directory_the_project_and_what_the_user_named(
    keeper: Core, exports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, downloads, home = (tmp_path / name for name in ("home/shop", "home/downloads", "home"))
    for folder in (project, downloads):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    named = home / "named.json"
    for folder in (exports, project, downloads, home):
        write(folder, ORIGINAL)
    write(home, ORIGINAL, "named.json")
    (project / "link.json").symlink_to(downloads / "in.json")
    (project / "out").symlink_to(downloads)

    def readable(directory: Path, *import_dirs: Path) -> set[str]:
        settings = keeper.engine.settings.changed(import_dirs=tuple(map(str, import_dirs)))
        monkeypatch.setattr(keeper.engine, "settings", settings)
        call = caller_of(keeper._replace(caller=Caller(project=str(directory))))
        paths = [
            "in.json",
            "link.json",
            *map(str, (project / "in.json", downloads / "in.json", home / "in.json")),
        ]
        paths += map(str, (named, project / "link.json", project / "out" / "in.json", "~/in.json"))
        answers = {path: call("context_import", filePath=path) for path in paths}
        refusals = {path: code(answer) for path, answer in answers.items() if "error" in answer}
        refusals.pop("link.json")  # is not in the export directory
        assert {*refusals.values()} == {"PERMISSION_ERROR"}
        return {path.removeprefix(str(home)) for path in answers.keys() - refusals.keys() - {"link.json"}}

    assert readable(project) == {"in.json", "/shop/in.json"}
    assert readable(project, downloads, named) == {
        "in.json", "/shop/in.json", "/downloads/in.json", "/named.json", "/shop/out/in.json"
    }  # fmt: skip
    for no_project in (home, tmp_path, Path("/")):
        assert readable(no_project) == {"in.json"}


@requirement("keeper-transfer.import.storage-full")
def test_a_full_store_takes_no_import(call: Call, keeper: Core, exports: Path, monkeypatch: Any) -> None:
    path = write(exports, OLD)
    monkeypatch.setattr(keeper.engine, "settings", keeper.engine.settings.changed(max_store_mb=0))
    assert code(call("context_import", filePath=path)) == "STORAGE_FULL"
    assert keeper.engine.store.entries.count(Filter()) == 0
