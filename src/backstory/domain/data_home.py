"""The default location of the data directory."""

from __future__ import annotations

import os.path
from collections.abc import Mapping


def data_home(platform: str, environment: Mapping[str, str]) -> str:
    """Return the default data directory for a `sys.platform` value. `~` means the user's home."""
    if platform == "darwin":
        return os.path.join("~", "Library", "Application Support", "backstory")
    if platform == "win32":
        return os.path.join(
            environment.get("LOCALAPPDATA") or os.path.join("~", "AppData", "Local"), "backstory"
        )
    return os.path.join(environment.get("XDG_DATA_HOME") or os.path.join("~", ".local", "share"), "backstory")
