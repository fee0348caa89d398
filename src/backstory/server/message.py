"""The shape of one message: its id, its method, and the era it belongs to."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .sessionlog import LEVELS
from .wire import INVALID_PARAMS, INVALID_REQUEST, NO_ID, UNSUPPORTED_PROTOCOL_VERSION, Refused

Json = dict[str, Any]

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN_VERSIONS = ("2026-07-28",)
VERSIONS = (*MODERN_VERSIONS, *HANDSHAKE_VERSIONS)

PREFIX = "io.modelcontextprotocol/"
VERSION = PREFIX + "protocolVersion"
_CAPABILITIES = PREFIX + "clientCapabilities"
_LEVEL = PREFIX + "logLevel"
_CLIENT = PREFIX + "clientInfo"

_MODERN_ONLY = ("server/discover", "subscriptions/listen")


class Request(NamedTuple):
    """A request that may be answered. (Here tuples are records: a frozen dataclass takes start-up a millisecond.)"""

    id: str
    """The id as JSON text, so that 1, 1.0 and "1" remain three different ids."""
    params: Json
    meta: Json
    modern: bool
    size: int

    @property
    def version(self) -> str | None:
        """The protocol version of the request; None before 2026-07-28."""
        return self.meta[VERSION] if self.modern else None

    @property
    def progress_token(self) -> str | int | None:
        token = self.meta.get("progressToken")
        return token if isinstance(token, str) or type(token) is int else None

    @property
    def level(self) -> str | None:
        """The log level that the client requests; None before 2026-07-28."""
        return self.meta.get(_LEVEL) if self.modern else None

    @property
    def capabilities(self) -> Json:
        """The client's capabilities, which each request contains from 2026-07-28 on."""
        capabilities: Json = self.meta.get(_CAPABILITIES, {})
        return capabilities

    @property
    def client(self) -> str:
        """The name of the client program, if the request contains it."""
        client = self.meta.get(_CLIENT)
        name = client.get("name") if isinstance(client, dict) else None
        return name if isinstance(name, str) else ""


def read_request(id: str, method: str, params: Any, size: int) -> Request:
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "Invalid params: params must be an object")
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        raise Refused(INVALID_PARAMS, "Invalid params: _meta must be an object")
    modern = is_modern(method, meta)
    if modern:
        _check_envelope(meta)
    return Request(id, params, meta, modern, size)


def is_modern(method: str, meta: Json) -> bool:
    """True if a request is of 2026-07-28 or later."""
    return method in _MODERN_ONLY or (VERSION in meta and method != "initialize")


def _check_envelope(meta: Json) -> None:
    for key, kind, name in ((VERSION, str, "a string"), (_CAPABILITIES, dict, "an object")):
        if not isinstance(meta.get(key), kind):
            raise Refused(INVALID_PARAMS, f"Invalid params: _meta must hold {key}, {name}")
    if meta[VERSION] not in MODERN_VERSIONS:
        # The older versions are listed too, so that a client knows it can fall back to `initialize`.
        versions = {"supported": list(VERSIONS), "requested": meta[VERSION]}
        raise Refused(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data=versions)
    if meta.get(_LEVEL) is not None:
        check_level(meta[_LEVEL])


def can_ask(capabilities: Any) -> bool:
    """True if a client with these capabilities can show its user a form. Without a mode, forms are the default."""
    modes = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(modes, dict) and ("form" in modes or "url" not in modes)


def check_level(level: Any) -> str:
    if level not in LEVELS:
        raise Refused(INVALID_PARAMS, f"Invalid params: the log level must be one of {', '.join(LEVELS)}")
    return str(level)


def read_id(message: Any, key: str = "id") -> str:
    """The id as JSON text; `null` if there is none, or none that an answer could contain."""
    id = message.get(key) if isinstance(message, dict) else None
    if isinstance(id, bool) or not isinstance(id, str | int | float) or id in (float("inf"), float("-inf")):
        return NO_ID
    return json.dumps(id)


def read_method(message: Any) -> str:
    if not isinstance(message, dict):
        raise Refused(INVALID_REQUEST, "Invalid request: a message must be an object")
    if message.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"')
    method = message.get("method")
    if not isinstance(method, str):
        raise Refused(INVALID_REQUEST, "Invalid request: method must be a string")
    return method


def is_response(message: Any) -> bool:
    return (
        isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)
    )
