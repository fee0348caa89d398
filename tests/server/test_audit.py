"""Who changed what: the record is there before the change, and the outcome soon after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import TypedDict

import pytest

from backstory.core import Core, Engine
from backstory.domain.errors import Unavailable
from backstory.domain.scopes import Scope
from backstory.domain.team import AuditRecord, CallEnd
from backstory.server.audit import AuditLog
from backstory.server.auth import Principal
from backstory.server.challenges import Challenges
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
from ..patience import PATIENCE_S, until

ALICE = Principal("t1", "alice", Scope.WRITE, ())


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
    audit = AuditLog(control, SteppedClock(), log)
    dispatcher = Dispatcher(
        Offer({"toy": surface}), sessions, log, Metrics(), audit, Challenges(""), keeps_sessions=False
    )
    client = ClientContext(ALICE, "user-alice")
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"change"}}'
    answer = dispatcher.dispatch(client, HttpRequest("POST", "/mcp", {}, ""), body)
    assert isinstance(answer, Response)
    assert seen == ["begun"]
    audit.flush()
    assert outcomes(control) == ["completed"]


def test_calls_that_begin_while_others_are_written_share_a_commit(
    store: Store, open_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control, commits = open_store(), list[int]()
    write = control.team.audit

    def count(records: Sequence[AuditRecord], ends: Mapping[str, CallEnd]) -> None:
        commits.append(len(records))
        write(records, ends)

    monkeypatch.setattr(control.team, "audit", count)
    audit = AuditLog(control, SteppedClock(), SessionLog(tmp_path, "emergency"))

    def change() -> None:
        with audit.call(ALICE, "user-alice", "change"):
            pass

    threads = [Thread(target=change) for _ in range(6)]
    with store.transaction():  # nobody else can write meanwhile
        threads[0].start()
        until(lambda: commits == [1])
        for thread in threads[1:]:
            thread.start()
        until(lambda: len(audit._next.records) == 5)
    for thread in threads:
        thread.join(PATIENCE_S)
    assert commits[:2] == [1, 5]
    audit.flush()
    assert outcomes(control) == ["failed"] * 6, "nobody said that they were completed"


def test_what_cannot_be_written_down_does_not_begin(open_store: OpenStore, tmp_path: Path) -> None:
    control = open_store()
    audit = AuditLog(control, SteppedClock(), SessionLog(tmp_path, "emergency"))
    control.close()
    with pytest.raises(Unavailable), audit.call(ALICE, "user-alice", "change"):
        pytest.fail("it began")


def test_an_outcome_waits_until_it_can_be_written(
    open_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*what: object) -> None:
        raise Unavailable("The disk is full.")

    control = open_store()
    audit = AuditLog(control, SteppedClock(), SessionLog(tmp_path, "emergency"))
    with audit.call(ALICE, "user-alice", "change") as said:
        said.append("completed")
        monkeypatch.setattr(control.team, "audit", fail)
    audit.flush()
    assert outcomes(control) == ["begun"]
    monkeypatch.undo()
    audit.flush()
    assert outcomes(control) == ["completed"]


def test_records_go_when_they_are_as_old_as_the_settings_say(open_store: OpenStore, tmp_path: Path) -> None:
    control, now = open_store(), DAWN
    log = SessionLog(tmp_path, "emergency")
    audit = AuditLog(control, lambda: now, log, kept_days=30)
    for days in (0, 1, 31):
        now = DAWN + timedelta(days=days)
        with audit.call(ALICE, "user-alice", "change"):
            pass
        audit.flush()
        audit.prune()
    assert [each.at for each in control.team.audit_log(DAWN)] == [DAWN + timedelta(days=d) for d in (1, 31)]


def outcomes(control: Store) -> list[str]:
    return [each.outcome for each in control.team.audit_log(DAWN)]
