"""Authentication: our own bearer tokens, and JWTs of an identity provider.

Our tokens have 256 random bits, so a plain SHA-256 is safe to store: slow hashes protect guessable passwords. A
token is shown once and later recognised by its hash.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from ..domain.scopes import Scope, scope_of
from ..domain.team import Author, SpaceAccess, SpaceRole, Token, WebSession, highest_role, role_of_scope
from ..domain.when import Clock
from ..store import Store
from .tenants import ORDINARY, personal, shared

PREFIX = "bst_"
SESSION_PREFIX = "bsw_"
"""Begins the secrets in cookies of people who signed in at the identity provider. No tool accepts them."""


class Principal(NamedTuple):
    """Whom a request comes from."""

    credential: str
    person: str
    scope: Scope
    teams: tuple[str, ...]
    highest_scope: Scope = Scope.NONE
    """The highest scope a new token of the identity provider could have; NONE for tokens that no provider issued."""
    name: str = ""
    """The person as others read it; empty where that is `person`."""
    roles: Mapping[str, SpaceRole] = MappingProxyType({})
    """Roles by space that groups of the identity provider grant."""
    spaces: Mapping[str, SpaceAccess] = MappingProxyType({})
    """The caller's rights in each shared space that it may enter, by name."""

    @property
    def author(self) -> Author:
        return Author(self.person, self.name or self.person)

    def access(self, team: str | None) -> SpaceAccess | None:
        return None if team is None else self.spaces.get(team)

    def scope_in(self, team: str | None) -> Scope:
        """The scope that a role in a space leaves of the token's."""
        access = self.access(team)
        return self.scope if access is None else min(self.scope, access.role.scope)

    def tenant(self, team: str | None) -> str | None:
        """The tenant that an address denotes for this caller; None if it has no access."""
        if self is LOCAL:
            return ORDINARY if team is None else None
        if team is None:
            return personal(self.person)
        return shared(team) if team in self.spaces else None


LOCAL = Principal("local", "", Scope.ADMIN, ())
"""The caller of a server on the loopback address that requires no token."""

Verify = Callable[[str], Principal | None]


class Verifier:
    """Looks up the owner of a token in the store and at the identity provider."""

    def __init__(self, control: Store, now: Clock, verify_jwt: Verify | None) -> None:
        self._control = control
        self._now = now
        self._verify_jwt = verify_jwt

    def verify(self, secret: str) -> Principal | None:
        principal = self._verified(secret)
        return None if principal is None else self._with_spaces(principal)

    def _with_spaces(self, principal: Principal) -> Principal:
        """Roles of members and groups decide; in a space that only the token names, its scope is the role."""
        members = {
            each.space: SpaceRole(each.role) for each in self._control.team.spaces_of(principal.person)
        }
        names = dict.fromkeys((*principal.teams, *principal.roles, *members))
        if not names:
            return principal
        settings = self._control.team.all_settings()
        spaces = {}
        for name in names:
            role = highest_role(members.get(name), principal.roles.get(name)) or role_of_scope(
                principal.scope
            )
            tenant = settings.get(shared(name))
            spaces[name] = SpaceAccess(role, tenant is not None and tenant.is_reviewed)
        return principal._replace(spaces=spaces)

    def _verified(self, secret: str) -> Principal | None:
        if secret.startswith(SESSION_PREFIX):
            session = self._control.team.web_session(hash_of(secret))
            return principal_of(session) if session and self._now() < session.expires_at else None
        if not secret.startswith(PREFIX):
            return self._verify_jwt(secret) if self._verify_jwt else None
        token = self._control.team.token(hash_of(secret))
        if token is None or not token.is_valid(self._now()):
            return None
        return Principal(token.id, token.person, scope_of([token.scope]), token.spaces)


def make_token(
    person: str, scope: Scope, teams: Iterable[str], *, id: str, now: datetime, until: datetime | None
) -> tuple[str, Token]:
    """Create a token. Returns the secret, to be shown once, and the record to store."""
    secret = PREFIX + secrets.token_urlsafe(32)
    return secret, Token(id, hash_of(secret), person, scope.word, tuple(teams), now, until)


def make_web_session(
    principal: Principal, *, id: str, now: datetime, until: datetime
) -> tuple[str, WebSession]:
    """Create a session for the pages. Returns the secret for the cookie and the record to store."""
    secret = SESSION_PREFIX + secrets.token_urlsafe(32)
    roles = tuple(f"{space}:{role}" for space, role in principal.roles.items())
    session = WebSession(
        hash_of(secret),
        id,
        principal.person,
        principal.name,
        principal.scope.word,
        principal.teams,
        roles,
        now,
        until,
    )
    return secret, session


def principal_of(session: WebSession) -> Principal:
    roles = {space: SpaceRole(role) for space, _, role in (each.partition(":") for each in session.roles)}
    return Principal(
        f"web:{session.id}",
        session.person,
        scope_of([session.scope]),
        session.spaces,
        name=session.name,
        roles=roles,
    )


def hash_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
