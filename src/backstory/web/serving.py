"""Serve the pages to the one who started them, on this machine, until the terminal ends it."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request

from .. import console
from ..core import Core
from ..domain.errors import InvalidInput, Unavailable
from .access import Hosts, Keys, SameSite, WebDoor
from .hosts import Host, read_host
from .httpd import http_server, stop_at_signals, why_not
from .pages.blame import FindPlaces
from .pages.health import Checks
from .pages.home import UnreadHistories
from .site import Lend, Site

LOOPBACK = "127.0.0.1"
GRACE_S = 3  # longer than the pause between two checks of an open page
NAMES = (LOOPBACK, "localhost", "[::1]")


class WebAddress(NamedTuple):
    port: int = 0
    """0 is any that is free."""
    public_url: str = ""
    """The address in the browser where ports are forwarded."""


def serve(
    core: Core,
    address: WebAddress,
    *,
    is_read_only: bool,
    opens_browser: bool,
    checks: Checks | None = None,
    places: FindPlaces | None = None,
    histories: UnreadHistories | None = None,
) -> None:
    public = _public(address.public_url)
    with _listening(address.port) as listening:
        port = listening.getsockname()[1]
        start = address.public_url.rstrip("/") or f"http://{LOOPBACK}:{port}"
        keys = Keys(
            port,
            is_secure=start.startswith("https:"),
            redeemed=lambda: _say("For another browser", start, keys),
        )
        site = Site(
            lender(core),
            is_read_only=lambda request: is_read_only,
            checks=checks,
            places=places,
            histories=histories,
            is_closing=lambda: server.should_exit,
        )
        server = http_server(guarded_app(site, keys, port, public), grace_s=GRACE_S)
        stop_at_signals(server)
        _say("Open", start, keys)
        if opens_browser:
            # some systems wait until the browser ends
            threading.Thread(target=webbrowser.open, args=(f"{start}/?{keys.link}",), daemon=True).start()
        server.run(sockets=[listening])


def lender(core: Core) -> Lend:
    @contextmanager
    def lend(request: Request) -> Iterator[Core]:
        yield core

    return lend


def guarded_app(site: Site, keys: Keys, port: int, public: Host | None = None) -> Starlette:
    """The site for users who have the link, under the names of this machine."""
    app = site.app()
    app.add_middleware(WebDoor, keys=keys)
    app.add_middleware(
        Hosts, allowed=[Host(name, str(port)) for name in NAMES] + ([public] if public else [])
    )
    app.add_middleware(SameSite)  # the last one added is the first to see a request
    return app


def _say(what: str, start: str, keys: Keys) -> None:
    console.notify(f"{what}: {start}/?{keys.link}")


def _public(url: str) -> Host | None:
    if not url:
        return None
    parts = urlsplit(url)
    host = read_host(parts.netloc)
    if parts.scheme not in ("http", "https") or host is None or parts.path.rstrip("/") or parts.query:
        raise InvalidInput(
            f"--public-url {url!r} is not the address of a page.", hint="Such as https://name.example.com."
        )
    return host


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port), backlog=128)
    except OSError as error:
        raise Unavailable(
            f"Port {port} cannot be used: {why_not(error)}.", hint="Choose another with --port."
        ) from error
