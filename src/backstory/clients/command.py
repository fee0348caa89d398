"""How a client starts this installation, whatever its PATH and working directory."""

from __future__ import annotations

import sys
from pathlib import Path


def server_command() -> list[str]:
    if runs_from_uv_cache():
        return ["uvx", "backstory", "serve"]
    script = Path(sys.executable).with_name("backstory.exe" if sys.platform == "win32" else "backstory")
    return [str(script), "serve"] if script.exists() else [sys.executable, "-m", "backstory", "serve"]


def runs_from_uv_cache() -> bool:
    """`uvx` runs from a cache that may be cleaned, so its path is no good for a configuration."""
    parts = Path(sys.prefix).parts
    return "uv" in parts and any(part.startswith(("archive-v", "environments-v")) for part in parts)
