"""Uvicorn as we run it: without what we do not use, and stopped by a signal from its first moment on; and its address."""

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
    """Why an address cannot be listened at; Python adds the address, which whoever tells it has said."""
    return (error.strerror or str(error)).partition(" (while")[0]
