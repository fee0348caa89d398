"""Tokens, members, the audit log and client sessions of a team server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ..domain.team import (
    AuditRecord,
    CallEnd,
    Connection,
    SpaceMember,
    StoredKeySet,
    TenantSettings,
    Token,
    WebSession,
)
from ..domain.when import to_ms
from .columns import FLAG, LIST, TIME, Columns
from .database import Database

_TOKEN = Columns(Token, {"spaces": LIST})
_WEB_SESSION = Columns(WebSession, {"spaces": LIST, "roles": LIST})
_AUDIT = Columns(AuditRecord, {"at": TIME})
_CONNECTION = Columns(Connection)
_KEY_SET = Columns(StoredKeySet)
_MEMBER = Columns(SpaceMember)
_SETTINGS = Columns(TenantSettings, {"is_reviewed": FLAG})


class TeamRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add_token(self, token: Token) -> None:
        with self._database.transaction():
            self._database.change(_TOKEN.insert("token"), _TOKEN.write(token))

    def token(self, hash: str) -> Token | None:
        tokens = self._database.records(_TOKEN, "FROM token WHERE hash = ?", [hash])
        return tokens[0] if tokens else None

    def tokens(self) -> list[Token]:
        """All that were ever made, the oldest first."""
        return self._database.records(_TOKEN, "FROM token ORDER BY created_at, id")

    def revoke(self, id: str, at: datetime) -> bool:
        """Revoke a token. Returns False if it does not exist or was revoked before."""
        with self._database.transaction():
            sql = "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
            return self._database.change(sql, [to_ms(at), id]) > 0

    def add_web_session(self, session: WebSession) -> None:
        """Insert a session, and delete those that had expired when it began."""
        with self._database.transaction():
            self._database.change("DELETE FROM web_session WHERE expires_at < ?", [to_ms(session.created_at)])
            self._database.change(_WEB_SESSION.insert("web_session"), _WEB_SESSION.write(session))

    def web_session(self, hash: str) -> WebSession | None:
        sessions = self._database.records(_WEB_SESSION, "FROM web_session WHERE hash = ?", [hash])
        return sessions[0] if sessions else None

    def delete_web_session(self, hash: str) -> None:
        with self._database.transaction():
            self._database.change("DELETE FROM web_session WHERE hash = ?", [hash])

    def audit(self, records: Sequence[AuditRecord], ends: Mapping[str, CallEnd] | None = None) -> None:
        """Insert calls that begin, and update by id those that ended."""
        ended = [(*end, id) for id, end in (ends or {}).items()]
        with self._database.transaction():
            self._database.change_many(_AUDIT.insert("audited"), list(map(_AUDIT.write, records)))
            self._database.change_many("UPDATE audited SET outcome = ?, memories = ? WHERE id = ?", ended)

    def audit_log(self, since: datetime) -> list[AuditRecord]:
        """Audit records since a time, oldest first."""
        return self._database.records(_AUDIT, "FROM audited WHERE at >= ? ORDER BY at, id", [to_ms(since)])

    def prune_audit_log(self, until: datetime) -> None:
        """Delete audit records older than `until`."""
        with self._database.transaction():
            self._database.change("DELETE FROM audited WHERE at < ?", [to_ms(until)])

    def put_member(self, member: SpaceMember) -> None:
        """Add a member to a space, or change their role."""
        with self._database.transaction():
            self._database.change(_MEMBER.upsert("space_member", "space", "person"), _MEMBER.write(member))

    def remove_member(self, space: str, person: str) -> bool:
        """Remove a member. Returns False if there was none."""
        with self._database.transaction():
            sql = "DELETE FROM space_member WHERE space = ? AND person = ?"
            return self._database.change(sql, [space, person]) > 0

    def remove_members(self, space: str) -> int:
        """Remove all members of a space. Returns their number."""
        with self._database.transaction():
            return self._database.change("DELETE FROM space_member WHERE space = ?", [space])

    def members(self, space: str | None = None) -> list[SpaceMember]:
        """The members of one space, or of all, by space and name."""
        where, values = ("TRUE", []) if space is None else ("space = ?", [space])
        return self._database.records(
            _MEMBER, f"FROM space_member WHERE {where} ORDER BY space, person", values
        )

    def spaces_of(self, person: str) -> list[SpaceMember]:
        return self._database.records(_MEMBER, "FROM space_member WHERE person = ? ORDER BY space", [person])

    def put_settings(self, settings: TenantSettings) -> None:
        """Insert settings, or replace those of the same tenant."""
        with self._database.transaction():
            self._database.change(_SETTINGS.upsert("tenant_setting", "tenant"), _SETTINGS.write(settings))

    def delete_settings(self, tenant: str) -> None:
        with self._database.transaction():
            self._database.change("DELETE FROM tenant_setting WHERE tenant = ?", [tenant])

    def settings_of(self, tenant: str) -> TenantSettings:
        rows = self._database.records(_SETTINGS, "FROM tenant_setting WHERE tenant = ?", [tenant])
        return rows[0] if rows else TenantSettings(tenant)

    def all_settings(self) -> dict[str, TenantSettings]:
        """Settings by tenant; tenants without their own are left out."""
        rows = self._database.records(_SETTINGS, "FROM tenant_setting ORDER BY tenant")
        return {each.tenant: each for each in rows}

    def put_key_set(self, key_set: StoredKeySet) -> None:
        """Insert a key set, or replace the one with the same URL."""
        with self._database.transaction():
            self._database.change(_KEY_SET.upsert("key_set", "url"), _KEY_SET.write(key_set))

    def key_set(self, url: str) -> StoredKeySet | None:
        rows = self._database.records(_KEY_SET, "FROM key_set WHERE url = ?", [url])
        return rows[0] if rows else None

    def put_connection(self, connection: Connection) -> None:
        """Insert a connection, or replace the one with the same id."""
        with self._database.transaction():
            self._database.change(_CONNECTION.upsert("connection", "id"), _CONNECTION.write(connection))

    def connection(self, id: str) -> Connection | None:
        connections = self._database.records(_CONNECTION, "FROM connection WHERE id = ?", [id])
        return connections[0] if connections else None

    def delete_connection(self, id: str) -> None:
        with self._database.transaction():
            self._database.change("DELETE FROM connection WHERE id = ?", [id])

    def expire_connections(self, before: datetime) -> None:
        """Delete connections that were last seen before that time."""
        with self._database.transaction():
            self._database.change("DELETE FROM connection WHERE seen_at < ?", [to_ms(before)])

    def count_connections(self) -> int:
        return int(self._database.value("SELECT count(*) FROM connection"))
