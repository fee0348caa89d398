"""Who asks: bearer tokens of our own, and an identity provider's JWTs, through the SDK's authentication."""

from __future__ import annotations

from typing import Any, NamedTuple

import anyio.to_thread
import jwt
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from ..domain.scopes import Scope, scope_of
from ..domain.when import Clock
from ..settings import Settings, required
from ..store import Store
from .tenants import ORDINARY, personal, shared
from .tokens import PREFIX, hash_of

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
"""None that signs with a shared secret: the key set is public."""


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


def principal_of(user: object) -> Principal:
    if not isinstance(user, AuthenticatedUser):
        return LOCAL
    access = user.access_token
    teams = tuple((access.claims or {}).get("spaces", ()))
    return Principal(access.client_id, access.subject or "", scope_of(access.scopes), teams)


class Verifier:
    """The SDK's TokenVerifier. A token is looked up each time, so a revoked one is refused at once."""

    def __init__(self, control: Store, now: Clock, issuer: JwtIssuer | None) -> None:
        self._control = control
        self._now = now
        self._issuer = issuer

    async def verify_token(self, token: str) -> AccessToken | None:
        return await anyio.to_thread.run_sync(self._verify, token)

    def _verify(self, secret: str) -> AccessToken | None:
        if not secret.startswith(PREFIX):
            return self._issuer.verify(secret) if self._issuer else None
        token = self._control.team.token(hash_of(secret))
        if token is None or not token.is_valid(self._now()):
            return None
        return AccessToken(
            token="",
            client_id=token.id,
            scopes=[token.scope],
            subject=token.person,
            claims={"spaces": list(token.spaces)},
        )


class JwtIssuer:
    """An identity provider. Its keys are fetched when first needed, kept, and fetched again for an unknown one."""

    def __init__(self, settings: Settings) -> None:
        self.issuer = required(settings, "oauth_issuer")
        self.audience = required(settings, "oauth_audience")
        self._keys = jwt.PyJWKClient(required(settings, "oauth_jwks_url"), timeout=10)

    def verify(self, text: str) -> AccessToken | None:
        try:
            claims = jwt.decode(
                text,
                self._keys.get_signing_key_from_jwt(text),
                algorithms=ALGORITHMS,
                audience=self.audience,
                issuer=self.issuer,
                options={"require": ["exp", "sub", "aud", "iss"]},
            )
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token="",
            client_id=f"oauth:{claims['sub']}",
            scopes=_words(claims.get("scope", claims.get("scp"))),
            subject=f"{self.issuer} {claims['sub']}",
            expires_at=int(claims["exp"]),
            claims={"iss": self.issuer, "spaces": _words(claims.get("spaces"))},
        )


def _words(claim: Any) -> list[str]:
    words = claim.split() if isinstance(claim, str) else claim
    return [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
