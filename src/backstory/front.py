"""Answers the requests of every start from prepared text, and leaves the rest to the product.

Every window of every client starts a server and waits for its list of tools, and importing the product takes many
times as long as sending the list. The answers are the product's own: scripts/write_docs.py writes them to
`prepared/`, for all surfaces and for each alone. Any other request is answered by the product.
"""

from __future__ import annotations

import json
import os

if os.name == "posix":
    import select
    import signal

TYPE_CHECKING = False  # importing the real one takes as long as this complete module
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import Any, NoReturn

PREPARED = os.path.join(os.path.dirname(__file__), "prepared")
ALL = "all"
_META = "io.modelcontextprotocol/"
_OTHERWISE = ("http", "prefix", "profile", "profile_config")
"""Settings that make other answers."""
_PROFILE_VARIABLES = ("TOOL_PROFILE", "TOOL_PROFILE_CONFIG")
_PROFILE_CONFIG = "~/.mcp-memory-keeper/config.json"
"""Memory Keeper's own names for the last two. Its file may change the tools of any profile."""
INTERNAL_ERROR = -32603
AS_BEFORE = "+"
"""Begins a prepared answer that is the one of the older protocol with something more at its end."""
CHUNK_BYTES = 65_536
"""Also the maximum length of a line here: prepared requests are shorter, and the product limits the rest."""
FIRST_S = 2.0
"""Seconds to wait for a first request before importing the product."""
PAUSE_S = 0.25
"""A client that is silent for this long after an answer is idle; the product is imported meanwhile."""


class Heard:
    """The messages of the client so far."""

    def __init__(self) -> None:
        self.is_answered = False
        """True if the client got an answer."""
        self.greeting = b""
        """The line that the product has to know of, though it is answered."""
        self.rest = b""
        """Bytes that are not."""
        self.is_over = False
        """True if the client left after its answers."""
        self.prepared: Mapping[str, str] = {}
        """The prepared answers of this server, by request."""


def answer_start(words: Sequence[str], environment: Mapping[str, str], home: str) -> Heard:
    """Answer prepared requests until the client asks for more, pauses or leaves. `home` is the default data directory."""
    heard = Heard()
    answers = None if os.name != "posix" else _prepared(words, environment, home)
    if answers is None:
        return heard
    heard.prepared = answers
    former = {number: signal.signal(number, _leave) for number in (signal.SIGTERM, signal.SIGINT)}
    while _answer_next(heard, answers) or _read(heard):
        pass
    for number, handler in former.items():
        signal.signal(number, handler)
    return heard


def refuse_rest(heard: Heard, reason: str) -> None:
    """Answer all requests with an error if the product cannot start, until the client leaves.

    A client shows a server that exits as failed, in some windows at every turn, and never the reason."""
    error = {"code": INTERNAL_ERROR, "message": reason}
    is_client = heard.is_answered or bool(heard.rest)
    if os.name == "posix":
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _leave)
    while True:
        *lines, heard.rest = heard.rest.split(b"\n")
        for line in lines:
            answer = _answer(line, heard.prepared, heard)
            _send(_refusal(line, error) if answer is None else answer)
        chunk = os.read(0, CHUNK_BYTES) if is_client else b""
        if not chunk:
            _send(_refusal(heard.rest, error))
            return
        heard.rest += chunk


def _refusal(line: bytes, error: Mapping[str, Any]) -> bytes:
    """The error as the answer to a request; empty for messages that expect no answer."""
    try:
        message = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return b""
    if not isinstance(message, dict) or "method" not in message or type(message.get("id")) not in (int, str):
        return b""
    return f"{json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'error': error})}\n".encode()


def _answer_next(heard: Heard, answers: Mapping[str, str]) -> bool:
    line, newline, rest = heard.rest.partition(b"\n")
    answer = _answer(line, answers, heard) if newline else None
    if answer is None:
        return False
    heard.rest = rest
    heard.is_answered = True
    _send(answer)
    return True


def _read(heard: Heard) -> bool:
    """More bytes, unless the next line is for the product."""
    if b"\n" in heard.rest or len(heard.rest) > CHUNK_BYTES:
        return False
    if not select.select([0], [], [], PAUSE_S if heard.is_answered else FIRST_S)[0]:
        return False
    chunk = os.read(0, CHUNK_BYTES)
    heard.is_over = not chunk and heard.is_answered and not heard.rest
    heard.rest += chunk
    return bool(chunk)


def _answer(line: bytes, answers: Mapping[str, str], heard: Heard) -> bytes | None:
    """The answer to a line; empty if it needs none, None if no answer is prepared."""
    try:
        message = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    if "id" not in message:
        return b"" if message.get("method") == "notifications/initialized" else None
    id = message["id"]
    result = answers.get(_key(message.get("method"), message.get("params", {})))
    if result is None or type(id) not in (int, str):
        return None
    if message["method"] == "initialize":
        heard.greeting = line
    return f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{result}}}\n'.encode()


def _key(method: Any, params: Any) -> str:
    """The key of the prepared answer to a request, or ""."""
    if not isinstance(method, str) or not isinstance(params, dict):
        return ""
    meta = params.get("_meta", {})
    if method == "initialize":
        return f"initialize {params.get('protocolVersion')}"
    if not isinstance(meta, dict) or not set(params) <= {"_meta"}:
        return ""
    if _META + "protocolVersion" not in meta:
        return method
    is_plain = isinstance(meta.get(_META + "clientCapabilities"), dict) and _META + "logLevel" not in meta
    return f"{method} {meta[_META + 'protocolVersion']}" if is_plain else ""


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _prepared(words: Sequence[str], environment: Mapping[str, str], home: str) -> dict[str, str] | None:
    """The answers of a server with these words and settings; None when it is another command, or something unusual."""
    flags = _read_flags(words[1:] if words[:1] == ["serve"] else words)
    if flags is None:
        return None
    names = ("surfaces", "home", *_OTHERWISE)
    values = {name: environment.get(f"BACKSTORY_{name.upper()}", "") for name in names} | flags
    config = _config(values["home"] or home)
    if any(values[name] for name in _OTHERWISE) or any(name in config for name in ("surfaces", *_OTHERWISE)):
        return None
    surfaces = values["surfaces"] or ALL
    if surfaces in (ALL, "memory-keeper") and _has_profile(environment):
        return None
    return read_answers(surfaces)


def _has_profile(environment: Mapping[str, str]) -> bool:
    is_named = any(environment.get(name) for name in _PROFILE_VARIABLES)
    return is_named or os.path.exists(os.path.expanduser(_PROFILE_CONFIG))


def _read_flags(words: Sequence[str]) -> dict[str, str] | None:
    """Settings by name; None if the words are not only settings. The product validates the names."""
    flags: dict[str, str] = {}
    remaining = iter(words)
    for word in remaining:
        name, is_joined, value = word.partition("=")
        if not name.startswith("--") or name in ("--", "--help", "--json", "--version"):
            return None
        if not is_joined and (value := next(remaining, "--")).startswith("--"):
            return None
        flags[name[2:].replace("-", "_")] = value
    return flags


def _config(home: str) -> str:
    """The text of the config file, or ""."""
    try:
        with open(os.path.join(os.path.expanduser(home), "config.toml"), encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def read_answers(name: str) -> dict[str, str] | None:
    if not name.replace("-", "").isalnum():
        return None
    try:
        with open(os.path.join(PREPARED, f"{name}.tsv"), encoding="utf-8") as file:
            answers = dict(line.rstrip("\n").split("\t", 1) for line in file)
    except OSError:
        return None
    for key, text in answers.items():
        if text.startswith(AS_BEFORE):
            answers[key] = answers[key.partition(" ")[0]][:-1] + text[1:]
    return answers


def _send(line: bytes) -> None:
    try:
        while line:
            line = line[os.write(1, line) :]
    except OSError:  # the client has closed its end
        os._exit(0)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Nothing has begun that could be left undone."""
    os._exit(0)
