"""`backstory serve --http`: an address, a socket, and uvicorn before the team server."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Mapping
from typing import NamedTuple

from .. import console
from ..domain.errors import InvalidInput, Unavailable
from ..settings import Settings, variable
from ..tools import Surface
from ..web.hosts import Host, read_host
from ..web.httpd import http_server, stop_at_signals, why_not
from .arrival import prompt_http
from .heap import share_heap
from .team import MCP, TeamServer

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Address(NamedTuple):
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback

    @property
    def name(self) -> str:
        """The host as it appears in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


def serve_http(surfaces: Mapping[str, Surface], settings: Settings) -> int:
    """Serve until a signal; requests that run then get `grace_s` to finish."""
    address = read_address(settings.http)
    if settings.http_auth == "none" and not address.is_loopback:
        raise InvalidInput(
            f"{settings.http} can be reached from other machines, but would accept anyone.",
            hint=f"Set {variable('http_auth')} to token or oauth, or serve on 127.0.0.1.",
            field="http_auth",
        )
    allowed = _allowed(address, settings.http_hosts)
    share_heap()
    os.umask(0o077)  # files of a team server are readable by its own user only
    listening = _listen(address)
    team = TeamServer(surfaces, settings, allowed)
    protocol = prompt_http(settings.http_arrival_s)
    server = http_server(team, grace_s=round(settings.grace_s), protocol=protocol)
    stop_at_signals(server)
    console.notify(f"backstory: http://{address.name}:{listening.getsockname()[1]}{MCP}")
    server.run(sockets=[listening])
    team.close()
    return 0


def read_address(text: str) -> Address:
    host, separator, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        if not separator or not 0 <= int(port) < 65_536:
            raise ValueError(port)
        if host != "localhost":
            ipaddress.ip_address(host)
    except ValueError:
        raise InvalidInput(
            f"http {text!r} is not an address to serve on.", hint="Use 127.0.0.1:8765.", field="http"
        ) from None
    return Address(host, int(port))


def _allowed(address: Address, names: tuple[str, ...]) -> tuple[Host, ...]:
    """The names a request may call us by."""
    own = LOOPBACK if address.is_loopback else (address.name,)
    if not names and not address.is_loopback and ipaddress.ip_address(address.host).is_unspecified:
        raise InvalidInput(
            f"{address.name} is every address of this machine; clients use a name.",
            hint=f"Set {variable('http_hosts')} to the names that clients reach the server by.",
            field="http_hosts",
        )
    return tuple(map(_host, (*own, *names)))


def _host(name: str) -> Host:
    host = read_host(name)
    if host is None:
        raise InvalidInput(
            f"{name!r} is not the name of a host.", hint="Such as memory.example.com.", field="http_hosts"
        )
    return host


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server(address, family=family, backlog=2048)
    except OSError as error:
        raise Unavailable(
            f"{address.name}:{address.port} cannot be used: {why_not(error)}.", hint="Choose another port."
        ) from error
