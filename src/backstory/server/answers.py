"""How a POST is answered: with one JSON document, or as a stream when its sender wants to hear of progress or events."""

from __future__ import annotations

from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import wire
from .door import CLIENT
from .http_sessions import ClientContext
from .message import MODERN_VERSIONS, read_id

_WISHES = (b'"progressToken"', b'/logLevel"')
"""Keys of `_meta`. Inside a text their quotes would be escaped; under another key they cost a stream, no more."""

_CALL = b'"tools/call"'


class StreamChoice:
    """Stands behind the limit on bodies, which hands on each as one message."""

    def __init__(self, whole: ASGIApp, streamed: ASGIApp) -> None:
        self._whole = whole
        self._streamed = streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first: Message | None = await receive()
        body = first.get("body", b"") if first else b""

        async def again() -> Message:
            nonlocal first
            message, first = first, None
            return message or await receive()

        headers = Headers(scope=scope)
        inside = self._streamed if _wants_stream(headers, scope[CLIENT], body) else self._whole
        await (_refusal(headers, body) or inside)(scope, again, send)


def _wants_stream(headers: Headers, client: ClientContext, body: bytes) -> bool:
    if "text/event-stream" not in headers.get("accept", ""):
        return False
    return (client.level is not None and _CALL in body) or any(wish in body for wish in _WISHES)


def _refusal(headers: Headers, body: bytes) -> Response | None:
    """The answer to half of a surrogate pair, before 2026-07-28: the SDK's parser would not say whose request it was."""
    is_modern = headers.get(MCP_PROTOCOL_VERSION_HEADER) in MODERN_VERSIONS
    if is_modern or (rb"\ud" not in body and rb"\uD" not in body):
        return None
    try:
        message = wire.read(body)
        wire.to_json(message).encode()
    except UnicodeEncodeError:
        refused = wire.Refused(wire.PARSE_ERROR, "Parse error: half of a surrogate pair, which is not text")
        answer = wire.refusal(read_id(message), refused)
        return Response(answer, status_code=400, media_type="application/json")
    except wire.Refused:
        pass  # the SDK says so itself
    return None
