"""Single sign-on for the web page: OpenID Connect's authorization code flow with PKCE.

The browser carries the state of a sign-in in a cookie, so that any replica can finish it. Nothing is stored before the
provider's ID token was checked.
"""

from __future__ import annotations

import json
import secrets
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from http.client import HTTPException
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request

import jwt

from ..domain.errors import InvalidInput
from ..domain.lines import one_line
from ..exchange import LOOPBACK, ReplyTooLarge, exchange
from ..settings import Settings
from .auth import Principal
from .logins import CALLBACK, SignInFailed
from .oauth import IdentityProvider

DISCOVERY = "/.well-known/openid-configuration"
TIMEOUT_S = 10.0
MAX_REPLY_BYTES = 1_000_000
METADATA_FOR_S = 300.0
MAX_REASON_CHARS = 200


class SignInStart(NamedTuple):
    url: str
    """The provider's page for this sign-in."""
    cookie: str
    """The state that the browser has to bring back."""


class ProviderMetadata(NamedTuple):
    authorization_endpoint: str
    token_endpoint: str
    posts_secret: bool
    """True if the provider reads the client's secret from the form only."""


class SingleSignOn:
    """Sign-ins of one client at one provider. Methods are for any thread and wait for the provider."""

    def __init__(self, settings: Settings, provider: IdentityProvider) -> None:
        self._provider = provider
        self._client_id = settings.oauth_client_id
        self._secret = settings.oauth_client_secret
        self._scopes = settings.oauth_client_scopes
        self.session_hours = settings.oauth_session_hours
        self.redirect_uri = provider.origin + CALLBACK
        if not _is_safe_url(provider.issuer):
            raise InvalidInput(
                f"oauth_issuer {provider.issuer!r} is no https URL, so nobody can sign in there.",
                hint="Set it to the provider's issuer, or leave oauth_client_id empty.",
                field="oauth_issuer",
            )
        if self.session_hours <= 0:
            raise InvalidInput(
                f"oauth_session_hours is {self.session_hours:g}; it must be more than 0.",
                field="oauth_session_hours",
            )
        self._lock = Lock()
        self._metadata: ProviderMetadata | None = None
        self._fetched_s = 0.0

    def start(self) -> SignInStart:
        """Raises SignInFailed if the provider does not answer."""
        metadata = self._provider_metadata()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self.redirect_uri,
            "scope": " ".join(self._scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        separator = "&" if urlsplit(metadata.authorization_endpoint).query else "?"
        url = metadata.authorization_endpoint + separator + urlencode(query)
        return SignInStart(url, ".".join((state, nonce, verifier)))

    def finish(self, cookie: str, query: Mapping[str, str]) -> Principal:
        """The person whom the provider sent back with `query`. Raises SignInFailed."""
        state, _, rest = cookie.partition(".")
        nonce, _, verifier = rest.partition(".")
        is_ours = bool(verifier) and secrets.compare_digest(state.encode(), query.get("state", "").encode())
        if not is_ours or query.get("iss", self._provider.issuer) != self._provider.issuer:
            raise SignInFailed(
                400, f"This sign-in was not started in this browser, or too long ago. Start at {self._page}."
            )
        if reason := query.get("error"):
            reason = ": ".join(filter(None, (reason, query.get("error_description"))))
            raise SignInFailed(403, f"The identity provider refused: {one_line(reason, MAX_REASON_CHARS)}.")
        reply = self._redeem(query.get("code", ""), verifier)
        principal = self._principal(reply, nonce)
        if not principal.scope:
            raise SignInFailed(
                403,
                f"You are signed in as {principal.name}, but you have no permissions here:"
                " neither your groups nor the granted scopes allow to read.",
            )
        return principal

    @property
    def _page(self) -> str:
        return f"{self._provider.origin}/web/"

    def _principal(self, reply: Mapping[str, Any], nonce: str) -> Principal:
        try:
            claims = self._provider.claims(str(reply.get("id_token", "")), [self._client_id])
        except jwt.PyJWTError as error:
            raise SignInFailed(502, f"The identity provider's ID token is not valid: {error}.") from None
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise SignInFailed(502, "The identity provider's ID token belongs to another sign-in.")
        if claims.get("azp", self._client_id) != self._client_id:
            raise SignInFailed(502, "The identity provider's ID token was issued to another client.")
        # an access token for this server has the permissions that the person's assistant has, too
        granted = self._provider.verify(str(reply.get("access_token", "")))
        principal = self._provider.principal(claims, str(reply.get("scope", "")))
        return granted if granted is not None and granted.person == principal.person else principal

    def _redeem(self, code: str, verifier: str) -> Mapping[str, Any]:
        metadata = self._provider_metadata()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "client_id": self._client_id,
            "code_verifier": verifier,
        }
        headers = {"Accept": "application/json"}
        if self._secret and metadata.posts_secret:
            form["client_secret"] = self._secret
        elif self._secret:
            pair = f"{quote(self._client_id, safe='')}:{quote(self._secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        status, reply = _fetch(Request(metadata.token_endpoint, urlencode(form).encode(), headers))
        if status != 200:
            reason = one_line(str(reply.get("error") or f"status {status}"), MAX_REASON_CHARS)
            hint = " Sign in again." if reply.get("error") == "invalid_grant" else ""
            raise SignInFailed(502, f"The identity provider did not accept the sign-in: {reason}.{hint}")
        return reply

    def _provider_metadata(self) -> ProviderMetadata:
        with self._lock:
            now_s = time.monotonic()
            if self._metadata is None or now_s - self._fetched_s >= METADATA_FOR_S:
                self._metadata = self._discover()
                self._fetched_s = now_s
            return self._metadata

    def _discover(self) -> ProviderMetadata:
        issuer = self._provider.issuer
        status, reply = _fetch(
            Request(issuer.rstrip("/") + DISCOVERY, headers={"Accept": "application/json"})
        )
        authorization, token = (
            str(reply.get(name, "")) for name in ("authorization_endpoint", "token_endpoint")
        )
        if (
            status != 200
            or reply.get("issuer") != issuer
            or not all(map(_is_safe_url, (authorization, token)))
        ):
            raise SignInFailed(
                502,
                "The identity provider's description is not usable: it must name the issuer"
                f" {issuer} and https endpoints.",
            )
        methods = reply.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        return ProviderMetadata(authorization, token, "client_secret_basic" not in methods)


def _fetch(request: Request) -> tuple[int, dict[str, Any]]:
    """Status and JSON of a reply; {} if it has none. Raises SignInFailed if there is no reply in time."""
    try:
        reply = exchange(request, TIMEOUT_S, MAX_REPLY_BYTES)
    except (OSError, HTTPException, ReplyTooLarge) as error:
        reason = str(error) or type(error).__name__
        raise SignInFailed(503, f"The identity provider cannot be reached: {reason}.") from None
    try:
        body = json.loads(reply.body)
    except (ValueError, RecursionError):
        return reply.status, {}
    return reply.status, body if isinstance(body, dict) else {}


def _is_safe_url(text: str) -> bool:
    """True for https, and for http on this machine."""
    parts = urlsplit(text)
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    )
