"""Who may use a team server, and who changed what: rows of the control database."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Protocol

from ..domain.team import AuditRecord, Token
from ..domain.when import from_ms, to_ms
from .statements import Row, Statements

_TOKEN = "id, hash, person, scope, spaces, created_at, expires_at, revoked_at"
_AUDITED = "id, at, person, credential, space, tool, outcome"


class Team(Protocol):
    def add_token(self, token: Token) -> None: ...

    def find_token(self, hash: str) -> Token | None: ...

    def find_tokens(self) -> list[Token]:
        """All that were ever made, the oldest first."""

    def revoke_token(self, id: str, at: datetime) -> bool:
        """Whether there was such a token, not revoked before."""

    def add_audited(self, audited: AuditRecord) -> None: ...

    def find_audited(self, since: datetime) -> list[AuditRecord]:
        """The oldest first."""


class TeamRows(Statements):
    def add_token(self, token: Token) -> None:
        spaces = json.dumps(token.spaces)
        times = [
            to_ms(time) if time else None for time in (token.created_at, token.expires_at, token.revoked_at)
        ]
        with self.transaction():
            self._change(
                f"INSERT INTO token ({_TOKEN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [token.id, token.hash, token.person, token.scope, spaces, *times],
            )

    def find_token(self, hash: str) -> Token | None:
        rows = self._rows(f"SELECT {_TOKEN} FROM token WHERE hash = ?", [hash])
        return _read_token(rows[0]) if rows else None

    def find_tokens(self) -> list[Token]:
        return [_read_token(row) for row in self._rows(f"SELECT {_TOKEN} FROM token ORDER BY created_at, id")]

    def revoke_token(self, id: str, at: datetime) -> bool:
        with self.transaction():
            sql = "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
            return self._change(sql, [to_ms(at), id]) > 0

    def add_audited(self, audited: AuditRecord) -> None:
        with self.transaction():
            self._change(
                f"INSERT INTO audited ({_AUDITED}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [audited.id, to_ms(audited.at), *audited[2:]],
            )

    def find_audited(self, since: datetime) -> list[AuditRecord]:
        sql = f"SELECT {_AUDITED} FROM audited WHERE at >= ? ORDER BY at, id"
        return [AuditRecord(row[0], from_ms(row[1]), *row[2:]) for row in self._rows(sql, [to_ms(since)])]


def _read_token(row: Row) -> Token:
    id, hash, person, scope, spaces, *times = row
    created_at, expires_at, revoked_at = times
    return Token(
        id=id, hash=hash, person=person, scope=scope, spaces=tuple(json.loads(spaces)),
        created_at=from_ms(created_at),
        expires_at=None if expires_at is None else from_ms(expires_at),
        revoked_at=None if revoked_at is None else from_ms(revoked_at),
    )  # fmt: skip
