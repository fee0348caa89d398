"""The names a request may call us by, and the pages it may come from: none of another site (DNS rebinding)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

_HOST = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?"
_ORIGIN = re.compile(rf"https?://{_HOST}", re.IGNORECASE)


class Host(NamedTuple):
    name: str
    port: str | None = None
    """None is any, for one that is allowed."""


def read_host(text: str) -> Host | None:
    """A name or address with or without a port, and nothing else."""
    return _host(re.fullmatch(_HOST, text))


def read_origin(text: str) -> Host | None:
    """Of a web page; `null` and other schemes have none."""
    return _host(_ORIGIN.fullmatch(text))


def _host(found: re.Match[str] | None) -> Host | None:
    if found is None:
        return None
    name, port = found[1].lower().removesuffix("."), found[2]
    if not name.startswith("["):
        return Host(name, port)
    try:
        return Host(f"[{ipaddress.IPv6Address(name[1:-1])}]", port)
    except ValueError:
        return None


class Hosts:
    """ASGI middleware before every page, health and figures too."""

    def __init__(self, app: ASGIApp, allowed: Iterable[Host]) -> None:
        self._app = app
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_allowed(read_host(hosts[0])):
            return PlainTextResponse("This server is not known by that name.\n", 421)
        if not all(self._is_allowed(read_origin(origin)) for origin in origins):
            return PlainTextResponse("Pages of other sites may not ask.\n", 403)
        return None

    def _is_allowed(self, host: Host | None) -> bool:
        return host is not None and (host in self._allowed or Host(host.name) in self._allowed)
