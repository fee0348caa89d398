"""Ask the user for confirmation, through clients that support it.

Up to 2025-11-25 this is a request of ours while the call runs, whose answer arrives like any other message; only
standard input and output support it. From 2026-07-28 the call ends with an `input_required` result, and the client
repeats the call with the answer; nothing is remembered in between, so every transport supports it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Protocol

from ..core.calls import Unanswered
from . import wire

Json = dict[str, Any]

LONGEST_WAIT_S = 600.0
"""A user who does not answer for this long has declined."""
POLL_S = 0.1


class Asking(Protocol):
    """A way to ask the user during one call."""

    def ask(self, question: str, send: Callable[[bytes], None], is_cancelled: Callable[[], bool]) -> bool:
        """True if the user agrees. Raises Unanswered if the client has to repeat the call with the answer."""


class GivenAnswers:
    """The answers that a call of 2026-07-28 or later brings with it."""

    def __init__(self, responses: Json) -> None:
        self._responses = responses

    def ask(self, question: str, send: Callable[[bytes], None], is_cancelled: Callable[[], bool]) -> bool:
        response = self._responses.get(_key(question))
        if not isinstance(response, dict):
            raise Unanswered(question)
        return response.get("action") == "accept"


def input_required(question: str) -> Json:
    """The result of a call that waits for an answer."""
    request = {"method": "elicitation/create", "params": {"mode": "form", **_form(question)}}
    return {"resultType": "input_required", "inputRequests": {_key(question): request}}


def _key(question: str) -> str:
    """A key derived from the question, so that an answer never counts for another question, for example after a change."""
    return f"confirm-{sha256(question.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _form(question: str) -> Json:
    return {"message": question, "requestedSchema": {"type": "object", "properties": {}}}


class Questions:
    """The unanswered questions of one client. Thread-safe."""

    def __init__(self) -> None:
        self._waiting: dict[str, threading.Event] = {}
        self._answers: dict[str, bool] = {}
        self._count = 0
        self._lock = threading.Lock()

    def ask(self, question: str, send: Callable[[bytes], None], is_cancelled: Callable[[], bool]) -> bool:
        """True if the user agrees. Waits for the answer until the call is cancelled."""
        with self._lock:
            self._count += 1
            id = f"backstory-{self._count}"
            answered = self._waiting[id] = threading.Event()
        send(wire.request(id, "elicitation/create", _form(question)))
        deadline = time.monotonic() + LONGEST_WAIT_S
        while not answered.wait(POLL_S) and not is_cancelled() and time.monotonic() < deadline:
            pass
        with self._lock:
            del self._waiting[id]
            return self._answers.pop(id, False)

    def answer(self, message: Json) -> None:
        """Handle a response of the client. Unexpected responses are dropped."""
        id, result = message.get("id"), message.get("result")
        with self._lock:
            if isinstance(id, str) and id in self._waiting:
                self._answers[id] = isinstance(result, dict) and result.get("action") == "accept"
                self._waiting[id].set()
