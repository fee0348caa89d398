"""Usage of models, by the rule of each assistant: every call once, and no token twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backstory.domain.usage import ModelCall
from backstory.readers import Cursor, Form, Source, load_readers

from .golden import ReadConversation, merged

AT = "2026-01-02T03:04:05.000Z"
AT_MS = 1767323045000
THREAD = "0199bbbb-0000-7000-8000-000000000001"
FORK = "0199bbbb-0000-7000-8000-000000000002"


def read(name: str, path: Path, *lines: dict[str, Any], form: Form = Form.LOG) -> dict[str, ReadConversation]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return merged(load_readers([name])[name].read(Source(path, form), Cursor()))


def calls(conversation: ReadConversation) -> list[ModelCall]:
    return list(conversation.usage.values())


def claude(kind: str, uuid: str, content: object, **message: Any) -> dict[str, Any]:
    told = {"role": kind, "content": content, **message}
    return {"type": kind, "uuid": uuid, "sessionId": "s", "timestamp": AT, "requestId": "r", "message": told}


def used(output: int) -> dict[str, Any]:
    return {
        "input_tokens": 3,
        "output_tokens": output,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 50,
        "cache_creation": {"ephemeral_1h_input_tokens": 40, "ephemeral_5m_input_tokens": 10},
        "service_tier": "standard",
    }


def text(said: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": said}]


def test_claude_code_repeats_the_usage_of_a_message_and_its_output_grows(tmp_path: Path) -> None:
    (conversation,) = read(
        "claude-code",
        tmp_path / "s.jsonl",
        claude("user", "1", "Hello"),
        claude("assistant", "2", text("One"), id="m", model="claude-x", usage=used(2)),
        claude("assistant", "3", text("Two"), id="m", model="claude-x", usage=used(20)),
        claude("assistant", "4", text("Three"), id="m", model="claude-x", usage=used(20)),
        claude("assistant", "5", text("Oops"), id="n", model="<synthetic>", usage=used(9)),
    ).values()
    assert calls(conversation) == [
        ModelCall("m/r", "claude-x", AT_MS, 3, 20, 100, 50, 40, turn="m"),
    ]


def test_claude_code_tells_the_tokens_of_a_subagent_in_the_log_of_its_session(tmp_path: Path) -> None:
    inner = claude("assistant", "7", text("Found"), id="sub", model="claude-y", usage=used(5))
    progress = {
        "type": "progress",
        "uuid": "6",
        "sessionId": "s",
        "timestamp": AT,
        "data": {"type": "agent_progress", "agentId": "a1", "message": inner},
    }
    told = read("claude-code", tmp_path / "s.jsonl", claude("user", "1", "Hello"), progress)
    assert calls(told["s"]) == []
    assert told["s/a1"].header.parent == "s"
    assert [(call.key, call.output) for call in calls(told["s/a1"])] == [("sub/r", 5)]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def counted(*totals: int, last: int) -> dict[str, Any]:
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    total = dict(zip(names, totals, strict=True))
    call = {
        "input_tokens": 10 * last,
        "cached_input_tokens": 4,
        "output_tokens": last,
        "reasoning_output_tokens": 1,
    }
    info = {"total_token_usage": total, "last_token_usage": call, "model_context_window": 1000}
    return codex("event_msg", type="token_count", info=info)


def said(role: str, words: str) -> dict[str, Any]:
    return codex("response_item", type="message", role=role, content=[{"type": "input_text", "text": words}])


def test_codex_counts_a_call_when_the_total_is_another_one(tmp_path: Path) -> None:
    (conversation,) = read(
        "codex",
        tmp_path / f"rollout-2026-01-02T03-04-05-{THREAD}.jsonl",
        codex("session_meta", id=THREAD),
        codex("turn_context", model="gpt-x"),
        said("user", "Hello"),
        said("assistant", "Hi"),
        codex("event_msg", type="token_count", info=None),
        counted(10, 4, 2, 1, last=2),
        counted(10, 4, 2, 1, last=2),
        counted(40, 8, 5, 2, last=3),
    ).values()
    first, second = calls(conversation)
    assert first == ModelCall(f"{THREAD}/10/4/2/1", "gpt-x", AT_MS, 16, 2, 4, reasoning=1, turn=first.turn)
    assert (second.input, second.output) == (26, 3)
    assert first.turn in conversation.turns


def test_a_codex_fork_names_its_calls_as_the_thread_does_that_it_repeats(tmp_path: Path) -> None:
    repeated = counted(10, 4, 2, 1, last=2)
    parent = read(
        "codex",
        tmp_path / f"rollout-2026-01-02T03-04-05-{THREAD}.jsonl",
        codex("session_meta", id=THREAD),
        said("user", "Hello"),
        repeated,
    )
    fork = read(
        "codex",
        tmp_path / f"rollout-2026-01-03T03-04-05-{FORK}.jsonl",
        codex("session_meta", id=FORK, forked_from_id=THREAD),
        codex("session_meta", id=THREAD),
        said("user", "Hello"),
        repeated,
        counted(90, 4, 20, 1, last=7),
    )
    keys = {key for conversation in fork.values() for key in conversation.usage}
    assert keys == {*parent[THREAD].usage, f"{THREAD}/90/4/20/1"}


def test_gemini_counts_thoughts_as_output_and_the_cache_apart(tmp_path: Path) -> None:
    tokens = {"input": 100, "output": 7, "cached": 60, "thoughts": 3, "tool": 0, "total": 110}
    path = tmp_path / "chats/session-1.json"
    messages = [
        {"id": "1", "type": "user", "content": "Hello", "timestamp": AT},
        {
            "id": "2",
            "type": "gemini",
            "content": "Hi",
            "timestamp": AT,
            "model": "gemini-x",
            "tokens": tokens,
        },
    ]
    document = {"sessionId": "g", "messages": messages}
    (conversation,) = read("gemini-cli", path, document, form=Form.DOCUMENT).values()
    assert calls(conversation) == [ModelCall("g/2", "gemini-x", AT_MS, 40, 10, 60, reasoning=3, turn="2")]


def test_pi_tells_its_own_cost(tmp_path: Path) -> None:
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}}
    told = {"role": "assistant", "content": text("Hi"), "model": "pi-x", "usage": usage}
    (conversation,) = read(
        "pi",
        tmp_path / "1_p.jsonl",
        {"type": "session", "id": "p"},
        {"type": "message", "id": "1", "timestamp": AT, "message": {"role": "user", "content": "Hello"}},
        {"type": "message", "id": "2", "timestamp": AT, "message": told},
    ).values()
    assert calls(conversation) == [ModelCall("p/2", "pi-x", AT_MS, 1, 2, 3, 4, cost_usd=0.5, turn="2")]


def copilot(kind: str, **data: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "id": f"{kind}-{len(data)}-{data.get('content', '')}",
        "timestamp": AT,
        "data": data,
    }


def shutdown(total: int, output: int, read: int) -> dict[str, Any]:
    usage = {"inputTokens": total, "outputTokens": output, "cacheReadTokens": read, "cacheWriteTokens": 5}
    return copilot("session.shutdown", modelMetrics={"gpt-x": {"usage": usage}})


COPILOT = (
    copilot("user.message", content="Hello"),
    copilot("assistant.message", content="Hi", outputTokens=30, model="gpt-x"),
)


def test_copilot_knows_only_the_output_until_a_session_ends(tmp_path: Path) -> None:
    (conversation,) = read("copilot", tmp_path / "session-state/c.jsonl", *COPILOT).values()
    assert [(call.output, call.is_partial) for call in calls(conversation)] == [(30, True)]
    (conversation,) = read(
        "copilot", tmp_path / "session-state/c.jsonl", *COPILOT, shutdown(100, 30, 80)
    ).values()
    assert calls(conversation) == [ModelCall("c/0/gpt-x", "gpt-x", AT_MS, 15, 30, 80, 5)]


def test_a_copilot_session_that_is_resumed_counts_each_run_once(tmp_path: Path) -> None:
    again = (*COPILOT, shutdown(100, 30, 80), *COPILOT)
    path = tmp_path / "session-state/c.jsonl"
    (totals,) = read("copilot", path, *again, shutdown(150, 60, 120)).values()
    (alone,) = read("copilot", path, *again, shutdown(50, 30, 40)).values()
    assert sum(call.output for call in calls(totals)) == sum(call.output for call in calls(alone)) == 60


def test_opencode_tells_usage_with_its_messages(tmp_path: Path) -> None:
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 7, "write": 1}}
    info = {
        "id": "m2",
        "role": "assistant",
        "modelID": "oc",
        "tokens": tokens,
        "cost": 0.02,
        "time": {"created": AT_MS},
    }
    asked = {"info": {"id": "m1", "role": "user"}, "parts": [{"id": "1", "type": "text", "text": "Hello"}]}
    document = {"info": {"id": "o"}, "messages": [asked, {"info": info, "parts": []}]}
    (conversation,) = read("opencode", tmp_path / "o.json", document, form=Form.DOCUMENT).values()
    assert calls(conversation) == [
        ModelCall("m2", "oc", AT_MS, 10, 5, 7, 1, reasoning=2, cost_usd=0.02, turn="m2")
    ]


def test_cline_counts_requests_only_where_messages_tell_nothing(tmp_path: Path) -> None:
    asked = {"role": "user", "content": "<task>Hello</task>"}
    answer = {"role": "assistant", "content": "Hi"}
    request = {"tokensIn": 10, "tokensOut": 5, "cacheReads": 3, "cacheWrites": 2, "cost": 0.01}
    shown = [{"ts": AT_MS, "say": "api_req_started", "text": json.dumps(request)}]
    folder = tmp_path / "tasks" / str(AT_MS)
    folder.mkdir(parents=True)
    (folder / "ui_messages.json").write_text(json.dumps(shown))
    path = folder / "api_conversation_history.json"
    reader = load_readers(["cline"])["cline"]
    path.write_text(json.dumps([asked, answer]))
    (piece,) = reader.read(Source(path, Form.DOCUMENT), Cursor())
    assert [(call.input, call.output, call.cost_usd) for call in piece.usage] == [(10, 5, 0.01)]
    metrics = {
        "inputTokens": 11,
        "outputTokens": 6,
        "cacheReadTokens": 1,
        "cacheWriteTokens": 0,
        "cost": 0.02,
    }
    path.write_text(json.dumps([asked, {**answer, "metrics": metrics}]))
    (piece,) = reader.read(Source(path, Form.DOCUMENT), Cursor())
    assert [(call.input, call.output, call.cost_usd) for call in piece.usage] == [(11, 6, 0.02)]


def test_odd_numbers_count_as_none(tmp_path: Path) -> None:
    odd = {"input_tokens": -5, "output_tokens": None, "cache_read_input_tokens": 2**70}
    wrong = {"input_tokens": "many"}
    (conversation,) = read(
        "claude-code",
        tmp_path / "s.jsonl",
        claude("user", "1", "Hello"),
        claude("assistant", "2", text("One"), id="m", model="claude-x", usage=odd),
        claude("assistant", "3", text("Two"), id="n", model="claude-x", usage=wrong),
    ).values()
    assert [turn.text for turn in conversation.turns.values()] == ["Hello", "One", "Two"]
    assert all((call.input, call.output, call.cache_read) == (0, 0, 0) for call in calls(conversation))
