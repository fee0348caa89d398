"""HTTP requests and responses as records, between ASGI and the handlers."""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from ..core.engine import new_id
from ..domain.lazy import lazy_pattern

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

REQUEST_ID = "x-request-id"
_REQUEST_ID = lazy_pattern(r"[\w.:-]{1,100}", re.ASCII)

JSON: Headers = ((b"content-type", b"application/json"),)
TEXT: Headers = ((b"content-type", b"text/plain; charset=utf-8"),)
EVENTS: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # or nginx keeps events until it has a page of them
)


class HttpRequest(NamedTuple):
    """An HTTP request without its body."""

    method: str
    path: str
    headers: dict[str, str]
    """A repeated header has all its values, separated by commas. REQUEST_ID is that of the proxy that
    forwarded the request, or a new one."""
    address: str
    """The client's address."""

    @property
    def id(self) -> str:
        """The id of a request that came over HTTP, for logs and traces."""
        return self.headers.get(REQUEST_ID, "")


class Response(NamedTuple):
    status: int
    body: bytes | AsyncIterator[bytes] = b""
    headers: Headers = ()


class TooLarge(Exception):
    """The body of a request is beyond the limit."""


class Gone(Exception):
    """The client disconnected before its request was complete."""


def read_request(scope: MutableMapping[str, Any]) -> HttpRequest:
    headers: dict[str, str] = {}
    for key, value in scope["headers"]:
        name, content = key.decode("latin-1"), value.decode("latin-1").strip()
        headers[name] = f"{headers[name]}, {content}" if name in headers else content
    if not _REQUEST_ID.fullmatch(headers.get(REQUEST_ID, "")):
        headers[REQUEST_ID] = new_id()
    client = scope.get("client")
    return HttpRequest(scope["method"], scope["path"], headers, client[0] if client else "")


async def read_body(request: HttpRequest, receive: Receive, most_bytes: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most_bytes:
        raise TooLarge
    parts: list[bytes] = []
    size, is_more = 0, True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > most_bytes:
            raise TooLarge
        is_more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def write(response: Response, send: Send) -> None:
    body = response.body
    if isinstance(body, bytes):
        length = (b"content-length", b"%d" % len(body))
        headers = response.headers if response.status == 204 else (*response.headers, length)
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
    async for part in body:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def text(status: int, sentence: str, *headers: tuple[bytes, bytes]) -> Response:
    return Response(status, f"{sentence}\n".encode(), (*TEXT, *headers))


def put_off(sentence: str, wait_s: float) -> Response:
    return text(429, sentence, (b"retry-after", b"%d" % math.ceil(wait_s)))
