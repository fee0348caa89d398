"""Entire JSON files, which their owners may rewrite during reading."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...domain.errors import Unreadable
from .files import read_regular

RETRY_S = 0.05


def read_document(path: Path, pause: Callable[[float], None] = time.sleep) -> Any:
    """Return the parsed file. A file that is being rewritten is tried twice; Unreadable if it is invalid then too."""
    try:
        return parse(read_regular(path))
    except (ValueError, RecursionError):
        pause(RETRY_S)
    try:
        return parse(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise Unreadable(
            f"{path} is not JSON: {error}.", hint="The earlier contents stay in the store."
        ) from error


def read_beside(path: Path) -> Any:
    """Return the parsed contents of a supplementary file; None if it is missing or invalid."""
    try:
        return parse(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None


def stamps(*paths: Path) -> str:
    """Return sizes and times of supplementary files; "" if none exists."""
    states = [(path.name, state.st_size, state.st_mtime_ns) for path in paths if (state := _state(path))]
    return repr(states) if states else ""


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def parse(raw: bytes) -> Any:
    """Parse JSON, replacing lone surrogates with "?".

    JavaScript writes them when it cuts a text, and they cannot be stored."""
    value = json.loads(raw.decode("utf-8-sig", "replace"))
    if b"\\ud" in raw or b"\\uD" in raw:
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value
