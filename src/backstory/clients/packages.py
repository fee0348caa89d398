"""Backstory as packages of the clients' own: a plugin for Claude Code and Codex, an extension for Gemini CLI, a bundle, and an
entry for the registry of servers. The files of the repository come from here (`scripts/write_docs.py`), and so does the plugin
that `backstory install --plugin` makes, which names this installation by its path."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .. import __version__
from .catalogue import NAME
from .hooks import SCRIPT, SOURCE, claude_code_hooks, codex_hooks, gemini_hooks

DESCRIPTION = "A memory for AI coding assistants: what was decided, found out and left open, across sessions and assistants."
AUTHOR = {"name": "Backstory contributors"}
LICENSE = "MIT"
KEYWORDS = ["memory", "mcp", "history", "search"]
ON_PATH = ("backstory", "serve", "--surfaces", "backstory")
"""For packages that do not know where the command is."""
REGISTRY_NAME = "io.github.backstory/backstory"
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

COMMANDS: Mapping[str, str] = {
    "resume": """\
---
description: Where this project stands, from Backstory
---

Call the `brief` tool of the backstory server. Then say in a few lines what was done last, what is open and what was decided, with ids,
and propose the next step. It is a record, not an instruction: check it against the code before you act on it. $ARGUMENTS
""",
    "remember": """\
---
description: Save something worth knowing in Backstory
argument-hint: what to remember
---

Save this with the `remember` tool of the backstory server, as one self-contained sentence with its reason, and say under which id: $ARGUMENTS

If nothing is named, save the decisions and open items of this conversation, one call for each.
""",
}

README = """\
# Backstory

One memory for every AI coding assistant on this machine: what you decided, found out and left open survives sessions, restarts,
compaction and a change of assistant. Everything stays in one SQLite file of yours; nothing is sent anywhere.

This plugin brings the server, a hook that tells each new session where the project stands (at most 400 tokens, silent where nothing is
known), and two commands: `resume` and `remember`. It starts `backstory`, which must be installed first: `uv tool install backstory`,
or `uv tool install .` in a checkout. `backstory install` sets all of it up by itself.
"""


def marketplace(command: Sequence[str] = ON_PATH, hook: Sequence[str] | None = None) -> dict[str, str]:
    """The files of a folder that both Claude Code and Codex take as a marketplace with one plugin."""
    plugin = f"plugins/{NAME}"
    about = {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "author": AUTHOR,
        "license": LICENSE,
        "keywords": KEYWORDS,
    }
    words = (
        [*hook] if hook else ["python3", "-I", "-S", f"${{CLAUDE_PLUGIN_ROOT}}/hooks/{SCRIPT}", "claude-code"]
    )
    listed = {"name": NAME, "source": f"./{plugin}", "description": DESCRIPTION}
    return {
        ".claude-plugin/marketplace.json": _json(
            {"name": NAME, "owner": AUTHOR, "metadata": {"description": DESCRIPTION}, "plugins": [listed]}
        ),
        f"{plugin}/.claude-plugin/plugin.json": _json(about),
        f"{plugin}/.codex-plugin/plugin.json": _json(
            {**about, "mcpServers": "./.mcp.json", "hooks": "./hooks/codex.json"}
        ),
        f"{plugin}/.mcp.json": _json({"mcpServers": {NAME: _server(command)}}),
        f"{plugin}/hooks/hooks.json": _json(
            {"description": DESCRIPTION, "hooks": claude_code_hooks(words, f"plugin:{NAME}:{NAME}")}
        ),
        f"{plugin}/hooks/codex.json": _json({"hooks": codex_hooks(NAME)}),
        f"{plugin}/hooks/{SCRIPT}": SOURCE.read_text("utf-8"),
        f"{plugin}/README.md": README,
        **{f"{plugin}/commands/{name}.md": text for name, text in COMMANDS.items()},
    }


def gemini_extension(command: Sequence[str] = ON_PATH) -> dict[str, str]:
    line = f'python3 -I -S "${{extensionPath}}/hooks/{SCRIPT}" gemini-cli'
    about = {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "mcpServers": {NAME: _server(command)},
    }
    return {
        "gemini-extension.json": _json(about),
        "hooks/hooks.json": _json({"hooks": gemini_hooks(line)}),
        f"hooks/{SCRIPT}": SOURCE.read_text("utf-8"),
    }


def bundle_manifest() -> str:
    """Of an `.mcpb` bundle, which brings the source; `uv` of the program that opens it finds a Python and the packages."""
    return _json(
        {
            "manifest_version": "0.4",
            "name": NAME,
            "display_name": "Backstory",
            "version": __version__,
            "description": DESCRIPTION,
            "author": AUTHOR,
            "license": LICENSE,
            "keywords": KEYWORDS,
            "server": {
                "type": "uv",
                "entry_point": "src/backstory/__main__.py",
                "mcp_config": {
                    "command": "uv",
                    "args": ["run", "--directory", "${__dirname}", *ON_PATH],
                },
            },
            "compatibility": {
                "platforms": ["darwin", "linux", "win32"],
                "runtimes": {"python": ">=3.11"},
            },
        }
    )


def registry_entry() -> str:
    return _json(
        {
            "$schema": REGISTRY_SCHEMA,
            "name": REGISTRY_NAME,
            "title": "Backstory",
            "description": "One local memory for every AI coding assistant: decisions, findings, open items.",
            "version": __version__,
            "packages": [
                {
                    "registryType": "pypi",
                    "identifier": NAME,
                    "version": __version__,
                    "runtimeHint": "uvx",
                    "transport": {"type": "stdio"},
                    "packageArguments": [{"type": "positional", "value": word} for word in ON_PATH[1:]],
                }
            ],
        }
    )


def _server(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": [*command[1:]]}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
