"""A team server whose database goes away: it says so, loses nothing it answered, and goes on by itself."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .. import postgres_server
from ..patience import PATIENCE_S
from .conftest import DATABASE
from .team import Web, bearer, listening, token

pytestmark = pytest.mark.parametrize("home", ["postgres"], indirect=True)


@pytest.mark.parametrize("auth", ["none", "token"])
def test_it_is_not_ready_while_its_database_is_away_and_is_again_when_it_is_back(
    home: Path, auth: str
) -> None:
    headers = bearer(token(home, "alice")) if auth == "token" else {}
    patience = {"BACKSTORY_BUSY_TIMEOUT_S": "5"}
    with listening(home, "--http-auth", auth, **patience) as web:
        session = {"Mcp_Session_Id": web.greet(**headers), **headers}
        web.call("context_save", {"key": "before", "value": "v"}, **session)
        with postgres_server.unreachable(DATABASE):
            assert web.send("/healthz").status == 200
            away = web.send("/readyz")
            assert away.status == 503
            assert postgres_server.PASSWORD not in away.body
            refused = web.ask("tools/call", {"name": "context_get", "arguments": {}}, **session)
            assert refused.status == 503
            assert postgres_server.PASSWORD not in refused.body
        while web.send("/readyz").status != 200:
            assert web.process.poll() is None
        found = web.call("context_get", {"key": "before"}, **session)["structuredContent"]["items"]
        assert [item["value"] for item in found] == ["v"]


def test_a_database_that_restarts_under_load_loses_no_acknowledged_save(home: Path) -> None:
    acknowledged: list[str] = []
    under_load, restarted = threading.Event(), threading.Event()

    def save(web: Web, worker: int) -> None:
        saved_since = 0
        for n in itertools.count():
            result = web.call("context_save", {"key": f"{worker}-{n}", "value": "v"}, Mcp_Session_Id=session)
            if result["isError"]:
                assert not saved_since, result  # in the middle of a change only, and it said so
                continue
            acknowledged.append(f"{worker}-{n}")
            saved_since += restarted.is_set()
            if len(acknowledged) > 40:
                under_load.set()
            if saved_since > 5:
                return

    with listening(home) as web, ThreadPoolExecutor(4) as pool:
        session = web.greet()
        saving = [pool.submit(save, web, worker) for worker in range(4)]
        assert under_load.wait(PATIENCE_S)
        postgres_server.restart()
        restarted.set()
        for each in saving:
            each.result()
        assert web.keys(Mcp_Session_Id=session) >= set(acknowledged)
