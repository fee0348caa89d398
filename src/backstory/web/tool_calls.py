"""What a tool was told, as people read it: its name, what it was about, and of an edit what went and what came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..domain.records import Trace

MOST_LINES = 400
LONGEST_ABOUT = 160
_FIELD = re.compile(r"(old_string|old_str|new_string|new_str|content|file_text): ?(.*)", re.DOTALL)
_SIDES = {
    "old_string": "gone",
    "old_str": "gone",
    "new_string": "new",
    "new_str": "new",
    "content": "new",
    "file_text": "new",
}
_ANY_FIELD = re.compile(r"[a-z_]+: ")


class ToolLine(NamedTuple):
    kind: str
    """gone, new, place or plain."""
    text: str


class ShownCall(NamedTuple):
    name: str
    about: str
    """A file, a command, or how its text begins."""
    lines: list[ToolLine]
    left_out: int
    """Lines beyond those that are shown."""
    failed: bool


def tool_call(text: str, traces: Sequence[Trace]) -> ShownCall:
    name, _, rest = text.partition(" ")
    name = name.strip().splitlines()[0][:60] if name.strip() else "tool"
    lines = list(_lines(rest))
    return ShownCall(
        name=name,
        about=_about(traces) or " ".join(rest.split())[:LONGEST_ABOUT],
        lines=lines[:MOST_LINES],
        left_out=max(len(lines) - MOST_LINES, 0),
        failed=any(trace.kind == "error" for trace in traces),
    )


def _about(traces: Sequence[Trace]) -> str:
    values = [trace.value for trace in traces if trace.kind != "error"]
    first = " ".join(values[0].split())[:LONGEST_ABOUT] if values else ""
    return f"{first} and {len(values) - 1} more" if len(values) > 1 else first


def _lines(text: str) -> Iterable[ToolLine]:
    side, is_patch = "plain", False
    for line in text.split("\n"):
        if found := _FIELD.match(line):
            side = _SIDES[found[1]]
            if found[2]:
                yield ToolLine(side, found[2])
            continue
        if side == "plain" and line.startswith(("*** Begin Patch", "--- ", "diff ")):
            is_patch = True
        if line.startswith("*** End Patch"):
            is_patch = False
        elif is_patch:
            yield ToolLine(_kind_in_patch(line), line)
            continue
        if side != "plain" and _ANY_FIELD.match(line):
            side = "plain"
        yield ToolLine(side, line)


def _kind_in_patch(line: str) -> str:
    if line.startswith(("@@", "***", "---", "+++", "diff ")):
        return "place"
    return {"+": "new", "-": "gone"}.get(line[:1], "plain")
