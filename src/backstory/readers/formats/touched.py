"""Side effects of a tool call: the files it read and wrote, and the command it ran."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...domain.lazy import lazy_pattern
from .. import LONGEST_ARGUMENTS, ToolCall
from .noise import without_payloads
from .results import is_list

PATH_KEYS = frozenset(
    {
        "file_path", "filePath", "filepath", "notebook_path", "absolute_path", "targetFile", "target_file",
        "relativeWorkspacePath", "relative_workspace_path", "path", "source_path", "destination_path", "TargetFile",
        "AbsolutePath",
    }
)  # fmt: skip
_COMMAND_KEYS = ("command", "cmd", "CommandLine")
_WRITING = ("write", "edit", "replace", "create", "patch", "insert", "delete", "remove", "rename", "move")
_PATCH_HEADER = lazy_pattern(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)

_SCANNED = 2_000
_WORDS = lazy_pattern(r"""[^\s'"|;&<>()]+|'[^']*'|"[^"]*"|>>?(?!&)|[|;\n]|&&""")
_ENDS = frozenset({"|", ";", "\n", "&&"})
_REDIRECTS = frozenset({">", ">>"})
_READERS = frozenset({"cat", "head", "tail", "less", "bat", "nl", "wc", "source", "."})
_CHANGERS = frozenset({"touch", "rm", "mv", "cp", "tee", "truncate"})
_FILTERS = frozenset({"sed", "grep", "rg", "awk", "perl", "jq"})
"""Commands whose first argument is an expression, not a file."""
_TELLING = _REDIRECTS | _READERS | _CHANGERS | _FILTERS


def tool_call(name: str, arguments: Any, error: str = "") -> ToolCall:
    """Convert a tool call to the stored form. Arguments are recorded as an object or as a text."""
    if isinstance(arguments, str):
        writes = tuple(patched(arguments)) if "*** " in arguments else ()
        return ToolCall(
            name, _text(arguments), writes=writes, error=error, given=arguments if writes else None
        )
    if not isinstance(arguments, Mapping):
        return ToolCall(name, "", error=error)
    command = _command(arguments)
    paths = _paths(arguments)
    if command:
        reads, writes = touched_by(command)
        return ToolCall(
            name, as_text(arguments), (*paths, *reads), writes, _text(command), error, given=arguments
        )
    patch = arguments.get("input") or arguments.get("patch") or arguments.get("patchText")
    if isinstance(patch, str) and "*** " in patch:
        return ToolCall(name, as_text(arguments), writes=tuple(patched(patch)), error=error, given=arguments)
    if is_writing(name) or is_list(name) or asks_user(name):
        return ToolCall(name, as_text(arguments), writes=paths, error=error, given=arguments)
    return ToolCall(name, as_text(arguments), reads=paths, error=error)


@functools.lru_cache
def is_writing(name: str) -> bool:
    name = name.lower()
    return any(word in name for word in _WRITING)


def asks_user(name: str) -> bool:
    """True if a tool asks the user a question. Its options explain the answer."""
    return "ask" in name.lower()


def as_text(arguments: Mapping[str, Any]) -> str:
    """Format arguments as one `name: value` per line. Texts are not encoded, which makes their words searchable."""
    parts = []
    length = 0
    for key, value in arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        part = f"{key}: {text[:LONGEST_ARGUMENTS]}"
        parts.append(part)
        length += len(part)
        if length > LONGEST_ARGUMENTS:
            break
    return _text("\n".join(parts))


def patched(patch: str) -> list[str]:
    """Return the files that a patch in Codex's format adds, changes, deletes or moves."""
    return list(dict.fromkeys(path.strip() for path in _PATCH_HEADER.findall(patch)))


def touched_by(command: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files that a command clearly reads and writes.

    This scans words and does not interpret shell syntax."""
    writes = patched(command) if "*** " in command else []
    heredoc = command.find("<<", 0, _SCANNED)
    words = _WORDS.findall(command[:heredoc] if heredoc >= 0 else command[:_SCANNED])
    reads: list[str] = []
    if _TELLING.isdisjoint(words):
        return (), tuple(writes)
    for program, rest in _simple_commands(words, writes):
        if program in _READERS:
            reads += _files(rest)
        elif program in _CHANGERS:
            writes += _files(rest)
        elif program in _FILTERS:
            is_in_place = any(word.startswith(("-i", "-pi", "--in-place")) for word in rest)
            (writes if is_in_place and program in ("sed", "perl") else reads).extend(_files(rest)[1:])
    return tuple(dict.fromkeys(reads)), tuple(dict.fromkeys(writes))


def _simple_commands(words: list[str], writes: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each program with its arguments. Targets of redirections are added to `writes`."""
    simple: list[str] = []
    redirected = False
    for word in (*words, ";"):
        if redirected:
            redirected = False
            writes += _files([word])
        elif word in _REDIRECTS:
            redirected = True
        elif word in _ENDS:
            if simple:
                yield simple[0], simple[1:]
            simple = []
        elif simple or not (word == "sudo" or "=" in word):
            simple.append(word)


def _files(words: list[str]) -> list[str]:
    """Return the words that look like files rather than options, expressions or devices."""
    files = []
    for word in words:
        bare = word.strip("'\"")
        if not bare or bare[0] in "-$>*" or bare.startswith("/dev/") or bare.isdigit():
            continue
        files.append(bare)
    return files


def _command(arguments: Mapping[str, Any]) -> str:
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            words = [str(word) for word in value]
            return words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return ""


def _paths(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    paths = [path for key, path in arguments.items() if key in PATH_KEYS and path and isinstance(path, str)]
    return tuple(dict.fromkeys(paths)) if len(paths) > 1 else tuple(paths)


def _text(text: str) -> str:
    return without_payloads(text)[:LONGEST_ARGUMENTS]
