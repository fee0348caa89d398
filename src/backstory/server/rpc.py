"""The protocol without input and output: takes a line, returns lines to send and tool calls to run.

Both eras are supported. Up to 2025-11-25 a client opens with `initialize`; from 2026-07-28 every request contains
its version in `_meta` and nothing is remembered. The era is decided per message, so a client may probe with
`server/discover` and fall back. Every request gets an answer, even an invalid one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from .. import __version__
from ..domain.errors import NotFound
from ..tools import Reply
from . import wire
from .elicitation import Asking, GivenAnswers, Questions
from .message import (
    HANDSHAKE_VERSIONS,
    PREFIX,
    VERSIONS,
    Request,
    can_ask,
    check_level,
    is_response,
    read_id,
    read_method,
    read_request,
)
from .offer import Offer
from .toolcall import PendingCall
from .wire import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, NO_ID, Refused

Json = dict[str, Any]

SERVER_INFO = {"name": "backstory", "title": "Backstory", "version": __version__}

_STAMP: Json = {PREFIX + "serverInfo": SERVER_INFO}
_COMPLETE: Json = {"resultType": "complete", "_meta": _STAMP}
# Only an upgrade changes the answers that carry this; five minutes is how long one may go unnoticed.
_CACHEABLE: Json = _COMPLETE | {"ttlMs": 300_000, "cacheScope": "public"}
_PRIVATE: Json = _COMPLETE | {"ttlMs": 0, "cacheScope": "private"}
_CACHED = ("resources/list", "resources/templates/list", "resources/read", "prompts/list")
"""Methods whose results have a lifetime: memories may change at any moment, and are private to the caller."""
RESOURCE_NOT_FOUND = -32002
_SUBSCRIPTION = PREFIX + "subscriptionId"


class Withdrawal(NamedTuple):
    """The client no longer wants this call; a queued one need not run."""

    call: PendingCall


Outcome = bytes | PendingCall | Withdrawal


class RpcPeer:
    """The protocol state of one client. `receive` must be called from one thread, `finish` from any."""

    def __init__(
        self,
        offer: Offer,
        set_log_level: Callable[[str], None],
        *,
        level: str | None = None,
        version: str = HANDSHAKE_VERSIONS[0],
    ) -> None:
        """`level` and `version`: results of earlier messages that another process received."""
        self._offer = offer
        self._set_log_level = set_log_level
        self._level = level
        self._handshaken = False
        self._client = ""
        self._questions = Questions()
        self._can_ask = False
        self._version = version
        self._in_flight: dict[str, PendingCall] = {}
        self._subscriptions: dict[str, bool] = {}  # by id, whether it wants to know of changed tools

    def receive(self, line: bytes) -> list[Outcome]:
        """The outcomes of one line, in order."""
        if not line.strip():
            return []
        try:
            message = wire.read(line)
        except Refused as refused:
            return [wire.refusal(refused.id, refused)]
        if isinstance(message, list) and message:
            # 2025-03-26 allowed batches; each message counts as sent, and is answered, on its own
            return [outcome for item in message for outcome in self._take(item, len(line))]
        return self._take(message, len(line))

    def finish(self, call: PendingCall) -> None:
        """The call's id may be used again."""
        id = call.request.id
        if self._in_flight.get(id) is call:
            del self._in_flight[id]

    def tools_changed(self) -> list[bytes]:
        """Read the tools again, and notify a client that listens."""
        self._offer.renew()
        method = "notifications/tools/list_changed"
        lines = [wire.notification(method, {})] if self._handshaken else []
        return lines + [
            wire.notification(method, {"_meta": {_SUBSCRIPTION: json.loads(id)}})
            for id, wants_tools in list(self._subscriptions.items())
            if wants_tools
        ]

    def close(self) -> list[bytes]:
        """End the subscriptions: each is a request that waits for its answer."""
        ended = [
            wire.result(id, wire.to_json(_COMPLETE | {"_meta": _STAMP | {_SUBSCRIPTION: json.loads(id)}}))
            for id in self._subscriptions
        ]
        self._subscriptions.clear()
        return ended

    def outcomes(self, message: Any, size: int) -> list[Outcome]:
        """The outcomes of one message, in order. Raises Refused."""
        if is_response(message):
            self._questions.answer(message)
            return []
        method, id = read_method(message), read_id(message)
        if "id" not in message:
            return self._heed(method, message.get("params"))
        if id == NO_ID:
            raise Refused(INVALID_REQUEST, "Invalid request: id must be a string or a number")
        if id in self._in_flight or id in self._subscriptions:
            raise Refused(INVALID_REQUEST, "Invalid request: a request with this id is still running")
        return [self._answer(method, read_request(id, method, message.get("params"), size))]

    def _take(self, message: Any, size: int) -> list[Outcome]:
        try:
            return self.outcomes(message, size)
        except Refused as refused:
            return [wire.refusal(read_id(message), refused)]

    def _answer(self, method: str, request: Request) -> Outcome:
        answers = _MODERN if request.modern else _HANDSHAKE
        if method not in answers and method in self._offer.methods:
            return self._ask(method, request)
        if method not in answers:
            raise Refused(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
        answer = answers[method](self, request)
        return wire.result(request.id, answer) if isinstance(answer, str) else answer

    def _heed(self, method: str, params: Any) -> list[Outcome]:
        """A notification is never answered, however wrong it is."""
        if method != "notifications/cancelled":
            return []
        id = read_id(params, "requestId")
        self._subscriptions.pop(id, None)
        call = self._in_flight.pop(id, None)
        if call is None:
            return []
        call.is_withdrawn = True
        return [Withdrawal(call)]

    def _initialize(self, request: Request) -> str:
        wanted = request.params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise Refused(INVALID_PARAMS, "Invalid params: protocolVersion must be a string")
        self._handshaken = True
        client = request.params.get("clientInfo")
        name = client.get("name") if isinstance(client, dict) else None
        self._client = name if isinstance(name, str) else ""
        self._can_ask = self._offer.can_announce and can_ask(request.params.get("capabilities"))
        self._version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
        return wire.to_json(
            {
                "protocolVersion": self._version,
                "capabilities": self._offer.capabilities,
                "serverInfo": SERVER_INFO,
                "instructions": self._offer.instructions,
            }
        )

    def _discover(self, request: Request) -> str:
        return wire.to_json(
            {
                "supportedVersions": list(VERSIONS),
                "capabilities": self._offer.capabilities,
                "instructions": self._offer.instructions,
            }
            | _CACHEABLE
        )

    def _ping(self, request: Request) -> str:
        return "{}"

    def _set_level(self, request: Request) -> str:
        level = check_level(request.params.get("level"))
        self._level = level
        self._set_log_level(level)
        return "{}"

    def _list_tools(self, request: Request) -> str:
        if request.params.get("cursor") is not None:
            raise Refused(INVALID_PARAMS, "Invalid params: unknown cursor, the list has one page")
        envelope = f",{wire.to_json(_CACHEABLE)[1:]}" if request.modern else "}"
        return f'{{"tools":{self._offer.catalogue}{envelope}'

    def _call_tool(self, request: Request) -> PendingCall:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str):
            raise Refused(INVALID_PARAMS, "Invalid params: missing required parameter 'name'")
        tool = self._offer.find(name)
        if tool is None:
            raise Refused(INVALID_PARAMS, f"Unknown tool: {name[:100]}")
        if not isinstance(arguments, dict | None):
            raise Refused(INVALID_PARAMS, "Invalid params: arguments must be an object")
        level = request.level if request.modern else self._level
        call = PendingCall(
            request,
            tool,
            arguments or {},
            level=level,
            version=request.version or self._version,
            envelope=_COMPLETE if request.modern else {},
            client=request.client or self._client,
            asking=self._asking(request),
            tool_names=self._offer.tool_names,
        )
        self._in_flight[request.id] = call
        return call

    def _asking(self, request: Request) -> Asking | None:
        if not request.modern:
            return self._questions if self._can_ask else None
        responses = request.params.get("inputResponses")
        if not isinstance(responses, dict | None):
            raise Refused(INVALID_PARAMS, "Invalid params: inputResponses must be an object")
        return GivenAnswers(responses or {}) if can_ask(request.capabilities) else None

    def _ask(self, method: str, request: Request) -> PendingCall:
        """Run a method that is not a tool call on a thread as well, because it reads the store."""
        if request.params.get("cursor") is not None:
            raise Refused(INVALID_PARAMS, "Invalid params: unknown cursor, the list has one page")
        arguments = {name: value for name, value in request.params.items() if name != "_meta"}
        call = PendingCall(
            request,
            self._offer.methods[method],
            arguments,
            level=None,
            version=request.version or self._version,
            envelope=(_PRIVATE if method in _CACHED else _COMPLETE) if request.modern else {},
            result=partial(_modern_result if request.modern else _handshake_result, request.params),
            client=request.client or self._client,
        )
        self._in_flight[request.id] = call
        return call

    def _listen(self, request: Request) -> bytes:
        if not self._offer.can_announce:
            raise Refused(METHOD_NOT_FOUND, "Method not found: there are no announcements on this transport")
        wanted = request.params.get("notifications")
        if not isinstance(wanted, dict):
            raise Refused(INVALID_PARAMS, "Invalid params: notifications must be an object")
        wants_tools = wanted.get("toolsListChanged") is True
        self._subscriptions[request.id] = wants_tools
        params = {
            "notifications": {"toolsListChanged": True} if wants_tools else {},
            "_meta": {_SUBSCRIPTION: json.loads(request.id)},
        }
        return wire.notification("notifications/subscriptions/acknowledged", params)


def _modern_result(params: Json, reply: Reply, code: int = INVALID_PARAMS) -> Json:
    if reply.error is not None:
        data = {"uri": params["uri"]} if isinstance(params.get("uri"), str) else None
        raise Refused(code, reply.text, data=data)
    return reply.structured or {}


def _handshake_result(params: Json, reply: Reply) -> Json:
    is_missing = isinstance(reply.error, NotFound) and reply.error.kind != "prompt"
    return _modern_result(params, reply, RESOURCE_NOT_FOUND if is_missing else INVALID_PARAMS)


Answer = Callable[[RpcPeer, Request], str | bytes | PendingCall]
"""Returns a result as JSON text, or a call to run first."""

_HANDSHAKE: dict[str, Answer] = {
    "initialize": RpcPeer._initialize,
    "ping": RpcPeer._ping,
    "logging/setLevel": RpcPeer._set_level,
    "tools/list": RpcPeer._list_tools,
    "tools/call": RpcPeer._call_tool,
}
_MODERN: dict[str, Answer] = {
    "server/discover": RpcPeer._discover,
    "subscriptions/listen": RpcPeer._listen,
    "tools/list": RpcPeer._list_tools,
    "tools/call": RpcPeer._call_tool,
}
