"""MCP Memory Keeper's context_* tools: keyed items in sessions, camelCase, `{"error": {...}}` failures.

`vocabulary` declares the surface; the tools are in modules of this package, one per chapter of the document."""

from __future__ import annotations

from . import (
    batches,
    branches,
    channel_stats,
    channels,
    checkpoints,
    commits,
    compaction,
    compression,
    delegate,
    differences,
    drawings,
    files,
    graph,
    insight,
    items,
    journal,
    links,
    search_all,
    searching,
    sessions,
    status,
    timeline,
    transfer,
    watching,
)
from .vocabulary import surface

__all__ = [
    "batches", "branches", "channel_stats", "channels", "checkpoints", "commits", "compaction", "compression",
    "delegate", "differences", "drawings", "files", "graph", "insight", "items", "journal", "links", "search_all",
    "searching", "sessions", "status", "surface", "timeline", "transfer", "watching",
]  # fmt: skip
