"""Requests that never arrive in full, over real sockets: the connection is dropped, and others are served meanwhile."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from backstory.server.arrival import PIECE_BYTES

from ..patience import PATIENCE_S, until
from .team import Web, listening

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: applic"
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
MANY = 200


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with listening(tmp_path_factory.mktemp("home"), "--http-arrival-s", "1") as web:
        yield web


def connect(web: Web, *pieces: bytes) -> socket.socket:
    address = urlsplit(web.url)
    assert address.port is not None
    opened = socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S)
    for piece in pieces:
        opened.sendall(piece)
    return opened


def is_dropped(opened: socket.socket) -> bool:
    """Waits until it is."""
    try:
        while opened.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


def is_served(web: Web) -> bool:
    """A machine so busy that this process cannot send in time is no fault of the server's."""
    try:
        return web.send("/healthz").status == 200
    except OSError:
        return False


def test_200_half_sent_headers_are_dropped_while_others_are_served(web: Web) -> None:
    waiting = [connect(web, HALF) for _ in range(MANY)]
    until(lambda: is_served(web))
    assert all(map(is_dropped, waiting))
    for each in waiting:
        each.close()


@pytest.mark.parametrize(
    "sent", [b"", HALF, BODY], ids=["nothing", "half of the headers", "half of the body"]
)
def test_a_request_that_does_not_go_on_is_dropped(web: Web, sent: bytes) -> None:
    with connect(web, sent) as opened:
        assert is_dropped(opened)


def test_so_is_one_that_begins_after_another_was_answered(web: Web) -> None:
    answer = b""
    while not answer:  # one that was sent too late is dropped at once
        with connect(web, WHOLE) as opened:
            while b"ok\n" not in answer and (piece := opened.recv(65_536)):
                answer += piece
            if answer:
                with suppress(OSError):
                    opened.sendall(HALF)
                assert is_dropped(opened)
    assert answer.startswith(b"HTTP/1.1 200")


def test_one_that_comes_in_drops_is_dropped_as_if_it_had_stopped(web: Web) -> None:
    with connect(web, HALF) as opened:
        opened.settimeout(0.05)

        def is_refused() -> bool:
            try:
                opened.sendall(b"a")
                return opened.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        until(is_refused)


def test_a_body_that_goes_on_may_take_longer(tmp_path: Path) -> None:
    """Each piece has the time anew; here the pieces are many and each comes in time."""
    with listening(tmp_path, "--http-arrival-s", "30") as web:
        saved = web.call("context_save", {"key": "large", "value": "x" * (20 * PIECE_BYTES)})
        assert saved["structuredContent"]["key"] == "large"
