"""The cost of uvicorn alone: an application that reads a body and sends it back. `http_echo.py` prints its address."""

from __future__ import annotations

import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]


async def echo(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    body = (await receive())["body"]
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"echo: http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(echo, log_level="warning", access_log=False, lifespan="off", ws="none")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
