"""`/mcp`: MCP's streamable HTTP, from an authenticated request to its response."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from . import dispatch
from .auth import LOCAL, Principal
from .dispatch import SESSION, Dispatcher, Streamed
from .http_sessions import ClientContext, HttpSessions
from .limits import RateLimit
from .responses import EVENTS, HttpRequest, Receive, Response, TooLarge, put_off, read_body, text
from .threads import OutgoingLines, Threads, event

_JSON_TYPES = ("application/json", "application/*", "*/*")


class McpEndpoint:
    def __init__(
        self,
        dispatcher: Dispatcher,
        sessions: HttpSessions,
        threads: Threads,
        limit: RateLimit,
        most_bytes: int,
    ) -> None:
        self._dispatcher = dispatcher
        self._sessions = sessions
        self._threads = threads
        self._limit = limit
        self._most_bytes = most_bytes

    async def respond(
        self, request: HttpRequest, principal: Principal, team: str | None, receive: Receive
    ) -> Response:
        if request.method not in ("POST", "DELETE"):
            # the server sends nothing without a request
            return text(405, "Messages are sent with POST.", (b"allow", b"POST, DELETE"))
        tenant = principal.tenant(team)
        if tenant is None:
            return text(404, "There is no such space.")
        wait_s = 0.0 if principal is LOCAL else self._limit.wait_s(principal.credential)
        if wait_s:
            return put_off("Too many requests.", wait_s)
        client = ClientContext(principal, tenant, team)
        if request.method == "DELETE":
            return await self._threads.start(partial(self._end, client, request.headers.get(SESSION)))
        return await self._post(client, request, receive)

    def _end(self, client: ClientContext, session: str | None) -> Response:
        if session is None:
            return text(400, "Mcp-Session-Id is missing.")
        if not self._sessions.resume(client, session):
            return text(404, "There is no such session.")
        self._sessions.end(client)
        return Response(204)

    async def _post(self, client: ClientContext, request: HttpRequest, receive: Receive) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return text(415, "Messages are JSON: Content-Type must be application/json.")
        accepted = request.headers.get("accept", "*/*")
        takes_json = any(each in accepted for each in _JSON_TYPES)
        if not takes_json and dispatch.EVENT_STREAM not in accepted:
            return text(406, "Answers are application/json or text/event-stream.")
        try:
            body = await read_body(request, receive, self._most_bytes)
        except TooLarge:
            return text(413, f"A request may have {self._most_bytes:,} bytes.")
        work = partial(self._dispatcher.dispatch, client, request, body)
        answer = await self._threads.start(work, len(body))
        if isinstance(answer, Streamed):
            lines = OutgoingLines()
            line = self._threads.start(partial(answer.run, lines.send), len(body))
            return Response(200, lines.events(line), EVENTS)
        if not takes_json and answer.status == 200 and isinstance(answer.body, bytes):
            return Response(200, _only(answer.body), EVENTS + answer.headers[1:])
        return answer


async def _only(line: bytes) -> AsyncIterator[bytes]:
    yield event(line)
