"""Logins: good ones are believed for a second, failed ones written down, and slowed for the address they come from.

Whoever was let in goes on: behind a proxy all clients have one address, and one that guesses must not lock out the rest.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from ..core.engine import new_id
from ..domain.team import AuditRecord
from ..domain.when import Clock
from ..store import Store
from .auth import Principal, Verify, hash_of
from .limits import RateLimit
from .threads import Threads

FAILURES_PER_MINUTE = 10.0
BELIEVED_S = 1.0
"""So long a token that was revoked or has expired may still be taken."""
MOST_KNOWN = 10_000
LOGIN, REFUSED = "login", "refused"


class TooManyFailures(Exception):
    def __init__(self, wait_s: float) -> None:
        super().__init__("Too many failed logins.")
        self.wait_s = wait_s


class _Known(NamedTuple):
    principal: Principal
    until_s: float


class Logins:
    """For the event loop; what needs the store is done on threads."""

    def __init__(
        self,
        verify: Verify,
        control: Store,
        now: Clock,
        threads: Threads,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._verify = verify
        self._control = control
        self._now = now
        self._threads = threads
        self._clock = clock
        self._failures = RateLimit(FAILURES_PER_MINUTE, clock)
        self._known: OrderedDict[str, _Known] = OrderedDict()  # by the hash of what was given

    async def login(self, authorization: str, address: str) -> Principal | None:
        """Who gives this header; None for nobody. Raises TooManyFailures."""
        hash, asked_s = hash_of(authorization), self._clock()
        known = self._known.get(hash)
        if known is not None and asked_s < known.until_s:
            return known.principal
        if known is None and (wait_s := self._failures.peek_s(address)):
            raise TooManyFailures(wait_s)
        scheme, _, secret = authorization.partition(" ")
        principal = None
        if scheme.lower() == "bearer":
            principal = await self._threads.start(lambda: self._verify(secret.strip()))
        if principal is None:
            self._known.pop(hash, None)
            self._failures.wait_s(address)
            await self._threads.start(lambda: self._write_down(address))
        else:
            self._remember(hash, _Known(principal, asked_s + BELIEVED_S))
        return principal

    def _remember(self, hash: str, known: _Known) -> None:
        self._known[hash] = known
        self._known.move_to_end(hash)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def _write_down(self, address: str) -> None:
        """Never what was given: it may be a good token with a letter too many."""
        record = AuditRecord(new_id(), self._now(), "", f"from {address}", "", LOGIN, REFUSED)
        self._control.team.audit([record])
