"""Gemini CLI."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Role, Source, load_readers

from .golden import check_golden, read, sources

REAL = Path(__file__).resolve().parents[3] / "shared/data/histories"
HEAD = {"sessionId": "s", "startTime": "2026-01-02T03:04:05.000Z"}

reader = load_readers(["gemini-cli"])["gemini-cli"]


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("gemini-cli", request, projects=(Path("/w/known"),))


def user(id: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "user", "timestamp": "2026-01-02T03:04:05.000Z", "content": text, **more}


def gemini(id: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "gemini", "timestamp": "2026-01-02T03:04:06.000Z", "content": text, **more}


def log(tmp_path: Path, *records: dict[str, Any] | str) -> Source:
    path = tmp_path / ".gemini/tmp/shop/chats/session-2026-01-02T03-04-s.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("\n".join(lines), "utf-8")
    return Source(path, Form.DOCUMENT)


def said(source: Source) -> list[str]:
    return [
        turn.text for conversation in read(reader, source).values() for turn in conversation.turns.values()
    ]


def test_a_rewind_drops_its_message_and_what_follows(tmp_path: Path) -> None:
    source = log(tmp_path, HEAD, user("a", "one"), gemini("b", "two"), user("c", "three"), {"$rewindTo": "b"})
    assert said(source) == ["one"]


def test_a_rewind_to_an_unknown_message_drops_all(tmp_path: Path) -> None:
    source = log(tmp_path, HEAD, user("a", "one"), gemini("b", "two"), {"$rewindTo": "z"}, user("c", "three"))
    assert said(source) == ["three"]


def test_a_session_that_was_rewound_to_nothing_is_given_without_turns(tmp_path: Path) -> None:
    [piece] = reader.read(log(tmp_path, HEAD, user("a", "one"), {"$rewindTo": "a"}), Cursor())
    assert (piece.turns, piece.is_whole) == ((), True)


def test_files_that_a_prompt_speaks_of_are_not_part_of_it(tmp_path: Path) -> None:
    parts = [
        {"text": "Explain @cart.py to me"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @cart.py:\n"},
        {"text": "def cart(): ..."},
        {"text": "\n--- End of content ---"},
    ]
    assert said(log(tmp_path, HEAD, user("a", parts))) == ["Explain @cart.py to me"]


def test_setting_messages_replaces_them_all(tmp_path: Path) -> None:
    patch = {"$set": {"messages": [user("n", "new")], "summary": "Anew"}}
    [conversation] = read(reader, log(tmp_path, HEAD, user("a", "old"), patch, gemini("m", "more"))).values()
    assert [turn.text for turn in conversation.turns.values()] == ["new", "more"]
    assert conversation.header.title == "Anew"


def test_a_message_that_comes_again_replaces_the_former_in_its_place(tmp_path: Path) -> None:
    source = log(tmp_path, HEAD, gemini("a", "hal"), user("b", "wait"), gemini("a", "half and half"))
    assert said(source) == ["half and half", "wait"]


def test_lines_may_be_cut_glued_or_unended(tmp_path: Path) -> None:
    glued = json.dumps(user("b", "two")) + json.dumps(gemini("c", "three"))
    source = log(tmp_path, HEAD, user("a", "one"), '{"id": "x", "type": "us', glued, '{"id": "half", "ty')
    [piece] = reader.read(source, Cursor())
    assert [turn.text for turn in piece.turns] == ["one", "two", "three"]
    assert dict(piece.skipped) == {"cut line": 1}


def test_content_may_be_a_text_parts_or_texts(tmp_path: Path) -> None:
    parts = [{"text": "b"}, {"functionCall": {"name": "x"}}, {"inlineData": {"data": "AAAA"}}, {"text": "c"}]
    source = log(
        tmp_path,
        HEAD,
        gemini("1", "a"),
        gemini("2", parts),
        gemini("3", ["d", "e"]),
        gemini("4", {"text": "f"}),
    )
    assert said(source) == ["a", "b\nc", "d\ne", "f"]


def test_results_of_functions_are_not_said_by_anybody(tmp_path: Path) -> None:
    source = log(
        tmp_path, HEAD, user("1", "go"), user("2", [{"functionResponse": {"response": {"output": "x"}}}])
    )
    assert said(source) == ["go"]


@pytest.mark.parametrize("text", ["/help", "?", "<session_context>x</session_context>"])
def test_what_the_cli_does_not_count_as_typed_is_said_by_the_system(tmp_path: Path, text: str) -> None:
    [conversation] = read(reader, log(tmp_path, HEAD, user("a", text), user("b", "real"))).values()
    assert [turn.role for turn in conversation.turns.values()] == [Role.SYSTEM, Role.USER]
    assert conversation.header.title == "real"


def test_times_may_be_numbers_and_records_of_wrong_types_are_no_failure(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"id": 7, "type": "gemini", "content": 7, "toolCalls": [3], "thoughts": "no"},
        {"x": 1},
    ]
    [piece] = reader.read(log(tmp_path, HEAD, user("a", "one", timestamp=1767323045000), *odd), Cursor())
    assert [(turn.text, turn.at_ms) for turn in piece.turns] == [("one", 1767323045000)]
    assert dict(piece.skipped) == {"unknown record": 1}


def test_a_session_in_which_only_the_cli_speaks_has_no_turns(tmp_path: Path) -> None:
    [piece] = reader.read(
        log(tmp_path, HEAD, {"id": "i", "type": "info", "content": "Update available"}), Cursor()
    )
    assert piece.turns == ()


def test_the_variable_and_the_homes_of_windows_are_searched_besides(tmp_path: Path) -> None:
    log(tmp_path / "usual", HEAD)
    log(tmp_path / "named", HEAD)
    log(tmp_path / "windows", HEAD)
    log(tmp_path / "root", HEAD)
    found = sources(
        reader,
        tmp_path / "usual",
        environment={"GEMINI_CLI_HOME": str(tmp_path / "named")},
        windows_homes=(tmp_path / "windows",),
        roots={"gemini-cli": (tmp_path / "root" / ".gemini",)},
    )
    assert {source.path.relative_to(tmp_path).parts[0] for source in found} == {
        "usual",
        "named",
        "windows",
        "root",
    }


def test_a_project_is_known_by_the_hash_of_its_windows_path(tmp_path: Path) -> None:
    hashed = hashlib.sha256(rb"C:\w\shop").hexdigest()
    path = tmp_path / f".gemini/tmp/{hashed}/chats/session-x.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    [source] = sources(reader, tmp_path, projects=(Path("/mnt/c/w/shop"),))
    assert source.directory == r"C:\w\shop"


def test_a_session_that_vanishes_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(reader, Source(tmp_path / "session-gone.jsonl", Form.DOCUMENT))


@pytest.mark.skipif(not REAL.is_dir(), reason="real histories are not here")
def test_real_sessions_have_every_message_of_users_and_the_model() -> None:
    for path in REAL.glob("gemini-cli/**/*.json*"):
        if path.name == "gemini_logs.json":
            continue  # a log of prompts under another name
        text = path.read_text("utf-8")
        conversations = read(reader, Source(path, Form.DOCUMENT)).values()
        turns = [turn for conversation in conversations for turn in conversation.turns.values()]
        records = (
            json.loads(text)["messages"] if path.suffix == ".json" else map(json.loads, text.splitlines())
        )
        types = [record.get("type") for record in records]
        assert sum(turn.role is Role.USER for turn in turns) == types.count("user"), path
        assert sum(turn.role is Role.ASSISTANT for turn in turns) == types.count("gemini"), path
