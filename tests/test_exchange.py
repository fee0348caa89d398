"""One HTTP exchange: the time limit covers all of it, and nothing follows a redirect."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from urllib.request import Request

import pytest

from backstory.exchange import ReplyTooLarge, exchange

from .patience import PATIENCE_S

LEAST_TIMEOUT_S = 0.3
Answer = Callable[[socket.socket], None]


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """A server on loopback that answers one request, byte for byte as the test says."""

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.settimeout(PATIENCE_S)
            connection.recv(65_536)
            answer(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "the connection was never closed"


def dripping(*beginning: bytes) -> Answer:
    """Send the beginning, then a byte now and then until the client closes the connection."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"".join(beginning))
        pause = threading.Event()
        for byte in repeat(b"x"):
            connection.sendall(byte)
            pause.wait(0.02)

    return answer


@pytest.mark.parametrize(
    "beginning",
    [b"", b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 503 Busy\r\n\r\n"],
    ids=["status line", "headers", "body", "body of an error"],
)
def test_a_server_that_sends_a_byte_now_and_then_is_given_up_at_the_limit(beginning: bytes) -> None:
    with answering(dripping(beginning)) as url, pytest.raises(TimeoutError, match="no whole answer"):
        exchange(Request(url), LEAST_TIMEOUT_S, 1_000_000)


def test_a_server_that_sends_nothing_is_given_up_at_the_limit() -> None:
    def wait(connection: socket.socket) -> None:
        connection.recv(1)

    with answering(wait) as url, pytest.raises(TimeoutError):
        exchange(Request(url), LEAST_TIMEOUT_S, 1_000_000)


def test_status_headers_and_body_are_returned_for_errors_and_redirects_too() -> None:
    for status in (200, 302, 404, 500):
        head = f"HTTP/1.1 {status} X\r\nLocation: http://127.0.0.1:9/\r\nConnection: close\r\n\r\nbody"
        with answering(lambda connection, head=head: connection.sendall(head.encode())) as url:  # type: ignore[misc]
            reply = exchange(Request(url), PATIENCE_S, 1_000_000)
        assert (reply.status, reply.headers["Connection"], reply.body) == (status, "close", b"body")


def test_a_reply_that_is_too_long_is_not_read_to_its_end() -> None:
    with (
        answering(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2_000)) as url,
        pytest.raises(ReplyTooLarge),
    ):
        exchange(Request(url), PATIENCE_S, 1_000)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_what_is_meant_for_this_machine_does_not_go_through_a_proxy(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, address)
        monkeypatch.delenv("no_proxy", raising=False)
        with answering(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nhere")) as url:
            reply = exchange(Request(url.replace("127.0.0.1", host)), PATIENCE_S, 1_000)
    assert reply.body == b"here"


def test_a_connection_that_ends_early_is_no_timeout() -> None:
    with answering(lambda connection: None) as url, pytest.raises(ConnectionError):
        exchange(Request(url), PATIENCE_S, 1_000)
    with pytest.raises(ConnectionRefusedError):
        exchange(Request(url), PATIENCE_S, 1_000)
