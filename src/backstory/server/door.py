"""The way in to `/mcp`: who, which tenant, how often and on which connection, before the SDK sees it."""

from __future__ import annotations

import math

import anyio.to_thread
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .auth import LOCAL, principal_of
from .http_sessions import ClientContext, HttpSessions
from .limits import RateLimit

CLIENT = "backstory.visit"
"""Where a request's scope carries its Visit to the tools."""


class Door:
    def __init__(
        self,
        inside: ASGIApp,
        sessions: HttpSessions,
        limit: RateLimit,
    ) -> None:
        self._inside = inside
        self._types = TransportSecurityMiddleware()  # of contents; `Hosts` has looked at where it comes from
        self._sessions = sessions
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        answered = await self._turned_away(request)
        client = scope.get(CLIENT)

        async def introduced(message: Message) -> None:
            if message["type"] == "http.response.start" and client is not None and client.is_new:
                header = (MCP_SESSION_ID_HEADER.encode(), client.connection.encode())
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        await (answered or self._inside)(scope, receive, introduced)

    async def _turned_away(self, request: Request) -> Response | None:
        """The answer to a request that goes no further; else its Visit is in its scope."""
        refused = await self._types.validate_request(request, is_post=request.method == "POST")
        if refused is not None:
            return refused
        if request.method not in ("POST", "DELETE"):
            return Response(status_code=405, headers={"Allow": "POST, DELETE"})  # we never speak unasked
        principal = principal_of(request.scope.get("user"))
        tenant = principal.tenant(request.path_params.get("team"))
        if tenant is None:
            return Response("There is no such space.", status_code=404)
        wait_s = 0.0 if principal is LOCAL else self._limit.wait_s(principal.credential)
        if wait_s:
            after = {"Retry-After": str(math.ceil(wait_s))}
            return Response("Too many requests.", status_code=429, headers=after)
        client = ClientContext(principal, tenant, request.headers.get(MCP_SESSION_ID_HEADER))
        if client.connection is not None and not await anyio.to_thread.run_sync(
            self._sessions.is_known, client
        ):
            return Response("There is no such session.", status_code=404)
        if request.method == "DELETE":
            return await self._end(client)
        request.scope[CLIENT] = client
        return None

    async def _end(self, client: ClientContext) -> Response:
        if client.connection is None:
            return Response(f"{MCP_SESSION_ID_HEADER} is missing.", status_code=400)
        await anyio.to_thread.run_sync(self._sessions.end, client)
        return Response(status_code=204)
