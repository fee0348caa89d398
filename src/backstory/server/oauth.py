"""An identity provider: the JWTs it signed, and where clients find it (RFC 9728)."""

from __future__ import annotations

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


class IdentityProvider:
    """Its keys are fetched when first needed, kept, and fetched again for an unknown one."""

    def __init__(self, settings: Settings) -> None:
        self._issuer = required(settings, "oauth_issuer")
        self._audience = required(settings, "oauth_audience")
        self._keys = jwt.PyJWKClient(required(settings, "oauth_jwks_url"), timeout=10)
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
                self._keys.get_signing_key_from_jwt(text),
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
