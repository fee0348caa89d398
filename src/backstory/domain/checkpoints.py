"""Checkpoints, and files as a session last saw them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from .records import Memory


class CachedFile(NamedTuple):
    """What a session knows of a file. The content is the blob under its hash."""

    id: str
    session: str
    path: str
    hash: str
    size: int
    metadata: Mapping[str, Any]
    cached_at: datetime


class CheckpointManifest(NamedTuple):
    """Under which hash the copies of a session's memories and files are found again, and how many memories."""

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
