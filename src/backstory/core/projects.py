"""Which project a directory belongs to."""

from __future__ import annotations

from pathlib import Path


def project_root(directory: Path) -> Path:
    """The git root that holds the directory, else the directory itself."""
    directory = directory.resolve()
    for candidate in (directory, *directory.parents):
        if (candidate / ".git").exists():
            return candidate
    return directory
