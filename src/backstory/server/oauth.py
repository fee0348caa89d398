"""An identity provider: the JWTs it signed, and where clients find it (RFC 9728)."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request

import jwt

from ..domain.errors import BackstoryError, InvalidInput
from ..domain.lines import one_line
from ..domain.query import field_of
from ..domain.scopes import scope_of
from ..domain.team import StoredKeySet
from ..domain.when import utc_now
from ..exchange import ReplyTooLarge, exchange
from ..settings import Settings, required
from ..store import Store
from . import wire
from .auth import Principal
from .challenges import FIRST_SCOPES, scope_words
from .groups import GroupGrants
from .tenants import is_name

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
"""Accepted algorithms. None uses a shared secret, because the key set is public."""
WELL_KNOWN = "/.well-known/oauth-protected-resource"
FETCH_ERRORS = (jwt.PyJWTError, OSError, HTTPException, ValueError)
"""A provider that cannot be reached, or that answers something else than keys."""

MAX_NAME_CHARS = 80
FETCH_TIMEOUT_S = 10.0
MAX_REPLY_BYTES = 1_000_000
KEYS_FOR_S = 300.0
"""Seconds after which keys are fetched again, and for which a withdrawn key may still be accepted."""
LAST_GOOD_KEYS_FOR_S = 24 * 3600.0
"""Seconds for which keys are used while the provider does not answer."""
PATIENCE_S = 1.0
"""Seconds that a login with a known key waits for newer keys: a provider that hangs must not stop logins."""
LEAST_REST_S = 10.0
"""Minimum pause between two fetches, regardless of their results and of the keys in tokens: no client can make the
server query the provider more often."""


class KeySet:
    """The provider's keys: fetched when first needed, after a while, and for an unknown one, on one thread of their own.

    The last good keys stay while the provider fails. A login that names one of them waits for a fetch for a moment only.
    """

    def __init__(
        self,
        fetch: Callable[[], Sequence[jwt.PyJWK]],
        clock: Callable[[], float] = time.monotonic,
        report: Callable[[str], None] = lambda problem: None,
        restore: Callable[[], tuple[Sequence[jwt.PyJWK], float] | None] = lambda: None,
    ) -> None:
        """`fetch` raises FETCH_ERRORS, which `report` receives.

        `restore` returns keys of an earlier run and their age in seconds."""
        self._fetch = fetch
        self._clock = clock
        self._report = report
        self._restore = restore
        self._is_restored = False
        self._lock = threading.Lock()
        self._fetched = threading.Event()
        self._fetched.set()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_s = -math.inf
        self._next_s = -math.inf

    def key(self, id: str) -> jwt.PyJWK:
        """The key with this id. Raises a PyJWTError if there is none, or if the provider does not answer."""
        self._restore_once()
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

    def _restore_once(self) -> None:
        with self._lock:
            if self._is_restored:
                return
            self._is_restored = True
            if restored := self._restore():
                keys, age_s = restored
                self._keys = _by_id(keys)
                self._fetched_s = self._clock() - age_s

    def _age_s(self) -> float:
        return self._clock() - self._fetched_s

    def _start_fetch(self) -> bool:
        """Start a fetch. Returns False if one is running, or if the provider was queried just now."""
        with self._lock:
            if not self._fetched.is_set() or self._clock() < self._next_s:
                return False
            self._fetched.clear()
        threading.Thread(target=self._renew, name="oauth-keys", daemon=True).start()
        return True

    def _renew(self) -> None:
        try:
            self._keys = _by_id(self._fetch())
            self._fetched_s = self._clock()
        except FETCH_ERRORS as error:
            self._report(f"The identity provider's keys could not be fetched: {error}")
        finally:
            self._next_s = self._clock() + LEAST_REST_S
            self._fetched.set()


def _by_id(keys: Sequence[jwt.PyJWK]) -> dict[str, jwt.PyJWK]:
    return {key.key_id: key for key in keys if key.key_id}


class IdentityProvider:
    def __init__(self, settings: Settings, control: Store, report: Callable[[str], None]) -> None:
        self._issuer = required(settings, "oauth_issuer")
        required(settings, "oauth_audience")
        self._audiences = settings.oauth_audience
        self._leeway_s = settings.oauth_leeway_s
        self._groups_claim = settings.oauth_groups_claim
        self._grants = GroupGrants(settings.oauth_groups)
        saved = SavedKeys(control, required(settings, "oauth_jwks_url"), report)
        self._keys = KeySet(saved.fetch, report=report, restore=saved.restore)
        self._resource = settings.oauth_resource or next(filter(_is_url, self._audiences), "")
        if not _is_url(self._resource):
            raise InvalidInput(
                f"oauth_resource {self._resource!r} is not a URL.",
                hint="Use the one that clients reach `/mcp` by, such as https://memory.example.com/mcp.",
                field="oauth_resource",
            )
        resource = urlsplit(self._resource)
        self.metadata_path = WELL_KNOWN + resource.path.rstrip("/")
        self.metadata_url = f"{resource.scheme}://{resource.netloc}{self.metadata_path}"

    @property
    def issuer(self) -> str:
        return self._issuer

    @property
    def origin(self) -> str:
        """The server's address for browsers and clients, without a path."""
        resource = urlsplit(self._resource)
        return f"{resource.scheme}://{resource.netloc}"

    def verify(self, text: str) -> Principal | None:
        try:
            return self.principal(self.claims(text, self._audiences))
        except jwt.PyJWTError:
            return None

    def claims(self, text: str, audiences: Sequence[str]) -> dict[str, Any]:
        """The claims of a token of the provider for one of `audiences`. Raises a PyJWTError if it is none."""
        claims: dict[str, Any] = jwt.decode(
            text,
            self._keys.key(str(jwt.get_unverified_header(text).get("kid"))),
            algorithms=ALGORITHMS,
            audience=audiences,
            issuer=self._issuer,
            leeway=self._leeway_s,
            options={"require": ["exp", "sub", "aud", "iss"]},
        )
        return claims

    def principal(self, claims: Mapping[str, Any], scopes: str = "") -> Principal:
        """The caller that claims describe. `scopes` counts where the claims name none."""
        scope = scope_of(_words(claims.get("scope", claims.get("scp", scopes))))
        groups = _names(field_of(claims, self._groups_claim))
        spaces = [*_words(claims.get("spaces")), *self._grants.spaces(groups)]
        return Principal(
            f"oauth:{claims['sub']}",
            f"{self._issuer} {claims['sub']}",
            self._grants.granted_scope(groups, scope, is_named=bool(scope)),
            tuple(dict.fromkeys(filter(is_name, spaces))),
            self._grants.highest_scope(groups),
            name=_display_name(claims),
            roles=self._grants.roles(groups),
        )

    def metadata(self) -> bytes:
        # a client that reads no challenge asks for all of these, so the scope that deletes everything is not among them
        description = {
            "resource": self._resource,
            "authorization_servers": [self._issuer],
            "scopes_supported": scope_words(*FIRST_SCOPES).split(),
            "bearer_methods_supported": ["header"],
            "resource_name": "Backstory",
        }
        return wire.to_json(description).encode()


class SavedKeys:
    """The provider's keys as it publishes them, and in the store as it published them last.

    A server that starts while the provider is down uses the stored ones."""

    def __init__(self, control: Store, url: str, report: Callable[[str], None]) -> None:
        self._control = control
        self._url = url
        self._report = report

    def fetch(self) -> list[jwt.PyJWK]:
        """Fetch the keys. Raises FETCH_ERRORS."""
        key_set = self._published()
        keys = _signing_keys(key_set)
        try:
            self._control.team.put_key_set(StoredKeySet(self._url, json.dumps(key_set), utc_now()))
        except BackstoryError as error:
            self._report(f"The identity provider's keys could not be stored: {error}")
        return keys

    def _published(self) -> Any:
        request = Request(self._url, headers={"Accept": "application/json"})
        try:
            reply = exchange(request, FETCH_TIMEOUT_S, MAX_REPLY_BYTES)
        except ReplyTooLarge:
            raise ValueError("The answer is too long.") from None
        if reply.status != 200:
            raise ValueError(f"The answer has the status {reply.status}.")
        return json.loads(reply.body)

    def restore(self) -> tuple[list[jwt.PyJWK], float] | None:
        """The stored keys and their age in seconds."""
        try:
            stored = self._control.team.key_set(self._url)
            if stored is None:
                return None
            age_s = max((utc_now() - stored.fetched_at).total_seconds(), 0.0)
            return _signing_keys(json.loads(stored.keys)), age_s
        except (BackstoryError, *FETCH_ERRORS) as error:
            self._report(f"The identity provider's stored keys could not be read: {error}")
            return None


def _signing_keys(key_set: Any) -> list[jwt.PyJWK]:
    """An empty set is an answer: the provider withdrew all of its keys."""
    if isinstance(key_set, dict) and key_set.get("keys") == []:
        return []
    return [key for key in jwt.PyJWKSet.from_dict(key_set).keys if key.public_key_use in ("sig", None)]


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("https", "http") and bool(parts.netloc)


def _display_name(claims: Mapping[str, Any]) -> str:
    """A name for display; permissions depend on `sub` alone."""
    candidates = (claims.get(name) for name in ("preferred_username", "email", "name", "sub"))
    return next(
        one_line(each, MAX_NAME_CHARS) for each in candidates if isinstance(each, str) and each.strip()
    )


def _names(claim: Any) -> list[str]:
    """The strings of a claim; names of groups may have blanks in them."""
    items = claim if isinstance(claim, list) else [claim]
    return [item for item in items if isinstance(item, str)]


def _words(claim: Any) -> list[str]:
    return _names(claim.split() if isinstance(claim, str) else claim)
