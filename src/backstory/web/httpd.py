"""Uvicorn with our configuration: without unused parts, and with signal handlers from the start; and the parsing of
its address."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any, Literal

import uvicorn


def http_server(
    app: Callable[..., Any], *, grace_s: int, protocol: type[asyncio.Protocol] | Literal["auto"] = "auto"
) -> uvicorn.Server:
    """Requests that run when it is to stop get `grace_s` to finish."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=protocol,
        ws="none",
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=grace_s,
    )
    return uvicorn.Server(config)


def stop_at_signals(server: uvicorn.Server) -> None:
    """Until uvicorn has handlers of its own, which send the signals on to these when it is done: an interrupt that comes
    while it begins would be lost in one of its callbacks."""

    def stop(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def why_not(error: OSError) -> str:
    """The reason why an address cannot be used, without the address that Python appends, because the message already
    contains it."""
    return (error.strerror or str(error)).partition(" (while")[0]
