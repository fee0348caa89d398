"""What to write into each client's configuration so that it starts this installation."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import NamedTuple


class Client(NamedTuple):
    name: str
    where: str
    """The file to edit, or the place to type it."""
    what: str


def server_command() -> list[str]:
    """How a client starts this very installation, whatever its PATH and working directory."""
    if _runs_from_uv_cache():
        return ["uvx", "backstory"]
    script = Path(sys.executable).with_name("backstory.exe" if sys.platform == "win32" else "backstory")
    return [str(script), "serve"] if script.exists() else [sys.executable, "-m", "backstory", "serve"]


def clients(command: list[str]) -> list[Client]:
    program, arguments = command[0], command[1:]
    start = {"command": program, "args": arguments}
    servers = json.dumps({"mcpServers": {"backstory": start}})
    toml = f"[mcp_servers.backstory]\ncommand = {json.dumps(program)}\nargs = {json.dumps(arguments)}"
    typed = shlex.join(command)
    named = json.dumps({"name": "backstory", **start})
    return [
        Client("Claude Code", "in a terminal", f"claude mcp add --scope user backstory -- {typed}"),
        Client("Cursor", "~/.cursor/mcp.json", servers),
        Client("Windsurf", "~/.codeium/windsurf/mcp_config.json", servers),
        Client("Codex", "~/.codex/config.toml", toml),
        Client("Gemini CLI", "~/.gemini/settings.json", servers),
        Client("VS Code", "in a terminal", f"code --add-mcp {shlex.quote(named)}"),
    ]


def _runs_from_uv_cache() -> bool:
    """`uvx` runs from a cache that may be cleaned, so its path is no good for a configuration."""
    parts = Path(sys.prefix).parts
    return "uv" in parts and any(part.startswith(("archive-v", "environments-v")) for part in parts)
