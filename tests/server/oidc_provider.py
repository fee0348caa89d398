"""A small OpenID Connect provider on the loopback address: discovery, codes with PKCE, tokens and keys."""

from __future__ import annotations

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from ..patience import PATIENCE_S

CLIENT_ID, CLIENT_SECRET = "pages", "s3cret"
BASIC = "Basic cGFnZXM6czNjcmV0"


class Oidc:
    """Approves every authorization request. Tests change its answers."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.issuer = ""
        self.sub = "ann"
        self.scope = "openid backstory:write"
        self.claims: dict[str, Any] = {}
        """Replace the usual claims of the next ID tokens."""
        self.description: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.redemptions = 0
        self.is_open = threading.Event()
        """Cleared, its description waits."""
        self.is_open.set()
        self.waits = threading.Event()

    def jwt(self, audience: str) -> str:
        """An access token for an assistant."""
        claims = {
            "iss": self.issuer,
            "aud": audience,
            "sub": self.sub,
            "exp": int(time.time()) + 600,
            "scope": self.scope,
        }
        return jwt.encode(claims, self.key, "RS256", headers={"kid": "one"})

    def code(self, address: str) -> str:
        """The address that the browser is sent back to after it went to `address`."""
        query = dict(parse_qsl(urlsplit(address).query))
        assert (query["response_type"], query["client_id"]) == ("code", CLIENT_ID)
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = f"code{len(self.codes)}-{time.monotonic_ns()}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.issuer})}"

    def redeem(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        self.redemptions += 1
        asked = self.codes.pop(form.get("code", ""), None)
        if authorization != BASIC:
            return 401, {"error": "invalid_client"}
        challenge = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or form["redirect_uri"] != asked["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": self.sub,
            "exp": int(time.time()) + 60,
            "nonce": asked["nonce"],
            "preferred_username": self.sub.title(),
            **self.claims,
        }
        token = jwt.encode(claims, self.key, "RS256", headers={"kid": "one"})
        return 200, {"id_token": token, "access_token": "opaque", "scope": self.scope, "token_type": "Bearer"}

    def page(self, path: str) -> dict[str, Any]:
        if path == "/jwks":
            published = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
            return {"keys": [{**published, "kid": "one", "use": "sig", "alg": "RS256"}]}
        assert path == "/.well-known/openid-configuration"
        if not self.is_open.is_set():
            self.waits.set()
            assert self.is_open.wait(PATIENCE_S)
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            **self.description,
        }


@contextmanager
def providing(oidc: Oidc) -> Iterator[Oidc]:
    """Run the provider. At a second time it has the address of the first."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/authorize?"):
                self.send_response(302)
                self.send_header("Location", oidc.code(self.path))
                self.end_headers()
                return
            self._send(200, oidc.page(self.path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._send(*oidc.redeem(form, self.headers.get("Authorization", "")))

        def _send(self, status: int, body: dict[str, Any]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *arguments: object) -> None:
            pass

    port = urlsplit(oidc.issuer).port or 0
    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        oidc.issuer = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield oidc
        finally:
            server.shutdown()
            thread.join()
