"""An identity provider: the JWTs it signed, and where clients find it (RFC 9728)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import jwt

from ..domain.errors import InvalidInput
from ..domain.scopes import Scope, scope_of
from ..settings import Settings, required
from . import wire
from .auth import Principal

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
"""None that signs with a shared secret: the key set is public."""
WELL_KNOWN = "/.well-known/oauth-protected-resource"


FETCH_TIMEOUT_S = 10.0
KEYS_FOR_S = 300.0
"""So long a key that the provider withdrew may still be taken."""
LEAST_REST_S = 10.0
"""Between two fetches, however they ended and whatever keys tokens name: nobody can make us ask the provider more often."""


class KeySet:
    """The provider's keys: fetched when first needed, after a while, and for an unknown one; by one thread at a time. Who names
    a key that is known never waits for a fetch that another one caused."""

    def __init__(
        self, fetch: Callable[[], Sequence[jwt.PyJWK]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._fetching = threading.Lock()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._until_s = self._next_s = clock()

    def key(self, id: str) -> jwt.PyJWK:
        """Raises a PyJWTError when there is no such key, or the provider does not say."""
        if self._is_fresh() and id in self._keys:
            return self._keys[id]
        if self._fetching.acquire(blocking=not self._is_fresh()):
            try:
                self._renew(id)
            finally:
                self._fetching.release()
        if not self._is_fresh() or id not in self._keys:
            raise jwt.InvalidKeyError("The provider names no such key.")
        return self._keys[id]

    def _is_fresh(self) -> bool:
        return self._clock() < self._until_s

    def _renew(self, id: str) -> None:
        """Unless somebody did while this thread waited, or the provider was asked just now."""
        if (self._is_fresh() and id in self._keys) or self._clock() < self._next_s:
            return
        try:
            self._keys = {key.key_id: key for key in self._fetch() if key.key_id}
            self._until_s = self._clock() + KEYS_FOR_S
        finally:
            self._next_s = self._clock() + LEAST_REST_S


class IdentityProvider:
    def __init__(self, settings: Settings) -> None:
        self._issuer = required(settings, "oauth_issuer")
        self._audience = required(settings, "oauth_audience")
        url = required(settings, "oauth_jwks_url")
        client = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=FETCH_TIMEOUT_S)
        self._keys = KeySet(client.get_signing_keys)
        resource = urlsplit(self._audience)
        if resource.scheme not in ("https", "http") or not resource.netloc:
            raise InvalidInput(
                f"oauth_audience {self._audience!r} is not a URL.",
                hint="Use the one that clients reach `/mcp` by, such as https://memory.example.com/mcp.",
                field="oauth_audience",
            )
        self.metadata_path = WELL_KNOWN + resource.path.rstrip("/")
        self.metadata_url = f"{resource.scheme}://{resource.netloc}{self.metadata_path}"

    def verify(self, text: str) -> Principal | None:
        try:
            claims = jwt.decode(
                text,
                self._keys.key(str(jwt.get_unverified_header(text).get("kid"))),
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self._issuer,
                options={"require": ["exp", "sub", "aud", "iss"]},
            )
        except jwt.PyJWTError:
            return None
        scope = scope_of(_words(claims.get("scope", claims.get("scp"))))
        person = f"{self._issuer} {claims['sub']}"
        return Principal(f"oauth:{claims['sub']}", person, scope, tuple(_words(claims.get("spaces"))))

    def metadata(self) -> bytes:
        described = {
            "resource": self._audience,
            "authorization_servers": [self._issuer],
            "scopes_supported": [f"backstory:{scope.word}" for scope in Scope if scope],
            "bearer_methods_supported": ["header"],
            "resource_name": "Backstory",
        }
        return wire.to_json(described).encode()


def _words(claim: Any) -> list[str]:
    words = claim.split() if isinstance(claim, str) else claim
    return [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
