"""The web pages of a team server: the local pages, restricted to each person's own tenant.

A browser cannot send a bearer token by itself. After a login with a token the browser gets it as a cookie that no
script can read and no other site can send. The token is checked for each page, so that a revoked one ends the login.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from ..core import Core
from ..domain.errors import NotFound
from ..domain.scopes import Scope as Allowed
from ..web.access import OPEN_TO_ALL, SameSite
from ..web.rendering import templates
from ..web.site import Site
from .audit import AuditLog
from .auth import LOCAL, Principal
from .http_sessions import ClientContext, HttpSessions
from .limits import RateLimit
from .logins import Logins

ROOT = "/web"
TEAMS = f"{ROOT}/teams/"
COOKIE = "backstory_login"
MOST_BYTES = 1_000_000  # of a form
PRINCIPAL, TEAM = "backstory.principal", "backstory.team"
"""Keys of a request's scope for its principal, and for the team in its address."""


class TeamPages:
    """ASGI application for every path below ROOT. The caller has checked Host and Origin. Raises TooManyFailures."""

    def __init__(
        self,
        sessions: HttpSessions,
        limit: RateLimit,
        logins: Logins | None,
        audit: AuditLog | None,
    ) -> None:
        """`logins` authenticates tokens; None if no token is required."""
        self._sessions = sessions
        self._limit = limit
        self._logins = logins
        self._audit = audit
        self._site = Site(self._lend, is_read_only=_is_read_only).app()
        self._guarded = SameSite(self._answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guarded(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._response(request)
        if response is not None:
            return await response(scope, receive, send)
        if request.method == "POST":
            return await self._audited(scope, receive, send)
        return await self._site(scope, receive, send)

    async def _response(self, request: Request) -> Response | None:
        """A response to requests without a page or without access; None for a page, whose principal is then in the scope."""
        scope, path = request.scope, request.url.path
        if path == ROOT:
            return RedirectResponse(f"{ROOT}/", 307)
        if request.method == "POST" and not _is_small(request):
            return PlainTextResponse("That is too large.\n", 413)
        if path == f"{ROOT}/login" and request.method == "POST":
            return await self._login(request)
        if path == f"{ROOT}/logout" and request.method == "POST":
            response = RedirectResponse(f"{ROOT}/", 303)
            response.delete_cookie(COOKIE, path=ROOT)
            return response
        team = path.removeprefix(TEAMS).partition("/")[0] if path.startswith(TEAMS) else None
        scope["root_path"] = ROOT if team is None else TEAMS + team
        scope[TEAM] = team
        if path.startswith(scope["root_path"] + OPEN_TO_ALL):
            return None
        principal = await self._principal(request, request.cookies.get(COOKIE, ""))
        if principal is None:
            return _login_page(is_wrong=False)
        if principal.tenant(team) is None:
            return PlainTextResponse("There is no such team.\n", 404)
        wait_s = 0.0 if principal is LOCAL else self._limit.wait_s(principal.credential)
        if wait_s:
            return PlainTextResponse("Too many requests.\n", 429, {"Retry-After": str(math.ceil(wait_s))})
        scope[PRINCIPAL] = principal
        return None

    async def _principal(self, request: Request, token: str) -> Principal | None:
        if self._logins is None:
            return LOCAL
        address = request.client.host if request.client else ""
        return await self._logins.login(f"Bearer {token}", address) if token else None

    async def _login(self, request: Request) -> Response:
        token = str((await request.form()).get("token", "")).strip()
        if await self._principal(request, token) is None:
            return _login_page(is_wrong=True)
        response = RedirectResponse(f"{ROOT}/", 303)
        is_secure = request.headers["origin"].startswith("https:")  # behind a proxy only the browser knows
        if self._logins is not None:
            response.set_cookie(COOKIE, token, path=ROOT, httponly=True, samesite="strict", secure=is_secure)
        return response

    @contextmanager
    def _lend(self, request: Request) -> Iterator[Core]:
        with self._sessions.core(_client(request.scope)) as core:
            core.caller.check_scope(Allowed.READ)
            yield core

    async def _audited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record changes in the audit log, as for tools: the person, the tenant and the action, never its content."""
        client = _client(scope)
        if self._audit is None or client.principal is LOCAL:
            return await self._site(scope, receive, send)
        page = scope["path"].rpartition("/")[2][:40]
        call = self._audit.call(client.principal, client.tenant, f"web {page}")
        outcomes = await anyio.to_thread.run_sync(call.__enter__)

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                outcomes.append("completed")
            await send(message)

        try:
            await self._site(scope, receive, noted)
        finally:
            await anyio.to_thread.run_sync(call.__exit__, None, None, None)


def _is_small(request: Request) -> bool:
    announced = request.headers.get("content-length", "")
    return announced.isdecimal() and int(announced) <= MOST_BYTES


def _is_read_only(request: Request) -> bool:
    client = _client(request.scope)
    # writers whose changes are reviewed propose with their assistant; the pages would change things at once
    return client.scope < Allowed.WRITE or (client.space is not None and client.space.proposes)


def _client(scope: Any) -> ClientContext:
    principal, team = scope[PRINCIPAL], scope[TEAM]
    tenant = principal.tenant(team)
    if tenant is None:
        raise NotFound("team", str(team))
    return ClientContext(principal, tenant, team)


def _login_page(*, is_wrong: bool) -> Response:
    text = templates().get_template("login.html").render(base=ROOT, is_wrong=is_wrong)
    return HTMLResponse(text, 401)
