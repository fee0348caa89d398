"""One HTTP request and its whole reply within one time limit.

The timeout of a socket restarts with every byte, so a server that sends a byte from time to time could hold its
client forever, in the handshake, the headers or the body. Here a timer ends the connection. Looking up the name of
the host is outside of the limit; the system's resolver has its own.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
READ_BYTES = 65_536


class HttpReply(NamedTuple):
    status: int
    headers: Message
    body: bytes


class ReplyTooLarge(Exception):
    """The reply is longer than the caller reads."""


def exchange(question: request.Request, timeout_s: float, max_reply_bytes: int) -> HttpReply:
    """Send a request and read the reply to its end, whatever its status. Redirects are not followed, so that a key
    reaches no other host.

    Raises TimeoutError, ReplyTooLarge, HTTPException, and OSError for a host that cannot be reached."""
    with _Deadline(timeout_s) as deadline:
        try:
            try:
                response = _opener(question, deadline).open(question, timeout=timeout_s)
            except HTTPError as error:
                response = error
            with response:
                reply = HttpReply(response.status, response.headers, _body(response, max_reply_bytes))
            if deadline.is_over:  # a connection that was shut down looks like the end of a reply
                raise TimeoutError
            return reply
        except (OSError, HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if deadline.is_over or isinstance(reason, TimeoutError):
                raise TimeoutError(f"no whole answer within {timeout_s:g} s") from None
            raise reason if isinstance(reason, OSError) else error from None


def _body(response: Any, max_bytes: int) -> bytes:
    reply = bytearray()
    while piece := response.read1(READ_BYTES):
        reply += piece
        if len(reply) > max_bytes:
            raise ReplyTooLarge
    return bytes(reply)


class _Deadline:
    """A timer that shuts the sockets of an exchange down, which ends every wait on them."""

    def __init__(self, timeout_s: float) -> None:
        self._ends_s = time.monotonic() + timeout_s
        self._timer = threading.Timer(timeout_s, self._end)
        self._timer.daemon = True
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self.is_over = False

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            for each in self._sockets:
                each.close()
            self._sockets.clear()

    def connect(self, address: tuple[str, int], *_: Any) -> socket.socket:
        """Connect to the first address of a host that answers, in place of `socket.create_connection`."""
        problem: OSError | None = None
        for family, kind, protocol, _name, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(max(self._ends_s - time.monotonic(), 0.001))
                connection.connect(place)
                self._watch(connection)
            except OSError as error:
                problem = error
                connection.close()
            else:
                return connection
        raise problem or OSError(f"{address[0]} has no address")

    def _watch(self, connection: socket.socket) -> None:
        # a second descriptor, because TLS takes the first one over
        with self._lock:
            if self.is_over:
                raise TimeoutError
            self._sockets.append(connection.dup())

    def _end(self) -> None:
        with self._lock:
            self.is_over = True
            for each in self._sockets:
                with suppress(OSError):  # it is closed already
                    each.shutdown(socket.SHUT_RDWR)


def _opener(question: request.Request, deadline: _Deadline) -> request.OpenerDirector:
    # requests to this machine do not leave it, even if a proxy is set
    is_local = urlsplit(question.full_url).hostname in LOOPBACK
    proxies = request.ProxyHandler({}) if is_local else request.ProxyHandler()
    return request.build_opener(_NoRedirects, proxies, _Http(deadline), _Https(deadline))


class _NoRedirects(request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class _Http(request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: request.Request) -> HTTPResponse:
        return self.do_open(self._connection, req)

    def _connection(self, host: str, /, **options: Any) -> HTTPConnection:
        return _bounded(HTTPConnection(host, **options), self._deadline)


class _Https(request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: request.Request) -> HTTPResponse:
        return self.do_open(self._connection, req)

    def _connection(self, host: str, /, **options: Any) -> HTTPConnection:
        return _bounded(HTTPSConnection(host, **options), self._deadline)


def _bounded(connection: HTTPConnection, deadline: _Deadline) -> HTTPConnection:
    # the only way to the socket before a proxy's answer and the handshake; a test fails if it is gone
    vars(connection)["_create_connection"] = deadline.connect
    return connection
