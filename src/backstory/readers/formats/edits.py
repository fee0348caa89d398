"""Text that a tool call wrote to files: whole files, replacements, patches, and here-documents in shell commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...domain.lazy import lazy_pattern
from .. import ToolCall
from .touched import PATH_KEYS

WHOLE = ("content", "contents", "file_text", "fileText", "CodeContent", "new_source", "text")
"""Arguments that contain a whole file."""
REPLACED = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldStr", "newStr"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("search", "replace"),
    ("TargetContent", "ReplacementContent"),
)
"""Pairs of arguments that contain the old and the new text of a part of a file."""
INSERTED = ("insert_text", "insertText", "code_edit", "CodeEdit", "new_str")
LISTS = ("edits", "replacements", "ReplacementChunks", "operations")
PATCHES = ("input", "patch", "patchText", "command", "cmd", "diff")

_PATCH_FILE = lazy_pattern(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$")
_SEARCH = lazy_pattern(
    r"^(?:<{5,}|-{5,}) SEARCH>?\s*\n(.*?)\n?^={5,}\s*\n(.*?)\n?^(?:>{5,}|\+{5,}) REPLACE>?\s*$",
    re.MULTILINE | re.DOTALL,
)
_HEREDOC = lazy_pattern(
    r"^(?P<line>[^\n]*<<-?\s*['\"]?(?P<end>\w+)[^\n]*)\n(?P<text>.*?)\n?^\s*(?P=end)\s*$",
    re.MULTILINE | re.DOTALL,
)
_TARGET = lazy_pattern(r"\b(?:cat|tee)\b.*?(?:>|\btee(?: -a)?\s)\s*('[^']+'|\"[^\"]+\"|[^\s<>|;&]+)")


class Edit(NamedTuple):
    path: str
    old: str
    """The replaced text; "" for a whole file and for an insertion."""
    new: str
    is_whole: bool = False


def edits_of(call: ToolCall) -> Iterator[Edit]:
    """Yield the edits of a call in order; none for a failed call, which changed nothing."""
    if call.error:
        return
    arguments = call.given
    if isinstance(arguments, str):
        yield from _patched(arguments)
    elif isinstance(arguments, Mapping):
        yield from edits_in(arguments, call.writes[0] if call.writes else "")


def edits_in(arguments: Mapping[str, Any], path: str = "") -> Iterator[Edit]:
    """Yield the edits that the arguments of a call request. `path` is used if none of them names a file."""
    path = next(
        (arguments[key] for key in arguments if key in PATH_KEYS and isinstance(arguments[key], str)), path
    )
    for key in PATCHES:
        text = _command(arguments.get(key))
        if "*** " in text:
            yield from _patched(text)
        elif "SEARCH" in text:
            yield from (Edit(path, match[1], match[2]) for match in _SEARCH.finditer(text))
        elif "<<" in text:
            yield from _documents(text)
    for key in LISTS:
        for item in arguments.get(key) or () if isinstance(arguments.get(key), list) else ():
            if isinstance(item, Mapping):
                yield from edits_in(item, path)
    for old, new in REPLACED:
        if isinstance(arguments.get(old), str) and isinstance(arguments.get(new), str):
            yield Edit(path, arguments[old], arguments[new])
            return
    for key in INSERTED:
        if isinstance(arguments.get(key), str):
            yield Edit(path, "", arguments[key])
            return
    for key in WHOLE:
        if path and isinstance(arguments.get(key), str):
            yield Edit(path, "", arguments[key], is_whole=True)
            return


def _command(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(word for word in value if isinstance(word, str))
    return value if isinstance(value, str) else ""


def _patched(patch: str) -> Iterator[Edit]:
    """Yield the edits in a patch in Codex's format: the removed and the added lines of each hunk."""
    path, is_new = "", False
    old: list[str] = []
    new: list[str] = []
    # other line separators belong to the file's text
    for line in (*patch.replace("\r\n", "\n").removesuffix("\n").split("\n"), "*** End Patch"):
        header = _PATCH_FILE.match(line)
        if header or line.startswith(("@@", "*** ")):
            if old != new:
                yield Edit(path, "\n".join(old), "\n".join(new), is_whole=is_new)
            old, new = [], []
            if header:
                path = (header[2] or header[3]).strip()
                is_new = header[1] == "Add"
        elif path and line[:1] in ("+", "-", " ", ""):
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []


def _documents(command: str) -> Iterator[Edit]:
    """Yield the files written by here-documents, as in `cat > file <<EOF`."""
    for match in _HEREDOC.finditer(command):
        if target := _TARGET.search(match["line"]):
            yield Edit(target[1].strip("'\""), "", match["text"], is_whole=True)
