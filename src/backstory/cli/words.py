"""Words that several commands print for the same thing."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

LONGEST_PROJECT = 18


def project_name(project: str) -> str:
    """The last part of its directory, which may be one of another system."""
    path = PureWindowsPath(project) if "\\" in project else PurePosixPath(project)
    name = path.name or project or "-"
    return name if len(name) <= LONGEST_PROJECT else name[: LONGEST_PROJECT - 1] + "…"
