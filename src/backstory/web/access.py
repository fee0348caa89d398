"""Access to the pages on this machine: only for the user who has the link from the terminal, and not for other sites.

A link works once. It is exchanged for a cookie that scripts cannot read and other sites cannot send; `Hosts`, which
runs first, accepts only our own host names, against DNS rebinding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from secrets import compare_digest, token_urlsafe
from threading import Lock
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .hosts import AllowedHosts, Host

LINK = "t"
OPEN_TO_ALL = "/static/"
"""Style and script, which say nothing of anybody."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Keys:
    """The credentials of one start: a link, and the cookie that it is exchanged for."""

    def __init__(self, port: int, *, is_secure: bool = False, redeemed: Callable[[], None]) -> None:
        self.cookie = f"backstory_{port}"  # cookies do not know ports, and two pages may be open
        self.is_secure = is_secure
        self._secret = token_urlsafe(32)
        self._link = token_urlsafe(32)
        self._redeemed = redeemed
        self._lock = Lock()

    @property
    def link(self) -> str:
        """The query of the next address to open."""
        return urlencode({LINK: self._link})

    def fits(self, cookie: str) -> bool:
        return compare_digest(cookie.encode(), self._secret.encode())

    def redeem(self, link: str) -> bool:
        """Return whether this is the current link. If it is, a new one replaces it."""
        with self._lock:
            if not compare_digest(link.encode(), self._link.encode()):
                return False
            self._link = token_urlsafe(32)
        self._redeemed()
        return True

    def give(self, response: Response) -> Response:
        response.set_cookie(
            self.cookie, self._secret, path="/", httponly=True, samesite="strict", secure=self.is_secure
        )
        return response


class Hosts:
    """ASGI middleware that turns away who calls us by another name."""

    def __init__(self, app: ASGIApp, allowed: Iterable[Host]) -> None:
        self._app = app
        self._allowed = AllowedHosts(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        refused = self._allowed.refusal(", ".join(hosts), ", ".join(origins) if origins else None)
        answer = PlainTextResponse(f"{refused[1]}\n", refused[0]) if refused else self._app
        await answer(scope, receive, send)


class WebDoor:
    """ASGI middleware before every page of a site on this machine."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answered = self._answer(Request(scope)) if scope["type"] == "http" else None
        await (answered or self._app)(scope, receive, send)

    def _answer(self, request: Request) -> Response | None:
        """Answer a request that is not passed on."""
        if request.url.path.startswith(OPEN_TO_ALL):
            return None
        has_cookie = self._keys.fits(request.cookies.get(self._keys.cookie, ""))
        link = request.query_params.get(LINK)
        if link is not None and request.method == "GET" and (has_cookie or self._keys.redeem(link)):
            return self._keys.give(RedirectResponse(_address_without_link(request), 303))
        return None if has_cookie else HTMLResponse(_CLOSED, 401)


def _address_without_link(request: Request) -> str:
    """Always a path of this site: browsers read `//name` and `/\\name` as another host."""
    path = "/" + quote(request.scope["path"].lstrip("/\\"))
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != LINK]
    return path + (f"?{urlencode(rest)}" if rest else "")


class SameSite:
    """ASGI middleware: only pages of this site may send requests and change anything, and every response has headers
    that restrict the browser."""

    def __init__(self, app: ASGIApp, entrances: Collection[str] = ()) -> None:
        """`entrances`: paths that a link or redirect of another site may lead to. They must check the request themselves."""
        self._app = app
        self._entrances = entrances

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_headers(scope["path"])]}
            await send(message)

        refused = self._refusal(Request(scope)) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """`Hosts` has refused an Origin that is not ours; here one must be given before anything is changed."""
        if request.method == "GET" and request.url.path in self._entrances:
            return None
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return PlainTextResponse("Requests from other sites are refused.\n", 403)
        if request.method not in ("GET", "HEAD") and "origin" not in request.headers:
            return PlainTextResponse("Changes are accepted only from the page itself.\n", 403)
        return None


def _headers(path: str) -> list[tuple[bytes, bytes]]:
    # the one asks whether it changed, the other leaves nothing
    caching = "no-cache" if OPEN_TO_ALL in path else "no-store"
    return [
        (name.lower().encode(), value.encode())
        for name, value in {**HEADERS, "Cache-Control": caching}.items()
    ]


_CLOSED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Backstory: not yet open</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/static/mark.svg"><link rel="stylesheet" href="/static/style.css"></head>
<body class="bare"><main><h1>This page is closed</h1>
<p>Open it with the link that <code>backstory web</code> printed in its terminal. Each link opens one browser; a new one is
printed when it was used.</p></main></body></html>
"""
