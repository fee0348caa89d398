"""The session log: the actions of this server, one JSON object per line, without any content.

Argument values may be private, so callers pass only names, times and outcomes. A log that cannot be written must not
fail a request.
"""

from __future__ import annotations

import json
import math
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
FILES_AT_THE_LIMIT = 10


def is_at_least(level: str, threshold: str) -> bool:
    return _SEVERITY[level] >= _SEVERITY[threshold]


class SessionLog:
    """Files of this server's life, the first made when the first line is written. All logs of a data directory together
    take at most `max_bytes`, and one file a tenth of that: then the next begins, and the oldest go. For any thread."""

    def __init__(
        self,
        home: Path,
        level: str,
        max_bytes: float = math.inf,
        now: Callable[[], float] = time.time,
        *,
        output: int | None = None,
    ) -> None:
        """`output`: an open file descriptor that gets the lines instead of files."""
        self._output = output
        self._folder = home / "logs"
        self._level = level
        self._max_bytes = max_bytes
        self._now = now
        self._session_id = os.urandom(4).hex()
        self._file: int | None = None
        self._file_bytes = 0
        self._files_made = 0
        self._is_usable = True
        self._writing = Lock()

    def set_level(self, level: str) -> None:
        self._level = level

    def write(self, level: str, logger: str, message: str, data: dict[str, Any]) -> None:
        if not is_at_least(level, self._level):
            return
        fields = {
            "timestamp": _timestamp(self._now()),
            "level": level,
            "message": message,
            "session_id": self._session_id,
            "logger": logger,
            "data": data,
        }
        line = json.dumps(fields).encode() + b"\n"
        with self._writing, suppress(OSError):
            file = self._file_for(len(line)) if self._output is None else self._output
            if file is not None:
                os.write(file, line)
                self._file_bytes += len(line)

    def _file_for(self, count: int) -> int | None:
        """The open file if it has room for a line of `count` bytes, else the next one; None if none can be made."""
        if self._file is not None and self._file_bytes + count > self._max_bytes / FILES_AT_THE_LIMIT:
            os.close(self._file)
            self._file = None
        if self._file is None and self._is_usable:
            self._is_usable = self._files_made > 0  # a folder that never could be written is tried once
            self._file = self._create()
            self._is_usable = True
        return self._file

    def _create(self) -> int:
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._prune()
        started = time.strftime("%Y%m%d_%H%M%S", time.gmtime(self._now()))
        part = f"_{self._files_made + 1}" if self._files_made else ""
        name = f"backstory_session_{self._session_id}_{started}{part}.log"
        file = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._files_made += 1
        self._file_bytes = 0
        return file

    def _prune(self) -> None:
        """Make room for one more log."""
        logs = []
        for path in self._folder.glob("backstory_session_*.log"):
            with suppress(OSError):  # another server may prune at the same time
                stat = path.stat()
                logs.append((stat.st_mtime_ns, stat.st_size, path))
        room = self._max_bytes - self._max_bytes / FILES_AT_THE_LIMIT
        for number, (_, size, path) in enumerate(sorted(logs, reverse=True), start=1):
            room -= size
            if number >= KEPT_LOGS or room < 0:
                with suppress(OSError):
                    path.unlink()


class RequestLog:
    """The session log for one request: every line contains the request's fields."""

    def __init__(self, log: SessionLog, fields: dict[str, str]) -> None:
        self._log = log
        self._fields = fields

    def write(self, level: str, logger: str, message: str, data: dict[str, Any]) -> None:
        self._log.write(level, logger, message, self._fields | data)


def _timestamp(seconds: float) -> str:
    whole, micros = divmod(int(seconds * 1_000_000), 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{micros:06d}"
