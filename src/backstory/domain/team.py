"""Who may use a team server, who changed what, and where each client stands between two of its requests."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .scopes import Scope


class SpaceRole(StrEnum):
    """What a member may do in a shared space. Each includes those before it."""

    READER = "reader"
    WRITER = "writer"
    MAINTAINER = "maintainer"
    """Also accepts and dismisses proposals."""

    @property
    def scope(self) -> Scope:
        """The highest scope that the role allows."""
        return _SCOPES[self]


_SCOPES = {SpaceRole.READER: Scope.READ, SpaceRole.WRITER: Scope.WRITE, SpaceRole.MAINTAINER: Scope.ADMIN}


def role_of_scope(scope: Scope) -> SpaceRole:
    """The role of somebody who has a space by their token alone."""
    return max(
        (role for role in SpaceRole if role.scope <= scope),
        key=lambda role: role.scope,
        default=SpaceRole.READER,
    )


def highest_role(*roles: SpaceRole | None) -> SpaceRole | None:
    return max((role for role in roles if role), key=lambda role: role.scope, default=None)


class SpaceMember(NamedTuple):
    space: str
    person: str
    role: str
    added_at: datetime


class TenantSettings(NamedTuple):
    """Settings of one tenant that differ from those of its server."""

    tenant: str
    is_reviewed: bool = False
    """Memories of writers are proposals until a maintainer accepts them."""
    max_store_mb: float | None = None
    retention_days: float | None = None


class SpaceAccess(NamedTuple):
    """What one person may do in one shared space."""

    role: SpaceRole
    is_reviewed: bool = False

    @property
    def proposes(self) -> bool:
        return self.is_reviewed and self.role is not SpaceRole.MAINTAINER


class Author(NamedTuple):
    person: str
    """As the server knows them."""
    name: str
    """For people to read."""


class ContributionState(StrEnum):
    SAVED = "saved"
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"


class Contribution(NamedTuple):
    """Who wrote a shared memory, and what maintainers made of it."""

    memory: str
    author: str
    """The person as the server knows them."""
    author_name: str
    """The same for people to read."""
    state: ContributionState
    made_at: datetime
    replaces: str = ""
    """The memory that a proposal would correct."""
    reviewer: str = ""
    reviewed_at: datetime | None = None


class Delivery(NamedTuple):
    """A memory of this machine that has yet to reach the team's server."""

    key: str
    """The id that the server gives the memory: a delivery that arrives twice is known by it."""
    memory: str
    replaces: str
    """The server's id of the memory that this one corrects."""
    queued_at: datetime
    problem: str = ""


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


class StoredKeySet(NamedTuple):
    """The last keys that an identity provider published."""

    url: str
    keys: str
    """A JSON Web Key Set."""
    fetched_at: datetime


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
