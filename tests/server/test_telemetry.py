"""OpenTelemetry: a trace goes from the request to the store, and no words of a user are in it."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ..processes import environment
from .team import bearer, listening, token

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from backstory.server.telemetry import Telemetry

from .otel_collector import collecting

TEXT = "The walrus script deploys on Tuesdays."
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def attributes(span: Any) -> dict[str, str]:
    return {each.key: each.value.string_value or str(each.value.int_value) for each in span.attributes}


def test_a_trace_has_request_tool_search_and_store_and_none_of_the_texts(home: Path) -> None:
    alice = token(home, "alice", "--scope", "write")
    with collecting() as collector:
        with listening(home, "--http-auth", "token", "--otel-endpoint", f"{collector.url}/") as web:
            named = bearer(alice) | {"X_Request_Id": "proxy-7", "Traceparent": f"00-{TRACE}-{PARENT}-01"}
            assert not web.call("remember", {"text": TEXT}, **named)["isError"]
            assert TEXT in str(web.call("recall", {"query": "walrus script"}, **named))
            web.send("/healthz")
            web.process.terminate()
            web.process.wait()
        spans = {span.name: span for span in collector.spans()}
        assert {"POST /mcp", "tool remember", "tool recall", "search", "store.transaction"} <= set(spans)
        assert not any("healthz" in name for name in spans)
        request, tool = spans["POST /mcp"], spans["tool recall"]
        assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, PARENT)
        assert tool.parent_span_id == request.span_id
        inside = [each for each in collector.spans() if each.parent_span_id == tool.span_id]
        assert "search" in {each.name for each in inside}
        assert attributes(tool) == {"backstory.tenant": "user-alice", "backstory.request.id": "proxy-7"}
        assert attributes(request)["backstory.request.id"] == "proxy-7"
        assert attributes(request)["http.response.status_code"] == "200"
        assert {
            "backstory.tool.duration",
            "backstory.http.responses",
            "backstory.queued.calls",
            "backstory.database.connections.used",
        } <= collector.metric_names()
        sent = b"".join(body for _, body in collector.bodies)
        for word in (b"walrus", b"Tuesdays", str(alice["token"]).encode()):
            assert word not in sent


def test_no_message_of_an_error_leaves_the_server() -> None:
    with collecting() as collector:
        telemetry = Telemetry(collector.url, dict)
        with pytest.raises(ValueError, match="walrus"), telemetry.request("POST", "/mcp", "proxy-7", {}):
            raise ValueError(TEXT)
        telemetry.close()
        assert [span.name for span in collector.spans()] == ["POST /mcp"]
        assert b"walrus" not in b"".join(body for _, body in collector.bodies)


def test_a_collector_that_is_away_changes_nothing(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    with listening(home, "--otel-endpoint", url) as web:
        assert not web.call("remember", {"text": TEXT})["isError"]
        web.process.terminate()
        assert web.process.wait() == 0


def test_nothing_of_it_is_imported_without_an_endpoint(tmp_path: Path) -> None:
    code = (
        "import sys; import backstory.server.team, backstory.server.http;"
        " print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    names = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, encoding="utf-8"
    )
    assert names.stdout.strip() == "[]", names.stderr
