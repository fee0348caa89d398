"""Refusals that describe how a client can get a sufficient token (RFC 6750, RFC 9728)."""

from __future__ import annotations

from typing import NamedTuple

from ..domain.scopes import Scope
from .responses import HttpRequest, Response, text

FIRST_SCOPES = (Scope.READ, Scope.WRITE)
"""The scopes that a client requests at first; a tool that needs more reports it when it is called."""


class Challenges(NamedTuple):
    metadata_url: str
    """The URL where clients find the identity provider, or ""."""

    def unauthorized(self, request: HttpRequest) -> Response:
        words = ['realm="backstory"']
        if "authorization" in request.headers:
            words.append('error="invalid_token"')
        if self.metadata_url:
            words.append(f'scope="{scope_words(*FIRST_SCOPES)}"')
        return self._challenge(401, "A valid token is needed.", words)

    def insufficient_scope(self, scope: Scope, tool: str) -> Response:
        """The refusal for a caller who can get a token with this scope from the provider."""
        sentence = f"{tool} needs a token with the scope {scope_words(scope)}."
        words = [
            'realm="backstory"',
            'error="insufficient_scope"',
            f'scope="{scope_words(scope)}"',
            f'error_description="{sentence}"',
        ]
        return self._challenge(403, sentence, words)

    def _challenge(self, status: int, sentence: str, words: list[str]) -> Response:
        if self.metadata_url:
            words.append(f'resource_metadata="{self.metadata_url}"')
        return text(status, sentence, (b"www-authenticate", f"Bearer {', '.join(words)}".encode()))


def scope_words(*scopes: Scope) -> str:
    return " ".join(f"backstory:{scope.word}" for scope in scopes)
