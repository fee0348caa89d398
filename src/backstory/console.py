"""The only module that writes to a terminal, without terminal control characters.

Names of directories, files and branches, titles and texts come from outside, and any of them may contain an escape
sequence. A test makes sure that nothing else prints.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from enum import Enum
from typing import Any, TextIO

from .domain.lazy import lazy_pattern

_OBEYED = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Control characters but newline and tab, other ends of lines, changes of direction, halves of characters, unseen tags."""
REPLACEMENT = "�"


def harmless(text: str) -> str:
    """The text with a mark in the place of each character that a terminal would obey."""
    return _OBEYED.sub(REPLACEMENT, text)


def harmless_parts(value: Any) -> Any:
    """A text, or records and sequences of texts, made harmless throughout."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return harmless(value)
    if hasattr(value, "_fields"):
        return type(value)(*map(harmless_parts, value))
    return (
        [harmless_parts(part) for part in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
    )


def write(text: str, end: str = "\n") -> None:
    """Print to standard output."""
    _write(sys.stdout, harmless(text), end)


def write_json(document: Any) -> None:
    """Write one JSON document to standard output. Control characters are escaped, so that its values stay exact."""
    text = json.dumps(document, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    _write(sys.stdout, _OBEYED.sub(lambda match: json.dumps(match[0])[1:-1], text), "\n")


def notify(text: str, end: str = "\n") -> None:
    """Write to standard error, separate from the output."""
    _write(sys.stderr, harmless(text), end)


def overwrite_line(text: str, end: str = "") -> None:
    """Write to standard error from the beginning of the current line."""
    _write(sys.stderr, f"\r{harmless(text)}", end)


def _write(stream: TextIO, text: str, end: str) -> None:
    """Write UTF-8: memories can be in any language, but the console's encoding may not support it."""
    if isinstance(stream, io.TextIOWrapper) and stream is sys.stdout:
        stream.reconfigure(encoding="utf-8")
    print(text, end=end, file=stream, flush=True)
