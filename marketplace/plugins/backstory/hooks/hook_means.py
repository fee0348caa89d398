"""Helpers of `hook.py`: files, JSON, time and the sockets of running servers, with almost no imports.

It is installed next to `hook.py`, and imports nothing from the package."""

from __future__ import annotations

import _thread
import os
import sys
from time import sleep, time

TYPE_CHECKING = False  # as checkers know it; `typing` takes 5 ms to import
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Json = dict[str, Any]

DOORS = "doors"


def ask(data: str, body: Mapping[str, str]) -> Json:
    """The answer of the running server that started last."""
    for door in doors(data):
        door.sendall(as_json(body))
        content = b""
        while chunk := door.recv(65_536):
            content += chunk
        answer: Json = parse(content) if content.strip() else {}
        return answer
    return {}


def send(data: str, body: Mapping[str, str], *, to_all: bool = False) -> None:
    """Send a message to one server or to all, without waiting for an answer."""
    for door in doors(data):
        door.sendall(as_json(body))
        if not to_all:
            return


def doors(data: str) -> Iterator[Any]:
    """Connections to running servers, newest first. Sockets of killed servers are removed."""
    import _socket  # a library to load, 0.4 ms, where a server is asked

    folder = os.path.join(data, DOORS)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in names if name.endswith((".sock", ".port"))]
    for path in sorted(paths, key=changed_at, reverse=True):
        try:
            if path.endswith(".sock"):
                door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
                door.connect(path)
            else:
                door = open_port(read(path).split(), _socket)
            yield door
        except (ConnectionError, FileNotFoundError):
            if os.path.exists(path):
                os.unlink(path)


def changed_at(path: str) -> float:
    """The modification time of a file, or 0 if it is gone: a server may end at any moment."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def open_port(words: list[bytes], _socket: Any) -> Any:
    """The door of a server on systems without sockets that have paths.

    The server sends a word first, because another program may have its port meanwhile."""
    port, greeting, secret = words
    door = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    door.connect(("127.0.0.1", int(port)))
    if door.recv(len(greeting)) != greeting:
        raise ConnectionError
    door.sendall(secret + b"\n")
    return door


def as_json(body: Mapping[str, str]) -> bytes:
    pairs = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in body.items())
    return f"{{{pairs}}}\n".encode()


class Scanning:
    """The settings that the C scanner of `json` needs. `json` itself imports `re`, which takes as long as starting
    Python."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float, parse_int = float, int


def parse(content: bytes) -> Any:
    text = content.decode().lstrip()
    try:
        from _json import make_scanner  # json itself compiles patterns: 4 ms
    except ImportError:
        import json  # another Python has nothing faster

        return json.loads(text)
    scanner: Any = make_scanner
    return scanner(Scanning)(text, 0)[0]


def quoted(text: str) -> str:
    try:
        from _json import encode_basestring_ascii  # 4 ms less than json
    except ImportError:
        import json  # another Python has nothing faster

        return json.dumps(text)
    return str(encode_basestring_ascii(text))


def now() -> float:
    return time()


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(text: str) -> None:
    """Write in one call: the user would see an incomplete line of JSON."""
    os.write(1, text.encode() + b"\n")


def limit_s(default_s: float) -> float:
    return float(os.environ.get("BACKSTORY_BRIEF_TIMEOUT_S") or default_s)


class TimeLimit:
    """Ends this process in time.

    A thread and no signal, which Windows has not; `threading` itself would take longer than all the rest."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = now() + seconds
        _thread.start_new_thread(self._leave, ())

    def extend(self, seconds: float) -> None:
        self._ends_at += seconds

    def _leave(self) -> None:
        while (left_s := self._ends_at - now()) > 0:
            sleep(left_s)
        os._exit(0)


def default_data() -> str:
    """The default data directory of Backstory."""
    home = os.path.expanduser("~")
    if os.environ.get("BACKSTORY_HOME"):
        return os.environ["BACKSTORY_HOME"]
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "backstory")
    if sys.platform == "win32":
        return os.path.join(
            os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "backstory"
        )
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "backstory")
