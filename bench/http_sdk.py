"""The smallest server of the official SDK over streamable HTTP, without a store, to measure the protocol alone."""

from __future__ import annotations

import sys

from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
def save(text: str, key: str) -> str:
    return f"Saved {key}."


@server.tool()
def search(query: str) -> str:
    return "Nothing."


@server.tool()
def get(key: str) -> str:
    return "Nothing."


if __name__ == "__main__":
    server.run(
        "streamable-http",
        host="127.0.0.1",
        port=int(sys.argv[1]),
        stateless_http=True,
        json_response=True,
    )
