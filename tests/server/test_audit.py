"""Who changed what: the record is there before the change."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from backstory.core import Core, Engine
from backstory.domain.scopes import Scope
from backstory.server.auth import Principal
from backstory.server.http_sessions import ClientContext, HttpSessions
from backstory.server.message import Request
from backstory.server.metrics import Metrics
from backstory.server.registry import Registry
from backstory.server.sessionlog import SessionLog
from backstory.server.tenants import Tenants
from backstory.server.toolcall import PendingCall
from backstory.server.wire import NO_ID
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

    spaces = Tenants(lambda space: Engine(make_settings(tmp_path), store, None))
    visits = HttpSessions(spaces, "/p", SteppedClock(), are_local=False)
    registry = Registry(
        {"toy": surface}, visits, SessionLog(tmp_path, "emergency"), Metrics(), control, SteppedClock(),
        workers=1, keeps_sessions=False,
    )  # fmt: skip
    visit = ClientContext(Principal("t1", "alice", Scope.WRITE, ()), "user-alice", None)
    request = Request(NO_ID, {}, {}, False, 0)
    call = PendingCall(request, surface.tools["change"], {}, level=None, version="", envelope={})
    registry._answer(visit, call, lambda line: None)
    assert seen == ["begun"]
    assert [each.outcome for each in control.team.audit_log(DAWN)] == ["completed"]
