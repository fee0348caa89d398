"""HTTP/1.1 whose requests must arrive in time: a connection that sends half of one is dropped.

Uvicorn's own timeout begins with an answer, so without this whoever never finishes a request keeps a connection for
good, and some thousands of them keep everybody else out.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

PIECE_BYTES = 16_384
"""The headers are one piece, and then so much of the body: each has the time anew."""


class PromptHttp(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # uvicorn chooses it when it is imported
    piece_s = 15.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        known = self.cycle  # of the last request whose headers came
        super().data_received(data)
        self._received += len(data)
        awaits_body = self.cycle is not None and not self.cycle.response_complete and self.cycle.more_body
        if awaits_body:
            if self.cycle is not known or self._deadline is None or self._received >= PIECE_BYTES:
                self._expect()
        elif self.cycle is None or self.cycle.response_complete:
            if self._deadline is None:
                self._expect()
        else:
            self._relax()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def _expect(self) -> None:
        """From now on the next piece has its time."""
        self._relax()
        self._received = 0
        self._deadline = self.loop.call_later(self.piece_s, self.transport.abort)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def prompt_http(piece_s: float) -> type[PromptHttp]:
    """Uvicorn makes the protocol itself, so what it is to know is in its class."""
    return type("PromptHttp", (PromptHttp,), {"piece_s": piece_s})
