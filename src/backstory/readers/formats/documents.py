"""Whole JSON files, which their owners write anew while we read."""

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
    """What the file holds. One that is being rewritten gets a second chance; Unreadable when it is broken then too."""
    try:
        return parse(read_regular(path))
    except (ValueError, RecursionError):
        pause(RETRY_S)
    try:
        return parse(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise Unreadable(
            f"{path} is not JSON: {error}.", hint="What was read of it before is kept."
        ) from error


def read_beside(path: Path) -> Any:
    """What a file that only adds to another holds; None when it is missing or broken."""
    try:
        return parse(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None


def stamps(*paths: Path) -> str:
    """Sizes and times of files that only add to another; empty when none is there."""
    states = [(path.name, state.st_size, state.st_mtime_ns) for path in paths if (state := _state(path))]
    return repr(states) if states else ""


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def parse(raw: bytes) -> Any:
    """JSON whose strings can be stored: half a surrogate pair, which JavaScript writes when it cuts a text, becomes ?"""
    value = json.loads(raw.decode("utf-8-sig", "replace"))
    if b"\\ud" in raw or b"\\uD" in raw:
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value
