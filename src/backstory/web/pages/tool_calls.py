"""Tool calls on the conversation page: the subject of a call, its edits as a diff, and its outcome."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...domain.lazy import lazy_pattern
from ...domain.records import Trace
from ..view import Json

MOST_LINES = 400
LONGEST_ABOUT = 160
HEAD_CHARS, TAIL_CHARS = 1_000, 3_000
"""The part of a long result that is shown; errors are at its end."""
_FIELD = lazy_pattern(r"(old_string|old_str|new_string|new_str|content|file_text): ?(.*)", re.DOTALL)
_SIDES = {
    "old_string": "gone",
    "old_str": "gone",
    "new_string": "new",
    "new_str": "new",
    "content": "new",
    "file_text": "new",
}
_ANY_FIELD = lazy_pattern(r"[a-z_]+: ")


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
    """Number of lines that are not shown."""
    is_error: bool
    output: str
    """The result, shortened in its middle where it is long."""
    is_output_cut: bool
    exit_code: int | None = None
    duration_ms: int | None = None
    added: int = 0
    removed: int = 0
    """Lines of an edit, as far as it is stored."""

    @property
    def body(self) -> Json:
        return {**self._asdict(), "lines": [line._asdict() for line in self.lines]}


def shown_calls(text: str, calls: Sequence[Json], traces: Sequence[Trace]) -> list[Json]:
    """The calls of a message; where only its text is stored, that text as one call."""
    if not calls:
        return [_call_of_text(text, traces).body]
    return [_stored_call(call, traces, is_only=len(calls) == 1).body for call in calls]


def _call_of_text(text: str, traces: Sequence[Trace]) -> ShownCall:
    name, _, rest = text.partition(" ")
    lines = list(_lines(rest))
    return ShownCall(
        name=name.strip().splitlines()[0][:60] if name.strip() else "tool",
        about=_about(traces) or " ".join(rest.split())[:LONGEST_ABOUT],
        lines=lines[:MOST_LINES],
        left_out=max(len(lines) - MOST_LINES, 0),
        is_error=any(trace.kind == "error" for trace in traces),
        output="",
        is_output_cut=False,
        **_change_size(lines, traces),
    )


def _change_size(lines: Sequence[ToolLine], traces: Sequence[Trace]) -> dict[str, int]:
    """The lines that a call added and removed; none for calls that wrote no file."""
    if not any(trace.kind == "written" for trace in traces):
        return {}
    return {
        "added": sum(line.kind == "new" for line in lines),
        "removed": sum(line.kind == "gone" for line in lines),
    }


def _stored_call(call: Json, traces: Sequence[Trace], *, is_only: bool) -> ShownCall:
    result = call["result"] or {}
    lines = list(_lines(call["arguments"])) if call["arguments"] else []
    output = result.get("text", "")
    is_long = len(output) > HEAD_CHARS + TAIL_CHARS
    own = [trace for trace in traces if is_only or trace.value in call["arguments"]]
    return ShownCall(
        name=call["name"][:60] or "tool",
        about=" ".join((call["command"] or _about(own) or call["arguments"]).split())[:LONGEST_ABOUT],
        lines=lines[:MOST_LINES],
        left_out=max(len(lines) - MOST_LINES, 0),
        is_error=bool(result.get("is_error")),
        output=f"{output[:HEAD_CHARS]}\n…\n{output[-TAIL_CHARS:]}" if is_long else output,
        is_output_cut=is_long,
        exit_code=result.get("exit_code"),
        duration_ms=result.get("duration_ms"),
        **_change_size(lines, own),
    )


def _about(traces: Sequence[Trace]) -> str:
    values = [trace.value for trace in traces if trace.kind != "error"]
    first = " ".join(values[0].split())[:LONGEST_ABOUT] if values else ""
    return f"{first} and {len(values) - 1} more" if len(values) > 1 else first


def _lines(text: str) -> Iterable[ToolLine]:
    side, is_patch = "plain", False
    for line in text.split("\n"):
        if match := _FIELD.match(line):
            side = _SIDES[match[1]]
            if match[2]:
                yield ToolLine(side, match[2])
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
