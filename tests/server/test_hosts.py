"""Host and Origin are read, not compared by their beginnings, before every page."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.web.hosts import Host, read_host, read_origin

from .team import listening


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("localhost", Host("localhost")),
        ("LocalHost.:8765", Host("localhost", "8765")),
        ("127.0.0.1:80", Host("127.0.0.1", "80")),
        ("[::1]:80", Host("[::1]", "80")),
        ("[0:0:0:0:0:0:0:1]", Host("[::1]")),
        ("localhost:", None),
        ("localhost:80:evil.example", None),
        ("localhost:evil.example", None),
        ("localhost:80@evil.example", None),
        ("localhost:80/x", None),
        ("localhost\t", None),
        ("a b", None),
        ("[::1", None),
        ("[zz]", None),
        ("", None),
    ],
)
def test_a_host_is_a_name_and_a_port_and_nothing_else(text: str, host: Host | None) -> None:
    assert read_host(text) == host


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("http://localhost:3000", Host("localhost", "3000")),
        ("https://Memory.example.com", Host("memory.example.com")),
        ("http://localhost:3000.evil.example", None),
        ("http://localhost:pw@evil.example", None),
        ("http://localhost/", None),
        ("file://localhost", None),
        ("null", None),
        ("localhost", None),
    ],
)
def test_an_origin_is_a_page_s_host(text: str, host: Host | None) -> None:
    assert read_origin(text) == host


PAGES = ("/healthz", "/readyz", "/metrics", "/mcp")


FOREIGN = {
    421: [
        {"Host": "evil.example"},
        {"Host": "localhost:80.evil.example"},
        {"Host": "localhost:evil.example"},
    ],
    403: [
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:80@evil.example"},
        {"Origin": "null"},
    ],
}


def test_no_page_is_for_another_site(tmp_path: Path) -> None:
    with listening(tmp_path) as web:
        for status, sites in FOREIGN.items():
            for headers in sites:
                assert [web.send(page, **headers).status for page in PAGES] == [status] * len(PAGES)
            counted = f'backstory_http_responses_total{{status="{status}"}} {len(PAGES) * len(sites)}'
            assert counted in web.send("/metrics").body


def test_a_name_that_was_set_is_taken_with_its_port_alone(tmp_path: Path) -> None:
    with listening(tmp_path, "--http-hosts", "memory.example.com,one.example:8443") as web:
        told = {
            host: web.send("/healthz", Host=host).status
            for host in ("memory.example.com", "MEMORY.example.com:1", "one.example:8443", "one.example:1")
        }
        assert list(told.values()) == [200, 200, 200, 421]
