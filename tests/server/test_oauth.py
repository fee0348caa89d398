"""The provider's keys: however many tokens name keys that nobody knows, it is asked once in a while."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import jwt
import pytest

from backstory.server import oauth
from backstory.server.oauth import KEYS_FOR_S, LAST_GOOD_KEYS_FOR_S, LEAST_REST_S, KeySet, SavedKeys

from ..conftest import open_sqlite
from ..patience import PATIENCE_S, until
from ..test_exchange import answering, dripping


def make_key(id: str) -> jwt.PyJWK:
    return jwt.PyJWK({"kty": "oct", "k": "c2VjcmV0", "kid": id, "alg": "HS256"})


class Provider:
    """Publishes keys, and counts how often it is asked."""

    def __init__(self, *ids: str) -> None:
        self.published = list(map(make_key, ids))
        self.asked = 0
        self.is_down = False
        self.now_s = 0.0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.problems: list[str] = []
        self.keys = KeySet(self._fetch, lambda: self.now_s, self.problems.append)

    def _fetch(self) -> Sequence[jwt.PyJWK]:
        self.asked += 1
        assert self.may_answer.wait(PATIENCE_S)
        if self.is_down:
            raise jwt.PyJWKClientConnectionError("down")
        return self.published

    def knows(self, id: str) -> bool:
        try:
            return self.keys.key(id).key_id == id
        except jwt.PyJWTError:
            return False


def test_forged_keys_cause_no_storm_of_fetches() -> None:
    provider = Provider("one")
    assert not any(provider.knows(f"forged {n}") for n in range(100))
    assert provider.asked == 1
    assert provider.knows("one")
    provider.now_s = LEAST_REST_S
    assert not any(provider.knows(f"forged {n}") for n in range(100))
    assert provider.asked == 2


def test_a_new_key_is_known_after_the_rest_and_a_withdrawn_one_goes() -> None:
    provider = Provider("one")
    assert provider.knows("one")
    provider.published = [make_key("two")]
    assert not provider.knows("two")
    provider.now_s = LEAST_REST_S
    assert provider.knows("two")
    assert not provider.knows("one")
    provider.published = []
    provider.now_s += KEYS_FOR_S
    assert not provider.knows("two")


def test_a_provider_that_is_down_is_asked_once_in_a_while_too() -> None:
    provider = Provider("one")
    provider.is_down = True
    assert not any(provider.knows("one") for _ in range(20))
    assert provider.asked == 1
    provider.is_down = False
    provider.now_s = LEAST_REST_S
    assert provider.knows("one")


def test_many_that_come_at_once_share_a_fetch() -> None:
    provider = Provider("one")
    provider.may_answer.clear()
    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(provider.knows, "one") for _ in range(8)]
        until(lambda: provider.asked == 1)
        provider.may_answer.set()
        assert all(answer.result() for answer in answers)
    assert provider.asked == 1


def test_a_known_key_does_not_wait_for_a_fetch_that_a_forged_one_caused() -> None:
    provider = Provider("one")
    assert provider.knows("one")
    provider.now_s = LEAST_REST_S
    provider.may_answer.clear()
    with ThreadPoolExecutor(1) as thread:
        forged = thread.submit(provider.knows, "forged")
        until(lambda: provider.asked == 2)
        assert provider.knows("one")
        assert not provider.knows("another forged"), "it does not wait either"
        provider.may_answer.set()
        assert not forged.result()


def test_the_last_good_keys_are_taken_while_the_provider_fails_and_for_a_day_at_most() -> None:
    provider = Provider("one")
    assert provider.knows("one")
    provider.is_down = True
    provider.now_s = KEYS_FOR_S
    assert provider.knows("one")
    until(lambda: len(provider.problems) == 1)
    assert "down" in provider.problems[0]
    assert not provider.knows("two")
    provider.now_s = LAST_GOOD_KEYS_FOR_S
    assert not provider.knows("one")


def test_a_known_key_is_taken_while_the_provider_hangs() -> None:
    provider = Provider("one")
    assert provider.knows("one")
    provider.now_s = KEYS_FOR_S
    provider.may_answer.clear()
    assert provider.knows("one")
    assert provider.asked == 2
    provider.published = []
    provider.may_answer.set()
    until(lambda: not provider.knows("one"))


@pytest.mark.parametrize(("age_s", "is_taken"), [(KEYS_FOR_S, True), (LAST_GOOD_KEYS_FOR_S, False)])
def test_keys_of_an_earlier_run_are_taken_for_a_day_after_they_were_fetched(
    age_s: float, is_taken: bool
) -> None:
    provider = Provider()
    provider.is_down = True
    provider.keys = KeySet(
        provider._fetch, lambda: provider.now_s, restore=lambda: ([make_key("one")], age_s)
    )
    assert provider.knows("one") == is_taken
    assert provider.asked == 1


@pytest.mark.parametrize("kid", ["", "None"])
def test_a_token_without_a_key_id_names_no_key(kid: str) -> None:
    assert not Provider("one").knows(kid)


def test_keys_that_come_a_byte_now_and_then_hold_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth, "FETCH_TIMEOUT_S", 0.3)
    with (
        closing(open_sqlite(tmp_path / "team.db")) as control,
        answering(dripping(b"HTTP/1.1 200")) as url,
        pytest.raises(oauth.FETCH_ERRORS, match="no whole answer"),
    ):
        SavedKeys(control, url, lambda problem: None).fetch()
