"""Who may do what: tokens, their scopes and ends, and the JWTs of an identity provider."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from backstory.surfaces import all_tools, load_surfaces

from ..example_calls import Known, chunked_answer, example_calls
from ..patience import until
from ..typed import typed
from .team import Web, bearer, listening, token

Json = dict[str, Any]
TOOLS = all_tools(load_surfaces())
ISSUER = "https://login.example.com"
AUDIENCE = "https://memory.example.com/mcp"


def test_a_token_is_needed_and_shown_only_once(home: Path) -> None:
    made = token(home, "alice", "--expires", "30")
    with listening(home, "--http-auth", "token") as web:
        refused = web.ask("ping", {})
        assert refused.status == 401
        assert refused.headers["WWW-Authenticate"].startswith("Bearer ")
        assert web.ask("ping", {}, Authorization="Bearer bst_wrong").status == 401
        assert web.ask("ping", {}, **bearer(made)).status == 200
        assert web.send("/metrics").status == 401
        assert web.send("/healthz").status == web.send("/readyz").status == 200
    listed = typed("token", "list", "--json", home=home).stdout
    assert json.loads(listed)["tokens"][0]["user"] == "alice"
    kept = b"".join(path.read_bytes() for path in home.glob("team.db*"))
    assert made["token"] not in listed
    assert made["token"].encode() not in kept


def test_a_revoked_token_is_refused(home: Path) -> None:
    made = token(home, "alice")
    with listening(home, "--http-auth", "token") as web:
        assert web.ask("ping", {}, **bearer(made)).status == 200
        assert typed("token", "revoke", made["id"], home=home).returncode == 0
        until(lambda: web.ask("ping", {}, **bearer(made)).status == 401)
    assert typed("token", "revoke", made["id"], home=home).returncode == 1


def test_a_token_ends_when_it_expires(tmp_path: Path) -> None:
    made = token(tmp_path, "alice", "--expires", "0.0000001")
    with listening(tmp_path, "--http-auth", "token") as web:
        assert web.ask("ping", {}, **bearer(made)).status == 401


def test_names_that_could_leave_their_folder_are_refused(tmp_path: Path) -> None:
    for words in (["--user", "../eve"], ["--user", "eve", "--space", "a/b"], []):
        assert typed("token", "create", *words, home=tmp_path).returncode == 2


def contents(web: Web, headers: dict[str, str]) -> list[Json]:
    asked: list[tuple[str, Json]] = [
        ("context_get", {"limit": 100, "includeMetadata": True}),
        ("retrieve_context", {"query": "kept one two", "limit": 9}),
        ("context_session_list", {"limit": 100}),
    ]
    return [web.call(tool, arguments, **headers)["structuredContent"] for tool, arguments in asked]


def test_a_read_token_calls_what_only_reads_and_nothing_else_and_a_write_token_cannot_clear(
    home: Path,
) -> None:
    admin, writer, reader = (
        bearer(token(home, "alice", "--scope", scope)) for scope in ("admin", "write", "read")
    )
    with listening(home, "--http-auth", "token") as web:
        session = web.call("context_session_start", {"name": "Mine"}, **writer)["structuredContent"]
        web.call("context_save", {"key": "doomed", "value": "Kept."}, **writer)
        one, two = (
            web.call("save_context", {"context_text": text}, **writer)["structuredContent"]["id"]
            for text in ("One kept.", "Two kept.")
        )
        chunked = chunked_answer(
            lambda tool, **arguments: web.call(tool, arguments, **writer)["structuredContent"]
        )
        before = contents(web, admin)
        for name, arguments in example_calls(Known(one, two, session["sessionId"], str(home), chunked)):
            result = web.call(name, arguments, **reader)
            is_refused = result["isError"] and "scope" in result["content"][0]["text"]
            assert is_refused != TOOLS[name].effect.read_only, name
            wrong = web.call(name, {"no": "such"}, **reader)["content"][0]["text"]
            assert TOOLS[name].effect.read_only or "scope" in wrong, name
        assert contents(web, admin) == before
        clear, confirmed = "clear_all_context", {"confirmation": "confirm"}
        assert web.call(clear, confirmed, **writer)["isError"]
        assert web.call(clear, confirmed, **admin)["structuredContent"]["deleted_count"] == 3


def test_failed_logins_are_written_down_and_slowed_and_good_ones_are_not(home: Path) -> None:
    made = token(home, "alice")
    with listening(home, "--http-auth", "token") as web:
        wrong = [web.ask("ping", {}, Authorization="Bearer bst_guess")]
        while wrong[-1].status == 401:  # a slow machine may guess once more every six seconds
            wrong.append(web.ask("ping", {}, Authorization=f"Bearer bst_guess{len(wrong)}"))
        assert wrong[-1].status == 429
        assert int(wrong[-1].headers["Retry-After"]) >= 1
        assert len(wrong) > 10
        assert web.ask("ping", {}, **bearer(made)).status == 200
    printed = typed("audit", "--since", "today", "--json", home=home).stdout
    calls = json.loads(printed)["calls"]
    assert [(each["credential"], each["tool"], each["outcome"]) for each in calls] == [
        ("from 127.0.0.1", "login", "refused")
    ] * (len(wrong) - 1)
    assert "bst_guess" not in printed
    assert "from 127.0.0.1" in typed("audit", "--since", "today", home=home).stdout


def test_who_guesses_behind_a_trusted_proxy_is_known_by_the_own_address(home: Path) -> None:
    with listening(home, "--http-auth", "token", BACKSTORY_HTTP_PROXIES="127.0.0.1") as web:
        guess = {"Authorization": "Bearer bst_guess"}
        while web.ask("ping", {}, X_Forwarded_For="203.0.113.5", **guess).status != 429:
            pass
        assert web.ask("ping", {}, X_Forwarded_For="203.0.113.6", **guess).status == 401
        assert web.send("/web/", X_Forwarded_For="203.0.113.5", Cookie="backstory_login=bst_x").status == 429
    calls = json.loads(typed("audit", "--since", "today", "--json", home=home).stdout)["calls"]
    assert {each["credential"] for each in calls} == {"from 203.0.113.5", "from 203.0.113.6"}


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def jwks_url(key: rsa.RSAPrivateKey) -> Iterator[str]:
    published = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    body = json.dumps({"keys": [{**published, "kid": "one", "use": "sig", "alg": "RS256"}]}).encode()

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Keys) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/jwks"
        server.shutdown()
        thread.join()


def claims(**changes: Any) -> Json:
    until = int(time.time()) + 600
    usual = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "auth0|7",
        "exp": until,
        "scope": "openid backstory:write",
    }
    return {name: value for name, value in (usual | changes).items() if value is not None}


def signed(key: Any, algorithm: str = "RS256", kid: str = "one", **changes: Any) -> dict[str, str]:
    text = jwt.encode(claims(**changes), key, algorithm, headers={"kid": kid})
    return {"Authorization": f"Bearer {text}"}


def test_jwts_of_the_identity_provider_are_accepted_and_no_others(
    tmp_path: Path, key: rsa.RSAPrivateKey, jwks_url: str
) -> None:
    provider = {
        "BACKSTORY_OAUTH_ISSUER": ISSUER,
        "BACKSTORY_OAUTH_AUDIENCE": AUDIENCE,
        "BACKSTORY_OAUTH_JWKS_URL": jwks_url,
    }
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    own = bearer(token(tmp_path, "alice"))
    with listening(tmp_path, "--http-auth", "oauth", **provider) as web:
        assert web.ask("ping", {}, **own).status == 200
        for wrong in [
            signed(stranger),
            signed(key, kid="two"),
            signed(key, iss="https://evil.example"),
            signed(key, aud="https://other.example"),
            signed(key, exp=int(time.time()) - 600),
            signed(key, exp=None),
            signed(key, sub=None),
            signed("a" * 64, "HS256"),
            {"Authorization": f"Bearer {jwt.encode(claims(), '', 'none')}"},
        ]:
            assert web.ask("ping", {}, **wrong).status == 401, wrong
        good = signed(key, spaces=["ops"])
        assert not web.call("save_context", {"context_text": "Lunch."}, **good)["isError"]
        assert web.ask("ping", {}, "/mcp/ops", **good).status == 200
        assert web.ask("ping", {}, "/mcp/dev", **good).status == 404
        assert web.call("save_context", {"context_text": "x"}, **signed(key, scope="backstory:read"))[
            "isError"
        ]
        assert web.call("retrieve_context", {"query": "x"}, **signed(key, scope="openid"))["isError"]
        refused = web.ask("ping", {}).headers["WWW-Authenticate"]
        assert "https://memory.example.com/.well-known/oauth-protected-resource/mcp" in refused
        metadata = web.send("/.well-known/oauth-protected-resource/mcp").json
        assert metadata["resource"] == AUDIENCE
        assert metadata["authorization_servers"][0].rstrip("/") == ISSUER


def test_an_own_token_is_let_in_while_the_provider_hangs(tmp_path: Path, key: rsa.RSAPrivateKey) -> None:
    own = bearer(token(tmp_path, "alice"))
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and says nothing
        provider = {
            "BACKSTORY_OAUTH_ISSUER": ISSUER,
            "BACKSTORY_OAUTH_AUDIENCE": AUDIENCE,
            "BACKSTORY_OAUTH_JWKS_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/jwks",
        }
        with (
            listening(tmp_path, "--http-auth", "oauth", **provider) as web,
            ThreadPoolExecutor(8) as threads,
        ):
            waiting = [threads.submit(web.ask, "ping", {}, **signed(key)) for _ in range(8)]
            connection, _ = silent.accept()
            assert web.ask("ping", {}, **own).status == 200
            assert web.send("/readyz").status == 200
            connection.close()
            assert {each.result().status for each in waiting} == {401}
