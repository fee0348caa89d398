"""What clients' configurations say of the servers they start: some keep their store where a variable there tells."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...readers import Places
from ...readers.formats.files import read_text
from ...readers.formats.paths import application_data, homes
from ...readers.formats.values import fields_of, text_of

_IN_HOME = (".claude.json", ".cursor/mcp.json", ".gemini/settings.json", ".qwen/settings.json",
            ".codeium/windsurf/mcp_config.json", ".copilot/mcp-config.json", ".codex/config.toml")  # fmt: skip
_IN_PROGRAMS = ("Claude/claude_desktop_config.json", "Code/User/mcp.json", "Cursor/User/mcp.json")
_IN_PROJECTS = (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json")
_DEEPEST = 6


def server_variables(places: Places, variable: str) -> Iterator[str]:
    """The values that a variable has in the environment, here and of any server in any client's configuration."""
    found = [text_of(places.environment.get(variable))]
    for file in _files(places):
        found += _values(_configuration(file), variable, _DEEPEST)
    yield from dict.fromkeys(filter(None, found))


def _files(places: Places) -> Iterator[Path]:
    yield from (home / name for home in homes(places) for name in _IN_HOME)
    yield from (programs / name for programs in application_data(places) for name in _IN_PROGRAMS)
    yield from (project / name for project in places.projects for name in _IN_PROJECTS)


def _configuration(file: Path) -> Mapping[str, Any]:
    """Empty for one that is missing or not what it should be: it is not ours to complain."""
    try:
        text = read_text(file)
        if file.suffix == ".toml":
            return tomllib.loads(text)
        return fields_of(json.loads(text))
    except (OSError, ValueError, RecursionError):
        return {}


def _values(value: object, variable: str, deepest: int) -> Iterator[str]:
    """Of the variable in every `env` of the tree."""
    if not isinstance(value, Mapping) or not deepest:
        return
    for name, inner in value.items():
        if name == "env" and isinstance(inner, Mapping):
            yield text_of(inner.get(variable))
        else:
            yield from _values(inner, variable, deepest - 1)
