"""Signing in to the pages at the identity provider: whoever it vouches for is let in, and nobody else."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.parse import quote as urlquote
from urllib.request import Request

import pytest

from backstory.server import pages, sso
from backstory.server.logins import SignInFailed

from ..patience import PATIENCE_S, until
from ..processes import run
from ..test_exchange import answering, dripping
from ..typed import typed
from .oidc_provider import CLIENT_ID, CLIENT_SECRET, Oidc, providing
from .team import PRODUCT, listening


class Page(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str


class Browser:
    """Cookies by name; their paths are not looked at."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.site = urlsplit(url).netloc
        self.cookies: dict[str, str] = {}

    def open(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Page:
        connection = http.client.HTTPConnection(self.site, timeout=PATIENCE_S)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        named = {name.replace("_", "-"): value for name, value in headers.items()} | {"Cookie": cookies}
        if form is not None:
            named |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self.site}"}
        try:
            body = None if form is None else urlencode(form)
            connection.request("GET" if form is None else "POST", path, body, named)
            answer = connection.getresponse()
            page = Page(answer.status, answer.headers, answer.read().decode())
        finally:
            connection.close()
        for line in page.headers.get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
        return page

    def ask_provider(self, oidc: Oidc) -> str:
        """The path that the provider sends the browser back to."""
        page = self.open("/web/sign-in")
        assert page.status == 303, page.text
        back = urlsplit(oidc.code(page.headers["Location"]))
        return f"{back.path}?{back.query}"

    def sign_in(self, oidc: Oidc) -> Page:
        return self.open(self.ask_provider(oidc), None, Sec_Fetch_Site="cross-site")

    def is_in(self) -> bool:
        return self.open("/web/memories").status == 200


@contextmanager
def serving(home: Path, oidc: Oidc, **variables: str) -> Iterator[Browser]:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
    settings = {
        "BACKSTORY_OAUTH_ISSUER": oidc.issuer,
        "BACKSTORY_OAUTH_AUDIENCE": f"http://{address}/mcp",
        "BACKSTORY_OAUTH_JWKS_URL": f"{oidc.issuer}/jwks",
        "BACKSTORY_OAUTH_CLIENT_ID": CLIENT_ID,
        "BACKSTORY_OAUTH_CLIENT_SECRET": CLIENT_SECRET,
    }
    command = [address if word == "127.0.0.1:0" else word for word in PRODUCT]
    with listening(home, "--http-auth", "oauth", command=command, **(settings | variables)) as web:
        yield Browser(web.url)


@pytest.fixture
def oidc() -> Iterator[Oidc]:
    with providing(Oidc()) as provider:
        yield provider


def test_people_sign_in_and_out(home: Path, oidc: Oidc) -> None:
    with serving(home, oidc) as browser:
        assert "/web/sign-in" in browser.open("/web/").text
        page = browser.sign_in(oidc)
        assert page.status == 200, page.text
        assert 'http-equiv="refresh"' in page.text
        cookie = next(line for line in page.headers.get_all("Set-Cookie", []) if "backstory_login=" in line)
        assert {"HttpOnly", "SameSite=strict", "Path=/web"} <= set(cookie.split("; "))
        assert browser.is_in()
        secret = browser.cookies["backstory_login"]
        authorization = {"Authorization": f"Bearer {secret}"}
        assert browser.open("/mcp", None, **authorization).status == 401, "a session opens pages only"
        assert "Log out" in browser.open("/web/").text
        assert browser.open("/web/logout", {}).status == 303
        browser.cookies["backstory_login"] = secret
        assert not browser.is_in(), "the session has ended, not only the cookie"


def test_everybody_has_the_own_tenant_and_the_spaces_of_their_groups(tmp_path: Path, oidc: Oidc) -> None:
    groups = {"BACKSTORY_OAUTH_GROUPS": "staff=read,leads=write,leads=space:ops:maintainer"}
    with serving(tmp_path, oidc, **groups) as browser:
        oidc.claims = {"groups": ["staff"]}
        assert browser.sign_in(oidc).status == 200
        assert "read-only" in browser.open("/web/").text
        assert browser.open("/web/teams/ops/").status == 404
        oidc.claims = {"groups": ["leads"]}
        assert browser.sign_in(oidc).status == 200
        assert "read-only" not in browser.open("/web/").text
        assert browser.open("/web/teams/ops/").status == 200
        oidc.claims = {"groups": ["visitors"]}
        stranger = Browser(f"http://{browser.site}")
        page = stranger.sign_in(oidc)
        assert page.status == 403
        assert "you have no permissions here" in page.text
        assert not stranger.is_in()


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"aud": "another-client"}, "Audience"),
        ({"iss": "https://evil.example"}, "issuer"),
        ({"exp": 1}, "expired"),
        ({"nonce": "of another sign-in"}, "another sign-in"),
        ({"aud": [CLIENT_ID, "b"], "azp": "b"}, "another client"),
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_opens_nothing(
    tmp_path: Path, oidc: Oidc, claims: dict[str, object], reason: str
) -> None:
    oidc.claims = claims
    with serving(tmp_path, oidc) as browser:
        page = browser.sign_in(oidc)
        assert (page.status, reason in page.text) == (502, True), page.text
        assert "backstory_login" not in browser.cookies


def test_a_code_is_taken_once_and_only_by_the_browser_that_asked(tmp_path: Path, oidc: Oidc) -> None:
    with serving(tmp_path, oidc) as browser:
        back = browser.ask_provider(oidc)
        other = Browser(f"http://{browser.site}")
        for cookies in ({}, {"backstory_sign_in": "a.b.c"}, {"backstory_sign_in": ".."}):
            other.cookies = dict(cookies)
            page = other.open(back)
            assert page.status == 400
            assert "not started in this browser" in page.text
        assert oidc.redemptions == 0
        started = dict(browser.cookies)
        assert browser.open(back).status == 200
        again = Browser(f"http://{browser.site}")
        again.cookies = started
        page = again.open(back)
        assert (page.status, "invalid_grant" in page.text) == (502, True)
        assert "backstory_login" not in again.cookies
    calls = json.loads(typed("audit", "--since", "today", "--json", home=tmp_path).stdout)["calls"]
    assert [each["tool"] for each in calls] == ["login"] * 4


def test_a_code_is_useless_without_the_verifier(tmp_path: Path, oidc: Oidc) -> None:
    with serving(tmp_path, oidc) as browser:
        back = browser.ask_provider(oidc)
        state, nonce, _ = browser.cookies["backstory_sign_in"].split(".")
        browser.cookies["backstory_sign_in"] = f"{state}.{nonce}.guess"
        assert browser.open(back).status == 502
        assert "backstory_login" not in browser.cookies


def test_a_refusal_of_the_provider_is_shown_as_text(tmp_path: Path, oidc: Oidc) -> None:
    with serving(tmp_path, oidc) as browser:
        state = parse_qs(urlsplit(browser.ask_provider(oidc)).query)["state"][0]
        query = urlencode({"error": "access_denied", "error_description": "<b>no</b>", "state": state})
        page = browser.open(f"/web/callback?{query}")
        assert page.status == 403
        assert "access_denied: &lt;b&gt;no" in page.text


def test_a_provider_that_is_down_or_describes_another_one_is_named(tmp_path: Path) -> None:
    with providing(Oidc()) as oidc:
        pass
    with serving(tmp_path, oidc) as browser:
        page = browser.open("/web/sign-in")
        assert page.status == 503
        assert "cannot be reached" in page.text
        assert 'name="token"' in page.text, "tokens still log in"
        with providing(oidc):
            oidc.description = {"token_endpoint": "http://elsewhere.example/token"}
            assert browser.open("/web/sign-in").status == 502
            oidc.description = {}
            assert browser.sign_in(oidc).status == 200
        assert browser.is_in(), "a session does not need the provider"


def test_sign_ins_at_a_provider_that_hangs_do_not_delay_jwts(tmp_path: Path, oidc: Oidc) -> None:
    finished: list[int] = []
    with serving(tmp_path, oidc) as browser:
        token = oidc.jwt(f"http://{browser.site}/mcp")
        oidc.is_open.clear()
        visits = [
            threading.Thread(target=lambda: finished.append(Browser(browser.url).open("/web/sign-in").status))
            for _ in range(8)
        ]
        for visit in visits:
            visit.start()
        try:
            assert oidc.waits.wait(PATIENCE_S)
            assert browser.open("/web/login", {"token": token}).status == 303
            # in four threads that both share, the login would be the ninth and wait until five had given up
            assert len(finished) < 5
        finally:
            oidc.is_open.set()
            for visit in visits:
                visit.join()
    assert len(finished) == len(visits)


@pytest.mark.parametrize(
    ("name", "value"), [("oauth_issuer", "http://id.example"), ("oauth_session_hours", "0")]
)
def test_a_setting_that_lets_nobody_sign_in_is_refused_at_the_start(
    tmp_path: Path, name: str, value: str
) -> None:
    variables = {
        "BACKSTORY_OAUTH_ISSUER": "https://id.example",
        "BACKSTORY_OAUTH_AUDIENCE": "https://memory.example/mcp",
        "BACKSTORY_OAUTH_JWKS_URL": "https://id.example/jwks",
        "BACKSTORY_OAUTH_CLIENT_ID": CLIENT_ID,
        f"BACKSTORY_{name.upper()}": value,
    }
    words = ("serve", "--http", "127.0.0.1:0", "--embeddings", "off", "--http-auth", "oauth")
    refused = run(*words, home=tmp_path, **variables)
    assert refused.returncode == 2
    assert name in refused.stderr


def test_after_the_end_of_a_session_the_provider_is_asked_for_the_groups_again(
    tmp_path: Path, oidc: Oidc
) -> None:
    variables = {
        "BACKSTORY_OAUTH_GROUPS": "staff=read,leads=write,leads=space:ops",
        "BACKSTORY_OAUTH_SESSION_HOURS": "0.0005",
    }
    with serving(tmp_path, oidc, **variables) as browser:
        oidc.claims = {"groups": ["leads"]}
        assert browser.sign_in(oidc).status == 200
        oidc.claims = {"groups": ["staff"]}
        secret = browser.cookies["backstory_login"]
        html = {"Accept": "text/html"}
        until(lambda: browser.open("/web/teams/ops/").status == 401)
        browser.cookies["backstory_login"] = secret
        page = browser.open("/web/teams/ops/", None, **html)
        assert page.status == 303
        back = urlsplit(oidc.code(page.headers["Location"]))
        page = browser.open(f"{back.path}?{back.query}", None, Sec_Fetch_Site="cross-site")
        assert (page.status, "url=/web/teams/ops/" in page.text) == (200, True)
        assert browser.open("/web/teams/ops/").status == 404, "only leads have the space"
        assert browser.open("/web/logout", {}).status == 303
        assert browser.open("/web/", None, **html).status == 401, "whoever logged out is not signed in again"


@pytest.mark.parametrize(
    "page", ["//evil.example/", "https://evil.example", "/web\\evil", "/mcp", '/web/"><b>', ""]
)
def test_after_a_sign_in_nobody_is_led_elsewhere(page: str) -> None:
    assert pages._own_page(urlquote(page, safe="")) == "/web/"
    assert pages._own_page("/web/memory/abc") == "/web/memory/abc"


def test_a_provider_that_sends_a_byte_now_and_then_holds_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sso, "TIMEOUT_S", 0.3)
    with answering(dripping(b"HTTP/1.1 200 OK\r\nX-Long: ")) as url:
        with pytest.raises(SignInFailed, match=r"no whole answer within 0\.3 s") as failure:
            sso._fetch(Request(url))
        assert failure.value.status == 503
