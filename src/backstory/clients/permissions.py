"""Permission for read-only tools in clients that otherwise ask the user at each call."""

from __future__ import annotations

from .catalogue import NAME
from .formats import Change
from .machine import Machine
from .receipts import InstallReceipt
from .steps import FileTarget

READING_TOOLS = ("recall", "open", "brief", "sessions")
ALLOWED = ("permissions", "allow")
_FILES = {
    ("claude-code", "user"): "{claude}/settings.json",
    ("claude-code", "project"): "{project}/.claude/settings.local.json",
}
"""The files that list tools to use without asking, by client and scope."""


def permission_target(machine: Machine, client: str, scope: str) -> FileTarget | None:
    """The permission file of a client that has one, with one element per tool."""
    path = _FILES.get((client, scope))
    if path is None:
        return None
    changes = tuple(Change(ALLOWED, f"mcp__{NAME}__{tool}", is_element=True) for tool in READING_TOOLS)
    return FileTarget(machine.path(path), "json", changes)


def has_permissions(receipt: InstallReceipt) -> bool:
    """True if an earlier installation allowed the tools."""
    return any(entry.change.path == ALLOWED for file in receipt.files for entry in file.entries)
