"""An identity provider: the JWTs it signed, and where clients find it (RFC 9728)."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException
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
FETCH_ERRORS = (jwt.PyJWTError, OSError, HTTPException, ValueError)
"""A provider that cannot be reached, or that answers something else than keys."""

FETCH_TIMEOUT_S = 10.0
KEYS_FOR_S = 300.0
"""How long keys are used before the provider is asked again, and how long a key that it withdrew may still be taken."""
LAST_GOOD_KEYS_FOR_S = 24 * 3600.0
"""How long they are used while the provider does not answer."""
PATIENCE_S = 1.0
"""How long a login with a known key waits for newer keys: a provider that hangs must not stop logins."""
LEAST_REST_S = 10.0
"""Between two fetches, however they ended and whatever keys tokens name: nobody can make us ask the provider more often."""


class KeySet:
    """The provider's keys: fetched when first needed, after a while, and for an unknown one, on one thread of their own.

    The last good keys stay while the provider fails. A login that names one of them waits for a fetch for a moment only.
    """

    def __init__(
        self,
        fetch: Callable[[], Sequence[jwt.PyJWK]],
        clock: Callable[[], float] = time.monotonic,
        report: Callable[[str], None] = lambda problem: None,
    ) -> None:
        """`fetch` raises FETCH_ERRORS; `report` is told of them."""
        self._fetch = fetch
        self._clock = clock
        self._report = report
        self._lock = threading.Lock()
        self._fetched = threading.Event()
        self._fetched.set()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_s = -math.inf
        self._next_s = -math.inf

    def key(self, id: str) -> jwt.PyJWK:
        """Raises a PyJWTError when there is no such key, or the provider does not say."""
        is_known = id in self._keys
        if not is_known or self._age_s() >= KEYS_FOR_S:
            is_ours = self._start_fetch()
            if is_known:
                self._fetched.wait(PATIENCE_S)
            elif is_ours or not self._keys:
                self._fetched.wait(FETCH_TIMEOUT_S)
        if id not in self._keys or self._age_s() >= LAST_GOOD_KEYS_FOR_S:
            raise jwt.InvalidKeyError("The provider names no such key.")
        return self._keys[id]

    def _age_s(self) -> float:
        return self._clock() - self._fetched_s

    def _start_fetch(self) -> bool:
        """Whether this call began one: not while another runs, nor when the provider was asked just now."""
        with self._lock:
            if not self._fetched.is_set() or self._clock() < self._next_s:
                return False
            self._fetched.clear()
        threading.Thread(target=self._renew, name="oauth-keys", daemon=True).start()
        return True

    def _renew(self) -> None:
        try:
            self._keys = {key.key_id: key for key in self._fetch() if key.key_id}
            self._fetched_s = self._clock()
        except FETCH_ERRORS as error:
            self._report(f"The identity provider's keys could not be fetched: {error}")
        finally:
            self._next_s = self._clock() + LEAST_REST_S
            self._fetched.set()


class IdentityProvider:
    def __init__(self, settings: Settings, report: Callable[[str], None]) -> None:
        self._issuer = required(settings, "oauth_issuer")
        self._audience = required(settings, "oauth_audience")
        url = required(settings, "oauth_jwks_url")
        client = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=FETCH_TIMEOUT_S)
        self._keys = KeySet(lambda: _signing_keys(client), report=report)
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


def _signing_keys(client: jwt.PyJWKClient) -> list[jwt.PyJWK]:
    """An empty set is an answer: the provider withdrew all of its keys."""
    key_set = client.fetch_data()
    if isinstance(key_set, dict) and key_set.get("keys") == []:
        return []
    return [key for key in jwt.PyJWKSet.from_dict(key_set).keys if key.public_key_use in ("sig", None)]


def _words(claim: Any) -> list[str]:
    words = claim.split() if isinstance(claim, str) else claim
    return [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
