"""Spaces are opened one by one: whoever waits for one does not keep others from theirs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Event, Thread

import pytest

from backstory.core import Engine
from backstory.domain.errors import Unavailable
from backstory.server import tenants as module
from backstory.server.tenants import Tenants

from ..conftest import open_sqlite
from ..doubles import make_settings
from ..patience import PATIENCE_S


class Opening:
    """Opens a real store for each tenant, and remembers the order."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.opened: list[str] = []
        self.slow, self.migrated = Event(), Event()
        self.is_broken = False

    def __call__(self, tenant: str) -> Engine:
        if tenant == "slow":
            self.slow.set()
            assert self.migrated.wait(PATIENCE_S)
        if self.is_broken:
            raise Unavailable("The disk is gone.")
        self.opened.append(tenant)
        return Engine(make_settings(), open_sqlite(self._home / f"{tenant}.db"), None)


@pytest.fixture
def opening(tmp_path: Path) -> Opening:
    return Opening(tmp_path)


@pytest.fixture
def tenants(opening: Opening) -> Iterator[Tenants]:
    made = Tenants(opening)
    yield made
    made.close()


def test_a_space_that_takes_long_to_open_delays_no_other(opening: Opening, tenants: Tenants) -> None:
    def visit() -> None:
        with tenants.lend("slow"):
            pass

    waiting = Thread(target=visit)
    waiting.start()
    assert opening.slow.wait(PATIENCE_S)
    with tenants.lend("fast") as engine:
        assert engine.store.team.count_connections() == 0
    assert tenants.open_now() == ["fast"]
    opening.migrated.set()
    waiting.join(PATIENCE_S)
    assert opening.opened == ["fast", "slow"]


def test_all_who_ask_at_once_share_one_engine(opening: Opening, tenants: Tenants) -> None:
    engines, together = [], Barrier(8)

    def visit() -> None:
        together.wait(PATIENCE_S)
        with tenants.lend("one") as engine:
            engines.append(engine)

    visitors = [Thread(target=visit) for _ in range(8)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join(PATIENCE_S)
    assert len(engines) == 8
    assert len(set(map(id, engines))) == len(opening.opened) == 1


def test_a_space_that_could_not_be_opened_is_tried_again(opening: Opening, tenants: Tenants) -> None:
    opening.is_broken = True
    with pytest.raises(Unavailable), tenants.lend("one"):
        pass
    opening.is_broken = False
    with tenants.lend("one") as engine:
        assert engine.store.team.count_connections() == 0


def test_the_space_that_was_idle_longest_is_closed_and_one_in_use_never(
    opening: Opening, tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_OPEN", 2)
    with tenants.lend("used") as engine:
        for tenant in ("a", "b"):
            with tenants.lend(tenant):
                pass
        assert tenants.open_now() == ["used", "b"]
        assert engine.store.team.count_connections() == 0
