"""The MCP server: one connection to one client, over standard input and output."""

from __future__ import annotations

from collections.abc import Mapping

from ..core import Core
from ..settings import Settings
from ..tools import Surface
from .stdio import StdioServer

__all__ = ["StdioServer", "serve_stdio"]


def serve_stdio(core: Core, surfaces: Mapping[str, Surface], settings: Settings) -> int:
    """Serve until the client leaves; the exit code. Takes over standard input and output for good."""
    return StdioServer(core, surfaces, settings).serve()
