"""The address of a client behind reverse proxies: `X-Forwarded-For`, as far as trusted proxies wrote it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from ..domain.errors import InvalidInput

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

FORWARDED_FOR = b"x-forwarded-for"


class TrustedProxies:
    """Any client can send the header. Each proxy appends the address it sees, so the client's address is the last
    one that does not belong to a trusted proxy."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = tuple(map(_network, networks))

    def client_address(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """`peer` is the other end of the connection."""
        if not self._networks:
            return peer
        values = [value.decode("latin-1") for name, value in headers if name == FORWARDED_FOR]
        address = peer
        for hop in reversed([hop for value in values for hop in value.split(",")]):
            if not self._is_trusted(address) or not (hop_address := _without_port(hop.strip())):
                break
            address = hop_address
        return address

    def _is_trusted(self, text: str) -> bool:
        address = _address(text)
        return address is not None and any(address in network for network in self._networks)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise InvalidInput(
            f"{text!r} in http_proxies is not an address or a network.",
            hint="Such as 10.0.0.7 or 10.0.0.0/24.",
            field="http_proxies",
        ) from None


def _without_port(hop: str) -> str:
    """The address of a hop, which some proxies write with a port; "" if it is none."""
    host = hop
    if hop.startswith("["):
        host = hop[1:].partition("]")[0]
    elif hop.count(":") == 1:
        host = hop.partition(":")[0]
    address = _address(host)
    return "" if address is None else str(address)


def _address(text: str) -> IpAddress | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped  # how a socket for both kinds names the older one
    return address
