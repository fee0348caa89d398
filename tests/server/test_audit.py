"""Who changed what: the record is there before the change."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from backstory.core import Core, Engine
from backstory.domain.scopes import Scope
from backstory.server.auth import Principal
from backstory.server.dispatch import Dispatcher
from backstory.server.http_sessions import ClientContext, HttpSessions
from backstory.server.metrics import Metrics
from backstory.server.offer import Offer
from backstory.server.responses import HttpRequest, Response
from backstory.server.sessionlog import SessionLog
from backstory.server.tenants import Tenants
from backstory.store import Store
from backstory.tools import ADDS, Surface

from ..conftest import OpenStore
from ..doubles import DAWN, SteppedClock, make_settings


class Changed(TypedDict):
    done: bool


def test_a_change_is_written_down_before_it_is_made(
    store: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    """A server that dies in a call leaves a record that says so."""
    control = open_store()
    surface = Surface("toy", about="", word_error=str)
    seen: list[str] = []

    @surface.tool("Change", ADDS)
    def change(core: Core) -> Changed:
        """Look at what is written down meanwhile."""
        seen.extend(each.outcome for each in control.team.audit_log(DAWN))
        return {"done": True}

    tenants = Tenants(lambda tenant: Engine(make_settings(tmp_path), store, None))
    sessions = HttpSessions(tenants, "/p", SteppedClock(), are_local=False)
    log = SessionLog(tmp_path, "emergency")
    dispatcher = Dispatcher(
        Offer({"toy": surface}), sessions, log, Metrics(), control, SteppedClock(), keeps_sessions=False
    )
    client = ClientContext(Principal("t1", "alice", Scope.WRITE, ()), "user-alice")
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"change"}}'
    answer = dispatcher.dispatch(client, HttpRequest("POST", "/mcp", {}, ""), body)
    assert isinstance(answer, Response)
    assert seen == ["begun"]
    assert [each.outcome for each in control.team.audit_log(DAWN)] == ["completed"]
