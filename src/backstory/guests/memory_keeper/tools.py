"""MCP Memory Keeper's context_* tools: keyed items in sessions, camelCase, `{"error": {...}}` failures.

`vocabulary` declares the surface; the tools are in the modules below it, one for each chapter of the document.
"""

from __future__ import annotations

from . import (
    branches,
    checkpoints,
    compression,
    delegate,
    drawings,
    files,
    graph,
    insight,
    items,
    journal,
    searching,
    sessions,
    timeline,
    transfer,
)
from .vocabulary import surface

__all__ = [
    "branches",
    "checkpoints",
    "compression",
    "delegate",
    "drawings",
    "files",
    "graph",
    "insight",
    "items",
    "journal",
    "searching",
    "sessions",
    "surface",
    "timeline",
    "transfer",
]
