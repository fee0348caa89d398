"""Team servers: members, roles, contributions, the audit log, and the state of client connections."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .lazy import lazy_pattern
from .scopes import Scope

SPACE_NAME = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,39}")
"""The names of spaces, and of users who have a token of the server."""


class SpaceRole(StrEnum):
    """The role of a member in a shared space. Each includes the permissions of the ones before it."""

    READER = "reader"
    WRITER = "writer"
    MAINTAINER = "maintainer"
    """Also accepts and dismisses proposals."""

    @property
    def scope(self) -> Scope:
        """The highest scope that the role permits."""
        return _SCOPES[self]


_SCOPES = {SpaceRole.READER: Scope.READ, SpaceRole.WRITER: Scope.WRITE, SpaceRole.MAINTAINER: Scope.ADMIN}


def role_of_scope(scope: Scope) -> SpaceRole:
    """Return the role of a caller whose access to a space comes from a token alone."""
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
    """Settings of one tenant that override those of its server."""

    tenant: str
    is_reviewed: bool = False
    """If true, memories of writers are proposals until a maintainer accepts them."""
    max_store_mb: float | None = None
    retention_days: float | None = None


class SpaceAccess(NamedTuple):
    """The permissions of one person in one shared space."""

    role: SpaceRole
    is_reviewed: bool = False

    @property
    def proposes(self) -> bool:
        return self.is_reviewed and self.role is not SpaceRole.MAINTAINER


class Author(NamedTuple):
    person: str
    """The server's id of the person."""
    name: str
    """The name that people read."""


class ContributionState(StrEnum):
    SAVED = "saved"
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"


class Contribution(NamedTuple):
    """The author of a shared memory, and the maintainers' verdict."""

    memory: str
    author: str
    """The server's id of the person."""
    author_name: str
    """The name that people read."""
    state: ContributionState
    made_at: datetime
    replaces: str = ""
    """The id of the memory that a proposal would correct."""
    reviewer: str = ""
    reviewed_at: datetime | None = None


class Delivery(NamedTuple):
    """A memory on this machine that still has to be sent to the team's server."""

    key: str
    """The id that the server assigns to the memory. A delivery that arrives twice is recognized by it."""
    memory: str
    replaces: str
    """The server's id of the memory that this one corrects."""
    queued_at: datetime
    problem: str = ""


class SpaceCopy(NamedTuple):
    """A memory of a team's space that this machine has a copy of."""

    memory: str
    """The id that it has on the server and here."""
    space: str
    stamp: str
    """Its version on the server; empty for a memory that was saved here and not read back yet."""
    author: str
    """The author's display name; empty for the user of this machine."""


SPACE_SURFACE = "space"
"""The surface of copies: no vocabulary saves under this name."""
JOINED_SPACES = "spaces.json"
"""The file in the data directory with the joined spaces and the tokens for their servers."""


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


class WebSession(NamedTuple):
    """A person who signed in to the pages at the identity provider."""

    hash: str
    """The hash of the secret in the cookie."""
    id: str
    person: str
    name: str
    scope: str
    spaces: tuple[str, ...]
    roles: tuple[str, ...]
    """Roles in spaces that groups of the provider grant, each as `space:role`."""
    created_at: datetime
    expires_at: datetime


class AuditRecord(NamedTuple):
    """One call that could change something, or read something where reads are recorded, without its content."""

    id: str
    at: datetime
    person: str
    credential: str
    space: str
    tool: str
    outcome: str
    memories: str = ""
    """Ids of the memories that were changed or read, separated by blanks; known when the call has ended."""


class CallEnd(NamedTuple):
    """The part of an audit record that is written after the call."""

    outcome: str
    memories: str = ""


class StoredKeySet(NamedTuple):
    """The last key set that an identity provider published."""

    url: str
    keys: str
    """A JSON Web Key Set."""
    fetched_at: datetime


class Connection(NamedTuple):
    """An MCP session over HTTP."""

    id: str
    owner: str
    """The credential that opened it. No other credential may use it."""
    project: str
    directory: str
    session: str | None
    level: str | None
    """The lowest severity of events that the client wants to receive."""
    seen_at: datetime
