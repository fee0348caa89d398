"""The user's programs, their configuration folders, and the command that starts this server."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Machine(NamedTuple):
    home: Path
    environment: Mapping[str, str]
    platform: str
    """The platform, as in sys.platform."""
    project: Path
    data: Path
    """Our own directory: receipts, copies, briefs and the hook."""
    command: tuple[str, ...]
    """The command with which a client starts this installation."""
    python: str
    """The interpreter that runs hooks."""

    def path(self, template: str) -> Path:
        return Path(template.format_map(self._folders()))

    def program(self, name: str) -> str | None:
        return shutil.which(name, path=self.environment.get("PATH")) if name else None

    def run(
        self, words: Sequence[str], timeout_s: float, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as this user. Raises OSError if it cannot be started, and SubprocessError on a timeout."""
        return subprocess.run(
            words,
            env=dict(self.environment),
            cwd=self.home,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
        )

    def _folders(self) -> dict[str, Path]:
        variable, home = self.environment.get, self.home
        config = Path(variable("XDG_CONFIG_HOME") or home / ".config")
        roaming = Path(variable("APPDATA") or home / "AppData" / "Roaming")
        is_windows = self.platform == "win32"
        if self.platform == "darwin":
            applications = home / "Library" / "Application Support"
        else:
            applications = roaming if is_windows else config
        moved = variable("CLAUDE_CONFIG_DIR")
        return {
            "home": home,
            "project": self.project,
            "config": config,
            "applications": applications,
            "claude": Path(moved) if moved else home / ".claude",
            "claude_json": Path(moved, ".claude.json") if moved else home / ".claude.json",
            "codex": Path(variable("CODEX_HOME") or home / ".codex"),
            "zed": roaming / "Zed" if is_windows else config / "zed",
            "goose": roaming / "Block" / "goose" / "config" if is_windows else config / "goose",
        }


def server_command() -> list[str]:
    if runs_from_uv_cache():
        return ["uvx", "backstory", "serve"]
    script = Path(sys.executable).with_name("backstory.exe" if sys.platform == "win32" else "backstory")
    return [str(script), "serve"] if script.exists() else [sys.executable, "-m", "backstory", "serve"]


def runs_from_uv_cache() -> bool:
    """True under `uvx`, whose cache may be cleaned, so its path is unsuitable for a configuration."""
    parts = Path(sys.prefix).parts
    return "uv" in parts and any(part.startswith(("archive-v", "environments-v")) for part in parts)
