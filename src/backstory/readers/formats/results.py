"""What tools gave back, as far as statements need it: the text, and the exit code wherever an assistant writes it."""

from __future__ import annotations

import re

from .. import CallResult, ToolCall
from .noise import without_payloads

HEAD_CHARS, TAIL_CHARS = 4_000, 8_000
"""Commits and links stand anywhere, verdicts at the end."""
_ASKING = frozenset({"askuserquestion", "ask_user", "ask_question", "ask_followup_question"})
_LISTING = frozenset(
    {"todowrite", "todo_write", "write_todos", "update_plan", "taskcreate", "taskupdate", "update_todo_list", "manage_todo_list"}
)  # fmt: skip
_EXIT_CODE = re.compile(
    r"^(?:Exit code:? |Process exited with code |Exit Code: )(-?\d+)|<(?:exited|\S+ \d+ completed) with exit code (-?\d+)>",
    re.MULTILINE,
)


def is_list(name: str) -> bool:
    """Whether the tool keeps a list of tasks."""
    return name.lower() in _LISTING


def has_telling_result(call: ToolCall) -> bool:
    """Whether what a call gave back says what came of the work. The results of all others are left undecoded."""
    return bool(call.command) or is_list(call.name) or call.name.lower() in _ASKING


def tool_result(text: str, *, is_error: bool = False, exit_code: int | None = None) -> CallResult:
    """A result whose exit code is told beside it, or within the text at its beginning or end."""
    if exit_code is None:
        found = _EXIT_CODE.search(text[:400]) or _EXIT_CODE.search(text[-200:])
        exit_code = int(found[1] or found[2]) if found else None
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n…\n{text[-TAIL_CHARS:]}"
    return CallResult(without_payloads(text), is_error or bool(exit_code), exit_code)


def with_result(call: ToolCall, text: str, exit_code: int | None = None) -> ToolCall:
    """The call with what it gave back, for logs that tell both in one place."""
    if not has_telling_result(call):
        return call
    result = tool_result(text or call.error, is_error=bool(call.error), exit_code=exit_code)
    return call._replace(result=result)
