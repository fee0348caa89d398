"""Ask the user whether to go on, through a client that can: a request of ours, whose answer comes like any other message.

Only over standard input and output, and in the era of `initialize`: there a client may be asked while its call runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from . import wire

LONGEST_WAIT_S = 600.0
"""A user who does not answer for so long said no."""
POLL_S = 0.1


class Questions:
    """Those of one client that wait for their answers. For any thread."""

    def __init__(self) -> None:
        self._waiting: dict[str, threading.Event] = {}
        self._answers: dict[str, bool] = {}
        self._count = 0
        self._lock = threading.Lock()

    def ask(self, question: str, send: Callable[[bytes], None], is_cancelled: Callable[[], bool]) -> bool:
        """Whether the user agrees. Waits for the answer, unless the call is not wanted any more."""
        with self._lock:
            self._count += 1
            id = f"backstory-{self._count}"
            answered = self._waiting[id] = threading.Event()
        params = {"message": question, "requestedSchema": {"type": "object", "properties": {}}}
        send(wire.request(id, "elicitation/create", params))
        deadline = time.monotonic() + LONGEST_WAIT_S
        while not answered.wait(POLL_S) and not is_cancelled() and time.monotonic() < deadline:
            pass
        with self._lock:
            del self._waiting[id]
            return self._answers.pop(id, False)

    def answer(self, message: dict[str, Any]) -> None:
        """A response of the client. What nobody waits for is dropped."""
        id, result = message.get("id"), message.get("result")
        with self._lock:
            if isinstance(id, str) and id in self._waiting:
                self._answers[id] = isinstance(result, dict) and result.get("action") == "accept"
                self._waiting[id].set()
