"""Headers of 2026-07-28 that repeat parts of a message for routing: they must agree with the message."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from typing import Any

from . import message as envelope
from .responses import HttpRequest
from .wire import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, Refused

VERSION, METHOD, NAME = "mcp-protocol-version", "mcp-method", "mcp-name"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose object is repeated in a header, and the parameter that contains it."""
_OPENING, _CLOSING = "=?base64?", "?="


def check_headers(request: HttpRequest, message: Any) -> bool:
    """Return whether a message is of 2026-07-28 or later. Raises Refused if its headers contradict it."""
    version = request.headers.get(VERSION)
    is_announced = version is not None and version not in envelope.HANDSHAKE_VERSIONS
    if not isinstance(message, dict) or "id" not in message or not isinstance(message.get("method"), str):
        return is_announced
    method, params = message["method"], message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(params, dict) or not isinstance(meta, dict) or envelope.VERSION not in meta:
        if is_announced:
            raise Refused(INVALID_PARAMS, f"Invalid params: _meta must hold {envelope.VERSION}, a string")
        return False
    if not is_announced and not envelope.is_modern(method, meta):
        return False
    _check_agreement(request, method, params, meta[envelope.VERSION])
    if not envelope.is_modern(method, meta):
        raise Refused(METHOD_NOT_FOUND, f"Method not found: {method}")
    return True


def _check_agreement(request: HttpRequest, method: str, params: dict[str, Any], version: Any) -> None:
    expected = {VERSION: version, METHOD: method}
    if params.get(_NAMED.get(method, "")) is not None:
        expected[NAME] = params[_NAMED[method]]
    for header, expected_value in expected.items():
        if _decoded(request.headers.get(header)) != expected_value:
            raise Refused(HEADER_MISMATCH, f"Header mismatch: {header} is not what the message says")


def _decoded(value: str | None) -> str | None:
    """A header's text, which is in Base64 where a header could not carry it; None when that is not canonical."""
    if value is None or not (value.startswith(_OPENING) and value.endswith(_CLOSING)):
        return value
    encoded = value[len(_OPENING) : -len(_CLOSING)]
    try:
        decoded = b64decode(encoded, validate=True)
        return decoded.decode() if b64encode(decoded).decode() == encoded else None
    except (binascii.Error, ValueError):
        return None
