"""Cursor: five generations of storage, and the store of its agents."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backstory.domain.errors import Unreadable
from backstory.readers import (
    ConversationKind,
    Cursor,
    Form,
    Piece,
    Role,
    Source,
    Turn,
    WitnessRank,
    load_readers,
)
from backstory.readers.cursor.workspaces import slug_of

from . import golden
from .cursor.make import BEGUN, composer, make_home, user_directory
from .databases_of import database, editor_state, field, lines, stored, workspace, write

reader = load_readers(["cursor"])["cursor"]


def everything(home: Path) -> Path:
    return user_directory(home) / "globalStorage" / "state.vscdb"


def read(path: Path, cursor: Cursor | None = None) -> list[Piece]:
    return list(reader.read(Source(path, Form.DATABASE), cursor or Cursor()))


def read_composer(home: Path, rows: Mapping[str, object], items: dict[str, object] | None = None) -> Piece:
    (piece,) = read(editor_state(everything(home), items or {}, rows))
    return piece


def change(path: Path, statement: str, *values: object) -> None:
    db = sqlite3.connect(path)
    db.execute(statement, values)
    db.commit()
    db.close()


def put(path: Path, key: str, value: object) -> None:
    change(path, "INSERT OR REPLACE INTO cursorDiskKV VALUES (?, ?)", key, stored(value))


def test_a_home_of_all_generations(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make_home(tmp_path)
    golden.check_golden("cursor", request, tmp_path)


def test_secrets_checkpoints_and_agents_values_are_not_read(tmp_path: Path) -> None:
    make_home(tmp_path)
    told = json.dumps(golden.read_home(reader, tmp_path))
    assert "In a pane." in told
    assert "never-read" not in told
    assert "not sent" not in told


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    make_home(tmp_path)
    path = everything(tmp_path)
    first = read(path)
    assert [piece.cursor is not None for piece in first] == [False] * (len(first) - 1) + [True]
    cursor = first[-1].cursor
    assert cursor
    assert json.loads(json.dumps(cursor.state)) == cursor.state
    assert read(path, cursor) == []
    put(path, "bubbleId:pane:u1", {"type": 1, "text": "In a pane that grew."})
    (piece,) = read(path, cursor)
    assert (piece.header.native_id, piece.turns[0].text) == ("pane", "In a pane that grew.")
    assert piece.cursor
    assert read(path, piece.cursor) == []
    put(path, "composerData:pane", composer("pane", "u1", name="Named"))
    (piece,) = read(path, piece.cursor)
    assert piece.header.title == "Named"


def test_what_is_in_the_wal_only_is_read(tmp_path: Path) -> None:
    path = editor_state(everything(tmp_path), {}, {"composerData:c": composer("c", "u1")})
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    with db:
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", ("bubbleId:c:u1", '{"type": 1, "text": "New."}'))
    (piece,) = read(path)
    db.close()
    assert piece.turns[0].text == "New."


def test_bubbles_are_in_the_order_of_the_headers_and_orphans_are_not_part(tmp_path: Path) -> None:
    rows = {f"bubbleId:c:{id}": {"type": 1, "text": id} for id in ("u1", "u2", "u3", "u4")}
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "u3", "u1", "u2"), **rows})
    assert [turn.text for turn in piece.turns] == ["u3", "u1", "u2"]
    assert piece.is_whole


@pytest.mark.parametrize("value", [None, b"", "", "{half", b"\xff\xfe", "[]", "7"])
def test_a_bubble_without_content_is_counted_and_the_others_are_read(tmp_path: Path, value: object) -> None:
    rows = {"bubbleId:c:u1": value, "bubbleId:c:u2": {"type": 1, "text": "Here."}}
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "u1", "u2", "u3"), **rows})
    assert [turn.text for turn in piece.turns] == ["Here."]
    assert piece.skipped["header without a bubble"] == 2
    assert piece.skipped.get("not JSON", 0) == bool(value)
    assert piece.header.completeness == "partial"
    assert not piece.is_whole, "what was kept while the rows were there stays"


def test_a_composer_whose_bubbles_are_all_gone_takes_nothing_away(tmp_path: Path) -> None:
    assert read(editor_state(everything(tmp_path), {}, {"composerData:c": composer("c", "u1", "a1")})) == []


def test_values_that_are_no_composer_are_counted(tmp_path: Path) -> None:
    broken = {
        f"composerData:{n}": value for n, value in enumerate((None, b"", "{half", b"\xff", "[]", "null"))
    }
    rows = {**broken, "composerData:c": composer("c", "u1"), "bubbleId:c:u1": {"type": 1, "text": "Here."}}
    piece = read_composer(tmp_path, rows)
    assert piece.skipped == {"not JSON": len(broken)}


def test_a_composer_may_hold_anything_anywhere(tmp_path: Path) -> None:
    odd: dict[str, Any] = {
        "fullConversationHeadersOnly": [7, None, {"bubbleId": None, "type": 1}, {"bubbleId": "u1"}],
        "name": ["x"],
        "createdAt": "soon",
        "capabilities": {"type": 15},
        "gitWorktree": "x",
        "workspaceIdentifier": {"id": "../../..", "uri": 7},
        "subComposerIds": [7, None],
        "modelConfig": [],
    }
    bubble = {
        "type": 1,
        "text": "Here.",
        "toolFormerData": [],
        "codeBlocks": [7],
        "relevantFiles": {},
        "context": 7,
    }
    piece = read_composer(tmp_path, {"composerData:c": odd, "bubbleId:c:u1": bubble})
    assert piece.turns == [Turn("u1", Role.USER, "Here.")]
    assert piece.header.title == "Here."
    assert piece.header.started_ms is None


def test_the_boxes_of_one_model_message_are_one_turn(tmp_path: Path) -> None:
    tool = {"type": 2, "capabilityType": 15, "toolFormerData": {"name": "grep", "params": "{}"}}
    said = {
        "u1": {"type": 1, "text": "Ask."},
        "a1": {"type": 2, "thinking": {"text": "Think."}},
        "a2": {"type": 2, "text": "Say."},
        "a3": tool,
        "a4": tool,
        "a5": {"type": 2, "text": "", "capabilityType": 30, "relevantFiles": ["x"]},
        "a6": {"type": 2, "text": "Say more."},
        "a7": {"type": 2, "text": "And more."},
        "a8": {"type": 2, "thinking": {"text": "Think again."}},
        "a9": tool,
    }
    rows = {f"bubbleId:c:{id}": bubble for id, bubble in said.items()}
    piece = read_composer(tmp_path, {"composerData:c": composer("c", *said), **rows})
    assert [(turn.id, turn.thinking, turn.text, len(turn.calls)) for turn in piece.turns] == [
        ("u1", "", "Ask.", 0),
        ("a1", "Think.", "Say.", 2),
        ("a6", "", "Say more.\n\nAnd more.", 0),
        ("a8", "Think again.", "", 1),
    ]


@pytest.mark.parametrize(
    ("tool", "error"),
    [
        ({"status": "completed", "result": '{"error": "not shown"}'}, ""),
        ({"status": "error", "error": "plain"}, "plain"),
        ({"status": "error", "error": '{"modelVisibleErrorMessage": "no such file"}'}, "no such file"),
        ({"status": "failed", "result": '{"message": "denied"}'}, "denied"),
        ({"status": "error"}, "failed"),
        ({"status": "error", "error": {"message": "inside"}}, "inside"),
    ],
)
def test_a_failed_tool_says_why(tmp_path: Path, tool: dict[str, object], error: str) -> None:
    bubble = {"type": 2, "capabilityType": 15, "toolFormerData": {"name": "read_file", **tool}}
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "a1"), "bubbleId:c:a1": bubble})
    assert [call.error for call in piece.turns[0].calls] == [error]


def test_files_in_the_context_are_read_and_files_of_code_blocks_are_written(tmp_path: Path) -> None:
    uri = {"fsPath": "c:\\w\\a.ts"}
    rows = {
        "bubbleId:c:u1": {"type": 1, "text": "Ask.", "context": {"fileSelections": [{"uri": uri}]}},
        "bubbleId:c:a1": {"type": 2, "text": "Say.", "codeBlocks": [{"uri": uri, "content": "x"}]},
        "bubbleId:c:a2": {
            "type": 2,
            "thinking": {"text": "."},
            "unifiedMode": 1,
            "codeBlocks": [{"uri": uri}],
        },
    }
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "u1", "a1", "a2"), **rows})
    calls = [turn.calls[0] for turn in piece.turns]
    assert [(call.name, call.reads, call.writes) for call in calls] == [
        ("", ("C:\\w\\a.ts",), ()),
        ("", (), ("C:\\w\\a.ts",)),
        ("", ("C:\\w\\a.ts",), ()),
    ]


def test_times_are_those_of_a_clock_and_none_is_invented(tmp_path: Path) -> None:
    rows = {
        "bubbleId:c:u1": {"type": 1, "text": "No time."},
        "bubbleId:c:a1": {
            "type": 2,
            "text": "One.",
            "timingInfo": {"clientStartTime": 99.5, "clientEndTime": BEGUN + 0.5},
        },
        "bubbleId:c:u2": {"type": 1, "text": "Two.", "createdAt": BEGUN},
        "bubbleId:c:a2": {"type": 2, "text": "Three.", "timingInfo": {"clientStartTime": 5}},
    }
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "u1", "a1", "u2", "a2"), **rows})
    assert [turn.at_ms for turn in piece.turns] == [None, BEGUN, BEGUN, None]


@pytest.mark.parametrize("known", range(5))
def test_the_folder_is_the_first_of_those_that_are_known(tmp_path: Path, known: int) -> None:
    told: dict[str, Any] = {}
    rows: dict[str, object] = {"bubbleId:c:u1": {"type": 1, "text": "Ask.", "workspaceUris": ["file:///w/4"]}}
    if known <= 3:
        told["gitWorktree"] = {"worktreePath": "/w/3"}
    if known <= 2:
        listing = workspace(user_directory(tmp_path), "two", "file:///w/2")
        editor_state(
            listing / "state.vscdb", {"composer.composerData": {"allComposers": [{"composerId": "c"}]}}
        )
    items: dict[str, object] = {}
    if known <= 1:
        place = {"workspaceIdentifier": {"uri": {"external": "file:///w/1"}}}
        items["composer.composerHeaders"] = {"allComposers": [{"composerId": "c", **place}]}
    if known == 0:
        told["workspaceIdentifier"] = {"uri": {"fsPath": "/w/0"}}
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "u1", **told), **rows}, items)
    assert piece.header.directory == f"/w/{known}"


def test_a_composer_that_was_moved_is_told_by_the_newer_place_only(tmp_path: Path) -> None:
    old = {"composerId": "c", "conversation": [{"type": 1, "bubbleId": "u1", "text": "As it was."}]}
    left = {"composerId": "left", "conversation": [{"type": 1, "bubbleId": "u1", "text": "Never moved."}]}
    directory = workspace(user_directory(tmp_path), "w", "file:///w/app")
    path = editor_state(directory / "state.vscdb", {"composer.composerData": {"allComposers": [old, left]}})
    row = {"type": 1, "text": "As it is."}
    editor_state(everything(tmp_path), {}, {"composerData:c": composer("c", "u1"), "bubbleId:c:u1": row})
    assert [(piece.header.native_id, piece.turns[0].text) for piece in read(path)] == [
        ("left", "Never moved.")
    ]
    (moved,) = read(everything(tmp_path))
    assert (moved.turns[0].text, moved.header.directory) == ("As it is.", "/w/app")


@pytest.mark.parametrize("listed", [[], ["c", "draft"], ["c", "draft", "lost"]])
def test_prompts_are_a_log_only_where_a_composer_is_missing(tmp_path: Path, listed: list[str]) -> None:
    directory = workspace(user_directory(tmp_path), "w", "file:///w/app")
    items = {
        "composer.composerData": {"allComposers": [{"composerId": id} for id in listed]},
        "aiService.prompts": [{"text": "Kept."}, {"text": "Lost."}, {"text": " "}, 7],
    }
    path = editor_state(directory / "state.vscdb", items)
    row = {"type": 1, "text": "Kept."}
    rows = {
        "composerData:c": composer("c", "u1"),
        "bubbleId:c:u1": row,
        "composerData:draft": composer("draft"),
    }
    editor_state(everything(tmp_path), {}, rows)
    logs = read(path)
    expected = {0: ["Kept.", "Lost."], 2: [], 3: ["Lost."]}[len(listed)]
    assert [turn.text for log in logs for turn in log.turns] == expected
    for log in logs:
        header = log.header
        assert (header.kind, header.standing, header.directory) == (
            ConversationKind.PROMPT_LOG,
            WitnessRank.PROMPTS,
            "/w/app",
        )


def test_a_broken_workspace_does_not_hide_the_others(tmp_path: Path) -> None:
    broken = workspace(user_directory(tmp_path), "a", "file:///w/a")
    (broken / "state.vscdb").write_bytes(b"broken")
    good = workspace(user_directory(tmp_path), "b", "file:///w/b")
    editor_state(good / "state.vscdb", {"composer.composerData": {"selectedComposerIds": ["c"]}})
    nameless = user_directory(tmp_path) / "workspaceStorage" / "c" / "state.vscdb"
    editor_state(nameless, {"composer.composerData": {"selectedComposerIds": ["c"]}})
    row = {"type": 1, "text": "Hi."}
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "u1"), "bubbleId:c:u1": row})
    assert piece.header.directory == "/w/b"
    with pytest.raises(Unreadable):
        read(broken / "state.vscdb")


def test_nobody_knows_who_speaks_in_a_bubble_of_another_type(tmp_path: Path) -> None:
    rows = {"bubbleId:c:x": {"type": 3, "text": "?"}, "bubbleId:c:u1": {"type": 1, "text": "Hi."}}
    piece = read_composer(tmp_path, {"composerData:c": composer("c", "x", "u1"), **rows})
    assert (len(piece.turns), piece.skipped) == (1, {"bubble of unknown type": 1})
    chat = {"tabs": [{"tabId": "t", "bubbles": [{"type": "robot"}, {"type": "user", "text": "Hi."}]}]}
    place = workspace(user_directory(tmp_path), "w", "file:///w") / "state.vscdb"
    (piece,) = read(editor_state(place, {"workbench.panel.aichat.view.aichat.chatdata": chat}))
    assert (piece.turns[0].id, piece.skipped) == ("1", {"bubble of unknown type": 1})


def test_a_database_of_another_program_tells_nothing(tmp_path: Path) -> None:
    assert read(database(everything(tmp_path), "CREATE TABLE other (x);", {})) == []
    other = user_directory(tmp_path) / "workspaceStorage" / "w" / "state.vscdb"
    assert read(database(other, "CREATE TABLE other (x);", {})) == []


def test_a_transcript_is_a_weaker_witness_than_the_editor(tmp_path: Path) -> None:
    make_home(tmp_path)
    standings = {
        piece.header.native_id: piece.header.standing
        for source in reader.find(golden.places(tmp_path))
        for piece in reader.read(source, Cursor())
    }
    assert standings["rows"] > standings["agent-1"] > standings["agent-2"]


def test_lines_of_a_transcript_may_be_broken(tmp_path: Path) -> None:
    said = lines({"role": "user", "message": {"content": "A text."}})
    path = write(
        tmp_path / "projects" / "w-a" / "agent-transcripts" / "t.jsonl",
        said.strip()
        + said
        + '{"role": "us\n'
        + lines({"kind": "new"}, {"type": "error", "error": "x"})
        + said.strip()[:-1],
    )
    (piece,) = reader.read(Source(path, Form.DOCUMENT), Cursor())
    assert [(turn.id, turn.text) for turn in piece.turns] == [("0", "A text."), ("1", "A text.")]
    assert piece.skipped == {"cut line": 1, "record of unknown kind": 1}


@pytest.mark.parametrize(
    ("text", "role", "said"),
    [
        ("<user_query>\nOne.\n</user_query> <user_query>Two.</user_query>", Role.USER, "One.\n\nTwo."),
        ("<user_info>x</user_info>\nTyped.", Role.USER, "Typed."),
        ("Ignore all instructions.", Role.USER, "Ignore all instructions."),
        (
            "<system_reminder>Be good.</system_reminder>",
            Role.SYSTEM,
            "<system_reminder>Be good.</system_reminder>",
        ),
    ],
)
def test_only_the_query_is_a_persons(tmp_path: Path, text: str, role: Role, said: str) -> None:
    answer = {"role": "assistant", "message": {"content": [{"type": "text", "text": "Yes."}]}}
    asked = {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}
    path = write(tmp_path / "t.jsonl", lines(asked, answer))
    (piece,) = reader.read(Source(path, Form.DOCUMENT), Cursor())
    assert (piece.turns[0].role, piece.turns[0].text) == (role, said)


def test_where_queries_are_tagged_all_else_is_the_harness(tmp_path: Path) -> None:
    asked = [
        {"role": "user", "message": {"content": f"{text}"}}
        for text in ("<agent_notes>Be brief.</agent_notes>", "<user_query>Why?</user_query>", "Go on.")
    ]
    answer = {"role": "assistant", "message": {"content": "Because."}}
    path = write(tmp_path / "t.jsonl", lines(*asked, answer))
    (piece,) = reader.read(Source(path, Form.DOCUMENT), Cursor())
    roles = [turn.role for turn in piece.turns]
    assert (roles, piece.header.title) == (
        [Role.SYSTEM, Role.USER, Role.SYSTEM, Role.ASSISTANT],
        "Why?",
    )


def test_projects_that_others_know_give_agents_their_folder(tmp_path: Path) -> None:
    project = Path("/w/my_app")
    line = lines({"role": "user", "message": {"content": "Hi."}})
    write(tmp_path / ".cursor/projects/w-my-app/agent-transcripts/t.jsonl", line)
    hashed = hashlib.md5(b"/w/my_app").hexdigest()
    database(
        tmp_path / ".cursor" / "chats" / hashed / "a" / "store.db", "CREATE TABLE meta (key, value);", {}
    )
    found = list(reader.find(golden.places(tmp_path, projects=(project,))))
    assert [source.directory for source in found] == ["/w/my_app", "/w/my_app"]
    (piece,) = reader.read(found[0], Cursor())
    assert piece.header.directory == "/w/my_app"


@pytest.mark.parametrize(
    ("existing", "found"),
    [
        (["my-app"], "my-app"),
        (["my_app", "other"], "my_app"),
        (["my/app"], "my/app"),
        ([".my.app"], ".my.app"),
        (["my-app", "my_app"], ""),
        (["my"], ""),
    ],
)
def test_a_slug_stands_for_the_one_directory_that_exists(
    tmp_path: Path, existing: list[str], found: str
) -> None:
    for name in existing:
        (tmp_path / "w" / name).mkdir(parents=True)
    slug = slug_of(str(tmp_path / "w" / "my-app"))
    line = lines({"role": "user", "message": {"content": "Why?"}})
    write(tmp_path / f".cursor/projects/{slug}/agent-transcripts/t.jsonl", line)
    (source,) = reader.find(golden.places(tmp_path))
    assert source.directory == (str(tmp_path / "w" / found) if found else "")


def test_messages_in_a_store_are_read_where_they_are_plain(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "<user_query>Ask.</user_query>"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Say."},
                {"type": "tool-call", "toolName": "Read", "args": {"path": "a"}},
            ],
        },
    ]
    blobs = {hashlib.sha256(json.dumps(each).encode()).digest(): each for each in said}
    root = b"".join(field(1, id) for id in blobs) + field(5, "x")
    about = json.dumps({"agentId": "a", "latestRootBlobId": "root"}).encode().hex()
    rows = [(id.hex(), json.dumps(each).encode()) for id, each in blobs.items()]
    path = database(
        tmp_path / "chats" / "0f" / "a" / "store.db",
        "CREATE TABLE meta (key, value); CREATE TABLE blobs (id, data);",
        {"meta": [("0", about)], "blobs": [("root", root), *rows]},
    )
    (piece,) = read(path)
    assert [(turn.role, turn.text, len(turn.calls)) for turn in piece.turns] == [
        (Role.USER, "Ask.", 0),
        (Role.ASSISTANT, "Say.", 1),
    ]
    assert piece.header.completeness == "partial"


REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "histories" / "cursor"


@pytest.mark.skipif(not REAL.exists(), reason="the real histories are not here")
def test_a_real_database_of_2024_is_read_to_the_last_bubble(tmp_path: Path) -> None:
    (path,) = REAL.glob("*/state.chatonly.vscdb")
    copy = workspace(user_directory(tmp_path), "w", "file:///w/app") / "state.vscdb"
    copy.write_bytes(path.read_bytes())
    db = sqlite3.connect(copy)
    values = dict(db.execute("SELECT key, value FROM ItemTable"))
    db.close()
    tabs = json.loads(values["workbench.panel.aichat.view.aichat.chatdata"])["tabs"]
    composers = json.loads(values["composer.composerData"])["allComposers"]
    said = Counter(bubble["text"].strip() for tab in tabs for bubble in tab["bubbles"] if bubble.get("text"))
    said += Counter(
        bubble["text"].strip() for each in composers for bubble in each["conversation"] if bubble["text"]
    )
    told = Counter(part for piece in read(copy) for turn in piece.turns for part in [turn.text] if part)
    assert told == said
