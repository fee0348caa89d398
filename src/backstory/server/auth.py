"""Who asks: bearer tokens of our own, and an identity provider's JWTs.

A token of ours holds 256 random bits, so a plain SHA-256 of it is safe to keep: slow hashes protect what people can guess. It is
shown once, and known again by its hash."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from ..domain.scopes import Scope, scope_of
from ..domain.team import Token
from ..domain.when import Clock
from ..store import Store
from .tenants import ORDINARY, personal, shared

PREFIX = "bst_"


class Principal(NamedTuple):
    """Whom a request comes from."""

    credential: str
    person: str
    scope: Scope
    teams: tuple[str, ...]

    def tenant(self, team: str | None) -> str | None:
        """The tenant that an address means to this caller; None when it has no such tenant."""
        if self is LOCAL:
            return ORDINARY if team is None else None
        if team is None:
            return personal(self.person)
        return shared(team) if team in self.teams else None


LOCAL = Principal("local", "", Scope.ADMIN, ())
"""Whoever reaches a server on the loopback address that asks for no token."""

Verify = Callable[[str], Principal | None]


class Verifier:
    """Whose a token is, as the store and the identity provider have it now."""

    def __init__(self, control: Store, now: Clock, verify_jwt: Verify | None) -> None:
        self._control = control
        self._now = now
        self._verify_jwt = verify_jwt

    def verify(self, secret: str) -> Principal | None:
        if not secret.startswith(PREFIX):
            return self._verify_jwt(secret) if self._verify_jwt else None
        token = self._control.team.token(hash_of(secret))
        if token is None or not token.is_valid(self._now()):
            return None
        return Principal(token.id, token.person, scope_of([token.scope]), token.spaces)


def make_token(
    person: str, scope: Scope, teams: Iterable[str], *, id: str, now: datetime, until: datetime | None
) -> tuple[str, Token]:
    """The secret, to be shown once, and what is kept of it."""
    secret = PREFIX + secrets.token_urlsafe(32)
    return secret, Token(id, hash_of(secret), person, scope.word, tuple(teams), now, until)


def hash_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
