"""Backstory as packages of other programs that no command of ours installs: an extension for Gemini CLI, a bundle,
and an entry for the registry of servers. `write_docs.py` and `build_bundle.py` write them."""

from __future__ import annotations

from collections.abc import Sequence

from backstory import __version__
from backstory.clients.catalogue import NAME
from backstory.clients.hooks import SCRIPT, gemini_hooks, script_texts
from backstory.clients.packages import AUTHOR, DESCRIPTION, KEYWORDS, ON_PATH, as_json, server_entry

SOURCE_LICENSE = "MIT AND Apache-2.0"
"""The licence of the source, with the vocabulary of the embedding model."""
REPOSITORY = "https://github.com/backstory/backstory"
REGISTRY_NAME = "io.github.backstory/backstory"
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def gemini_extension(command: Sequence[str] = ON_PATH) -> dict[str, str]:
    line = f'python3 -I -S "${{extensionPath}}/hooks/{SCRIPT}" gemini-cli 2>/dev/null || :'
    about = {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "mcpServers": {NAME: server_entry(command)},
    }
    return {
        "gemini-extension.json": as_json(about),
        "hooks/hooks.json": as_json({"hooks": gemini_hooks(line)}),
        **{f"hooks/{name}": text for name, text in script_texts().items()},
    }


def bundle_manifest() -> str:
    """The manifest of an `.mcpb` bundle.

    It contains the source; the `uv` of the program that opens it installs Python and the packages."""
    return as_json(
        {
            "manifest_version": "0.4",
            "name": NAME,
            "display_name": "Backstory",
            "version": __version__,
            "description": DESCRIPTION,
            "author": AUTHOR,
            "license": SOURCE_LICENSE,
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
    return as_json(
        {
            "$schema": REGISTRY_SCHEMA,
            "name": REGISTRY_NAME,
            "title": "Backstory",
            "description": "One local memory for every AI coding assistant: decisions, findings, open items.",
            "version": __version__,
            "repository": {"url": REPOSITORY, "source": "github"},
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
