"""Results of tools in logs: text within limits, exit code, duration."""

from __future__ import annotations

import functools
import re

from ...domain.lazy import lazy_pattern
from .. import CallResult, ResultCut, ToolCall
from .noise import without_payloads

HEAD_BYTES, TAIL_BYTES = 8_000, 24_000
"""Failures are at the end. 98 % of results are shorter than both together."""
READING_HEAD_BYTES, READING_TAIL_BYTES = 1_000, 3_000
"""Limits for tools that read a file: more than half of all bytes are file contents, which exist elsewhere too."""
BEYOND_BYTES = 256
"""Number of bytes on either side of a cut that are left out but checked for secrets."""
_KEY_END = lazy_pattern(r"\A[^-]*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
"""The end of a private key whose beginning is left out. No other rule recognizes it."""
MAX_EXIT_CODE = 2**32
"""Windows has 32-bit codes; anything larger is not an exit code."""
_READING = frozenset({"read", "view", "cat", "open"})
_NAME_WORDS = lazy_pattern(r"[A-Z]?[a-z]+")
_LISTING = frozenset(
    {"todowrite", "todo_write", "write_todos", "update_plan", "taskcreate", "taskupdate", "update_todo_list", "manage_todo_list"}
)  # fmt: skip
_EXIT_CODE = lazy_pattern(
    r"^(?:Exit code:? |Process exited with code |Exit Code: )(-?\d{1,10})\b|<(?:exited|\S+ \d+ completed) with exit code (-?\d{1,10})>",
    re.MULTILINE,
)


def is_list(name: str) -> bool:
    """True if the tool manages a task list."""
    return name.lower() in _LISTING


def with_result(
    call: ToolCall,
    text: str,
    exit_code: int | None = None,
    *,
    is_error: bool = False,
    duration_ms: int | None = None,
) -> ToolCall:
    """Return the call with its result. Without `exit_code`, a command's exit code is searched for in the text."""
    if exit_code is not None and (
        type(exit_code) is not int or not -MAX_EXIT_CODE <= exit_code <= MAX_EXIT_CODE
    ):
        exit_code = None
    if exit_code is None and call.command:
        match = _EXIT_CODE.search(text[:400]) or _EXIT_CODE.search(text[-200:])
        exit_code = int(match[1] or match[2]) if match else None
    limits = (READING_HEAD_BYTES, READING_TAIL_BYTES) if _is_reading(call) else (HEAD_BYTES, TAIL_BYTES)
    size = _byte_count(text)
    shortened, cut = (without_payloads(text), None) if size <= sum(limits) else _cut(text, *limits)
    has_failed = is_error or bool(call.error) or bool(exit_code)
    result = CallResult(shortened, has_failed, exit_code, duration_ms, size, cut)
    return call._replace(result=result)


def cut_line(left_out: int) -> str:
    """Return the line that replaces the omitted part, with its line breaks."""
    return f"\n[… {left_out:,} bytes left out …]\n"


def _is_reading(call: ToolCall) -> bool:
    """True if the result is a file. A command may print other things too."""
    if call.command or call.writes:
        return False
    return _is_reading_name(call.name)


@functools.lru_cache
def _is_reading_name(name: str) -> bool:
    words = {word.lower() for word in _NAME_WORDS.findall(name.rpartition("__")[2])}
    return not _READING.isdisjoint(words)


def _byte_count(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _cut(text: str, head_bytes: int, tail_bytes: int) -> tuple[str, ResultCut]:
    """Return head and tail of a long text, each cut at the end of a line if there is one in its outer half."""
    raw = text.encode("utf-8", "surrogatepass")
    start = len(raw) - tail_bytes
    head_end = raw.rfind(b"\n", head_bytes // 2, head_bytes)
    head_end = head_bytes if head_end < 0 else head_end
    line_end = raw.find(b"\n", start, start + tail_bytes // 2)
    tail_start = start if line_end < 0 else line_end + 1
    head, left_out = without_payloads(_decoded(raw[:head_end])), tail_start - head_end
    tail = without_payloads(_KEY_END.sub("", _decoded(raw[tail_start:])))
    cut = ResultCut(
        left_out,
        len(head),
        _decoded(raw[head_end : head_end + BEYOND_BYTES]),
        _decoded(raw[tail_start - BEYOND_BYTES : tail_start]),
    )
    return f"{head}{cut_line(left_out)}{tail}", cut


def _decoded(raw: bytes) -> str:
    """Decode bytes without the partial character at either end."""
    return raw.decode("utf-8", "ignore")
