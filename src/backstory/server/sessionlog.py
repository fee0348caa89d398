"""The session log: what this server did, one JSON object a line, and never what it was told.

Argument values may be private, so callers pass names, times and outcomes only. A log that cannot be
written is no reason to fail a request.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_SEVERITY = {level: severity for severity, level in enumerate(LEVELS)}

KEPT_LOGS = 50


def is_at_least(level: str, threshold: str) -> bool:
    return _SEVERITY[level] >= _SEVERITY[threshold]


class SessionLog:
    """One file for this server's life, made when the first line is written."""

    def __init__(self, home: Path, level: str, now: Callable[[], float] = time.time) -> None:
        self._folder = home / "logs"
        self._level = level
        self._now = now
        self._session_id = os.urandom(4).hex()
        self._file: int | None = None
        self._is_usable = True
        self._opening = Lock()

    def set_level(self, level: str) -> None:
        self._level = level

    def write(self, level: str, logger: str, message: str, data: dict[str, Any]) -> None:
        if not is_at_least(level, self._level):
            return
        file = self._open()
        if file is None:
            return
        line = {
            "timestamp": _timestamp(self._now()),
            "level": level,
            "message": message,
            "session_id": self._session_id,
            "logger": logger,
            "data": data,
        }
        with suppress(OSError):
            os.write(file, json.dumps(line).encode() + b"\n")

    def _open(self) -> int | None:
        with self._opening:
            if self._file is None and self._is_usable:
                try:
                    self._file = self._create()
                except OSError:
                    self._is_usable = False
            return self._file

    def _create(self) -> int:
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._prune()
        started = time.strftime("%Y%m%d_%H%M%S", time.gmtime(self._now()))
        name = f"backstory_session_{self._session_id}_{started}.log"
        return os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def _prune(self) -> None:
        """Make room for one more log."""
        logs = []
        for path in self._folder.glob("backstory_session_*.log"):
            with suppress(OSError):  # another server may prune at the same time
                logs.append((path.stat().st_mtime_ns, path))
        for _, path in sorted(logs, reverse=True)[KEPT_LOGS - 1 :]:
            with suppress(OSError):
                path.unlink()


def _timestamp(seconds: float) -> str:
    whole, micros = divmod(int(seconds * 1_000_000), 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{micros:06d}"
