"""The laptop's side of `/spaces` on a team's server: JSON over HTTP, with the member's token, within a time limit.

The token goes to the server that was joined and nowhere else: not through a redirect, not into a message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from http.client import HTTPException
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import Request

from ...domain.errors import InvalidInput, NotAllowed, Unavailable
from ...domain.lines import printable_line
from ...domain.team import SPACE_NAME, SpaceRole
from ...exchange import LOOPBACK, ReplyTooLarge, exchange
from .space_wire import (
    BUCKETS,
    MAX_PERSON_CHARS,
    DeliveredMemory,
    DeliveryReceipt,
    Json,
    SharedMemory,
    read_receipt,
    read_shared,
)

REQUEST_TIMEOUT_S = 10.0
MAX_REPLY_BYTES = 64 * 1024 * 1024
MAX_MESSAGE_CHARS = 500
MCP = "mcp"
"""The path of the server's MCP endpoint, which people copy."""
NO_SUCH_SPACE = "no_such_space"
"""The `error` in an answer to a caller who is not a member."""


class OfferedSpace(NamedTuple):
    name: str
    role: SpaceRole
    is_reviewed: bool


class SpaceClosed(NotAllowed):
    """The server does not let this member in any more."""


class DeliveryRefused(NotAllowed):
    """The server does not take one delivery; others may fare better."""


class SpaceClient:
    def __init__(self, url: str, token: str, *, timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        self.url = checked_url(url)
        if not (token and token.isascii() and token.isprintable()) or " " in token:
            raise InvalidInput(
                "The token must be printable ASCII without spaces; nothing was changed.", field="token"
            )
        self._token = token
        self._timeout_s = timeout_s

    def offered(self) -> tuple[str, list[OfferedSpace]]:
        """The member's name on the server, and the spaces that the token opens. Raises SpaceClosed, Unavailable."""
        body = self._ask("/spaces", None)
        try:
            spaces = [
                OfferedSpace(_space_name(each["name"]), SpaceRole(each["role"]), each["review"] is True)
                for each in body["spaces"]
            ]
            return printable_line(str(body["user"]), MAX_PERSON_CHARS), spaces
        except (KeyError, TypeError, ValueError) as error:
            raise self._unexpected(error) from None

    def digests(self, space: str) -> list[str]:
        """One for each bucket. Raises SpaceClosed, Unavailable."""
        digests = self._ask(f"/spaces/{space}/changes", {}).get("digests")
        if not isinstance(digests, list) or len(digests) != BUCKETS:
            raise self._unexpected("its digests")
        return digests

    def stamps(self, space: str, buckets: Iterable[int]) -> dict[str, str]:
        """The stamps of memories by id. Raises SpaceClosed, Unavailable."""
        stamps = self._ask(f"/spaces/{space}/changes", {"buckets": list(buckets)}).get("stamps")
        if not isinstance(stamps, dict) or not all(isinstance(each, str) for each in stamps.values()):
            raise self._unexpected("its stamps")
        return stamps

    def memories(self, space: str, ids: Sequence[str]) -> list[SharedMemory]:
        """Raises SpaceClosed, Unavailable."""
        body = self._ask(f"/spaces/{space}/changes", {"ids": list(ids)})
        try:
            return [read_shared(each) for each in body["memories"]]
        except (KeyError, TypeError, ValueError) as error:
            raise self._unexpected(error) from None

    def deliver(self, space: str, delivered: DeliveredMemory) -> DeliveryReceipt:
        """Raises DeliveryRefused, SpaceClosed, Unavailable."""
        body = self._ask(f"/spaces/{space}/deliveries", delivered._asdict())
        try:
            return read_receipt(body)
        except ValueError as error:
            raise self._unexpected(error) from None

    def _ask(self, path: str, question: Json | None) -> Json:
        status, reply = self._send(path, question)
        try:
            body = json.loads(reply) if reply.strip().startswith(b"{") else {}
        except (ValueError, RecursionError) as error:
            raise self._unexpected(error) from None
        if status == 200:
            return body if isinstance(body, dict) else {}
        message = printable_line(str(body.get("message", "")), MAX_MESSAGE_CHARS)
        if status == 401:
            raise SpaceClosed(
                f"{self.url} does not accept the token.", hint="Ask for a new one and join again."
            )
        if status == 404 and body.get("error") == NO_SUCH_SPACE:
            raise SpaceClosed(f"{self.url} has no such space for you.", hint="Ask a maintainer of the space.")
        if status == 413:  # also of a proxy, which has no words for us
            raise DeliveryRefused(f"It is too large for {self.url}.")
        if 400 <= status < 500 and message:
            raise DeliveryRefused(message)
        raise Unavailable(f"{self.url} answered {status}{f': {message}' if message else '.'}")

    def _send(self, path: str, question: Json | None) -> tuple[int, bytes]:
        data = None if question is None else json.dumps(question).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            reply = exchange(Request(self.url + path, data, headers), self._timeout_s, MAX_REPLY_BYTES)
        except TimeoutError:
            raise Unavailable(f"{self.url} did not answer within {self._timeout_s:g} s.") from None
        except ReplyTooLarge:
            raise self._unexpected("more data than allowed") from None
        except (OSError, HTTPException, UnicodeError) as error:
            # the message of a bad status line quotes the server's bytes
            reason = printable_line(str(error), MAX_MESSAGE_CHARS) or type(error).__name__
            raise Unavailable(f"{self.url} cannot be reached: {reason}.") from None
        return reply.status, reply.body

    def _unexpected(self, what: object) -> Unavailable:
        reason = printable_line(str(what), MAX_MESSAGE_CHARS)
        return Unavailable(f"{self.url} sent an invalid answer: {reason}.")


def _space_name(name: str) -> str:
    """The name of a space, which is part of addresses and shown to people. Raises ValueError."""
    if not SPACE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid name of a space")
    return name


def checked_url(url: str) -> str:
    """The address of a server, without `/mcp`. Raises InvalidInput for an address that would expose the token."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInput(
            f"{url!r} is not the address of a server; nothing was changed.",
            hint="Such as https://memory.example.com.",
            field="url",
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise InvalidInput(
            "The token would cross the network unencrypted; nothing was changed.",
            hint=f"Use https://{parts.netloc}.",
            field="url",
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def split_space(url: str) -> tuple[str, str]:
    """The address of a server and the space in it, which is empty unless the address is such as `…/mcp/ops`."""
    address, _, last = url.rstrip("/").rpartition("/")
    if last == MCP and not address.endswith("/"):
        return address, ""
    if address.endswith(f"/{MCP}") and not address.endswith(f"//{MCP}"):
        return address.removesuffix(f"/{MCP}"), last
    return url.rstrip("/"), ""
