"""Connections, tokens and the audit log come back as they were kept."""

from __future__ import annotations

from datetime import timedelta

from backstory.domain.team import AuditRecord, CallEnd, Connection, Token
from backstory.store import Store

from ..doubles import DAWN

HOUR = timedelta(hours=1)


def test_a_connection_is_replaced_by_id_and_forgotten_when_old(store: Store) -> None:
    old = Connection("a", "owner", "p", "d", None, None, DAWN)
    young = Connection("b", "owner", "p", "d", "session", "debug", DAWN + HOUR)
    for connection in (old, young, young._replace(session="other")):
        store.team.put_connection(connection)
    assert store.team.connection("a") == old
    assert store.team.connection("b") == young._replace(session="other")
    store.team.expire_connections(DAWN + HOUR)
    assert store.team.connection("a") is None
    assert store.team.count_connections() == 1
    store.team.delete_connection("b")
    assert store.team.count_connections() == 0


def test_a_token_is_found_by_its_hash_and_revoked_once(store: Store) -> None:
    token = Token("t", "hash", "alice", "read", ("ops", "dev"), DAWN, DAWN + HOUR)
    store.team.add_token(token)
    assert store.team.token("hash") == token
    assert store.team.token("t") is None
    assert token.is_valid(DAWN)
    assert not token.is_valid(DAWN + HOUR)
    assert store.team.revoke("t", DAWN)
    assert not store.team.revoke("t", DAWN)
    (revoked,) = store.team.tokens()
    assert not revoked.is_valid(DAWN)


def test_the_audit_log_is_read_from_a_time_on(store: Store) -> None:
    first = AuditRecord("1", DAWN, "alice", "t", "user-alice", "save_context", "completed")
    second = first._replace(id="2", at=DAWN + HOUR)
    store.team.audit([second])
    store.team.audit([first], {"2": CallEnd("failed", "abc def")})
    second = second._replace(outcome="failed", memories="abc def")
    assert store.team.audit_log(DAWN) == [first, second]
    assert store.team.audit_log(DAWN + HOUR) == [second]
