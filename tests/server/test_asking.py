"""`forget` asks the user first, through the official client of either era and over either transport."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from backstory.core import Core
from backstory.domain.filters import Filter, Page
from backstory.server.message import VERSION
from backstory.server.offer import Offer
from backstory.server.rpc import RpcPeer
from backstory.server.sessionlog import SessionLog
from backstory.server.toolcall import PendingCall, Runner
from backstory.surfaces import load_surfaces

from ..doubles import make_memory

Json = dict[str, Any]
requirement = pytest.mark.requirement
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
TEXT = "The heron lives in the reeds."


@requirement("backstory.forget.asks")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_the_official_client_asks_its_user(tmp_path: Path, mode: str, action: Any) -> None:
    questions: list[str] = []

    async def answer(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(params.message)
        return types.ElicitResult(action=action, content={} if action == "accept" else None)

    async def talk() -> None:
        arguments = ["-m", "backstory", f"--home={tmp_path}", "--embeddings=off", "--histories=off", "serve"]
        environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
        server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        async with Client(stdio_client(server), mode=mode, cache=None, elicitation_callback=answer) as client:
            saved = (await client.call_tool("save_context", {"context_text": TEXT})).structured_content
            assert saved is not None
            result = await client.call_tool("forget", {"id": saved["id"]})
            assert isinstance(result.content[0], types.TextContent)
            assert result.content[0].text.startswith(
                "Forgotten." if action == "accept" else "The user said no"
            )
            left = (await client.call_tool("retrieve_context", {"query": "heron"})).structured_content
            assert left is not None
            assert left["results"] == ([] if action == "accept" else [TEXT])

    asyncio.run(talk())
    (question,) = questions
    assert TEXT in question


class Modern:
    """A peer that is spoken to as from 2026-07-28 on; `can_announce` is false over HTTP."""

    def __init__(self, core: Core, log: Path, *, can_announce: bool) -> None:
        offer = Offer(load_surfaces(["backstory"]), can_announce=can_announce)
        self._peer = RpcPeer(offer, lambda level: None)
        self._lines: list[Json] = []
        log_file = SessionLog(log, "error")
        self._runner = Runner(core, log_file, lambda line: None, self._peer.finish, lambda: False)

    def forget(self, id: str, capabilities: Json, **more: Any) -> Json:
        meta = {VERSION: "2026-07-28", CAPABILITIES: capabilities}
        params = {"name": "forget", "arguments": {"id": id}, "_meta": meta, **more}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        (outcome,) = self._peer.receive(json.dumps(message).encode())
        if isinstance(outcome, PendingCall):
            self._peer.finish(outcome)
            return self._runner.answer(outcome).body
        assert isinstance(outcome, bytes)
        error: Json = json.loads(outcome)["error"]
        return error


@pytest.fixture(params=[True, False], ids=["stdio", "http"])
def modern(core: Core, tmp_path: Path, request: pytest.FixtureRequest) -> Modern:
    core.engine.store.memories.put([make_memory("m1", TEXT), make_memory("m2", "The egret left.")])
    return Modern(core, tmp_path, can_announce=request.param)


def ids(core: Core) -> set[str]:
    return {memory.id for memory in core.engine.store.memories.find(Filter(), Page())}


@requirement("backstory.forget.asks")
@pytest.mark.parametrize("modes", [{}, {"form": {}}, {"form": {}, "url": {}}])
def test_an_answer_holds_for_its_own_question_only(core: Core, modern: Modern, modes: Json) -> None:
    can = {"elicitation": modes}
    asked = modern.forget("m1", can)
    assert asked["resultType"] == "input_required"
    ((key, request),) = asked["inputRequests"].items()
    types.InputRequiredResult.model_validate(asked)
    assert TEXT in request["params"]["message"]
    yes = {"inputResponses": {key: {"action": "accept", "content": {}}}}
    assert modern.forget("m2", can, **yes)["resultType"] == "input_required"
    assert ids(core) == {"m1", "m2"}
    core.engine.store.memories.put([make_memory("m1", "The heron moved to the lake.")])
    assert modern.forget("m1", can, **yes)["resultType"] == "input_required"
    core.engine.store.memories.put([make_memory("m1", TEXT)])
    assert modern.forget("m1", can, **yes)["resultType"] == "complete"
    assert ids(core) == {"m2"}


@requirement("backstory.forget.asks")
@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}, {"elicitation": {"url": {}}}])
def test_a_client_that_cannot_ask_is_not_asked(core: Core, modern: Modern, capabilities: Json) -> None:
    assert modern.forget("m1", capabilities)["resultType"] == "complete"
    assert ids(core) == {"m2"}


@requirement("backstory.forget.asks")
@pytest.mark.parametrize("response", [None, "yes", {}, {"action": "decline"}, {"action": True}])
def test_whatever_is_no_yes_forgets_nothing(core: Core, modern: Modern, response: object) -> None:
    can: Json = {"elicitation": {}}
    (key,) = modern.forget("m1", can)["inputRequests"]
    modern.forget("m1", can, inputResponses={key: response})
    assert ids(core) == {"m1", "m2"}
    assert modern.forget("m1", can, inputResponses=[key])["code"] == types.INVALID_PARAMS
