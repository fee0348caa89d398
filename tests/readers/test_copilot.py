"""GitHub Copilot."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Role, Source, load_readers

from .golden import check_golden, merged, read, sources

REAL = Path(__file__).resolve().parents[3] / "shared/data/histories/copilot-cli"

reader = load_readers(["copilot"])["copilot"]


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("copilot", request)


def lines(*records: dict[str, Any] | str) -> bytes:
    return "".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in records).encode()


def event(type: str, id: str, **data: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "timestamp": "2026-02-03T04:05:06.000Z", "data": data}


def session(tmp_path: Path, content: bytes) -> Source:
    path = tmp_path / ".copilot/session-state/s/events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return Source(path, Form.LOG)


def chat(tmp_path: Path, *changes: dict[str, Any] | str) -> Source:
    path = tmp_path / "chatSessions/c.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(*changes))
    return Source(path, Form.DOCUMENT)


def said(source: Source) -> list[str]:
    return [
        turn.text for conversation in read(reader, source).values() for turn in conversation.turns.values()
    ]


def request(id: str, asked: Any, answer: Any) -> dict[str, Any]:
    return {"requestId": id, "timestamp": 1767400001000, "message": asked, "response": answer}


def test_wherever_a_log_was_cut_reading_on_gives_what_reading_at_once_gives(tmp_path: Path) -> None:
    whole = lines(
        event("session.start", "1", context={"cwd": "/w", "branch": "main"}, selectedModel="m"),
        event("user.message", "2", content="go"),
        event("assistant.message", "3", content="I do.", toolRequests=[{"toolCallId": "t", "name": "bash"}]),
        event("tool.execution_complete", "4", toolCallId="t", success=False, error={"message": "no"}),
        event("assistant.message", "5", content="Done."),
        event("session.shutdown", "6", codeChanges={"filesModified": ["/w/a.py"]}),
    )
    expected = read(reader, session(tmp_path, whole))
    for cut in range(len(whole)):
        source = session(tmp_path, whole[:cut])
        pieces = list(reader.read(source, Cursor()))
        cursor = pieces[-1].cursor if pieces else Cursor()
        assert cursor is not None
        session(tmp_path, whole)
        assert merged(reader.read(source, cursor), merged(pieces)) == expected


def test_lines_may_be_cut_glued_unended_or_come_twice(tmp_path: Path) -> None:
    first, answer = event("user.message", "1", content="one"), event("assistant.message", "2", content="two")
    glued = json.dumps(event("user.message", "3", content="three")) + json.dumps(event("abort", "4")) + "\n"
    half = json.dumps(event("assistant.message", "5", content="four"))
    source = session(tmp_path, lines(first, '{"type": "user.mess\n', answer, answer, glued, half))
    [piece] = reader.read(source, Cursor())
    assert [turn.text for turn in piece.turns] == ["one", "two", "three", "four"]
    assert dict(piece.skipped) == {"cut line": 1}


def test_a_log_without_anything_said_gives_nothing(tmp_path: Path) -> None:
    assert (
        list(
            reader.read(
                session(tmp_path, lines(event("session.start", "1", context={"cwd": "/w"}))), Cursor()
            )
        )
        == []
    )
    assert list(reader.read(session(tmp_path, b""), Cursor())) == []


def test_what_was_injected_into_a_prompt_is_not_read(tmp_path: Path) -> None:
    prompt = event(
        "user.message", "1", content="plain", transformedContent="<system_reminder>x</system_reminder> plain"
    )
    assert said(session(tmp_path, lines(prompt))) == ["plain"]


def test_a_summary_of_the_past_is_told_apart(tmp_path: Path) -> None:
    compacted = event("session.compaction_complete", "2", success=True, summaryContent="We fixed the relay.")
    [conversation] = read(
        reader, session(tmp_path, lines(event("user.message", "1", content="on"), compacted))
    ).values()
    assert [turn.role for turn in conversation.turns.values()] == [Role.USER, Role.SUMMARY]


def test_a_change_may_cut_a_list_before_it_adds(tmp_path: Path) -> None:
    source = chat(
        tmp_path,
        {
            "kind": 0,
            "v": {"sessionId": "c", "requests": [request("a", "one", "1"), request("b", "two", "2")]},
        },
        {"kind": 2, "k": ["requests"], "i": 1, "v": [request("d", "other", "3")]},
        {"kind": 2, "k": ["requests"], "v": [request("e", "last", "4")]},
    )
    assert said(source) == ["one", "1", "other", "3", "last", "4"]


def test_an_unknown_kind_of_change_ends_the_replay_and_keeps_what_was_reached(tmp_path: Path) -> None:
    first = {"kind": 0, "v": {"sessionId": "c", "requests": [request("a", "one", "1")]}}
    source = chat(tmp_path, first, {"kind": 9, "k": []}, {"kind": 1, "k": ["requests"], "v": []})
    [piece] = reader.read(source, Cursor())
    assert [turn.text for turn in piece.turns] == ["one", "1"]
    assert dict(piece.skipped) == {"unknown kind of change": 1}


def test_a_change_that_does_not_fit_is_passed_over(tmp_path: Path) -> None:
    source = chat(
        tmp_path,
        {"kind": 0, "v": {"sessionId": "c", "requests": [request("a", "one", "1")]}},
        {"kind": 1, "k": ["requests", 7, "response"], "v": []},
        {"kind": 1, "k": [], "v": 1},
        {"kind": 2, "k": ["sessionId"], "i": 0, "v": [1]},
        '{"kind": 1, "k": ["custom\n',
        {"kind": 1, "k": ["customTitle"], "v": "Kept"},
    )
    [piece] = reader.read(source, Cursor())
    assert piece.header.title == "Kept"
    assert dict(piece.skipped) == {"unexpected shape": 3, "cut line": 1}


def test_a_chat_without_requests_has_no_turns(tmp_path: Path) -> None:
    [piece] = reader.read(chat(tmp_path, {"kind": 0, "v": {"sessionId": "c", "requests": []}}), Cursor())
    assert piece.turns == ()


def test_a_message_may_be_a_text_and_an_answer_may_hold_unknown_parts(tmp_path: Path) -> None:
    answer = ["plain ", {"value": "text"}, {"kind": "progressTaskSerialized"}, {"kind": "hologram"}, 7]
    [piece] = reader.read(
        chat(tmp_path, {"kind": 0, "v": {"requests": [request("a", "hi", answer)]}}), Cursor()
    )
    assert [turn.text for turn in piece.turns] == ["hi", "plain text"]
    assert piece.header.native_id == "c"
    assert dict(piece.skipped) == {"unknown part of an answer": 1}


def test_a_request_that_failed_leaves_its_error(tmp_path: Path) -> None:
    failed = request("a", "hi", []) | {"result": {"errorDetails": {"message": "quota exceeded"}}}
    [conversation] = read(reader, chat(tmp_path, {"kind": 0, "v": {"requests": [failed]}})).values()
    assert [call.error for turn in conversation.turns.values() for call in turn.calls] == ["quota exceeded"]


USERS = {
    "linux": ".config/Code - Insiders/User",
    "darwin": "Library/Application Support/VSCodium/User",
    "win32": "AppData/Roaming/Code/User",
}


@pytest.mark.parametrize("platform", USERS)
def test_chats_are_found_where_each_platform_has_them_and_a_log_comes_before_its_document(
    tmp_path: Path, platform: str
) -> None:
    chats = tmp_path / USERS[platform] / "workspaceStorage/1/chatSessions"
    chats.mkdir(parents=True)
    for name in ("a.json", "a.jsonl", "b.json", "c.txt"):
        (chats / name).write_text("{}")
    found = sources(reader, tmp_path, platform=platform)
    assert [source.path.name for source in found] == ["a.jsonl", "b.json"]


def test_sessions_are_found_in_the_named_home_in_windows_and_in_roots(tmp_path: Path) -> None:
    for base in ("usual/.copilot", "named", "windows/.copilot", "root"):
        directory = tmp_path / base / "session-state/s"
        directory.mkdir(parents=True)
        (directory / "events.jsonl").write_text("")
    found = sources(
        reader,
        tmp_path / "usual",
        environment={"COPILOT_HOME": str(tmp_path / "named")},
        windows_homes=(tmp_path / "windows",),
        roots={"copilot": (tmp_path / "root",)},
    )
    assert {source.path.relative_to(tmp_path).parts[0] for source in found} == {
        "usual",
        "named",
        "windows",
        "root",
    }


def test_a_chat_on_windows_names_its_folder_as_windows_does(tmp_path: Path) -> None:
    storage = tmp_path / "windows/AppData/Roaming/Code/User/workspaceStorage/1"
    (storage / "chatSessions").mkdir(parents=True)
    (storage / "workspace.json").write_text('{"folder": "file:///c%3A/w/shop"}')
    (storage / "chatSessions/a.json").write_text(json.dumps({"requests": [request("a", "hi", "ho")]}))
    [source] = sources(reader, tmp_path / "home", windows_homes=(tmp_path / "windows",))
    [conversation] = read(reader, source).values()
    assert conversation.header.directory == r"C:\w\shop"


@pytest.mark.skipif(not REAL.is_dir(), reason="real histories are not here")
def test_real_sessions_have_every_prompt_call_and_failure() -> None:
    for path in REAL.glob("**/*.jsonl"):
        events = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        types = Counter(event["type"] for event in events)
        [conversation] = read(reader, Source(path, Form.LOG)).values()
        turns = conversation.turns.values()
        calls = [call for turn in turns for call in turn.calls]
        failures = [
            event
            for event in events
            if event["data"].get("success") is False and "toolCallId" in event["data"]
        ]
        assert sum(turn.role is Role.USER for turn in turns) == types["user.message"]
        assert len(calls) == types["tool.execution_start"]
        assert sum(bool(call.error) for call in calls) == len(failures)
        assert conversation.header.native_id == path.stem
