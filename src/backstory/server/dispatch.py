"""One message that came over HTTP: understood by the same rpc as over standard input, and answered on a thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

from ..domain.errors import BackstoryError
from ..domain.spans import span
from ..tools import Tool
from . import wire
from .audit import AuditLog
from .auth import LOCAL
from .challenges import Challenges
from .http_sessions import ClientContext, HttpSessions
from .logins import REFUSED
from .message import HANDSHAKE_VERSIONS, read_id
from .metrics import Metrics
from .offer import Offer
from .responses import JSON, Headers, HttpRequest, Response, text
from .routing import VERSION, check_headers
from .rpc import RpcPeer
from .sessionlog import RequestLog, SessionLog
from .toolcall import PendingCall, Runner, ToolAnswer, failure

SESSION = "mcp-session-id"
UNSAID_VERSION = "2025-03-26"
"""The protocol version of a client that does not name one: the last version without that requirement."""
EVENT_STREAM = "text/event-stream"

_STATUS = {wire.PARSE_ERROR: 400, wire.INVALID_REQUEST: 400}
_MODERN_STATUS = _STATUS | {
    wire.INVALID_PARAMS: 400,
    wire.HEADER_MISMATCH: 400,
    wire.UNSUPPORTED_PROTOCOL_VERSION: 400,
    wire.METHOD_NOT_FOUND: 404,
}

Tell = Callable[[bytes], None]


class Streamed(NamedTuple):
    """A call that sends messages before its answer. Runs on a thread and returns the answer's line."""

    run: Callable[[Tell], bytes]


class Dispatcher:
    def __init__(
        self,
        offer: Offer,
        sessions: HttpSessions,
        log: SessionLog,
        metrics: Metrics,
        audit: AuditLog | None,
        challenges: Challenges,
        *,
        keeps_sessions: bool,
    ) -> None:
        self._offer = offer
        self._sessions = sessions
        self._log = log
        self._metrics = metrics
        self._audit = audit
        self._challenges = challenges
        self._keeps_sessions = keeps_sessions

    def dispatch(self, client: ClientContext, request: HttpRequest, body: bytes) -> Response | Streamed:
        """The answer to a POST, or the call that will produce it. Raises Unavailable if the store cannot be reached."""
        id, statuses = wire.NO_ID, _STATUS
        try:
            message = wire.read(body)
            if isinstance(message, list):
                raise wire.Refused(wire.INVALID_REQUEST, "Invalid request: one message at a time")
            id = read_id(message)
            if _version(request) not in HANDSHAKE_VERSIONS:
                statuses = _MODERN_STATUS
            if check_headers(request, message):
                statuses = _MODERN_STATUS
            elif SESSION in request.headers and not self._sessions.resume(client, request.headers[SESSION]):
                return text(404, "There is no such session.")
            return self._respond(client, request, message, len(body))
        except wire.Refused as refused:
            line = wire.refusal(id if refused.id == wire.NO_ID else refused.id, refused)
            return Response(statuses.get(refused.code, 200), line, JSON)

    def _respond(
        self, client: ClientContext, request: HttpRequest, message: Any, size: int
    ) -> Response | Streamed:
        level = client.connection.level if client.connection else None
        set_level = partial(self._sessions.set_level, client)
        conversation = RpcPeer(self._offer, set_level, level=level, version=_version(request))
        for outcome in conversation.outcomes(message, size):
            if isinstance(outcome, PendingCall):
                return self._call(client, request, outcome)
            if isinstance(outcome, bytes):
                return Response(200, outcome, (*JSON, *self._greeting(client, message)))
        return Response(202)

    def _greeting(self, client: ClientContext, message: Any) -> Headers:
        if message["method"] != "initialize" or not self._keeps_sessions:
            return ()
        return ((SESSION.encode(), self._sessions.open(client).encode()),)

    def _call(self, client: ClientContext, request: HttpRequest, call: PendingCall) -> Response | Streamed:
        if call.request.modern and self._keeps_sessions:
            self._sessions.resume_lasting(client, call.request.client)
        if client.principal.scope < call.tool.effect.scope <= client.principal.highest_scope:
            return self._refuse_scope(client, call.tool)
        has_more_to_say = call.request.progress_token is not None or call.level is not None
        if has_more_to_say and EVENT_STREAM in request.headers.get("accept", ""):
            return Streamed(partial(self._line, client, request, call))
        return Response(200, self._line(client, request, call, lambda line: None), JSON)

    def _refuse_scope(self, client: ClientContext, tool: Tool) -> Response:
        """The refusal for a caller who can get a higher scope from the identity provider."""
        with self._audited(client, tool) as outcomes:
            outcomes.append(REFUSED)
        self._metrics.called(tool.name, REFUSED, 0.0)
        return self._challenges.insufficient_scope(tool.effect.scope, tool.name)

    def _line(self, client: ClientContext, request: HttpRequest, call: PendingCall, tell: Tell) -> bytes:
        started = time.perf_counter()
        try:
            answer = self._answer(client, request, call, tell)
        except BackstoryError as error:  # the tenant itself cannot be used
            answer = failure(call, error)
        except wire.Refused as refused:
            return wire.refusal(call.request.id, refused)
        self._metrics.called(call.tool.name, answer.outcome, time.perf_counter() - started)
        return wire.result(call.request.id, answer.text)

    def _answer(
        self, client: ClientContext, request: HttpRequest, call: PendingCall, tell: Tell
    ) -> ToolAnswer:
        id = request.id
        log = RequestLog(self._log, {"request": id, "user": client.principal.person, "tenant": client.tenant})
        with (
            span(f"tool {call.tool.name}", backstory_tenant=client.tenant, backstory_request_id=id),
            self._audited(client, call.tool) as outcomes,
            self._sessions.core(client) as core,
        ):
            answer = Runner(core, log, tell, lambda call: None, lambda: False).answer(call)
            outcomes.append(answer.outcome)
        return answer

    def _audited(self, client: ClientContext, tool: Tool) -> AbstractContextManager[list[str]]:
        if self._audit is None or client.principal is LOCAL:
            return nullcontext([])
        if tool.effect.read_only and not self._audit.records_reads:
            return nullcontext([])
        return self._audit.call(client.principal, client.tenant, tool.name)


def _version(request: HttpRequest) -> str:
    return request.headers.get(VERSION, UNSAID_VERSION)
