"""JSON-RPC messages as bytes: reads any input, writes only valid UTF-8 on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_PROTOCOL_VERSION = -32022

NO_ID = "null"

# Clients write a request's id first or last, so these ends of an unreadable line are enough to find it.
HEAD_BYTES = 65_536
TAIL_BYTES = 4_096


class Refused(Exception):
    """A message that is answered with a JSON-RPC error. `id` is JSON text, if the line contained one."""

    def __init__(self, code: int, message: str, *, data: Any = None, id: str = NO_ID) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.id = id


def read(line: bytes) -> Any:
    """Parse the JSON value on a line. Strict: NaN, invalid UTF-8 and overlong numbers are refused."""
    try:
        return _DECODER.decode(line.removeprefix(b"\xef\xbb\xbf").decode())
    except UnicodeDecodeError as error:
        reason = f"Parse error: not valid UTF-8 at byte {error.start}"
        raise Refused(PARSE_ERROR, reason, id=_id_of(line)) from None
    except json.JSONDecodeError as error:
        raise Refused(PARSE_ERROR, f"Parse error: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise Refused(INVALID_REQUEST, "Invalid request: nested too deeply", id=_id_of(line)) from None
    except ValueError:
        reason = "Parse error: a number is NaN, infinite or has too many digits"
        raise Refused(PARSE_ERROR, reason, id=_id_of(line)) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_json(body: object) -> str:
    return _ENCODER.encode(body)


def result(id: str, body: str) -> bytes:
    return _to_line(f'{{"jsonrpc":"2.0","id":{id},"result":{body}}}\n')


def refusal(id: str, refused: Refused) -> bytes:
    error: dict[str, Any] = {"code": refused.code, "message": refused.message}
    if refused.data is not None:
        error["data"] = refused.data
    return _to_line(f'{{"jsonrpc":"2.0","id":{id},"error":{to_json(error)}}}\n')


def request(id: str, method: str, params: dict[str, Any]) -> bytes:
    return _to_line(to_json({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n")


def notification(method: str, params: dict[str, Any]) -> bytes:
    return _to_line(to_json({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")


def _to_line(text: str) -> bytes:
    try:
        line = text.encode()
    except UnicodeEncodeError:
        # A lone surrogate, escaped or not, makes strict clients drop the whole message: U+FFFD takes its place.
        line = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    # Some line readers break lines here too; JSON allows these characters only inside strings.
    return line.replace(b"\xe2\x80\xa8", rb"\u2028").replace(b"\xe2\x80\xa9", rb"\u2029")


class TooLong(NamedTuple):
    """A line that was read to its end and thrown away."""

    id: str


class Lines:
    """Cuts a stream of bytes into lines. A line beyond the limit costs no more memory than the limit."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._start()

    def _start(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._hold(end)
            yield self._line()
        self._hold(rest)

    def rest(self) -> Iterator[bytes | TooLong]:
        """The text after the last newline, once the input has ended."""
        yield self._line()

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > max(self._limit, HEAD_BYTES):
            line = b"".join(self._parts)
            self._head = self._head or line[:HEAD_BYTES]
            self._parts = [line[-TAIL_BYTES:]]

    def _line(self) -> bytes | TooLong:
        line = b"".join(self._parts)
        is_too_long, head = self._size > self._limit, self._head or line[:HEAD_BYTES]
        self._start()
        return TooLong(_find_id(head, line[-TAIL_BYTES:])) if is_too_long else line


def _id_of(line: bytes) -> str:
    return _find_id(line[:HEAD_BYTES], line[-TAIL_BYTES:])


def _find_id(head: bytes, tail: bytes) -> str:
    """The request's id as JSON text, without reading the whole line; `null` unless it is certain."""
    id = _id_in_head(head) or _id_in_tail(tail)
    if id is None:
        return NO_ID
    if re.fullmatch(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?", id):
        return id.decode()
    try:
        text = json.loads(id)
    except ValueError:
        return NO_ID
    return json.dumps(text) if isinstance(text, str) else NO_ID


_STRING = rb'"(?:[^"\\]|\\.)*+"'


def _id_in_head(head: bytes) -> bytes | None:
    """The complete value of "id" at the top level of a truncated line."""
    tokens = (match.group() for match in re.finditer(_STRING + rb'|[{}\[\],:"]|[^\s{}\[\],:"]+', head))
    depth = 0
    last = b""
    for token in tokens:
        if token == b'"':
            return None  # a string that ends beyond the head: nothing after it can be trusted
        if depth == 1 and token == b'"id"' and last in (b"{", b","):
            colon, value, end = next(tokens, b""), next(tokens, b""), next(tokens, b"")
            return value if colon == b":" and end in (b",", b"}") else None
        depth += (token in (b"{", b"[")) - (token in (b"}", b"]"))
        last = token
    return None


def _id_in_tail(tail: bytes) -> bytes | None:
    """The value of "id" if it is the last member of the outermost object, or the last before "jsonrpc"."""
    last = rb',\s*"id"\s*:\s*(' + _STRING + rb'|[^\s{}\[\],:"]+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z'
    match = re.search(last, tail)
    return match[1] if match else None
