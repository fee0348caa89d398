"""`workspace.yaml` next to a Copilot command-line session: its directory and name.

The file is flat: one name and value per line, with multi-line texts below their name. No other YAML is supported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from ..formats.files import read_text

NAME = "workspace.yaml"
FOLDED = (">", "|")


class Workspace(NamedTuple):
    directory: str = ""
    branch: str = ""
    name: str = ""
    """Chosen by the user."""
    summary: str = ""


def workspace_beside(log: Path) -> Workspace:
    try:
        text = read_text(log.with_name(NAME))
    except OSError:
        return Workspace()
    values = _values(text)
    return Workspace(
        values.get("cwd") or values.get("git_root", ""),
        values.get("branch", ""),
        values.get("name", ""),
        " ".join(values.get("summary", "").split()),
    )


def _values(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    folded = ""
    for line in text.split("\n"):
        if folded and (line.startswith((" ", "\t")) or not line.strip()):
            values[folded] = f"{values[folded]}\n{line.strip()}".strip()
            continue
        name, colon, value = line.partition(":")
        folded = name if colon and value.strip().startswith(FOLDED) else ""
        if colon and not name.startswith((" ", "#", "-")):
            values[name.strip()] = "" if folded else _plain(value.strip())
    return values


def _plain(value: str) -> str:
    if value.startswith("'") and value.endswith("'") and len(value) > 1:
        return value[1:-1].replace("''", "'")
    if value.startswith('"'):
        try:
            return str(json.loads(value))
        except ValueError:
            return value.strip('"')
    return "" if value in ("null", "~") else value
