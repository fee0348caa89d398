"""The condition of each client: whether it is installed, has our entry, and gets an answer from the server it names."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..domain.errors import BackstoryError
from ..domain.lazy import lazy_pattern
from . import files, yaml
from .catalogue import CLIENTS, NAME, Client, Place, is_there, places
from .formats import FORMATS, MISSING, lookup, present
from .hooks import hook_target
from .machine import Machine
from .plugins import PLUGIN
from .receipts import load

VERSION_S = 15.0
ANSWER_S = 30.0
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "backstory doctor", "version": "1"},
    },
}
_VERSION = lazy_pattern(r"\d+(?:\.\d+)+[-\w.+]*")


class Condition(NamedTuple):
    client: str
    title: str
    is_here: bool
    version: str = ""
    """The version, or "" if the client has no command or does not report it."""
    entries: tuple[str, ...] = ()
    """The files that have our entry, or that a plugin has it."""
    is_answered: bool | None = None
    """True if the server of every entry answers; None without an entry."""
    hooks: Literal["", "none", "in place", "not trusted"] = ""
    """The state of our hooks; "" if the client supports none that we know."""
    problem: str = ""


def conditions(machine: Machine) -> list[Condition]:
    """The conditions of all known clients. Programs run in parallel; each server is started once."""

    @cache
    def answers(command: tuple[str, ...]) -> bool:
        return _answers(machine, command)

    with ThreadPoolExecutor(max_workers=4) as pool:
        versions = list(pool.map(lambda client: _version(machine, client), CLIENTS.values()))
    return [
        _condition(machine, name, version)._replace(**_answered(machine, name, answers))
        for name, version in zip(CLIENTS, versions, strict=True)
    ]


def _condition(machine: Machine, name: str, version: str) -> Condition:
    client = CLIENTS[name]
    return Condition(name, client.title, is_there(client, machine), version, hooks=_hooks(machine, name))


def _hooks(machine: Machine, name: str) -> Literal["", "none", "in place", "not trusted"]:
    """The state of our hooks in the client. Codex runs only hooks that its user has trusted."""
    target = hook_target(machine, name, "user")
    if target is None:
        return ""
    try:
        text = files.read(target.path) or ""
        format = FORMATS[target.format]
        are_there = all(present(format, text, change) == change.value for change in target.changes)
        if not are_there:
            return "none"
        return "in place" if name != "codex" or _is_trusted(machine, target.path) else "not trusted"
    except BackstoryError:  # the check of the entries reports a broken file
        return "none"


def _is_trusted(machine: Machine, hooks: Path) -> bool:
    """True if Codex trusts the hooks: it stores a hash for each, under a name that begins with its file."""
    config = files.read(machine.path("{codex}/config.toml")) or ""
    states = lookup(FORMATS["toml"].parse(config), ("hooks", "state"))
    return isinstance(states, Mapping) and any(
        str(hooks) in key and isinstance(state, Mapping) and "trusted_hash" in state
        for key, state in states.items()
    )


def _answered(machine: Machine, name: str, answers: Any) -> dict[str, Any]:
    """The fields of a Condition that follow from its files."""
    entries, commands = [], []
    used = [*places(CLIENTS[name], machine, "user"), *places(CLIENTS[name], machine, "project")]
    try:
        for place in used:
            entry = _entry(place, place.path(machine))
            if entry is not MISSING:
                entries.append(str(place.path(machine)))
                commands.append(entry_command(entry))
    except BackstoryError as error:
        return {"problem": f"{place.path(machine)}: {error.message}", "entries": tuple(entries)}
    for program in load(machine.data, name, "user", "").programs:
        if program.name == PLUGIN:
            servers = json.loads(program.value["plugins/backstory/.mcp.json"])["mcpServers"]
            entries.append("its plugin")
            commands.append(entry_command(servers[NAME]))
    if not entries:
        return {}
    silent = [command for command in commands if not answers(command)]
    problem = f"{' '.join(silent[0]) or 'its entry'} does not answer" if silent else ""
    # in the home directory the user's file and the project's are the same
    return {"entries": tuple(dict.fromkeys(entries)), "is_answered": not silent, "problem": problem}


def _entry(place: Place, path: Path) -> Any:
    text = files.read(path)
    if text is None:
        return MISSING
    if place.format == "whole":
        servers = lookup(yaml.parse(text), ("mcpServers",))
        return next((each for each in servers if each.get("name") == NAME), MISSING)
    return lookup(FORMATS[place.format].parse(text), (*place.section, NAME))


def entry_command(entry: Any) -> tuple[str, ...]:
    """The command that an entry starts, in any of its shapes; empty if there is none."""
    if not isinstance(entry, Mapping):
        return ()
    if "transport" in entry:
        return entry_command(entry["transport"])
    command = entry.get("command") or entry.get("cmd") or ()
    words = [command] if isinstance(command, str) else [*command]
    return tuple(map(str, [*words, *entry.get("args", ())]))


def _version(machine: Machine, client: Client) -> str:
    program = machine.program(client.program)
    if program is None:
        return ""
    try:
        process = machine.run([program, "--version"], VERSION_S)
    except (OSError, subprocess.SubprocessError):
        return ""
    match = _VERSION.search(process.stdout)
    return match[0] if match else ""


def _answers(machine: Machine, command: Sequence[str]) -> bool:
    """True if the server answers `initialize`. The end of its input then stops it."""
    try:
        process = machine.run(command, ANSWER_S, json.dumps(GREETING) + "\n")
        return "serverInfo" in json.loads(process.stdout.splitlines()[0])["result"]
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return False
