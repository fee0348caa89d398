"""The SDK's low-level server over our tools: what it is asked, they answer, as over standard input and output."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .. import __version__
from ..core.engine import new_id
from ..domain.errors import BackstoryError
from ..domain.team import AuditRecord
from ..domain.when import Clock
from ..store import Store
from ..surfaces import all_tools
from ..tools import Surface, Tool
from . import wire
from .auth import LOCAL
from .door import CLIENT
from .http_sessions import ClientContext, HttpSessions, lasting_id
from .message import Request
from .metrics import Metrics
from .rpc import instructions
from .sessionlog import SessionLog
from .toolcall import PendingCall, Runner, result_of

Json = dict[str, Any]
Teller = Callable[[bytes], None]
Context = ServerRequestContext[Any, Any]

UNCHANGING = CacheHint(ttl_ms=300_000, scope="public")
"""Only an upgrade changes the list of tools."""

_NOTIFICATIONS: Mapping[str, type[types.ProgressNotification | types.LoggingMessageNotification]] = {
    "notifications/progress": types.ProgressNotification,
    "notifications/message": types.LoggingMessageNotification,
}


class Registry:
    def __init__(
        self,
        surfaces: Mapping[str, Surface],
        sessions: HttpSessions,
        log: SessionLog,
        metrics: Metrics,
        control: Store | None,
        now: Clock,
        *,
        workers: int,
        keeps_sessions: bool,
    ) -> None:
        self._tools = all_tools(surfaces)
        self._sessions = sessions
        self._log = log
        self._metrics = metrics
        self._control = control
        self._now = now
        self._workers = anyio.CapacityLimiter(workers)
        self._keeps_sessions = keeps_sessions
        self._catalogue: list[Json] = [
            tool.describe() for tool in self._tools.values() if sessions.are_local or not tool.of_checkout
        ]
        self.server: Server[Any] = Server(
            "backstory",
            version=__version__,
            title="Backstory",
            instructions=instructions(surfaces),
            cache_hints={"tools/list": UNCHANGING, "server/discover": UNCHANGING},
            get_tool_input_schema=lambda name: None,  # no parameter of ours travels in a header
        )
        self.server.add_request_handler("tools/list", types.PaginatedRequestParams, self._list)
        self.server.add_request_handler("tools/call", types.CallToolRequestParams, self._call)
        self.server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        self.server.middleware.append(self._greet)

    async def _greet(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method == "initialize" and self._keeps_sessions:
            await anyio.to_thread.run_sync(self._sessions.open, _client(ctx))
        return result

    async def _list(self, ctx: Context, params: types.PaginatedRequestParams) -> Json:
        if params.cursor is not None:
            raise MCPError(wire.INVALID_PARAMS, "Invalid params: unknown cursor, the list has one page")
        return _complete(ctx, {"tools": self._catalogue})

    async def _set_level(self, ctx: Context, params: types.SetLevelRequestParams) -> Json:
        await anyio.to_thread.run_sync(self._sessions.set_level, _client(ctx), params.level)
        return {}

    async def _call(self, ctx: Context, params: types.CallToolRequestParams) -> Json:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(wire.INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        client = _client(ctx)
        if _is_modern(ctx) and self._keeps_sessions:
            program = ctx.session.client_params
            client.connection = lasting_id(client.principal, program.client_info.name if program else "")
        # not abandoned when the client leaves: what it asked to save is saved
        result = await anyio.to_thread.run_sync(
            self._answer, client, _tool_call(ctx, client, tool, params), _teller(ctx), limiter=self._workers
        )
        return _complete(ctx, result)

    def _answer(self, client: ClientContext, call: PendingCall, tell: Teller) -> Json:
        started, tool = time.perf_counter(), call.tool
        try:
            result = self._result(client, call, tell)
        except BackstoryError as error:  # the space itself cannot be used
            result = result_of(tool.surface.fail(error))
        except wire.Refused as refused:
            raise MCPError(refused.code, refused.message) from None
        self._metrics.called(tool.name, _outcome(result), time.perf_counter() - started)
        return result

    def _result(self, client: ClientContext, call: PendingCall, tell: Teller) -> Json:
        with self._audited(client, call.tool) as outcome, self._sessions.core(client) as core:
            answer = Runner(core, self._log, tell, lambda call: None, lambda: False).answer(call)
            result = wire.sound(answer.body, answer.text)
            outcome.append(_outcome(result))
        return result

    @contextmanager
    def _audited(self, client: ClientContext, tool: Tool) -> Iterator[list[str]]:
        """Nothing is changed that is not written down: the record is there before the call begins, and says `begun`
        for good should the server die in it. The outcome follows, as the last of the list that is given."""
        outcome: list[str] = []
        if self._control is None or client.principal is LOCAL or tool.effect.read_only:
            yield outcome
            return
        who = (client.principal.person, client.principal.credential, client.tenant)
        record = AuditRecord(new_id(), self._now(), *who, tool.name, "begun")
        self._control.team.audit(record)
        try:
            yield outcome
        finally:
            self._note(record.id, outcome[-1] if outcome else "failed")

    def _note(self, id: str, outcome: str) -> None:
        assert self._control is not None
        try:
            self._control.team.set_outcome(id, outcome)
        except BackstoryError as error:  # the call is done all the same, and its record is there
            self._log.write("error", "audit", error.message, {"record": id, "outcome": outcome})


def _outcome(result: Json) -> str:
    return "failed" if result["isError"] else "completed"


def _is_modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _complete(ctx: Context, result: Json) -> Json:
    return {"resultType": "complete", **result} if _is_modern(ctx) else result


def _client(ctx: Context) -> ClientContext:
    client = ctx.request.scope[CLIENT] if ctx.request is not None else None
    assert isinstance(client, ClientContext)
    return client


def _tool_call(
    ctx: Context, client: ClientContext, tool: Tool, params: types.CallToolRequestParams
) -> PendingCall:
    meta: Json = dict((ctx.params or {}).get("_meta") or {})
    request = Request(wire.NO_ID, {}, meta, _is_modern(ctx), 0)
    level = request.level if request.modern else client.level
    return PendingCall(
        request, tool, params.arguments or {}, level=level, version=ctx.protocol_version, envelope={}
    )


def _teller(ctx: Context) -> Teller:
    """Sends a notification, from any thread, before the answer to a request. An answer that is one JSON document
    has no place for it, and a client that left does not hear it: the call goes on."""

    def tell(line: bytes) -> None:
        message = json.loads(line)
        notification = _NOTIFICATIONS[message["method"]].model_validate(message)
        with suppress(CancelledError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            anyio.from_thread.run(ctx.session.send_notification, notification, ctx.request_id)

    return tell
