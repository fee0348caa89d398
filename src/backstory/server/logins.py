"""Logins: successful ones are cached for a second; failed ones are recorded, and throttled by address.

The token is always looked up before the address: behind a proxy or a NAT many clients share an address, and a
guessing client must not lock out the others. Our own tokens never wait for the identity provider.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from ..core.engine import new_id
from ..domain.team import AuditRecord
from ..domain.when import Clock
from ..store import Store
from .auth import PREFIX, SESSION_PREFIX, Principal, Verify, hash_of
from .limits import RateLimit
from .threads import Threads

FAILURES_PER_MINUTE = 10.0
BELIEVED_S = 1.0
"""Seconds for which a revoked or expired token may still be accepted."""
MOST_KNOWN = 10_000
PROVIDER_THREADS = 4
"""Threads for tokens of an identity provider, whose keys may have to be fetched."""
SIGN_IN_THREADS = 4
"""Threads of their own for sign-ins: anybody may start one, and a provider that hangs must not delay JWTs."""
LOGIN, REFUSED = "login", "refused"
CALLBACK = "/web/callback"
"""The page that the identity provider sends browsers back to."""
T = TypeVar("T")


class TooManyFailures(Exception):
    def __init__(self, wait_s: float) -> None:
        super().__init__("Too many failed logins.")
        self.wait_s = wait_s


class SignInFailed(Exception):
    """A sign-in at the identity provider that did not succeed, with the status of the page that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Known(NamedTuple):
    principal: Principal
    until_s: float


class Logins:
    """Logins for the event loop; access to the store runs on threads."""

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
        self._provider_threads = Threads(PROVIDER_THREADS)
        self._sign_in_threads = Threads(SIGN_IN_THREADS)
        self._clock = clock
        self._failures = RateLimit(FAILURES_PER_MINUTE, clock)
        self._known: OrderedDict[str, _Known] = OrderedDict()  # by the hash of the token

    async def login(self, authorization: str, address: str, *, is_page: bool = False) -> Principal | None:
        """The principal of this header, or None. Raises TooManyFailures.

        Sessions of people who signed in at the provider are for pages only."""
        if SESSION_PREFIX in authorization and not is_page:
            await self.fail(address)
            return None
        hash, asked_s = hash_of(authorization), self._clock()
        known = self._known.get(hash)
        if known is not None and asked_s < known.until_s:
            return known.principal
        scheme, _, secret = authorization.partition(" ")
        principal = await self._look_up(secret.strip()) if scheme.lower() == "bearer" else None
        if principal is not None:
            self._remember(hash, _Known(principal, asked_s + BELIEVED_S))
            return principal
        self._known.pop(hash, None)
        await self.fail(address)
        return None

    def forget(self, authorization: str) -> None:
        """Look this header up again the next time."""
        self._known.pop(hash_of(authorization), None)

    async def at_provider(self, work: Callable[[], T]) -> T:
        """Run work that may wait for the identity provider."""
        return await self._sign_in_threads.start(work)

    async def fail(self, address: str) -> None:
        """Record a failed login. Raises TooManyFailures instead if there were too many from that address."""
        if wait_s := self._failures.wait_s(address):
            raise TooManyFailures(wait_s)
        await self._threads.start(lambda: self._write_down(address))

    async def _look_up(self, secret: str) -> Principal | None:
        threads = self._threads if secret.startswith((PREFIX, SESSION_PREFIX)) else self._provider_threads
        return await threads.start(lambda: self._verify(secret))

    def _remember(self, hash: str, known: _Known) -> None:
        self._known[hash] = known
        self._known.move_to_end(hash)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def _write_down(self, address: str) -> None:
        """Record a failed login, but never the token: it may be a valid one with a typo."""
        record = AuditRecord(new_id(), self._now(), "", f"from {address}", "", LOGIN, REFUSED)
        self._control.team.audit([record])
