"""The headers of 2026-07-28 say what the message says, or it is refused."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from backstory.server.responses import HttpRequest
from backstory.server.routing import check_headers
from backstory.server.wire import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, Refused

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "echo"}


def message(method: str = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def request(**headers: str) -> HttpRequest:
    return HttpRequest("POST", "/mcp", headers, "")


def base64(text: str) -> str:
    return f"=?base64?{b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(("header", "name"), [("echo", "echo"), (base64("grüße"), "grüße")])
def test_headers_that_agree_are_of_the_new_era(header: str, name: str) -> None:
    asked = request(**CALL | {"mcp-name": header})
    assert check_headers(asked, message(name=name, _meta=META))


@pytest.mark.parametrize("version", [None, "2025-11-25", "2024-11-05"])
def test_requests_of_the_old_era_have_no_such_headers(version: str | None) -> None:
    headers = {} if version is None else {"mcp-protocol-version": version}
    assert not check_headers(request(**headers), message(name="echo"))
    assert not check_headers(request(**headers), message("initialize", _meta=META))


@pytest.mark.parametrize(
    "changes",
    [
        {"mcp-protocol-version": "2025-11-25"},
        {"mcp-protocol-version": None},
        {"mcp-method": "tools/list"},
        {"mcp-method": "TOOLS/CALL"},
        {"mcp-method": None},
        {"mcp-name": "other"},
        {"mcp-name": None},
        {"mcp-name": "echo, echo"},  # it came twice
        {"mcp-name": "=?base64?ZWNobx==?="},  # bits that no encoder leaves there
        {"mcp-name": "=?base64?***?="},
        {"mcp-name": "=?base64?/w==?="},  # not UTF-8
    ],
)
def test_headers_that_say_another_thing_are_refused(changes: dict[str, str | None]) -> None:
    headers = {name: value for name, value in (CALL | changes).items() if value is not None}
    with pytest.raises(Refused) as refused:
        check_headers(request(**headers), message(name="echo", _meta=META))
    assert refused.value.code == HEADER_MISMATCH


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (message(name="echo"), INVALID_PARAMS),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}, INVALID_PARAMS),
        (message("initialize", _meta=META), METHOD_NOT_FOUND),
    ],
)
def test_a_new_version_in_the_header_is_one_in_the_message(asked: dict[str, Any], code: int) -> None:
    headers = {"mcp-protocol-version": MODERN, "mcp-method": asked["method"]}
    with pytest.raises(Refused) as refused:
        check_headers(request(**headers), asked)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "odd", [{"jsonrpc": "2.0", "method": "notifications/x"}, {"id": 1, "result": {}}, 7, None]
)
def test_only_requests_repeat_themselves_in_headers(odd: Any) -> None:
    assert check_headers(request(**{"mcp-protocol-version": MODERN}), odd)
    assert not check_headers(request(), odd)
