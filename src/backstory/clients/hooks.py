"""The hooks of clients that support them: the events each reports, and how it starts `hook.py`.

All are commands behind a launcher that always succeeds: a hook that calls a tool of a missing server would show an
error at every turn.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.errors import NotWritten
from ..domain.lazy import lazy_pattern
from ..store.whole_files import write_whole
from .catalogue import CLIENTS
from .formats import Change
from .machine import Machine
from .steps import FileTarget

SCRIPT, MEANS, WINDOWS_LAUNCHER = "hook.py", "hook_means.py", "hook.cmd"
SOURCE = Path(__file__).with_name(SCRIPT)
_CMD_SPECIAL = lazy_pattern(r"[\s&|<>^()%!;,=']")
QUIET = 'exec 2>/dev/null; "$0" "$@" || :'
"""A script for `sh` that runs its arguments, hides errors about a missing program, and succeeds."""
SESSION_SOURCES = "startup|resume|clear|compact"
TIMEOUT_S, START_TIMEOUT_S, TIMEOUT_MS = 2, 5, 5_000
"""More than `hook.py` ever takes, also where a session starts and something is read first: clients show a hook that
they had to stop. Gemini CLI counts milliseconds and starts slowly."""
EDITING_TOOLS = "Edit|MultiEdit|Write|NotebookEdit"
FAILURE_SINCE = (2, 1)
"""The version of Claude Code that knows PostToolUseFailure; an unknown name opens a dialog at every start."""
VERSION_S = 15.0
_VERSION = lazy_pattern(r"(\d+)\.(\d+)")


class Hooks(NamedTuple):
    """The file with a client's hooks, and the entries we want in it."""

    path: str
    format: str
    changes: Callable[[Machine], tuple[Change, ...]]


def hook_words(machine: Machine, client: str) -> list[str]:
    """The command of a hook by absolute paths; `-I -S` starts Python within 15 ms."""
    if machine.platform == "win32":
        launcher = str(machine.data / WINDOWS_LAUNCHER)
        return ["cmd.exe", "/d", "/c", "call", launcher, client, str(machine.data)]
    return quiet_words([machine.python, "-I", "-S", str(machine.data / SCRIPT), client, str(machine.data)])


def quiet_words(words: Sequence[str], shell: str = "/bin/sh") -> list[str]:
    return [shell, "-c", QUIET, *words]


def hook_line(machine: Machine, client: str, *more: str) -> str:
    """The command as one line, for clients that run it with a shell."""
    words = [*hook_words(machine, client), *more]
    return cmd_line(words) if machine.platform == "win32" else shlex.join(words)


def cmd_line(words: Sequence[str]) -> str:
    """A command line for cmd.exe. Paths of Windows contain no quotation marks, but may contain its operators."""
    return " ".join(f'"{word}"' if _CMD_SPECIAL.search(word) else word for word in words)


def powershell_line(words: Sequence[str]) -> str:
    """A command line for PowerShell, in single quotes: in double quotes it would expand `$` and backticks."""
    return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)


def claude_code_hooks(words: Sequence[str], *, with_failures: bool = True) -> dict[str, list[Any]]:
    """The hooks by event. With `args` no shell is involved, so nothing needs quoting."""
    command = {"type": "command", "command": words[0], "args": [*words[1:]], "timeout": TIMEOUT_S}
    matchers = {
        "UserPromptSubmit": "",
        "PreToolUse": EDITING_TOOLS,
        **({"PostToolUseFailure": "Bash"} if with_failures else {}),
        "PreCompact": "",
        "Stop": "",
    }
    return _start(command) | _groups(matchers, command)


def codex_hooks(line: str) -> dict[str, list[Any]]:
    """The hooks by event. Patches arrive as commands too, and a failed command is recognised by its output."""
    command = {"type": "command", "command": line, "timeout": TIMEOUT_S}
    matchers = dict.fromkeys(("UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop"), "")
    return _start(command) | _groups(matchers, command)


def _start(command: Mapping[str, Any]) -> dict[str, list[Any]]:
    return _groups({"SessionStart": SESSION_SOURCES}, {**command, "timeout": START_TIMEOUT_S})


def _groups(matchers: Mapping[str, str], command: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {
        event: [{**({"matcher": matcher} if matcher else {}), "hooks": [dict(command)]}]
        for event, matcher in matchers.items()
    }


def gemini_hooks(line: str) -> dict[str, list[Any]]:
    return _groups({"SessionStart": ""}, _timed_command(line))


def qwen_hooks(line: str) -> dict[str, list[Any]]:
    """The hooks whose output reaches the model."""
    return _groups(
        {"SessionStart": "", "UserPromptSubmit": "", "PostToolUseFailure": ""}, _timed_command(line)
    )


def _timed_command(line: str) -> dict[str, Any]:
    return {"type": "command", "name": "backstory", "command": line, "timeout": TIMEOUT_MS}


def _claude_code(machine: Machine) -> tuple[Change, ...]:
    words = hook_words(machine, "claude-code")
    return _elements(claude_code_hooks(words, with_failures=_knows_failures(machine)))


def _knows_failures(machine: Machine) -> bool:
    program = machine.program(CLIENTS["claude-code"].program)
    if program is None:
        return True
    try:
        version = _VERSION.search(machine.run([program, "--version"], VERSION_S).stdout)
    except (OSError, subprocess.SubprocessError):
        version = None
    return version is None or (int(version[1]), int(version[2])) >= FAILURE_SINCE


def _codex(machine: Machine) -> tuple[Change, ...]:
    return _elements(codex_hooks(hook_line(machine, "codex")))


def _gemini(machine: Machine) -> tuple[Change, ...]:
    return _elements(gemini_hooks(hook_line(machine, "gemini-cli")))


def _qwen(machine: Machine) -> tuple[Change, ...]:
    return _elements(qwen_hooks(hook_line(machine, "qwen-code")))


def _copilot(machine: Machine) -> tuple[Change, ...]:
    """The hooks of Copilot, whose input does not name the event, so the command does."""
    shell, join = ("powershell", powershell_line) if machine.platform == "win32" else ("bash", shlex.join)
    words = hook_words(machine, "copilot-cli")
    events = ("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop")
    hooks = {
        event: [
            {
                "type": "command",
                shell: join([*words, event]),
                "timeoutSec": START_TIMEOUT_S if event == "sessionStart" else TIMEOUT_S,
            }
        ]
        for event in events
    }
    return (Change((), json.dumps({"version": 1, "hooks": hooks}, ensure_ascii=False, indent=2) + "\n"),)


def _cursor(machine: Machine) -> tuple[Change, ...]:
    return (
        Change(("version",), 1),
        *_elements({"sessionStart": [{"command": hook_line(machine, "cursor"), "timeout": START_TIMEOUT_S}]}),
    )


def _vscode(machine: Machine) -> tuple[Change, ...]:
    command = {"type": "command", "command": hook_line(machine, "vscode"), "timeout": START_TIMEOUT_S}
    text = json.dumps({"hooks": {"SessionStart": [command]}}, ensure_ascii=False, indent=2) + "\n"
    return (Change((), text),)


def _opencode(machine: Machine) -> tuple[Change, ...]:
    words = json.dumps(hook_words(machine, "opencode"), ensure_ascii=False)
    source = Path(__file__).with_name("opencode.js").read_text("utf-8")
    return (Change((), source.replace("[/* the hook */]", words)),)


def _elements(hooks: Mapping[str, Sequence[Any]]) -> tuple[Change, ...]:
    """Changes that add each hook next to existing ones."""
    return tuple(
        Change(("hooks", event), group, is_element=True)
        for event, groups in hooks.items()
        for group in groups
    )


USER: Mapping[str, Hooks] = {
    "claude-code": Hooks("{claude}/settings.json", "json", _claude_code),
    "codex": Hooks("{codex}/hooks.json", "json", _codex),
    "gemini-cli": Hooks("{home}/.gemini/settings.json", "json-comments", _gemini),
    "qwen-code": Hooks("{home}/.qwen/settings.json", "json-comments", _qwen),
    "copilot-cli": Hooks("{home}/.copilot/hooks/backstory.json", "whole", _copilot),
    "cursor": Hooks("{home}/.cursor/hooks.json", "jsonc", _cursor),
    "opencode": Hooks("{config}/opencode/plugins/backstory.js", "whole", _opencode),
}
PROJECT: Mapping[str, Hooks] = {
    "claude-code": Hooks("{project}/.claude/settings.local.json", "json", _claude_code),
    "gemini-cli": Hooks("{project}/.gemini/settings.json", "json-comments", _gemini),
    "qwen-code": Hooks("{project}/.qwen/settings.json", "json-comments", _qwen),
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


def script_texts() -> dict[str, str]:
    """The files of the hook, by name. `hook.py`, which clients run, comes last, so that it never runs without the others."""
    return {name: SOURCE.with_name(name).read_text("utf-8") for name in (MEANS, SCRIPT)}


def put_script(machine: Machine) -> None:
    """Write the hook into our own directory, whose path is stable when Python or this package moves."""
    texts = script_texts()
    if machine.platform == "win32":
        run = f'@"{machine.python}" -I -S "%~dp0{SCRIPT}" %* 2>nul'
        texts[WINDOWS_LAUNCHER] = f"{run}\r\n@exit /b 0\r\n"
    try:
        machine.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in texts.items():
            write_whole(machine.data / name, [text])
    except OSError as error:
        raise NotWritten(f"{machine.data / SCRIPT} cannot be written: {error.strerror}.") from None


def remove_script(data: Path) -> None:
    for name in (SCRIPT, MEANS, WINDOWS_LAUNCHER):
        (data / name).unlink(missing_ok=True)
