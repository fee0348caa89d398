"""Who may use a team server, who changed what, and where each client stands between two of its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ..domain.team import AuditRecord, Connection, Token
from ..domain.when import to_ms
from .columns import LIST, TIME, Columns
from .database import Database

_TOKEN = Columns(Token, {"spaces": LIST})
_AUDIT = Columns(AuditRecord, {"at": TIME})
_CONNECTION = Columns(Connection)


class TeamRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add_token(self, token: Token) -> None:
        with self._database.transaction():
            self._database.change(_TOKEN.insert("token"), _TOKEN.write(token))

    def token(self, hash: str) -> Token | None:
        found = self._database.records(_TOKEN, "FROM token WHERE hash = ?", [hash])
        return found[0] if found else None

    def tokens(self) -> list[Token]:
        """All that were ever made, the oldest first."""
        return self._database.records(_TOKEN, "FROM token ORDER BY created_at, id")

    def revoke(self, id: str, at: datetime) -> bool:
        """Whether there was such a token, not revoked before."""
        with self._database.transaction():
            sql = "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
            return self._database.change(sql, [to_ms(at), id]) > 0

    def audit(self, records: Sequence[AuditRecord], outcomes: Mapping[str, str] | None = None) -> None:
        """Write down calls that begin, and by id what became of those that were written down before."""
        ended = [(outcome, id) for id, outcome in (outcomes or {}).items()]
        with self._database.transaction():
            self._database.change_many(_AUDIT.insert("audited"), list(map(_AUDIT.write, records)))
            self._database.change_many("UPDATE audited SET outcome = ? WHERE id = ?", ended)

    def audit_log(self, since: datetime) -> list[AuditRecord]:
        """The oldest first."""
        return self._database.records(_AUDIT, "FROM audited WHERE at >= ? ORDER BY at, id", [to_ms(since)])

    def prune_audit_log(self, until: datetime) -> None:
        """Delete what was written down before a moment."""
        with self._database.transaction():
            self._database.change("DELETE FROM audited WHERE at < ?", [to_ms(until)])

    def put_connection(self, connection: Connection) -> None:
        """Insert, or replace by id."""
        with self._database.transaction():
            self._database.change(_CONNECTION.upsert("connection", "id"), _CONNECTION.write(connection))

    def connection(self, id: str) -> Connection | None:
        found = self._database.records(_CONNECTION, "FROM connection WHERE id = ?", [id])
        return found[0] if found else None

    def delete_connection(self, id: str) -> None:
        with self._database.transaction():
            self._database.change("DELETE FROM connection WHERE id = ?", [id])

    def expire_connections(self, before: datetime) -> None:
        """Forget those that were last seen before that time."""
        with self._database.transaction():
            self._database.change("DELETE FROM connection WHERE seen_at < ?", [to_ms(before)])

    def count_connections(self) -> int:
        return int(self._database.value("SELECT count(*) FROM connection"))
