"""Users and teams are apart: every tool is tried as another user who knows all ids, keys and names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.surfaces import all_tools, load_surfaces

from ..example_calls import DOOMED, OFF_BY_DEFAULT, Known, chunked_answer, example_calls
from .team import Web, bearer, listening, token

Json = dict[str, Any]
SECRET = "zebra"
"""In each text, key and name of the first user."""


@pytest.fixture
def web(home: Path) -> Iterator[Web]:
    with listening(home, "--http-auth", "token") as web:
        yield web


def fill(web: Web, headers: dict[str, str]) -> Known:
    session = web.call("context_session_start", {"name": "zebra session"}, **headers)["structuredContent"]
    web.call("context_save", {"key": DOOMED, "value": "zebra value"}, **headers)
    web.call("context_save", {"key": "zebra_key", "value": "ZebraService", "private": True}, **headers)
    web.call("context_cache_file", {"filePath": "src/auth.ts", "content": "zebra"}, **headers)
    web.call("context_checkpoint", {"name": "before", "description": "zebra"}, **headers)
    web.call("context_export", {"outputPath": "example.json"}, **headers)
    texts = ("zebra staging", "zebra two")
    one, two = [
        web.call("save_context", {"context_text": text}, **headers)["structuredContent"]["id"]
        for text in texts
    ]
    chunked = chunked_answer(
        lambda tool, **arguments: web.call(tool, arguments, **headers)["structuredContent"]
    )
    return Known(one, two, session["sessionId"], "/zebra", chunked)


def view(web: Web, headers: dict[str, str]) -> list[Json]:
    asked: list[tuple[str, Json]] = [
        ("context_get", {"limit": 100}),
        ("retrieve_context", {"query": SECRET, "limit": 9}),
        ("context_session_list", {"limit": 100}),
        ("context_timeline", {"groupBy": "day"}),
    ]
    return [web.call(tool, arguments, **headers)["structuredContent"] for tool, arguments in asked]


def prying(known: Known) -> list[tuple[str, Json]]:
    """The examples, which name the first user's ids, and more of what it would take to find the rest."""
    return [
        *example_calls(known),
        ("retrieve_context", {"query": SECRET, "limit": 50}),
        ("context_get", {"sessionId": known.session}),
        ("context_search", {"query": SECRET, "sessionId": known.session}),
        ("context_export", {"sessionId": known.session}),
        ("context_import", {"filePath": "example.json"}),
        ("context_import", {"filePath": "../user-alice.exports/example.json"}),
        ("context_session_start", {"name": "x", "continueFrom": known.session}),
        ("context_summarize", {"sessionId": known.session}),
    ]


def test_another_user_sees_and_changes_nothing_through_any_tool(home: Path, web: Web) -> None:
    alice, bob = (bearer(token(home, user, "--scope", "admin")) for user in ("alice", "bob"))
    known = fill(web, alice)
    before = view(web, alice)
    assert SECRET in json.dumps(before)
    calls = prying(known)
    assert {name for name, _ in calls} == set(all_tools(load_surfaces())) - OFF_BY_DEFAULT
    for tool, arguments in calls:
        answer = json.dumps(web.call(tool, arguments, **bob)).lower()
        asked = json.dumps(arguments).lower()
        answer = answer.replace(known.directory.lower(), "")  # which some calls ask for, and are told again
        assert SECRET not in answer.replace(SECRET, "", asked.count(SECRET)), tool
    assert view(web, alice) == before


def test_another_user_cannot_use_a_session_that_is_not_its_own(home: Path, web: Web) -> None:
    alice, again, bob = (bearer(token(home, user)) for user in ("alice", "alice", "bob"))
    session = web.greet(**alice)
    for other in (again, bob):
        assert web.ask("ping", {}, **other, Mcp_Session_Id=session).status == 404
        assert web.send("/mcp", method="DELETE", **other, Mcp_Session_Id=session).status == 404
    assert web.ask("ping", {}, **alice, Mcp_Session_Id=session).status == 200


def test_a_shared_space_is_open_to_those_who_were_given_it(home: Path, web: Web) -> None:
    alice, bob, eve = (
        bearer(token(home, user, *spaces))
        for user, spaces in (("alice", ["--space", "ops"]), ("bob", ["--space", "ops"]), ("ops", []))
    )
    web.call("save_context", {"context_text": "We use egret."}, "/mcp/ops", **alice)
    found = web.call("retrieve_context", {"query": "egret"}, "/mcp/ops", **bob)
    assert found["structuredContent"]["results"] == ["We use egret."]
    for person in (alice, bob, eve):
        own = web.call("retrieve_context", {"query": "egret"}, **person)
        assert own["structuredContent"]["results"] == []
    assert web.ask("ping", {}, "/mcp/ops", **eve).status == 404
    assert web.ask("ping", {}, "/mcp/none", **alice).status == 404
