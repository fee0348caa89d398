"""Checkpoints, and files as a session last read them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from .records import Memory


class CachedFile(NamedTuple):
    """A session's record of a file. The content is stored as a blob under its hash."""

    id: str
    session: str
    path: str
    hash: str
    size: int
    metadata: Mapping[str, Any]
    cached_at: datetime


class CheckpointManifest(NamedTuple):
    """The hash under which the copies of a session's memories and files are stored, and the number of memories."""

    root: str
    items: int


class Checkpoint(NamedTuple):
    """A copy of a session's memories and files; `root` is the hash of its manifest."""

    id: str
    name: str
    description: str
    session: str
    project: str
    surface: str
    root: str
    items: int
    files: int
    git_branch: str | None
    git_status: str | None
    created_at: datetime


class CheckpointContents(NamedTuple):
    memories: list[Memory]
    files: list[CachedFile]
