"""Failures of background work: for the answers of this process, and as files for other processes.

A problem lasts from the first failure of a worker to its next success, in any process. The files contain the kind
and time of the failure, never user data.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from .domain.errors import BackstoryError
from .domain.when import Clock, iso, utc_now

FOLDER = "problems"
Log = Callable[[str, str, str, dict[str, Any]], None]
"""level, logger, message, data"""

CONSEQUENCES: Mapping[str, str] = {
    "sync": "Histories of other assistants are not read at the moment",
    "retention": "Old conversations are not archived at the moment",
    "erasure": "The bytes of what was forgotten are not overwritten at the moment",
    "backups": "No backups of the store are made at the moment",
    "embedding": "New texts are found by their words alone at the moment",
    "briefs": "Hooks give new sessions an old brief at the moment",
    "turns": "The last turn of a session is read later than it ended at the moment",
    "hooks": "Hooks get no answers from a running server at the moment",
    "devices": "Your machines are not synchronised at the moment",
    "team": "Notes that the team shares in a repository are not updated at the moment",
    "spaces": "Spaces of the team server cannot be reached at the moment, so answers use their last known contents",
    "summaries": "Summaries are picked on this machine at the moment",
}
"""The consequences of a worker's failure, for the user."""


class Problem(NamedTuple):
    worker: str
    message: str
    since: datetime
    last: datetime
    failures: int

    @property
    def sentence(self) -> str:
        return f"{CONSEQUENCES[self.worker]}: {self.message}"


def _silent(level: str, logger: str, message: str, data: dict[str, Any]) -> None:
    pass


class Problems:
    """The known problems. Thread-safe. Never raises: a problem that cannot be written is still known here. Without a
    home nothing is written."""

    def __init__(self, home: Path | None = None, now: Clock = utc_now, log: Log = _silent) -> None:
        self._folder = home and home / FOLDER
        self._now = now
        self.log = log
        self._known: dict[str, Problem] = {}
        self._healthy: set[str] = set()
        self._lock = Lock()

    def failed(self, worker: str, error: BaseException) -> None:
        now, message = self._now(), message_of(error)
        with self._lock:
            before = self._known.get(worker)
            problem = Problem(
                worker,
                message,
                since=before.since if before else now,
                last=now,
                failures=(before.failures if before else 0) + 1,
            )
            self._known[worker] = problem
            self._healthy.discard(worker)
            self._write(problem)
        data: dict[str, Any] = {"error": type(error).__name__, "failures": problem.failures}
        if not isinstance(error, BackstoryError):
            data["traceback"] = frames_of(error)
        self.log("error", f"worker_{worker}", message, data)

    def succeeded(self, worker: str) -> None:
        with self._lock:
            if worker in self._healthy:
                return
            self._healthy.add(worker)
            self._known.pop(worker, None)
            if self._folder is not None:
                with suppress(OSError):  # another process may have left it, or taken it away
                    _file(self._folder, worker).unlink()

    def message(self, worker: str) -> str | None:
        """The reason why this process cannot do a worker's work at the moment, or None."""
        known = self._known.get(worker)
        return known.message if known else None

    def notice(self, worker: str) -> tuple[str, ...]:
        """The worker's problem as a notice for an answer; empty if there is none."""
        known = self._known.get(worker)
        return (known.sentence,) if known else ()

    def reported(self) -> list[Problem]:
        """The recorded problems of all processes of this user."""
        problems: list[Problem] = []
        if self._folder is None:
            return problems
        for worker in CONSEQUENCES:
            with suppress(OSError, ValueError, KeyError, TypeError):  # there is none, or none that we wrote
                problems.append(_read(_file(self._folder, worker)))
        return problems

    def _write(self, problem: Problem) -> None:
        body = {**problem._asdict(), "since": iso(problem.since), "last": iso(problem.last)}
        if self._folder is None:
            return
        draft = self._folder / f".{problem.worker}.{os.getpid()}"
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(body, file)
            os.replace(draft, _file(self._folder, problem.worker))


def message_of(error: BaseException) -> str:
    if isinstance(error, BackstoryError):
        return error.message
    return f"an unexpected {type(error).__name__}; the session log has its traceback."


def frames_of(error: BaseException) -> list[str]:
    """The stack of an error, without its message and variables: both may contain user data."""
    import traceback  # 3 ms, when something failed

    return traceback.format_tb(error.__traceback__)


def _file(folder: Path, worker: str) -> Path:
    return folder / f"{worker}.json"


def _read(path: Path) -> Problem:
    body = json.loads(path.read_text("utf-8"))
    since, last = (datetime.fromisoformat(body[name]) for name in ("since", "last"))
    return Problem(str(body["worker"]), str(body["message"]), since, last, int(body["failures"]))
