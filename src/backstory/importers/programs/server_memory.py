"""The MCP reference server `server-memory`: a knowledge graph in lines of JSON, without ids and times.

Each observation is a memory. There it cannot be changed, only deleted and written again: a new observation of an entity
replaces one that has disappeared."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ...domain.errors import Unreadable
from ...domain.when import from_ms
from ...readers import Places
from ...readers.formats.files import read_text
from ...readers.formats.paths import application_data, homes
from ...readers.formats.values import fields_of, fingerprint, text_of
from ..contents import ForeignMemory, Record, UnplacedRecords, relation
from ..stores import store_importer
from ..tables import Row

NAMES = ("memory.jsonl", "memory.json")
_PACKAGE = "node_modules/@modelcontextprotocol/server-memory/dist"
_IN_HOME = (".claude.json", ".cursor/mcp.json", ".gemini/settings.json", ".qwen/settings.json",
            ".codeium/windsurf/mcp_config.json", ".copilot/mcp-config.json", ".codex/config.toml")  # fmt: skip
_IN_PROGRAMS = ("Claude/claude_desktop_config.json", "Code/User/mcp.json", "Cursor/User/mcp.json")
_IN_PROJECTS = (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json")
_DEEPEST = 6


def find(places: Places) -> Iterator[Path]:
    """Yield the paths in the clients' configurations, then the folders where npx installs the program and its file."""
    for path in server_variables(places, "MEMORY_FILE_PATH"):
        yield Path(path)
    for home in homes(places):
        for name in NAMES:
            yield from sorted(home.glob(f".npm/_npx/*/{_PACKAGE}/{name}"))
            yield from sorted(home.glob(f"AppData/Local/npm-cache/_npx/*/{_PACKAGE}/{name}"))


def read(path: Path) -> Iterator[Record]:
    try:
        at = from_ms(path.stat().st_mtime_ns // 1_000_000)
        # JSON may contain U+2028 unescaped, which str.splitlines would treat as the end of a line
        lines = [line for line in read_text(path).split("\n") if line.strip()]
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}.") from error
    rows = [_row(line) for line in lines]
    if lines and not any(row is not None and row.text("type") in ("entity", "relation") for row in rows):
        raise Unreadable(f"{path} contains no entities and relations: another program wrote it.")
    for row in rows:
        match row and row.text("type"):
            case "entity":
                assert row is not None
                yield from _entity(row, at)
            case "relation":
                assert row is not None
                yield _relation(row, at)
            case _:
                yield UnplacedRecords("lines", "is neither an entity nor a relation")


def _row(line: str) -> Row | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return Row(value) if isinstance(value, dict) else None


def _entity(row: Row, at: datetime) -> Iterator[ForeignMemory]:
    name, kind = row.text("name"), row.text("entityType")
    for observation in row.texts("observations") or ("",):
        yield ForeignMemory(
            kind="observations" if observation else "entities",
            place=f"observation/{fingerprint(name, observation)}",
            text=f"{name}: {observation}" if observation else f"{name} is a {kind}" if kind else name,
            created_at=at,
            updated_at=at,
            category="observation",
            tags=(kind,) if kind else (),
            metadata={"entity": name, "entityType": kind},
            part=name,
        )


def _relation(row: Row, at: datetime) -> ForeignMemory:
    parts = row.text("from"), row.text("relationType"), row.text("to")
    return relation(f"relation/{fingerprint(*parts)}", *parts, at)


importer = store_importer(
    "server-memory",
    "MCP server-memory",
    read=read,
    find=find,
    names=NAMES,
    has_own_ids=False,
)


def server_variables(places: Places, variable: str) -> Iterator[str]:
    """Yield the values of an environment variable: in this process, and for any server in any client's
    configuration."""
    paths = [text_of(places.environment.get(variable))]
    for file in _files(places):
        paths += _values(_configuration(file), variable, _DEEPEST)
    yield from dict.fromkeys(filter(None, paths))


def _files(places: Places) -> Iterator[Path]:
    yield from (home / name for home in homes(places) for name in _IN_HOME)
    yield from (programs / name for programs in application_data(places) for name in _IN_PROGRAMS)
    yield from (project / name for project in places.projects for name in _IN_PROJECTS)


def _configuration(file: Path) -> Mapping[str, Any]:
    """Read a configuration file. A missing or invalid file is empty: it is not Backstory's task to report it."""
    try:
        text = read_text(file)
        if file.suffix == ".toml":
            return tomllib.loads(text)
        return fields_of(json.loads(text))
    except (OSError, ValueError, RecursionError):
        return {}


def _values(value: object, variable: str, deepest: int) -> Iterator[str]:
    """Yield the values of the variable in every `env` object of the tree."""
    if not isinstance(value, Mapping) or not deepest:
        return
    for name, inner in value.items():
        if name == "env" and isinstance(inner, Mapping):
            yield text_of(inner.get(variable))
        else:
            yield from _values(inner, variable, deepest - 1)
