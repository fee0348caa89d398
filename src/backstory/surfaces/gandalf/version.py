"""Which server answers, and in which protocol."""

from __future__ import annotations

from typing import TypedDict

from ... import __version__
from ...core import Core
from ...tools import READS
from .vocabulary import surface


class ServerVersion(TypedDict):
    server_version: str
    protocol_version: str
    server_name: str


@surface.tool("Get server version", READS)
def get_server_version(core: Core) -> ServerVersion:
    """Tell this server's name and version, and the version of the protocol that was agreed on."""
    return {
        "server_version": __version__,
        "protocol_version": core.call.protocol,
        "server_name": "backstory",
    }
