"""Shared spaces: members with roles, authors, and proposals that maintainers accept or dismiss."""

from __future__ import annotations

import http.client
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from ..patience import PATIENCE_S
from ..typed import typed
from .team import Json, Web, bearer, listening, token

OPS = "/mcp/ops"
PEOPLE = {"ann": "maintainer", "bob": "writer", "cleo": "reader"}
DECISION = "We deploy with the walrus script because the old one loses sockets."


class Space(NamedTuple):
    web: Web
    home: Path
    tokens: dict[str, Json]

    def call(self, user: str, tool: str, **arguments: object) -> Json:
        return self.web.call(tool, arguments, OPS, **bearer(self.tokens[user]))

    def text(self, user: str, tool: str, **arguments: object) -> str:
        answer = self.call(user, tool, **arguments)
        text: str = answer["content"][0]["text"]
        assert not answer["isError"], text
        return text

    def refusal(self, user: str, tool: str, **arguments: object) -> str:
        answer = self.call(user, tool, **arguments)
        text: str = answer["content"][0]["text"]
        assert answer["isError"], text
        return text

    def everything(self, user: str) -> str:
        """All ways on which a session learns of memories without being told an id."""
        brief = self.web.ask("resources/read", {"uri": "backstory://brief"}, OPS, **bearer(self.tokens[user]))
        decisions = self.web.ask(
            "resources/read",
            {"uri": "backstory://project/team-ops/decisions"},
            OPS,
            **bearer(self.tokens[user]),
        )
        return "\n".join(
            (
                self.text(user, "recall", query="walrus script deploy"),
                self.text(user, "recall", query="walrus", kind="decision"),
                self.text(user, "brief"),
                str(self.call(user, "retrieve_context", query="walrus script")),
                str(self.call(user, "context_search_all", query="walrus")),
                brief.body,
                decisions.body,
            )
        )

    def page(self, user: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        address = urlsplit(self.web.url)
        connection = http.client.HTTPConnection(str(address.hostname), address.port or 80, timeout=PATIENCE_S)
        headers = {"Cookie": f"backstory_login={self.tokens[user]['token']}"}
        if form is not None:
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": f"http://{address.netloc}",
            }
        try:
            data = None if form is None else urllib.parse.urlencode(form)
            connection.request("GET" if form is None else "POST", f"/web/teams/ops{path}", data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@pytest.fixture
def space(home: Path) -> Iterator[Space]:
    for user, role in PEOPLE.items():
        typed("admin", "members", "add", "ops", user, "--role", role, home=home)
    tokens = {user: token(home, user, "--scope", "admin") for user in (*PEOPLE, "dan")}
    with listening(home, "--http-auth", "token") as web:
        yield Space(web, home, tokens)


def _id(text: str) -> str:
    return text.split(" as ")[1].split(";")[0].rstrip(".")


def test_roles_decide_whatever_the_scope_of_the_token_is(space: Space) -> None:
    space.text("bob", "remember", text=DECISION, kind="decision")
    assert "walrus" in space.text("cleo", "recall", query="walrus script")
    assert "role writer" in space.refusal("cleo", "remember", text="Readers only read.")
    assert space.web.ask("ping", {}, OPS, **bearer(space.tokens["dan"])).status == 404


def test_a_member_who_is_removed_is_out(space: Space) -> None:
    typed("admin", "members", "remove", "ops", "bob", home=space.home)
    listed = json.loads(typed("admin", "members", "list", "ops", "--json", home=space.home).stdout)
    assert {each["user"]: each["role"] for each in listed["members"]} == {
        "ann": "maintainer",
        "cleo": "reader",
    }
    assert space.web.ask("ping", {}, OPS, **bearer(space.tokens["bob"])).status == 404


def test_what_others_wrote_names_its_author(space: Space) -> None:
    space.text("bob", "remember", text=DECISION, kind="decision")
    space.call("bob", "context_save", key="harbour", value="The walrus harbour closes at ten.")
    assert "by bob" in space.text("ann", "recall", query="walrus script deploy")
    assert "by bob" in space.text("ann", "recall", query="walrus harbour closes")
    assert "(bob)" in space.text("ann", "brief")
    assert "by bob" not in space.text("bob", "recall", query="walrus script deploy")


def test_a_proposal_is_told_to_nobody_until_it_is_accepted(space: Space) -> None:
    typed("admin", "review", "on", "ops", home=space.home)
    answer = space.text("bob", "remember", text=DECISION, kind="decision")
    assert answer.startswith("Proposed as")
    for user in PEOPLE:
        assert "walrus script because" not in space.everything(user)
    assert "walrus script because" in space.text("ann", "recall", query="anything", kind="proposal")
    assert "walrus script because" in space.text("bob", "recall", query="anything", kind="proposal")
    assert space.text("cleo", "recall", query="anything", kind="proposal") == "No pending proposals."
    assert space.text("ann", "done", id=_id(answer)).startswith("Accepted")
    for user in PEOPLE:
        assert "walrus script because" in space.everything(user)
    assert space.text("ann", "recall", query="anything", kind="proposal") == "No pending proposals."


def test_a_correction_is_proposed_and_replaces_when_accepted(space: Space) -> None:
    saved = space.text("ann", "remember", text=DECISION, kind="decision").split()[1]
    typed("admin", "review", "on", "ops", home=space.home)
    answer = space.text("bob", "remember", text="We deploy with the otter script.", replaces=saved)
    assert "walrus script because" in space.text("cleo", "open", id=saved)
    space.text("ann", "done", id=_id(answer))
    opened = space.text("cleo", "open", id=saved)
    assert "otter script" in opened
    assert "walrus script because" in opened.partition("before:")[2]
    assert "Proposed" not in space.text("ann", "recall", query="otter script")


def test_a_dismissed_proposal_is_gone_and_others_cannot_change_a_reviewed_space(space: Space) -> None:
    saved = space.text("ann", "remember", text="The lighthouse is off.").split()[1]
    typed("admin", "review", "on", "ops", home=space.home)
    answer = space.text("bob", "remember", text=DECISION)
    assert space.text("bob", "remember", text=DECISION).startswith("Proposed already")
    for tool, arguments in {
        "done": {"id": _id(answer)},
        "forget": {"id": saved},
        "context_save": {"key": "a", "value": "b"},
        "save_context": {"context_text": "Past the review."},
        "store_reflection": {"content": "Past the review."},
    }.items():
        assert "reviewed" in space.refusal("bob", tool, **arguments)
    assert space.text("ann", "forget", id=_id(answer)).startswith("Dismissed")
    assert space.text("ann", "recall", query="x", kind="proposal") == "No pending proposals."
    assert "walrus script because" not in space.everything("ann")


def test_maintainers_decide_on_the_page_and_writers_only_look(space: Space) -> None:
    typed("admin", "review", "on", "ops", home=space.home)
    first, second = (
        _id(space.text("bob", "remember", text=text)) for text in (DECISION, "The gull is on call.")
    )
    status, text = space.page("bob", "/inbox")
    assert (status, "walrus script because" in text, "accept-memory" in text) == (200, True, False)
    assert space.page("bob", "/accept-memory", {"id": first})[0] == 403
    assert "walrus script because" not in space.page("cleo", "/inbox")[1]
    assert "accept-memory" in space.page("ann", "/inbox")[1]
    assert space.page("ann", "/accept-memory", {"id": first})[0] == 303
    assert space.page("ann", "/dismiss-memory", {"id": second})[0] == 303
    assert space.page("ann", "/accept-memory", {"id": second})[0] == 404
    assert "walrus" in space.page("cleo", f"/memory/{first}")[1]
    assert "by bob" in space.page("cleo", f"/memory/{first}")[1]
    assert "gull" not in space.page("cleo", "/memories")[1]
