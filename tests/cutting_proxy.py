"""A TCP proxy on loopback that cuts connections at random moments, as bad networks do: before, in and after requests and answers."""

from __future__ import annotations

import random
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MAX_BYTES_BEFORE_CUT = 1_500
POLL_S = 0.05


class CuttingProxy:
    def __init__(self, target: tuple[str, int], seed: int) -> None:
        self._target = target
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_closing = threading.Event()
        self.share = 0.0
        """Of connections that are cut, from 0 to 1."""
        self.cuts = 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._is_closing.set()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with self._lock:
            is_cut = self._random.random() < self.share
            left = self._random.randrange(MAX_BYTES_BEFORE_CUT) if is_cut else -1
        with near, suppress(OSError), socket.create_connection(self._target) as far:
            others = {near: far, far: near}
            while not self._is_closing.is_set():
                for each in select.select([near, far], [], [], POLL_S)[0]:
                    data = each.recv(65_536)
                    if not data:
                        return
                    if 0 <= left <= len(data):
                        others[each].sendall(data[:left])
                        with self._lock:
                            self.cuts += 1
                        return
                    left -= len(data) if left > 0 else 0
                    others[each].sendall(data)


@contextmanager
def cutting(target: tuple[str, int], seed: int) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(target, seed)
    try:
        yield proxy
    finally:
        proxy.close()
