"""Results of tools: head and tail within limits, and what the log tells of exit codes and durations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import CallResult, Cursor, Form, Source, ToolCall, load_readers
from backstory.readers.formats.results import BEYOND_BYTES, cut_line, with_result

from .golden import merged


def result_of(call: ToolCall, text: str, **told: Any) -> CallResult:
    result = with_result(call, text, **told).result
    assert result is not None
    return result


def test_a_short_result_stays_whole() -> None:
    text = "é" * 16_000
    assert result_of(ToolCall("Grep"), text) == CallResult(text, bytes=32_000)


@pytest.mark.parametrize(
    ("name", "limit"), [("Bash", 32_000), ("Read", 4_000), ("mcp__files__read_file", 4_000)]
)
def test_a_long_result_keeps_whole_lines_of_its_head_and_tail(name: str, limit: int) -> None:
    lines = [f"line {n:06}" for n in range(10_000)]
    result = result_of(ToolCall(name), "\n".join(lines))
    assert result.cut is not None
    head, mark, tail = result.text.partition(cut_line(result.cut.bytes))
    assert mark
    assert set(head.split("\n")) | set(tail.split("\n")) <= set(lines)
    assert (head.split("\n")[0], tail.split("\n")[-1]) == (lines[0], lines[-1])
    assert limit * 0.9 < len(head) + len(tail) <= limit
    assert len(tail) > 2 * len(head)
    assert result.bytes == 12 * 10_000 - 1 == len(head) + result.cut.bytes + len(tail)
    assert len(result.cut.after_head) == len(result.cut.before_tail) == BEYOND_BYTES


def test_a_cut_never_splits_a_character() -> None:
    result = result_of(ToolCall("Bash"), "🦉" * 20_000)
    assert set(result.text) - set("🦉") <= set(cut_line(result.cut.bytes if result.cut else 0))


def test_the_end_of_a_private_key_that_began_in_the_part_left_out_is_left_out_too() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "QUJD\n" * 8_000 + "-----END RSA PRIVATE KEY-----\nend"
    assert "QUJD" not in result_of(ToolCall("Bash"), key).text.partition("left out")[2]


def test_an_exit_code_is_read_from_the_output_of_commands_alone() -> None:
    text = "Exit code 3\nno rule"
    assert result_of(ToolCall("Bash", command="make"), text).exit_code == 3
    assert result_of(ToolCall("Read"), text).exit_code is None
    assert result_of(ToolCall("Bash", command="make"), "Exit code 0").is_error is False
    assert result_of(ToolCall("Bash", command="make"), "fine", exit_code=2).is_error is True


@pytest.mark.parametrize("code", [2**40, True, -(2**70)])
def test_what_is_no_exit_code_is_none(code: int) -> None:
    assert result_of(ToolCall("Bash", command="make"), f"Exit code {2**80}", exit_code=code).exit_code is None


def claude(kind: str, uuid: str, second: int, content: object, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more}
    at = f"2026-01-02T03:04:{second:02}.000Z"
    return {"type": kind, "uuid": uuid, "sessionId": "s", "timestamp": at, "message": message}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}


def answer(id: str, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": False}]


LINES = [
    claude("user", "1", 0, "Build it"),
    claude("assistant", "2", 1, [use("a")], id="m1"),
    claude("assistant", "3", 2, [{"type": "text", "text": "Meanwhile"}], id="m2"),
    claude("user", "4", 9, answer("a", "built")),
    claude("user", "5", 10, "Thanks"),
]


def test_a_result_that_comes_after_the_next_message_belongs_to_its_call(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    reader = load_readers(["claude-code"])["claude-code"]
    turns = merged(reader.read(Source(log, Form.LOG), Cursor()))["s"].turns
    (call,) = turns["m1"].calls
    assert (call.id, call.result and call.result.text) == ("a", "built")


def test_a_result_that_comes_in_a_later_reading_is_given_by_the_id_of_its_call(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in LINES[:3]))
    reader = load_readers(["claude-code"])["claude-code"]
    (first,) = reader.read(Source(log, Form.LOG), Cursor())
    with log.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in LINES[3:])
    assert first.cursor is not None
    (second,) = reader.read(Source(log, Form.LOG), first.cursor)
    assert {id: result.text for id, result in second.late_results.items()} == {"a": "built"}


def test_a_call_lasts_until_its_result(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    lines = [LINES[0], LINES[1], LINES[3]]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    reader = load_readers(["claude-code"])["claude-code"]
    (call,) = merged(reader.read(Source(log, Form.LOG), Cursor()))["s"].turns["m1"].calls
    assert call.result is not None
    assert call.result.duration_ms == 8_000


@pytest.mark.parametrize(
    ("output", "code", "duration_ms", "is_error"),
    [
        ("Chunk ID: 1\nWall time: 1.5 seconds\nProcess exited with code 2\nOutput:\nno", 2, 1_500, True),
        ('{"output": "no", "metadata": {"exit_code": 1, "duration_seconds": 0.25}}', 1, 250, True),
        ("Exit code: 0\nWall time: 2 seconds\nOutput:\nyes", 0, 2_000, False),
        ('{"output": "yes", "metadata": {"exit_code": 0, "duration_seconds": 1e308}}', 0, None, False),
        ("Wall time: 1.2.3 seconds\nProcess exited with code 0\nyes", 0, None, False),
        ({"content": [{"type": "text", "text": "yes"}], "success": True}, None, None, False),
    ],
)
def test_codex_tells_exit_code_and_duration_in_several_ways(
    tmp_path: Path, output: object, code: int | None, duration_ms: int | None, is_error: bool
) -> None:
    arguments = json.dumps({"command": ["bash", "-lc", "make"]})
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Build it"}]},
        {"type": "function_call", "name": "shell", "call_id": "a", "arguments": arguments},
        {"type": "function_call_output", "call_id": "a", "output": output},
    ]
    log = tmp_path / "rollout-2026-01-02T03-04-05-0199bbbb-0000-7000-8000-000000000001.jsonl"
    at = "2026-01-02T03:04:05.000Z"
    lines = [{"timestamp": at, "type": "response_item", "payload": item} for item in items]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    reader = load_readers(["codex"])["codex"]
    (conversation,) = merged(reader.read(Source(log, Form.LOG), Cursor())).values()
    (result,) = [call.result for turn in conversation.turns.values() for call in turn.calls]
    assert result is not None
    assert (result.exit_code, result.duration_ms, result.is_error) == (code, duration_ms, is_error)
