"""A good token is believed for a second, and no longer."""

from __future__ import annotations

import asyncio
import threading

import pytest

from backstory.domain.scopes import Scope
from backstory.server.auth import Principal
from backstory.server.logins import BELIEVED_S, FAILURES_PER_MINUTE, Logins, TooManyFailures
from backstory.server.threads import Threads
from backstory.store import Store

from ..doubles import DAWN, SteppedClock
from ..patience import PATIENCE_S

ALICE = Principal("t1", "alice", Scope.WRITE, ())


class Desk:
    """Logins whose time is set by hand; `good` are the tokens that are not revoked."""

    def __init__(self, store: Store) -> None:
        self.good = {"bst_alice": ALICE}
        self.asked: list[str] = []
        self.now_s = 0.0
        self.provider_answers = threading.Event()
        self.provider_answers.set()
        self._logins = Logins(self._verify, store, SteppedClock(), Threads(1), lambda: self.now_s)

    def _verify(self, secret: str) -> Principal | None:
        self.asked.append(secret)
        if not secret.startswith("bst_"):
            assert self.provider_answers.wait(PATIENCE_S)
        return self.good.get(secret)

    async def login(self, secret: str, address: str = "here") -> Principal | None:
        return await self._logins.login(f"Bearer {secret}", address)


def test_a_revoked_token_is_good_for_a_second_at_most(store: Store) -> None:
    async def log_in() -> None:
        desk = Desk(store)
        assert [await desk.login("bst_alice") for _ in range(3)] == [ALICE] * 3
        assert desk.asked == ["bst_alice"], "the others were believed"
        desk.good.clear()
        desk.now_s = BELIEVED_S - 0.001
        assert await desk.login("bst_alice") == ALICE
        desk.now_s = BELIEVED_S
        assert await desk.login("bst_alice") is None

    asyncio.run(log_in())


def test_who_guesses_waits_and_good_tokens_from_the_same_address_do_not(store: Store) -> None:
    async def guess() -> None:
        desk = Desk(store)
        for n in range(int(FAILURES_PER_MINUTE)):
            assert await desk.login(f"bst_{n}") is None
        for _ in range(3):
            with pytest.raises(TooManyFailures):
                await desk.login("bst_another")
        assert await desk.login("bst_guess", "elsewhere") is None
        assert await desk.login("bst_alice") == ALICE, "though it was never let in before"
        desk.now_s = BELIEVED_S
        assert await desk.login("bst_alice") == ALICE
        assert len(store.team.audit_log(DAWN)) == FAILURES_PER_MINUTE + 1

    asyncio.run(guess())


def test_an_own_token_does_not_wait_for_tokens_that_ask_the_provider(store: Store) -> None:
    async def log_in() -> None:
        desk = Desk(store)
        desk.provider_answers.clear()
        waiting = [asyncio.ensure_future(desk.login(f"jwt {n}")) for n in range(20)]
        assert await desk.login("bst_alice") == ALICE
        assert not any(each.done() for each in waiting)
        desk.provider_answers.set()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(log_in())


@pytest.mark.parametrize("given", ["bst_alice", "Basic bst_alice", "Bearer", ""])
def test_only_bearer_tokens_are_looked_up(store: Store, given: str) -> None:
    desk = Desk(store)
    assert asyncio.run(desk._logins.login(given, "here")) is None
    assert desk.asked in ([], [""])
