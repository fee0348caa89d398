"""The clients: the file that each lists its servers in, its format, and the shape of an entry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .formats import Change
from .machine import Machine

NAME = "backstory"
Command = Sequence[str]


class Place(NamedTuple):
    """A file that may contain our entry."""

    paths: tuple[str, ...]
    """Templates of `Machine.path`: the first that is there, else the first."""
    format: str
    section: tuple[str, ...]
    shape: Callable[[Command], Any]
    sign: str = ""
    """A folder that shows that this place is in use; without one, the client's signs do."""

    def path(self, machine: Machine) -> Path:
        paths = [machine.path(template) for template in self.paths]
        return next((path for path in paths if path.exists()), paths[0])

    def change(self, command: Command) -> Change:
        return Change((*self.section, NAME) if self.section else (), self.shape(command))


class Client(NamedTuple):
    title: str
    user: tuple[Place, ...]
    project: tuple[Place, ...] = ()
    program: str = ""
    """Its command, if no other program has that name: ZFS has a `zed`, and databases have a `goose`."""
    signs: tuple[str, ...] = ()
    """Folders of which at least one exists if the client is installed."""


def plain(command: Command) -> Any:
    return {"command": command[0], "args": [*command[1:]]}


def typed(command: Command) -> Any:
    return {"type": "stdio", **plain(command)}


def local(command: Command) -> Any:
    return {"type": "local", **plain(command), "tools": ["*"]}


def one_array(command: Command) -> Any:
    return {"type": "local", "command": [*command], "enabled": True}


def transport(command: Command) -> Any:
    return {"transport": typed(command)}


def extension(command: Command) -> Any:
    program, *arguments = command
    start = {"cmd": program, "args": arguments, "envs": {}}
    return {"type": "stdio", "name": NAME, **start, "enabled": True, "timeout": 300}


def server_file(command: Command) -> str:
    """A file of Continue with one server. Strings of JSON are strings of YAML."""
    program, *arguments = command
    lines = [
        "name: Backstory",
        "version: 0.0.1",
        "schema: v1",
        "mcpServers:",
        f"  - name: {NAME}",
        f"    command: {json.dumps(program, ensure_ascii=False)}",
        f"    args: {json.dumps(arguments, ensure_ascii=False)}",
    ]
    return "\n".join(lines) + "\n"


SERVERS = ("mcpServers",)
EDITORS = ("Code", "Code - Insiders", "VSCodium")


def _in_editors(
    file: str, section: tuple[str, ...], shape: Callable[[Command], Any], sign: str = ""
) -> tuple[Place, ...]:
    """One place in each edition of VS Code."""
    folders = [f"{{applications}}/{editor}/User" for editor in EDITORS]
    return tuple(
        Place((f"{folder}/{file}",), "jsonc", section, shape, f"{folder}{sign}") for folder in folders
    )


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        (Place(("{claude_json}",), "json", SERVERS, typed),),
        (Place(("{project}/.mcp.json",), "json", SERVERS, typed),),
        program="claude",
        signs=("{claude}", "{claude_json}"),
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        (Place(("{applications}/Claude/claude_desktop_config.json",), "json", SERVERS, plain),),
        signs=("{applications}/Claude",),
    ),
    "codex": Client(
        "Codex",
        (Place(("{codex}/config.toml",), "toml", ("mcp_servers",), plain),),
        (Place(("{project}/.codex/config.toml",), "toml", ("mcp_servers",), plain),),
        program="codex",
        signs=("{codex}",),
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        (Place(("{home}/.gemini/settings.json",), "json-comments", SERVERS, plain),),
        (Place(("{project}/.gemini/settings.json",), "json-comments", SERVERS, plain),),
        program="gemini",
        signs=("{home}/.gemini",),
    ),
    "qwen-code": Client(
        "Qwen Code",
        (Place(("{home}/.qwen/settings.json",), "json-comments", SERVERS, plain),),
        (Place(("{project}/.qwen/settings.json",), "json-comments", SERVERS, plain),),
        program="qwen",
        signs=("{home}/.qwen",),
    ),
    "cursor": Client(
        "Cursor",
        (Place(("{home}/.cursor/mcp.json",), "jsonc", SERVERS, plain),),
        (Place(("{project}/.cursor/mcp.json",), "jsonc", SERVERS, plain),),
        program="cursor",
        signs=("{home}/.cursor",),
    ),
    "windsurf": Client(
        "Windsurf",
        (Place(("{home}/.codeium/windsurf/mcp_config.json",), "jsonc", SERVERS, plain),),
        program="windsurf",
        signs=("{home}/.codeium/windsurf",),
    ),
    "vscode": Client(
        "VS Code",
        _in_editors("mcp.json", ("servers",), typed),
        (Place(("{project}/.vscode/mcp.json",), "jsonc", ("servers",), typed),),
        program="code",
    ),
    "copilot-cli": Client(
        "Copilot CLI",
        (Place(("{home}/.copilot/mcp-config.json",), "jsonc", SERVERS, local),),
        (Place(("{project}/.github/mcp.json",), "jsonc", SERVERS, local),),
        program="copilot",
        signs=("{home}/.copilot",),
    ),
    "zed": Client(
        "Zed",
        (Place(("{zed}/settings.json",), "jsonc", ("context_servers",), plain),),
        (Place(("{project}/.zed/settings.json",), "jsonc", ("context_servers",), plain),),
        signs=("{zed}",),
    ),
    "opencode": Client(
        "OpenCode",
        (
            Place(
                ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
                "jsonc",
                ("mcp",),
                one_array,
            ),
        ),
        (Place(("{project}/opencode.json", "{project}/opencode.jsonc"), "jsonc", ("mcp",), one_array),),
        program="opencode",
        signs=("{config}/opencode",),
    ),
    "cline": Client(
        "Cline",
        (
            Place(
                ("{home}/.cline/data/settings/cline_mcp_settings.json",),
                "jsonc",
                SERVERS,
                transport,
                "{home}/.cline",
            ),
            *_in_editors(
                "globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                SERVERS,
                plain,
                "/globalStorage/saoudrizwan.claude-dev",
            ),
        ),
        program="cline",
    ),
    "roo": Client(
        "Roo Code",
        _in_editors(
            "globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            SERVERS,
            plain,
            "/globalStorage/rooveterinaryinc.roo-cline",
        ),
        (Place(("{project}/.roo/mcp.json",), "jsonc", SERVERS, plain),),
    ),
    "continue": Client(
        "Continue",
        (Place(("{home}/.continue/mcpServers/backstory.yaml",), "whole", (), server_file),),
        (Place(("{project}/.continue/mcpServers/backstory.yaml",), "whole", (), server_file),),
        program="cn",
        signs=("{home}/.continue",),
    ),
    "amp": Client(
        "Amp",
        (Place(("{config}/amp/settings.json",), "jsonc", ("amp.mcpServers",), plain),),
        (Place(("{project}/.amp/settings.json",), "jsonc", ("amp.mcpServers",), plain),),
        program="amp",
        signs=("{config}/amp",),
    ),
    "kiro": Client(
        "Kiro",
        (Place(("{home}/.kiro/settings/mcp.json",), "jsonc", SERVERS, plain),),
        (Place(("{project}/.kiro/settings/mcp.json",), "jsonc", SERVERS, plain),),
        program="kiro",
        signs=("{home}/.kiro",),
    ),
    "goose": Client(
        "Goose",
        (Place(("{goose}/config.yaml",), "yaml", ("extensions",), extension),),
        signs=("{goose}",),
    ),
}


def is_there(client: Client, machine: Machine) -> bool:
    """True if the client is installed: its command, or a folder that it creates."""
    signs = [*client.signs, *(place.sign for place in client.user if place.sign)]
    return machine.program(client.program) is not None or any(machine.path(sign).exists() for sign in signs)


def places(client: Client, machine: Machine, scope: str) -> list[Place]:
    """The places in use, or the first one if none is."""
    if scope == "project":
        return list(client.project)
    used = [place for place in client.user if not place.sign or machine.path(place.sign).exists()]
    return used or list(client.user[:1])
