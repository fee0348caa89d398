"""The HTTP side of MCP: methods, types, statuses, and the two forms of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .team import LEGACY, Web, fixture

MODERN = "2026-07-28"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with fixture(tmp_path_factory.mktemp("home")) as web:
        yield web


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "HEAD"])
def test_messages_are_posted(web: Web, method: str) -> None:
    refused = web.send("/mcp", method=method)
    assert (refused.status, refused.headers["Allow"]) == (405, "POST, DELETE")


@pytest.mark.parametrize("page", ["/healthz", "/readyz", "/metrics"])
def test_pages_are_read(web: Web, page: str) -> None:
    assert web.send(page, {}).status == 405
    assert web.send(page, method="HEAD").body == ""


@pytest.mark.parametrize(
    "path", ["/", "/mc", "/mcpx", "/mcp/team", "/mcp/a/b", "/.well-known/oauth-protected-resource"]
)
def test_there_is_nothing_elsewhere(web: Web, path: str) -> None:
    assert web.send(path, PING if path.startswith("/mcp/") else None).status == 404


def test_a_slash_at_the_end_is_no_other_address(web: Web) -> None:
    assert web.send("/mcp/", PING).json["result"] == {}


def test_a_message_is_json(web: Web) -> None:
    assert web.send("/mcp", PING, Content_Type="text/plain").status == 415
    assert web.send("/mcp", PING, Content_Type="Application/JSON; charset=utf-8").status == 200


def test_an_answer_has_a_form_that_its_reader_takes(web: Web) -> None:
    assert web.send("/mcp", PING, Accept="text/html").status == 406
    for accepted in ("application/json", "*/*", "application/*;q=0.8"):
        assert web.send("/mcp", PING, Accept=accepted).json["result"] == {}
    call = {"name": "test_simple_text", "arguments": {}}
    (answer,) = web.ask("tools/call", call, Accept="text/event-stream").events
    assert not answer["result"]["isError"]


def test_a_session_begins_in_either_form(web: Web) -> None:
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    for accepted in ("application/json", "text/event-stream"):
        greeted = web.ask("initialize", params, Accept=accepted)
        assert web.send("/mcp", PING, Mcp_Session_Id=greeted.headers["Mcp-Session-Id"]).status == 200


@pytest.mark.parametrize(
    "message",
    [{"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 7, "result": {}}],
)
@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_what_needs_no_answer_is_accepted(web: Web, message: dict[str, Any], version: str) -> None:
    accepted = web.send("/mcp", message, Mcp_Protocol_Version=version)
    assert (accepted.status, accepted.body) == (202, "")


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        ([PING], 400, -32600),
        ("text", 400, -32600),
        ({**PING, "jsonrpc": "1.0"}, 400, -32600),
        ({**PING, "id": None}, 400, -32600),
        ({**PING, "method": "no/such"}, 200, -32601),
        ({**PING, "method": "tools/call", "params": {"name": "no_such"}}, 200, -32602),
    ],
)
def test_what_cannot_be_answered_is_refused(web: Web, message: Any, status: int, code: int) -> None:
    refused = web.send("/mcp", message)
    assert (refused.status, refused.json["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("method", "status", "code"),
    [
        ("no/such", 404, -32601),
        ("ping", 404, -32601),
        ("subscriptions/listen", 404, -32601),
        ("tools/call", 400, -32602),
    ],
)
def test_from_2026_on_the_status_says_it_too(web: Web, method: str, status: int, code: int) -> None:
    headers = {"Mcp_Protocol_Version": MODERN, "Mcp_Method": method}
    refused = web.ask(method, {"_meta": META}, **headers)
    assert (refused.status, refused.json["error"]["code"], refused.json["id"]) == (status, code, 1)


def test_a_version_that_is_none_of_ours_is_told_which_are(web: Web) -> None:
    unknown = {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    headers = {"Mcp_Protocol_Version": "2099-01-01", "Mcp_Method": "tools/list"}
    refused = web.ask("tools/list", {"_meta": META | unknown}, **headers)
    assert (refused.status, refused.json["error"]["code"]) == (400, -32022)
    assert MODERN in refused.json["error"]["data"]["supported"]


def test_requests_of_one_program_share_a_session_where_there_are_none(web: Web) -> None:
    """From 2026-07-28 on a session id means nothing."""
    headers = {"Mcp_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "test_simple_text"}
    call = {"name": "test_simple_text", "_meta": META}
    assert not web.ask("tools/call", call, Mcp_Session_Id="unknown", **headers).json["result"]["isError"]


def test_a_log_level_in_the_request_makes_its_answer_a_stream(web: Web) -> None:
    headers = {"Mcp_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "test_simple_text"}
    meta = META | {"io.modelcontextprotocol/logLevel": "info"}
    event, answer = web.ask("tools/call", {"name": "test_simple_text", "_meta": meta}, **headers).events
    assert event["method"] == "notifications/message"
    assert answer["result"]["resultType"] == "complete"
