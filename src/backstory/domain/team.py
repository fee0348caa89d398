"""Who may use a team server, who changed what, and where each client stands between two of its requests."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Token(NamedTuple):
    id: str
    hash: str
    person: str
    scope: str
    spaces: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class AuditRecord(NamedTuple):
    """One call that could change something: never what it said."""

    id: str
    at: datetime
    person: str
    credential: str
    space: str
    tool: str
    outcome: str


class Connection(NamedTuple):
    """An MCP session over HTTP."""

    id: str
    owner: str
    """The credential that opened it; no other may use it."""
    project: str
    directory: str
    session: str | None
    level: str | None
    """The least severe event that the client wants to hear of."""
    seen_at: datetime
