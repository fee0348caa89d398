"""A short name for a project that is the same on every day and in every tool: a hash of its path."""

from __future__ import annotations

from pathlib import PurePath


def workspace_hash(project: str) -> str:
    import hashlib  # not for start-up

    return hashlib.sha256(project.encode(errors="surrogatepass")).hexdigest()[:16]


def is_workspace(given: str, project: str) -> bool:
    """Whether a project is meant: by its hash, its path, or the last part of its path."""
    name = PurePath(project.replace("\\", "/")).name
    return given in (workspace_hash(project), project, project.rstrip("/\\")) or given.lower() == name.lower()
