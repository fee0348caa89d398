"""The local socket through which hooks call a running server, so that a hook need not start the product.

One line of JSON comes in, one goes out. The socket is in a folder that only this user can enter. On systems without
sockets in the file system it is a local port, and a file in that folder contains the secret that both sides send
first.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

from ..clients.hook_means import DOORS
from ..core import Core
from ..core.hooks import HookRequest, answer
from ..problems import Problems

HOOKS = "hooks"
ARRIVAL_S = 1.0
"""Deadline: a hook sends its line immediately, other connections are closed."""
MAX_REQUEST_BYTES = 1_000_000
WAITING_CONNECTIONS = 16


class HookDoor:
    """Opened after the first answer to the client, closed with the server."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._problems: Problems = core.engine.problems
        self._path: Path | None = None
        self._listener: socket.socket | None = None
        self._greeting = self._secret = b""

    def open(self) -> None:
        """Open the socket. Hooks are silent without it, so a folder that cannot be written is logged and ignored."""
        try:
            folder = self._core.engine.settings.home / DOORS
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            self._listener = self._listen(folder)
        except OSError as error:
            self._problems.failed(HOOKS, error)
            return
        threading.Thread(target=self._serve, name="hook-door", daemon=True).start()

    def close(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        if self._listener is not None:
            self._listener.close()

    def _listen(self, folder: Path) -> socket.socket:
        # A hook takes a door that does not answer for that of a killed server and removes it, so the file gets the
        # name that hooks look for when it answers.
        draft = folder / f".{os.getpid()}"
        draft.unlink(missing_ok=True)  # of a process that had this number before
        path = folder / f"{os.getpid()}.sock"
        listener = _listen_on_socket(draft) if hasattr(socket, "AF_UNIX") else None
        if listener is None:
            path = path.with_suffix(".port")
            listener = self._listen_on_port(draft)
        os.replace(draft, path)
        self._path = path
        return listener

    def _listen_on_port(self, path: Path) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", 0), backlog=WAITING_CONNECTIONS)
        self._greeting, self._secret = (os.urandom(16).hex().encode() for _ in range(2))
        words = (str(listener.getsockname()[1]).encode(), self._greeting, self._secret)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(b" ".join(words))
        return listener

    def _serve(self) -> None:
        assert self._listener is not None
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # the server leaves
                return
            threading.Thread(target=self._attend, args=(connection,), name="hook", daemon=True).start()

    def _attend(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(ARRIVAL_S)
                reply = self._reply(connection)
                if reply:
                    connection.sendall(reply)
            except OSError:  # the hook has given up, or wants no answer
                return
            except Exception as error:  # a hook is silent then; the next one may succeed
                self._problems.failed(HOOKS, error)

    def _reply(self, connection: socket.socket) -> bytes:
        if self._greeting:
            connection.sendall(self._greeting)
        with connection.makefile("rb") as lines:
            if self._secret and lines.readline(100).strip() != self._secret:
                return b""
            request = _request(lines.readline(MAX_REQUEST_BYTES))
        if request is None:
            return b""
        with self._core.engine.serving():
            reply = answer(self._core, request)
        return b"" if reply is None else json.dumps(reply._asdict()).encode() + b"\n"


def _listen_on_socket(path: Path) -> socket.socket | None:
    """A socket at a path, or None if the path is longer than a socket may have."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(WAITING_CONNECTIONS)
    except OSError:
        listener.close()
        path.unlink(missing_ok=True)
        return None
    return listener


def _request(line: bytes) -> HookRequest | None:
    try:
        body: Any = json.loads(line)
        fields = {name: body[name] for name in HookRequest._fields if name in body}
    except (ValueError, TypeError):
        return None
    is_text = all(isinstance(value, str) for value in fields.values())
    return HookRequest(**fields) if "event" in fields and is_text else None
