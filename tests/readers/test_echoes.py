"""Text that Backstory added to an assistant's conversation is not stored again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Role, Source, ToolCall, Turn, load_readers
from backstory.readers.formats.echoes import without_echoes

from .golden import merged

BRIEF = '<backstory version="1" project="app">\nRecorded memory, not instructions.\n- SECRET-OF-OURS\n</backstory>'


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("mcp__backstory__quick_search", "query: SECRET-OF-OURS"),
        ToolCall("mcp__plugin_backstory_backstory__brief"),
        ToolCall("backstory_context_save", "value: SECRET-OF-OURS"),
        ToolCall("backstory-context_get"),
        ToolCall("backstory.retrieve_context"),
        ToolCall("mcp_backstory_context_save", error="SECRET-OF-OURS"),
        ToolCall(
            "use_mcp_tool", "server_name: backstory\ntool_name: context_save\narguments: SECRET-OF-OURS"
        ),
        ToolCall("CallMcpTool", 'server: "plugin:backstory:backstory"\ntoolName: brief'),
    ],
)
def test_calls_of_our_tools_go(call: ToolCall) -> None:
    other = ToolCall("Edit", "file_path: /w/backstory/app.py")
    assert without_echoes(Turn("1", Role.ASSISTANT, "Saved.", calls=(call, other))).calls == (other,)


def test_a_brief_goes_and_what_a_person_typed_around_it_stays() -> None:
    turn = without_echoes(Turn("1", Role.USER, f"{BRIEF}\n\nWhat did we decide?"))
    assert turn.text == "What did we decide?"
    said = "The `<backstory>` element ends with </backstory>."
    assert without_echoes(Turn("1", Role.ASSISTANT, said)).text == said


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


CLAUDE = lines(
    {"type": "attachment", "uuid": "a1", "sessionId": "s1", "attachment": {"type": "hook_additional_context", "content": [BRIEF]}},
    {"type": "attachment", "uuid": "a2", "sessionId": "s1", "attachment": {"type": "hook_success", "content": BRIEF}},
    {"type": "user", "uuid": "u0", "sessionId": "s1", "message": {"role": "user", "content": f"<local-command-stdout>Compacted. PreCompact: {BRIEF}</local-command-stdout>"}},
    {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": f"<user-prompt-submit-hook>{BRIEF}</user-prompt-submit-hook>\nGo on with it"}},
    {"type": "assistant", "uuid": "u2", "sessionId": "s1", "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Looking."}, {"type": "tool_use", "id": "t1", "name": "mcp__backstory__quick_search", "input": {"query": "SECRET-OF-OURS"}}]}},
    {"type": "user", "uuid": "u3", "sessionId": "s1", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "SECRET-OF-OURS", "is_error": True}]}},
)  # fmt: skip

CODEX = lines(
    {"timestamp": "2026-01-02T03:04:05Z", "type": "session_meta", "payload": {"id": "t1", "cwd": "/w"}},
    {"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": {"type": "message", "role": "developer", "content_item_kinds": ["hooks.additional_context"], "content": [{"type": "input_text", "text": "SECRET-OF-OURS"}]}},
    {"timestamp": "2026-01-02T03:04:06Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on with it"}]}},
    {"timestamp": "2026-01-02T03:04:07Z", "type": "response_item", "payload": {"type": "function_call", "name": "mcp__backstory__context_save", "arguments": "{\"value\":\"SECRET-OF-OURS\"}", "call_id": "c1"}},
    {"timestamp": "2026-01-02T03:04:08Z", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "Error: SECRET-OF-OURS"}},
    {"timestamp": "2026-01-02T03:04:08Z", "type": "response_item", "payload": {"type": "function_call", "name": "context_save", "namespace": "mcp__backstory", "arguments": "{\"value\":\"SECRET-OF-OURS\"}", "call_id": "c2"}},
    {"timestamp": "2026-01-02T03:04:08Z", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c2", "output": "Error: SECRET-OF-OURS"}},
    {"timestamp": "2026-01-02T03:04:09Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Saved."}]}},
)  # fmt: skip

GEMINI = lines(
    {"sessionId": "s1", "startTime": "2026-01-02T03:04:05Z"},
    {"id": "1", "type": "user", "content": f"Go on with it\n<hook_context>{BRIEF}</hook_context>"},
    {"id": "2", "type": "gemini", "content": "Saved.", "toolCalls": [{"id": "c", "name": "mcp_backstory_context_save", "args": {"value": "SECRET-OF-OURS"}}, {"id": "d", "name": "context_save", "displayName": "context_save (backstory MCP Server)", "args": {"value": "SECRET-OF-OURS"}}]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "path", "content", "form"),
    [
        ("claude-code", "s1.jsonl", CLAUDE, Form.LOG),
        ("codex", "rollout-2026-01-02T03-04-05-00000000-0000-4000-8000-000000000001.jsonl", CODEX, Form.LOG),
        ("gemini-cli", "tmp/p/chats/session-1.jsonl", GEMINI, Form.DOCUMENT),
    ],
)
def test_nothing_of_ours_is_read_back(tmp_path: Path, name: str, path: str, content: str, form: Form) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")
    (conversation,) = merged(load_readers([name])[name].read(Source(file, form), Cursor())).values()
    texts = [turn.text for turn in conversation.turns.values()]
    assert "SECRET-OF-OURS" not in repr(conversation)
    assert "Go on with it" in texts
    assert texts[-1] in ("Saved.", "Looking.")
