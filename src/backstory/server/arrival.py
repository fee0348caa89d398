"""HTTP/1.1 with a deadline for requests: a connection that sends only half of one is dropped.

Uvicorn's own timeout starts with an answer. Without this, clients that never finish a request would occupy
connections for ever, and some thousands of them would lock out all others.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

PIECE_BYTES = 16_384
"""The deadline applies to the headers, and then to each block of the body of this size."""


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
        """Start the deadline for the next piece."""
        self._relax()
        self._received = 0
        self._deadline = self.loop.call_later(self.piece_s, self.transport.abort)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def prompt_http(piece_s: float) -> type[PromptHttp]:
    """A subclass with the deadline as a class attribute, because uvicorn creates the protocol itself."""
    return type("PromptHttp", (PromptHttp,), {"piece_s": piece_s})
