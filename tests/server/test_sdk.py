"""The official client, in both of its modes, with its own validation of every answer."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.subscriptions import ToolsListChanged

SERVER = Path(__file__).with_name("echo_server.py")
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@asynccontextmanager
async def connected(home: Path, mode: str, **options: Any) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=sys.executable, args=[str(SERVER), str(home)], env=_environment())
    async with Client(stdio_client(server), mode=mode, cache=None, **options) as client:
        yield client


def _environment() -> dict[str, str]:
    """The client passes on almost nothing of its environment; the server still has to be importable."""
    return {"PYTHONPATH": os.pathsep.join(sys.path)}


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_connects_and_negotiates(tmp_path: Path, mode: str) -> None:
    async def talk() -> None:
        async with connected(tmp_path, mode) as client:
            assert client.protocol_version == MODES[mode]
            listed = await client.list_tools()
            assert "echo" in [tool.name for tool in listed.tools]
            if mode != "2026-07-28":  # pinned to a version, the client asks nothing and so knows nothing
                assert client.server_info is not None
                assert client.server_info.name == "backstory"
                assert client.server_capabilities.tools == types.ToolsCapability(list_changed=True)
                assert client.server_capabilities.resources is None

    run(talk())


@pytest.mark.requirement("server.result.clients-accept")
def test_its_strict_validation_accepts_the_answers(tmp_path: Path, mode: str) -> None:
    async def talk() -> None:
        async with connected(tmp_path, mode) as client:
            await client.list_tools()  # from now on it checks answers against the declared schemas
            told = await client.call_tool("echo", {"text": "grüße"})
            assert told.structured_content == {"status": "success", "text": "grüße", "size": 5}
            assert isinstance(told.content[0], types.TextContent)
            assert told.content[0].annotations == types.Annotations(audience=["assistant"], priority=0.8)
            failed = await client.call_tool("fail")
            assert failed.is_error
            crashed = await client.call_tool("crash", {"secret": "x"})
            assert crashed.is_error

    run(talk())


def test_its_errors_are_ours(tmp_path: Path, mode: str) -> None:
    async def talk() -> None:
        async with connected(tmp_path, mode) as client:
            with pytest.raises(MCPError, match="Unknown tool: nothing") as unknown:
                await client.call_tool("nothing")
            assert unknown.value.code == types.INVALID_PARAMS
            with pytest.raises(MCPError) as missing:
                await client.list_resources()
            assert missing.value.code == types.METHOD_NOT_FOUND

    run(talk())


def test_it_hears_of_progress(tmp_path: Path, mode: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def talk() -> None:
        async with connected(tmp_path, mode) as client:
            await client.call_tool("steps", {"count": 3}, progress_callback=listen)
            assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]

    run(talk())


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
def test_it_hears_the_log_at_its_level(tmp_path: Path, mode: str) -> None:
    heard: list[tuple[str, str | None]] = []

    async def listen(params: types.LoggingMessageNotificationParams) -> None:
        heard.append((params.level, params.logger))

    async def talk() -> None:
        options = {} if mode == "legacy" else {"log_level": "error"}
        async with connected(tmp_path, mode, logging_callback=listen, **options) as client:
            if mode == "legacy":
                await client.session.set_logging_level("error")
            await client.call_tool("echo", {"text": "x"})
            await client.call_tool("crash")
            assert heard == [("error", "tool_call_crash")]

    run(talk())


def test_it_can_listen_for_new_tools(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path, "auto") as client, client.listen(tools_list_changed=True) as events:
            await client.call_tool("grow")
            async for event in events:
                assert event == ToolsListChanged()
                break
            assert "late" in [tool.name for tool in (await client.list_tools()).tools]

    run(talk())
