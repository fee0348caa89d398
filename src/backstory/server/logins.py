"""Logins that fail: written down, and slowed for the address they come from.

Whoever was let in goes on: behind a proxy all clients have one address, and one that guesses must not lock out the rest.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend
from starlette.authentication import AuthCredentials, AuthenticationError
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response

from ..core.engine import new_id
from ..domain.team import AuditRecord
from ..domain.when import Clock
from ..store import Store
from .auth import Verifier
from .limits import RateLimit
from .tokens import hash_of

FAILURES_PER_MINUTE = 10.0
MOST_KNOWN = 10_000
LOGIN, REFUSED = "login", "refused"


class TooManyFailures(AuthenticationError):
    def __init__(self, wait_s: float) -> None:
        super().__init__("Too many failed logins.")
        self.wait_s = wait_s


class Logins(BearerAuthBackend):
    """The SDK's check of bearer tokens, with a memory."""

    def __init__(self, verifier: Verifier, control: Store, now: Clock, failures: RateLimit) -> None:
        super().__init__(verifier)
        self._control = control
        self._now = now
        self._failures = failures
        self._known: OrderedDict[str, None] = OrderedDict()  # hashes of tokens that were good

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, AuthenticatedUser] | None:
        given = conn.headers.get("authorization")
        if not given:
            return None
        address = conn.client.host if conn.client else ""
        hash = hash_of(given)
        if hash not in self._known and (wait_s := self._failures.peek_s(address)):
            raise TooManyFailures(wait_s)
        user: tuple[AuthCredentials, AuthenticatedUser] | None = await super().authenticate(conn)
        if user is None:
            self._known.pop(hash, None)
            self._failures.wait_s(address)
            await anyio.to_thread.run_sync(self._write_down, address)
        else:
            self._remember(hash)
        return user

    def _remember(self, hash: str) -> None:
        self._known[hash] = None
        self._known.move_to_end(hash)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def _write_down(self, address: str) -> None:
        """Never what was given: it may be a good token with a letter too many."""
        record = AuditRecord(new_id(), self._now(), "", f"from {address}", "", LOGIN, REFUSED)
        self._control.team.audit(record)


def refuse(conn: HTTPConnection, error: Exception) -> Response:
    wait_s = error.wait_s if isinstance(error, TooManyFailures) else 1.0
    return PlainTextResponse(f"{error}\n", 429, {"Retry-After": str(math.ceil(wait_s))})
