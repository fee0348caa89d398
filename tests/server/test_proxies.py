"""X-Forwarded-For is believed from proxies that the settings name, and from nobody else."""

from __future__ import annotations

import pytest

from backstory.domain.errors import InvalidInput
from backstory.server.proxies import TrustedProxies

PROXIES = TrustedProxies(("10.0.0.0/24", "2001:db8::1"))


@pytest.mark.parametrize(
    ("peer", "headers", "address"),
    [
        ("198.51.100.9", ["203.0.113.5"], "198.51.100.9"),  # no proxy of ours: anybody can write the header
        ("10.0.0.7", [], "10.0.0.7"),
        ("10.0.0.7", ["203.0.113.5"], "203.0.113.5"),
        ("10.0.0.7", ["1.2.3.4, 203.0.113.5"], "203.0.113.5"),  # what the client itself wrote comes first
        ("10.0.0.7", ["1.2.3.4, 203.0.113.5, 10.0.0.8"], "203.0.113.5"),
        ("10.0.0.7", ["1.2.3.4", "203.0.113.5"], "203.0.113.5"),
        ("10.0.0.7", ["10.0.0.9"], "10.0.0.9"),
        ("10.0.0.7", ["203.0.113.5:4711"], "203.0.113.5"),
        ("2001:db8::1", ["[2001:db8::5]:4711"], "2001:db8::5"),
        ("2001:db8::1", ["2001:db8::5"], "2001:db8::5"),
        ("::ffff:10.0.0.7", ["203.0.113.5"], "203.0.113.5"),
        ("10.0.0.7", ["203.0.113.5, unknown"], "10.0.0.7"),
        ("10.0.0.7", ["203.0.113.5, "], "10.0.0.7"),
        ("", ["203.0.113.5"], ""),
    ],
)
def test_the_client_is_the_last_address_that_no_trusted_proxy_has(
    peer: str, headers: list[str], address: str
) -> None:
    assert (
        PROXIES.client_address(peer, [(b"x-forwarded-for", value.encode()) for value in headers]) == address
    )


def test_without_proxies_the_header_is_not_read() -> None:
    assert TrustedProxies(()).client_address("10.0.0.7", [(b"x-forwarded-for", b"1.2.3.4")]) == "10.0.0.7"


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.0/40", "10.0.0.7/24"])
def test_a_proxy_is_an_address_or_a_network(text: str) -> None:
    with pytest.raises(InvalidInput, match="not an address or a network"):
        TrustedProxies((text,))
