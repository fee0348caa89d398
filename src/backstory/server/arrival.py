"""HTTP/1.1 whose requests must arrive in time: a connection that sends half of one is dropped.

Uvicorn's own timeout begins with an answer, so without this whoever never finishes a request keeps a connection for
good, and some thousands of them keep everybody else out.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PIECE_BYTES = 16_384
"""The headers are one piece, and then so much of the body: each has the time anew."""


class PromptHttp(H11Protocol):
    piece_s = 15.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        was_body = self.conn.their_state is h11.SEND_BODY
        super().data_received(data)
        self._received += len(data)
        is_body = self.conn.their_state is h11.SEND_BODY
        if not is_body and self.conn.their_state is not h11.IDLE:
            self._relax()
        elif self._deadline is None or (is_body and (not was_body or self._received >= PIECE_BYTES)):
            self._expect()

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
