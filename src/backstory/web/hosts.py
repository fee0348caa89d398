"""The names a request may call us by, and the pages it may come from: none of another site (DNS rebinding)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple

from ..domain.lazy import lazy_pattern

_NAME = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?"
_HOST = lazy_pattern(_NAME)
_ORIGIN = lazy_pattern(rf"https?://{_NAME}", re.IGNORECASE)


class Host(NamedTuple):
    name: str
    port: str | None = None
    """None accepts any port of an allowed host."""


def read_host(text: str) -> Host | None:
    """A name or address with or without a port, and nothing else."""
    return _host(_HOST.fullmatch(text))


def read_origin(text: str) -> Host | None:
    """The host of an origin. `null` and other schemes have none."""
    return _host(_ORIGIN.fullmatch(text))


def _host(match: re.Match[str] | None) -> Host | None:
    if match is None:
        return None
    name, port = match[1].lower().removesuffix("."), match[2]
    if not name.startswith("["):
        return Host(name, port)
    try:
        return Host(f"[{ipaddress.IPv6Address(name[1:-1])}]", port)
    except ValueError:
        return None


class AllowedHosts:
    """Check the host and the origin of a request, before every page. A header that was sent twice arrives as one
    with a comma, which no name contains."""

    def __init__(self, allowed: Iterable[Host]) -> None:
        self._allowed = frozenset(allowed)

    def refusal(self, host: str, origin: str | None) -> tuple[int, str] | None:
        """The status and the sentence that a request is turned away with."""
        if not self._includes(read_host(host)):
            return 421, "This server does not have that host name."
        if origin is not None and not self._includes(read_origin(origin)):
            return 403, "Requests from other sites are refused."
        return None

    def _includes(self, host: Host | None) -> bool:
        return host is not None and (host in self._allowed or Host(host.name) in self._allowed)
