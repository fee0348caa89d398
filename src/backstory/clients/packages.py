"""Backstory as a plugin of Claude Code and Codex: `backstory install --plugin` writes one with the path of this
installation, and `scripts/write_docs.py` the one in the repository."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .. import __version__
from .catalogue import NAME
from .hooks import SCRIPT, claude_code_hooks, codex_hooks, quiet_words, script_texts

DESCRIPTION = "A memory for AI coding assistants: what was decided, found out and left open, across sessions and assistants."
AUTHOR = {"name": "Backstory contributors"}
LICENSE = "MIT"
KEYWORDS = ["memory", "mcp", "history", "search"]
ON_PATH = ("backstory", "serve", "--surfaces", "backstory")
"""The command for packages that do not know its path."""

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

This plugin brings the server, hooks that tell each new session where the project stands (at most 400 tokens, silent where nothing is
known) and what is known about a file before it changes, and two commands: `resume` and `remember`. It starts `backstory`, which must be installed first: `uv tool install backstory`,
or `uv tool install .` in a checkout. `backstory install` sets all of it up by itself.
"""


def marketplace(command: Sequence[str] = ON_PATH, hook: Sequence[str] = (), line: str = "") -> dict[str, str]:
    """The files of a folder that both Claude Code and Codex take as a marketplace with one plugin. `hook` are the words of
    Claude Code's hooks and `line` is the command of Codex's, of an installation that knows where it is."""
    plugin = f"plugins/{NAME}"
    about = {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "author": AUTHOR,
        "license": LICENSE,
        "keywords": KEYWORDS,
    }
    script = f"${{CLAUDE_PLUGIN_ROOT}}/hooks/{SCRIPT}"
    words = hook or quiet_words(["python3", "-I", "-S", script, "claude-code"], "sh")
    line = line or f'python3 -I -S "{script}" codex 2>/dev/null || :'
    listed = {"name": NAME, "source": f"./{plugin}", "description": DESCRIPTION}
    return {
        ".claude-plugin/marketplace.json": as_json(
            {"name": NAME, "owner": AUTHOR, "metadata": {"description": DESCRIPTION}, "plugins": [listed]}
        ),
        f"{plugin}/.claude-plugin/plugin.json": as_json(about),
        f"{plugin}/.codex-plugin/plugin.json": as_json(
            {**about, "mcpServers": "./.mcp.json", "hooks": "./hooks/codex.json"}
        ),
        f"{plugin}/.mcp.json": as_json({"mcpServers": {NAME: server_entry(command)}}),
        f"{plugin}/hooks/hooks.json": as_json(
            {"description": DESCRIPTION, "hooks": claude_code_hooks(words)}
        ),
        f"{plugin}/hooks/codex.json": as_json({"hooks": codex_hooks(line)}),
        **{f"{plugin}/hooks/{name}": text for name, text in script_texts().items()},
        f"{plugin}/README.md": README,
        **{f"{plugin}/commands/{name}.md": text for name, text in COMMANDS.items()},
    }


def server_entry(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": [*command[1:]]}


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
