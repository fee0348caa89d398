"""The official clients list and call every tool of the real server, and accept every schema and answer."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from backstory.surfaces import all_tools, load_surfaces

from ..conftest import caller_of
from ..example_calls import (
    DOOMED,
    OFF_BY_DEFAULT,
    ONE_SIZE,
    Known,
    chunked_answer,
    emptiest_calls,
    example_calls,
    largest_calls,
)
from ..missing import NPM_PACKAGES, skip_without
from ..patience import PATIENCE_S
from ..processes import BACKSTORY, core_over, environment

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector"

Json = dict[str, Any]
ALL = all_tools(load_surfaces())
TOOLS = list(ALL)
TEXTS = {name for name, tool in ALL.items() if tool.surface.name == "backstory"}
"""Tools that answer with text alone."""


@pytest.fixture
def calls(tmp_path: Path) -> list[Json]:
    """Calls of every tool that succeed, in an order in which they do: the emptiest answers, small ones, the largest."""
    with core_over(tmp_path) as core:
        call = caller_of(core)
        texts = ("The staging server is called heron.", "Lunch is at noon.")
        replaced, deleted = (call("save_context", context_text=text)["id"] for text in texts)
        session = call("context_save", key=DOOMED, value="Not for long.")["sessionId"]
        call("context_save", key="large", value="Another item has this key.")
        chunked = chunked_answer(call)
    known = Known(replaced, deleted, session, str(tmp_path / "work"), chunked)
    sessions = str(tmp_path / "sessions")
    wanted = [*emptiest_calls(sessions, session), *example_calls(known), *largest_calls(sessions, session)]
    return [{"name": name, "arguments": arguments} for name, arguments in wanted]


@pytest.fixture
def node() -> str:
    """Node with the clients of package.json. CI must have them; elsewhere they may be missing."""
    found = shutil.which("node")
    if found is None or not INSPECTOR.exists():
        skip_without("MCP clients from npm", NPM_PACKAGES)
    return found


def server(home: Path, embeddings: str = "off") -> Json:
    """Without the model, unless it matters: the large texts would keep it busy for long."""
    words = [*BACKSTORY[1:], "serve", "--embeddings", embeddings]
    return {"command": BACKSTORY[0], "args": words, "env": environment(home)}


def test_every_tool_is_called_here(calls: list[Json]) -> None:
    assert {call["name"] for call in calls} == set(TOOLS) - OFF_BY_DEFAULT
    for extremes in (emptiest_calls("", ""), largest_calls("", "")):
        assert {name for name, _ in extremes} == set(TOOLS) - TEXTS - ONE_SIZE - OFF_BY_DEFAULT


@pytest.mark.parametrize(("mode", "embeddings"), [("legacy", "local"), ("auto", "off")])
def test_python_sdk(tmp_path: Path, calls: list[Json], mode: str, embeddings: str) -> None:
    made = calls if embeddings == "off" else calls[: -len(largest_calls("", ""))]

    async def talk() -> None:
        parameters = StdioServerParameters(**server(tmp_path, embeddings))
        async with Client(stdio_client(parameters), mode=mode) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == TOOLS
            for call in made:
                answer = await client.call_tool(call["name"], call["arguments"])
                assert not answer.is_error
                assert (answer.structured_content is None) == (call["name"] in TEXTS)
                assert answer.content
            resources = (await client.list_resources()).resources
            assert [each.name for each in resources] == ["brief", "decisions", "tasks"]
            for each in resources:
                (document,) = (await client.read_resource(each.uri)).contents
                assert document.mime_type == "text/markdown"
            assert len((await client.list_resource_templates()).resource_templates) == 7
            prompts = [each.name for each in (await client.list_prompts()).prompts]
            assert prompts == ["resume", "recall", "handoff", "decide", "why"]
            assert (await client.get_prompt("recall", {"query": "heron"})).messages

    asyncio.run(talk())


@pytest.mark.parametrize(
    "script", ["typescript_v1.mjs", "typescript_v2.mjs legacy", "typescript_v2.mjs auto"]
)
def test_typescript_sdk(tmp_path: Path, calls: list[Json], node: str, script: str) -> None:
    name, *arguments = script.split()
    done = subprocess.run(
        [node, str(HERE / name), *arguments],
        input=json.dumps({"server": server(tmp_path), "calls": calls}),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tools"] == TOOLS
    assert len(told["answers"]) == len(calls)
    for call, answer in zip(calls, told["answers"], strict=True):
        assert not answer.get("isError")
        assert answer["content"] if call["name"] in TEXTS else answer["structuredContent"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_finds_no_fault_with_the_schemas(tmp_path: Path, node: str, era: str) -> None:
    done = inspect(node, tmp_path, "--protocol-era", era, "--strict", "--method", "tools/list")
    assert done.returncode == 0, done.stderr
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == TOOLS
    assert "portab" not in done.stderr


@pytest.mark.parametrize(("tool", "part"), [("brief", "content"), ("reflection_stats", "structuredContent")])
def test_inspector_calls_a_tool(tmp_path: Path, node: str, tool: str, part: str) -> None:
    """One that answers with text and one with a structure; it is made of the SDK that calls every tool above."""
    done = inspect(node, tmp_path, "--method", "tools/call", "--tool-name", tool)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[part]


def inspect(node: str, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = json.loads((INSPECTOR / "package.json").read_text())["bin"]["mcp-inspector"]
    target = server(home)
    passed_on = [f"{name}={target['env'][name]}" for name in ("PYTHONPATH", "BACKSTORY_HOME")]
    options = [word for variable in passed_on for word in ("-e", variable)]
    return subprocess.run(
        [node, str(INSPECTOR / program), "--cli", *options, *words, "--", target["command"], *target["args"]],
        env=os.environ | {"HOME": str(home), "MCP_CATALOG_PATH": str(home / "mcp.json")},  # its own files
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
