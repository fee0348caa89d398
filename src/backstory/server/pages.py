"""The web pages of a team server: the local pages, restricted to each person's own tenant.

A browser does not send bearer tokens. After a login with a token the browser therefore gets it as a cookie that no
script can read and no other site can send. The token is checked for each page, so that a revoked token ends the
login. After a sign-in at the identity provider the cookie contains the secret of a web session."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from ..core import Core
from ..core.engine import new_id
from ..domain.errors import NotFound
from ..domain.memory_trail import MemoryTrail, memory_trail
from ..domain.scopes import Scope as Allowed
from ..domain.when import utc_now
from ..store import Store
from ..web.access import OPEN_TO_ALL, SameSite
from ..web.rendering import templates
from ..web.site import LOGOUT, Site
from .audit import AuditLog
from .auth import LOCAL, SESSION_PREFIX, Principal, hash_of, make_web_session
from .http_sessions import ClientContext, HttpSessions
from .limits import RateLimit
from .logins import CALLBACK, Logins, SignInFailed

if TYPE_CHECKING:
    from .sso import SingleSignOn

ROOT = "/web"
SIGN_IN = f"{ROOT}/sign-in"
SIGN_IN_COOKIE = "backstory_sign_in"
RETURN_COOKIE = "backstory_return"
"""The page that a browser wanted when its session had ended."""
SIGN_IN_WITHIN_S = 600
TEAMS = f"{ROOT}/teams/"
COOKIE = "backstory_login"
WRONG_TOKEN = "That token is not valid here, or no longer."
MOST_BYTES = 1_000_000  # of a form
PRINCIPAL, TEAM = "backstory.principal", "backstory.team"
"""Keys of a request's scope for its principal, and for the team in its address."""


class SignInPages:
    """The way to the identity provider and back."""

    def __init__(self, sso: SingleSignOn, control: Store, logins: Logins) -> None:
        self._sso = sso
        self._control = control
        self._logins = logins
        self._is_secure = sso.redirect_uri.startswith("https:")

    async def start(self, page: str = "") -> Response:
        """Lead the browser to the provider, and afterwards to a page of ours."""
        try:
            start = await self._logins.at_provider(self._sso.start)
        except SignInFailed as error:
            return _login_page(error.status, str(error), can_sign_in=True)
        response = RedirectResponse(start.url, 303)
        for name, value in ((SIGN_IN_COOKIE, start.cookie), (RETURN_COOKIE, quote(page, safe="/"))):
            # Lax, because the provider leads the browser back from another site
            response.set_cookie(
                name,
                value,
                max_age=SIGN_IN_WITHIN_S,
                path=CALLBACK,
                httponly=True,
                samesite="lax",
                secure=self._is_secure,
            )
        return response

    async def finish(self, request: Request) -> Response:
        cookie, query = request.cookies.get(SIGN_IN_COOKIE, ""), request.query_params
        try:
            principal = await self._logins.at_provider(lambda: self._sso.finish(cookie, query))
        except SignInFailed as error:
            await self._logins.fail(request.client.host if request.client else "")
            response = _login_page(error.status, str(error), can_sign_in=True)
        else:
            secret = await anyio.to_thread.run_sync(self._add_session, principal)
            # A redirect would still count as coming from the provider's site, and strict cookies would not be sent.
            page = _own_page(request.cookies.get(RETURN_COOKIE, ""))
            response = HTMLResponse(templates().get_template("welcome.html").render(base=ROOT, page=page))
            _give_cookie(response, secret, is_secure=self._is_secure)
        response.delete_cookie(SIGN_IN_COOKIE, path=CALLBACK)
        response.delete_cookie(RETURN_COOKIE, path=CALLBACK)
        return response

    async def end(self, secret: str) -> None:
        """End a session at once in this server, and within a second in its replicas."""
        await anyio.to_thread.run_sync(self._control.team.delete_web_session, hash_of(secret))
        self._logins.forget(f"Bearer {secret}")

    def _add_session(self, principal: Principal) -> str:
        now = utc_now()
        until = now + timedelta(hours=self._sso.session_hours)
        secret, session = make_web_session(principal, id=new_id(), now=now, until=until)
        self._control.team.add_web_session(session)
        return secret


class TeamPages:
    """ASGI application for every path below ROOT. The caller has checked Host and Origin. Raises TooManyFailures."""

    def __init__(
        self,
        sessions: HttpSessions,
        limit: RateLimit,
        logins: Logins | None,
        audit: AuditLog | None,
        sign_in: SignInPages | None = None,
    ) -> None:
        """`logins` authenticates tokens; None if no token is required. `sign_in` is None if there is no provider for it."""
        self._sign_in = sign_in
        self._sessions = sessions
        self._limit = limit
        self._logins = logins
        self._audit = audit
        self._site = Site(self._lend, is_read_only=_is_read_only).app()
        self._guarded = SameSite(self._answer, entrances=(CALLBACK,) if sign_in else ())

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
            return await self._logout(request)
        if self._sign_in is not None and request.method == "GET" and path in (SIGN_IN, CALLBACK):
            return await (self._sign_in.start() if path == SIGN_IN else self._sign_in.finish(request))
        team = path.removeprefix(TEAMS).partition("/")[0] if path.startswith(TEAMS) else None
        scope["root_path"] = ROOT if team is None else TEAMS + team
        scope[TEAM] = team
        if path.startswith(scope["root_path"] + OPEN_TO_ALL):
            return None
        principal = await self._principal(request, request.cookies.get(COOKIE, ""))
        if principal is None:
            return await self._login_again(request)
        if principal.tenant(team) is None:
            return PlainTextResponse("There is no such team.\n", 404)
        wait_s = 0.0 if principal is LOCAL else self._limit.wait_s(principal.credential)
        if wait_s:
            return PlainTextResponse("Too many requests.\n", 429, {"Retry-After": str(math.ceil(wait_s))})
        scope[PRINCIPAL] = principal
        scope[LOGOUT] = "" if principal is LOCAL else f"{ROOT}/logout"
        return None

    async def _login_again(self, request: Request) -> Response:
        """The login page, or a redirect to the provider if a web session has ended: the provider knows the current
        groups, and asks nothing while the person is signed in there."""
        has_ended = request.cookies.get(COOKIE, "").startswith(SESSION_PREFIX)
        is_visit = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if self._sign_in is not None and has_ended and is_visit:
            response = await self._sign_in.start(request.url.path)
            response.delete_cookie(COOKIE, path=ROOT)
            return response
        return _login_page(401, can_sign_in=self._sign_in is not None)

    async def _principal(self, request: Request, token: str) -> Principal | None:
        if self._logins is None:
            return LOCAL
        address = request.client.host if request.client else ""
        return await self._logins.login(f"Bearer {token}", address, is_page=True) if token else None

    async def _login(self, request: Request) -> Response:
        token = str((await request.form()).get("token", "")).strip()
        if await self._principal(request, token) is None:
            return _login_page(401, WRONG_TOKEN, can_sign_in=self._sign_in is not None)
        response = RedirectResponse(f"{ROOT}/", 303)
        is_secure = request.headers["origin"].startswith("https:")  # behind a proxy only the browser knows
        if self._logins is not None:
            _give_cookie(response, token, is_secure=is_secure)
        return response

    async def _logout(self, request: Request) -> Response:
        secret = request.cookies.get(COOKIE, "")
        if self._sign_in is not None and secret.startswith(SESSION_PREFIX):
            await self._sign_in.end(secret)
        response = RedirectResponse(f"{ROOT}/", 303)
        response.delete_cookie(COOKIE, path=ROOT)
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
            await self._site(scope, receive, send)
            return
        # here and not in a thread: the threads that answer have a copy of this context
        with memory_trail() as trail:
            await self._recorded(self._audit, client, trail, scope, receive, send)

    async def _recorded(
        self,
        audit: AuditLog,
        client: ClientContext,
        trail: MemoryTrail,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        page = scope["path"].rpartition("/")[2][:40]
        call = audit.followed_call(client.principal, client.tenant, f"web {page}", trail)
        outcomes = await anyio.to_thread.run_sync(call.__enter__)

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                outcomes.append("completed")
            await send(message)

        try:
            await self._site(scope, receive, noted)
        finally:
            await anyio.to_thread.run_sync(call.__exit__, None, None, None)


def _own_page(path: str) -> str:
    """A path of these pages, as a cookie has it; the first page for anything else."""
    page = unquote(path)
    is_own = page.startswith(f"{ROOT}/") and page.isprintable() and not {"\\", '"', "<"} & set(page)
    return quote(page, safe="/") if is_own else f"{ROOT}/"


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


def _give_cookie(response: Response, secret: str, *, is_secure: bool) -> None:
    response.set_cookie(COOKIE, secret, path=ROOT, httponly=True, samesite="strict", secure=is_secure)


def _login_page(status: int, problem: str = "", *, can_sign_in: bool) -> Response:
    sign_in = SIGN_IN if can_sign_in else ""
    text = templates().get_template("login.html").render(base=ROOT, problem=problem, sign_in=sign_in)
    return HTMLResponse(text, status)
