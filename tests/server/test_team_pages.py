"""The pages of a team server: logged in with a token, in one's own tenant, and written down."""

from __future__ import annotations

import http.client
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from ..patience import PATIENCE_S, until
from ..typed import typed
from .team import Json, Web, bearer, listening, token


class Reply(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str


class Team(NamedTuple):
    web: Web
    home: Path
    tokens: dict[str, str]
    saved: dict[str, str]
    """By user, the id of the memory that is theirs."""

    def send(self, path: str, form: dict[str, str] | None = None, /, **headers: str) -> Reply:
        address = urlsplit(self.web.url)
        connection = http.client.HTTPConnection(str(address.hostname), address.port or 80, timeout=PATIENCE_S)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if form is not None:
            named |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": f"http://{address.netloc}",
            }
        try:
            data = None if form is None else urllib.parse.urlencode(form)
            connection.request("GET" if form is None else "POST", path, data, named)
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read().decode())
        finally:
            connection.close()

    def cookie(self, user: str) -> str:
        answer = self.send("/web/login", {"token": self.tokens[user]})
        assert answer.status == 303
        return answer.headers["Set-Cookie"].partition(";")[0]

    def json(self, path: str, user: str) -> dict[str, Any]:
        answer = self.send(f"{path}?format=json", None, Cookie=self.cookie(user))
        assert answer.status == 200, answer.text
        found: dict[str, Any] = json.loads(answer.text)
        return found


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    home = tmp_path_factory.mktemp("team-pages")
    made: dict[str, Json] = {
        "ann": token(home, "ann", "--space", "crew"),
        "bob": token(home, "bob"),
        "eve": token(home, "ann", "--scope", "read"),
    }
    with listening(home, "--http-auth", "token") as web:
        saved = {}
        for user in ("ann", "bob"):
            told = web.call("save_context", {"context_text": f"The walrus of {user}."}, **bearer(made[user]))
            saved[user] = told["structuredContent"]["id"]
        yield Team(web, home, {user: each["token"] for user, each in made.items()}, saved)


def test_nobody_sees_a_page_without_a_token(team: Team) -> None:
    for path in (
        "/web/",
        "/web/memories",
        f"/web/memory/{team.saved['ann']}",
        "/web/events",
        "/web/teams/crew/",
    ):
        answer = team.send(path)
        assert answer.status == 401
        assert "Log in" in answer.text
        assert "walrus" not in answer.text
    assert team.send("/web/login", {"token": "guess"}).status == 401
    assert team.send("/web/", None, Cookie="backstory_login=guess").status == 401
    assert "script-src 'self'" in team.send("/web/").headers["Content-Security-Policy"]
    assert team.send("/web/static/style.css").status == 200


def test_a_login_gives_a_cookie_that_neither_scripts_nor_other_sites_can_use(team: Team) -> None:
    given = team.send("/web/login", {"token": team.tokens["ann"]}).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/web"} <= set(given.split("; "))
    cookie = given.partition(";")[0]
    assert team.send("/web/", None, Cookie=cookie, Sec_Fetch_Site="cross-site").status == 403
    assert team.send("/web/", None, Cookie=cookie, Origin="https://evil.example").status == 403
    assert team.send("/mcp", None, Cookie=cookie).status == 401  # tools want the header itself


def test_everybody_sees_the_own_tenant_alone(team: Team) -> None:
    for user, other in (("ann", "bob"), ("bob", "ann")):
        assert [each["id"] for each in team.json("/web/memories", user)["memories"]] == [team.saved[user]]
        assert team.send(f"/web/memory/{team.saved[other]}", None, Cookie=team.cookie(user)).status == 404
    assert team.json("/web/teams/crew/memories", "ann")["memories"] == []
    assert team.send("/web/teams/crew/memories", None, Cookie=team.cookie("bob")).status == 404
    page = team.send("/web/memories", None, Cookie=team.cookie("ann")).text
    assert f'href="/web/memory/{team.saved["ann"]}"' in page


def test_a_token_that_only_reads_changes_nothing_and_changes_are_written_down(team: Team) -> None:
    form = {"id": team.saved["ann"], "text": "The walrus sleeps."}
    assert team.send("/web/edit", form, Cookie=team.cookie("eve")).status == 403
    assert team.send("/web/edit", form, Cookie=team.cookie("bob")).status == 404
    answer = team.send("/web/edit", form, Cookie=team.cookie("ann"))
    assert (answer.status, answer.headers["Location"]) == (303, f"/web/memory/{team.saved['ann']}")
    until(lambda: ["web edit", "completed", [team.saved["ann"]]] in _audited(team))
    assert "sleeps" not in typed("audit", home=team.home).stdout


def _audited(team: Team) -> list[list[object]]:
    calls = json.loads(typed("audit", "--json", home=team.home).stdout)["calls"]
    return [[each["tool"], each["outcome"], each["memories"]] for each in calls]


def test_health_of_a_tenant_does_not_look_at_the_machine(team: Team) -> None:
    assert team.json("/web/health", "ann")["can_check"] is False
    assert team.send("/web/health?check=1", None, Cookie=team.cookie("ann")).status == 200
