"""Who may do what: tokens, their scopes and ends, and the JWTs of an identity provider."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from backstory.surfaces import all_tools, load_surfaces

from ..example_calls import Known, chunked_answer, example_calls
from ..patience import until
from ..processes import run
from ..typed import typed
from .team import Answer, Web, bearer, listening, token

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


@contextmanager
def publishing(key: rsa.RSAPrivateKey) -> Iterator[str]:
    """The URL of the provider's key set, while the provider is up."""
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


@pytest.fixture
def jwks_url(key: rsa.RSAPrivateKey) -> Iterator[str]:
    with publishing(key) as url:
        yield url


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


def trusting(home: Path, jwks_url: str, **variables: str) -> AbstractContextManager[Web]:
    """A server that accepts the provider's tokens."""
    provider = {
        "BACKSTORY_OAUTH_ISSUER": ISSUER,
        "BACKSTORY_OAUTH_AUDIENCE": AUDIENCE,
        "BACKSTORY_OAUTH_JWKS_URL": jwks_url,
    }
    return listening(home, "--http-auth", "oauth", **(provider | variables))


def call_with(web: Web, tool: str, arguments: Json, headers: dict[str, str]) -> Answer:
    return web.ask("tools/call", {"name": tool, "arguments": arguments}, **headers)


def test_jwts_of_the_identity_provider_are_accepted_and_no_others(
    tmp_path: Path, key: rsa.RSAPrivateKey, jwks_url: str
) -> None:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    own = bearer(token(tmp_path, "alice"))
    with trusting(tmp_path, jwks_url) as web:
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
        refused = web.ask("ping", {}).headers["WWW-Authenticate"]
        assert "https://memory.example.com/.well-known/oauth-protected-resource/mcp" in refused
        metadata = web.send("/.well-known/oauth-protected-resource/mcp").json
        assert metadata["resource"] == AUDIENCE
        assert metadata["authorization_servers"][0].rstrip("/") == ISSUER


def test_an_own_token_is_let_in_while_the_provider_hangs(tmp_path: Path, key: rsa.RSAPrivateKey) -> None:
    own = bearer(token(tmp_path, "alice"))
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,  # takes connections and says nothing
        trusting(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/jwks") as web,
        ThreadPoolExecutor(8) as threads,
    ):
        waiting = [threads.submit(web.ask, "ping", {}, **signed(key)) for _ in range(8)]
        connection, _ = silent.accept()
        assert web.ask("ping", {}, **own).status == 200
        assert web.send("/readyz").status == 200
        connection.close()
        assert {each.result().status for each in waiting} == {401}


def test_a_client_asks_for_no_more_than_a_call_needs(
    home: Path, key: rsa.RSAPrivateKey, jwks_url: str
) -> None:
    with trusting(home, jwks_url) as web:
        first = web.ask("ping", {}).headers["WWW-Authenticate"]
        assert 'scope="backstory:read backstory:write"' in first
        metadata = web.send("/.well-known/oauth-protected-resource/mcp").json
        assert metadata["scopes_supported"] == ["backstory:read", "backstory:write"]
        save, clear = {"context_text": "Lunch."}, {"confirmation": "confirm"}
        for scope, tool, arguments, needed in [
            ("openid", "retrieve_context", {"query": "x"}, "read"),
            ("backstory:read", "save_context", save, "write"),
            ("backstory:write", "clear_all_context", clear, "admin"),
        ]:
            refused = call_with(web, tool, arguments, signed(key, scope=scope))
            challenge = refused.headers["WWW-Authenticate"]
            assert refused.status == 403
            assert 'error="insufficient_scope"' in challenge
            assert f'scope="backstory:{needed}"' in challenge
            assert 'resource_metadata="https://memory.example.com/.well-known/' in challenge
            granted = call_with(web, tool, arguments, signed(key, scope=f"openid backstory:{needed}"))
            assert granted.status == 200
            assert not granted.json["result"]["isError"]
    calls = json.loads(typed("audit", "--since", "today", "--json", home=home).stdout)["calls"]
    assert [(each["tool"], each["outcome"]) for each in calls] == [
        ("save_context", "refused"),
        ("save_context", "completed"),
        ("clear_all_context", "refused"),
        ("clear_all_context", "completed"),
    ]


def test_an_audience_is_one_of_any_strings_and_clocks_may_differ_a_little(
    tmp_path: Path, key: rsa.RSAPrivateKey, jwks_url: str
) -> None:
    (tmp_path / "config.toml").write_text(
        'oauth_audience = ["api://backstory", "7f1c"]\noauth_resource = "https://memory.example.com/mcp"\n'
    )
    issued = {"BACKSTORY_OAUTH_ISSUER": ISSUER, "BACKSTORY_OAUTH_JWKS_URL": jwks_url}
    just_over = int(time.time()) - 2
    with listening(tmp_path, "--http-auth", "oauth", BACKSTORY_OAUTH_LEEWAY_S="3600", **issued) as web:
        for aud in ("api://backstory", "7f1c", ["other", "7f1c"]):
            assert web.ask("ping", {}, **signed(key, aud=aud)).status == 200
        assert web.ask("ping", {}, **signed(key, aud="7f1c", exp=just_over)).status == 200
        assert web.ask("ping", {}, **signed(key, aud="7f1c", nbf=just_over + 600)).status == 200
        assert web.ask("ping", {}, **signed(key, aud="7f1c", exp=just_over - 7200)).status == 401
        assert web.ask("ping", {}, **signed(key, aud="7f1")).status == 401
        assert web.send("/.well-known/oauth-protected-resource/mcp").json["resource"] == AUDIENCE


def test_an_audience_that_is_no_url_needs_the_url_of_the_server(tmp_path: Path, jwks_url: str) -> None:
    variables = {
        "BACKSTORY_OAUTH_ISSUER": ISSUER,
        "BACKSTORY_OAUTH_AUDIENCE": "api://backstory",
        "BACKSTORY_OAUTH_JWKS_URL": jwks_url,
    }
    failed = run("serve", "--http", "127.0.0.1:0", "--http-auth", "oauth", home=tmp_path, **variables)
    assert failed.returncode == 2
    assert "oauth_resource" in failed.stderr


def test_groups_give_scopes_and_spaces_and_a_token_can_only_narrow_them(
    tmp_path: Path, key: rsa.RSAPrivateKey, jwks_url: str
) -> None:
    (tmp_path / "config.toml").write_text(
        'oauth_groups = ["staff=write", "cn=lead,ou=eng=admin", "On call=space:ops"]\n'
        'oauth_groups_claim = "realm_access.roles"\n'
    )

    def member(*groups: str, scope: str = "openid") -> dict[str, str]:
        return signed(key, scope=scope, realm_access={"roles": list(groups)})

    with trusting(tmp_path, jwks_url) as web:
        save, clear = {"context_text": "Lunch."}, {"confirmation": "confirm"}
        assert not call_with(web, "save_context", save, member("staff")).json["result"]["isError"]
        assert call_with(web, "save_context", save, member("staff", scope="backstory:read")).status == 403
        # no token can give more than the groups do, so a client is not sent for one
        assert call_with(web, "clear_all_context", clear, member("staff")).json["result"]["isError"]
        climbing = member("staff", scope="backstory:admin")
        assert call_with(web, "clear_all_context", clear, climbing).json["result"]["isError"]
        assert call_with(web, "save_context", save, member(scope="backstory:admin")).json["result"]["isError"]
        leading = member("staff", "cn=lead,ou=eng")
        assert not call_with(web, "clear_all_context", clear, leading).json["result"]["isError"]
        assert web.ask("ping", {}, "/mcp/ops", **member("staff", "On call")).status == 200
        assert web.ask("ping", {}, "/mcp/ops", **member("staff")).status == 404


@pytest.mark.parametrize("entry", ["staff", "staff=owner", "=write", "staff=space:../x"])
def test_a_group_that_grants_nothing_is_refused_at_the_start(
    tmp_path: Path, jwks_url: str, entry: str
) -> None:
    variables = {
        "BACKSTORY_OAUTH_ISSUER": ISSUER,
        "BACKSTORY_OAUTH_AUDIENCE": AUDIENCE,
        "BACKSTORY_OAUTH_JWKS_URL": jwks_url,
        "BACKSTORY_OAUTH_GROUPS": entry,
    }
    failed = run("serve", "--http", "127.0.0.1:0", "--http-auth", "oauth", home=tmp_path, **variables)
    assert failed.returncode == 2
    assert "oauth_groups" in failed.stderr


def test_a_server_that_starts_while_the_provider_is_down_knows_its_last_keys(
    home: Path, key: rsa.RSAPrivateKey
) -> None:
    with publishing(key) as url, trusting(home, url) as web:
        assert web.ask("ping", {}, **signed(key)).status == 200
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with trusting(home, url) as web:
        assert web.ask("ping", {}, **signed(key)).status == 200
        assert web.ask("ping", {}, **signed(stranger)).status == 401
