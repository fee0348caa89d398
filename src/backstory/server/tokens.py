"""Bearer tokens: made, shown once, and known again by their hash.

A token holds 256 random bits, so a plain SHA-256 of it is safe to keep: slow hashes protect what people can guess.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

from ..domain.scopes import Scope
from ..domain.team import Token

PREFIX = "bst_"


def make_token(
    person: str, scope: Scope, teams: Iterable[str], *, id: str, now: datetime, until: datetime | None
) -> tuple[str, Token]:
    """The secret, to be shown once, and what is kept of it."""
    secret = PREFIX + secrets.token_urlsafe(32)
    return secret, Token(id, hash_of(secret), person, scope.word, tuple(teams), now, until)


def hash_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
