"""A model that always says the same, after it called the tools it was told to: the answers of Anthropic's, OpenAI's and Google's
interfaces, and what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Event = dict[str, Any]
_USAGE = {"input_tokens": 1, "output_tokens": 1}

MESSAGES: tuple[Event, ...] = (
    {
        "type": "message_start",
        "message": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "stub",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _USAGE,
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Good."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": _USAGE},
    {"type": "message_stop"},
)
RESPONSES: tuple[Event, ...] = (
    {"type": "response.created", "response": {"id": "r"}},
    {
        "type": "response.output_item.done",
        "item": {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "content": [{"type": "output_text", "text": "Good."}],
        },
    },
    {"type": "response.completed", "response": {"id": "r", "usage": {**_USAGE, "total_tokens": 2}}},
)


CHUNKS: tuple[Event, ...] = tuple(
    {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "stub", "choices": [choice]}
    for choice in (
        {"index": 0, "delta": {"role": "assistant", "content": "Good."}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    )
)
_SCORE = json.dumps({"complexity_reasoning": "A sentence.", "complexity_score": 1})
"""What Gemini CLI wants to know before the request itself, to choose a model; without it, it asks again for a minute."""


def _candidates(body: str) -> Event:
    text = _SCORE if "complexity_score" in body else "Good."
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    }


class ToolUse(NamedTuple):
    """A call that the model makes once it is offered the tool."""

    tool: str
    arguments: dict[str, Any]


def _message_call(use: ToolUse) -> tuple[Event, ...]:
    block = {"type": "tool_use", "id": "toolu_1", "name": use.tool, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(use.arguments)}
    return (
        MESSAGES[0],
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        MESSAGES[3],
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": _USAGE,
        },
        MESSAGES[5],
    )


def _response_call(use: ToolUse) -> tuple[Event, ...]:
    item = {
        "type": "function_call",
        "call_id": "c1",
        "name": use.tool,
        "arguments": json.dumps(use.arguments),
    }
    return (RESPONSES[0], {"type": "response.output_item.done", "item": item}, RESPONSES[2])


class Model(NamedTuple):
    url: str
    requests: list[str]
    """The bodies, in the order in which they came."""


@contextmanager
def stub_model(*uses: ToolUse) -> Iterator[Model]:
    requests: list[str] = []
    waiting = list(uses)

    def next_use(body: str) -> ToolUse | None:
        """The next call, if this request offers its tool; the requests that name a session or sum it up offer none."""
        is_offered = waiting and f'"name":"{waiting[0].tool}"' in body.replace('": "', '":"')
        return waiting.pop(0) if is_offered else None

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            if "count_tokens" in self.path:
                return self._answer("application/json", b'{"input_tokens": 100}')
            requests.append(body)
            if "GenerateContent" in self.path:
                return self._answer(
                    "text/event-stream", f"data: {json.dumps(_candidates(body))}\n\n".encode()
                )
            if "generateContent" in self.path:
                return self._answer("application/json", json.dumps(_candidates(body)).encode())
            if self.path.endswith("/chat/completions"):
                chunks = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS)
                return self._answer("text/event-stream", f"{chunks}data: [DONE]\n\n".encode())
            is_response, use = self.path.endswith("/responses"), next_use(body)
            if use is None:
                events = RESPONSES if is_response else MESSAGES
            else:
                events = _response_call(use) if is_response else _message_call(use)
            lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
            return self._answer("text/event-stream", "".join(lines).encode())

        def do_GET(self) -> None:
            self._answer("application/json", b'{"data": [], "models": []}')

        def do_HEAD(self) -> None:
            self._answer("application/json", b"")

        def _answer(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Model(f"http://127.0.0.1:{server.server_port}", requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
