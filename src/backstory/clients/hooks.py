"""The hooks of clients that have some: a new session is told where the project stands, and a summary keeps what counts."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.errors import NotWritten
from ..store.whole_files import write_whole
from .catalogue import NAME
from .formats import Change
from .machine import Machine
from .steps import FileTarget

SCRIPT = "hook.py"
SOURCE = Path(__file__).with_name(SCRIPT)
SOURCES = "startup|resume|clear|compact"
SECONDS = 2
TOOL, TOOL_SECONDS = "hook", 5
MILLISECONDS = 500


class Hooks(NamedTuple):
    """The file that a client reads its hooks from, and what we want in it."""

    path: str
    format: str
    changes: Callable[[Machine], tuple[Change, ...]]


def hook_words(machine: Machine, client: str) -> list[str]:
    """By absolute paths, and with nothing of the environment: `-I -S` starts within 15 ms."""
    return [machine.python, "-I", "-S", str(machine.data / SCRIPT), client, str(machine.data)]


def hook_line(machine: Machine, client: str) -> str:
    """The same for clients that give it to a shell."""
    words = hook_words(machine, client)
    return subprocess.list2cmdline(words) if machine.platform == "win32" else shlex.join(words)


def claude_code_hooks(words: Sequence[str], server: str) -> dict[str, list[Any]]:
    """By event; those that call the server's tool only if it has one. With `args` no shell is asked, so nothing needs quotes.
    A session starts before its servers do, so that is for the script."""
    command = {"type": "command", "command": words[0], "args": [*words[1:]], "timeout": SECONDS}
    called = {event: [_call(server, event)] if server else [] for event in ("PreCompact", "Stop")}
    hooks = {
        "SessionStart": [command],
        "PreCompact": [command, *called["PreCompact"]],
        "Stop": called["Stop"],
    }
    matchers = {"SessionStart": {"matcher": SOURCES}}
    return {event: [{**matchers.get(event, {}), "hooks": each}] for event, each in hooks.items() if each}


def codex_hooks(server: str) -> dict[str, list[Any]]:
    """By event. Codex has its servers when a session starts, so nothing needs a process of its own."""
    start = _call(server, "SessionStart", source="${source}", transcript="${transcript_path}")
    return {
        "SessionStart": [{"matcher": SOURCES, "hooks": [start]}],
        "PreCompact": [{"hooks": [_call(server, "PreCompact")]}],
        "Stop": [{"hooks": [_call(server, "Stop")]}],
    }


def _call(server: str, event: str, **fields: str) -> dict[str, Any]:
    given = {"event": event, "session_id": "${session_id}", **fields}
    return {"type": "mcp_tool", "server": server, "tool": TOOL, "input": given, "timeout": TOOL_SECONDS}


def gemini_hooks(line: str) -> dict[str, list[Any]]:
    command = {"type": "command", "name": "backstory", "command": line, "timeout": MILLISECONDS}
    return {"SessionStart": [{"hooks": [command]}]}


def _claude_code(machine: Machine) -> tuple[Change, ...]:
    server = NAME if machine.has_hook_tool else ""
    return _elements(claude_code_hooks(hook_words(machine, "claude-code"), server))


def _codex(machine: Machine) -> tuple[Change, ...]:
    return _elements(codex_hooks(NAME)) if machine.has_hook_tool else ()


def _gemini(machine: Machine) -> tuple[Change, ...]:
    return _elements(gemini_hooks(hook_line(machine, "gemini-cli")))


def _cursor(machine: Machine) -> tuple[Change, ...]:
    return (
        Change(("version",), 1),
        *_elements({"sessionStart": [{"command": hook_line(machine, "cursor"), "timeout": SECONDS}]}),
    )


def _vscode(machine: Machine) -> tuple[Change, ...]:
    command = {"type": "command", "command": hook_line(machine, "vscode"), "timeout": SECONDS}
    text = json.dumps({"hooks": {"SessionStart": [command]}}, ensure_ascii=False, indent=2) + "\n"
    return (Change((), text),)


def _opencode(machine: Machine) -> tuple[Change, ...]:
    words = json.dumps(hook_words(machine, "opencode"), ensure_ascii=False)
    source = Path(__file__).with_name("opencode.js").read_text("utf-8")
    return (Change((), source.replace("[/* the hook */]", words)),)


def _elements(hooks: Mapping[str, Sequence[Any]]) -> tuple[Change, ...]:
    """Each stands beside those of others."""
    return tuple(
        Change(("hooks", event), group, is_element=True)
        for event, groups in hooks.items()
        for group in groups
    )


USER: Mapping[str, Hooks] = {
    "claude-code": Hooks("{claude}/settings.json", "json", _claude_code),
    "codex": Hooks("{codex}/hooks.json", "json", _codex),
    "gemini-cli": Hooks("{home}/.gemini/settings.json", "json-comments", _gemini),
    "cursor": Hooks("{home}/.cursor/hooks.json", "jsonc", _cursor),
    "opencode": Hooks("{config}/opencode/plugins/backstory.js", "whole", _opencode),
}
PROJECT: Mapping[str, Hooks] = {
    "claude-code": Hooks("{project}/.claude/settings.local.json", "json", _claude_code),
    "gemini-cli": Hooks("{project}/.gemini/settings.json", "json-comments", _gemini),
    "cursor": Hooks("{project}/.cursor/hooks.json", "jsonc", _cursor),
    "opencode": Hooks("{project}/.opencode/plugins/backstory.js", "whole", _opencode),
    "vscode": Hooks("{project}/.github/hooks/backstory.json", "whole", _vscode),
}
"""VS Code's are a preview, and known in projects alone."""


def hook_target(machine: Machine, client: str, scope: str) -> FileTarget | None:
    hooks = (PROJECT if scope == "project" else USER).get(client)
    changes = hooks.changes(machine) if hooks else ()
    if hooks is None or not changes:
        return None
    return FileTarget(machine.path(hooks.path), hooks.format, changes, has_hooks=True)


def put_script(data: Path) -> None:
    """Into our own directory, whose path stays when Python or this package moves."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(data / SCRIPT, [SOURCE.read_text("utf-8")])
    except OSError as error:
        raise NotWritten(f"{data / SCRIPT} cannot be written: {error.strerror}.") from None


def remove_script(data: Path) -> None:
    (data / SCRIPT).unlink(missing_ok=True)
