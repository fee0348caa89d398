"""Briefs of all projects at work and notes about their files, rendered ahead: a hook prints one within milliseconds, with no
server and no store.

`clients/hook.py` reads these files, and knows their names and fields; it imports nothing of ours."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from ...clients.hook import START, brief_path, is_excepted
from ...domain.census import ProjectActivity
from ...domain.origins import clients_with
from ...domain.records import Injection
from ...domain.when import from_ms, to_ms
from ...store.whole_files import write_whole
from .. import Caller, Core, Engine
from ..calls import Call
from ..failures.deriving import derive_next_runs
from ..state import EVERY_PROJECT
from ..statements.deriving import derive_next
from ..watch import Watch
from . import CLOSING, RECENT, Brief
from .file_notes import notes_by_file

FOLDER, GIVEN = "briefs", "given"
RULES = 4
"""The version of the rules for briefs. A brief that was rendered by other rules is rendered again, even if nothing
in its project changed."""
LOOK_AGAIN = timedelta(hours=1)
"""Time after which a brief is checked again, even without a change."""
GIVEN_FOR = timedelta(days=30)
"""Retention of the texts that an otherwise unknown session received."""


class BriefFiles:
    """The directory of prepared briefs. They quote memories, so they are deleted whenever a memory is forgotten."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / FOLDER

    def path(self, project: str) -> Path:
        """The file of a project. It contains the project, in case two names collide."""
        return Path(brief_path(str(self.home), project))

    def read(self, path: Path) -> dict[str, Any]:
        """The contents of a brief's file; empty if there is none, or if another version wrote it."""
        try:
            body = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return {}
        return body if isinstance(body, dict) else {}

    def write(self, project: str, body: dict[str, Any]) -> None:
        for folder in (self.home, self.folder, self.folder / GIVEN):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self.path(project), [json.dumps(body, ensure_ascii=False)])

    def all(self) -> list[Path]:
        return list(self.folder.glob("*.json"))

    def injections(self, since: Mapping[str, datetime], session: str | None = None) -> Iterator[Injection]:
        """Receipts that hooks wrote, of all sessions or one, later than `since` for each session. If two have the same
        millisecond, as for two concurrent tools, the second counts as a millisecond later."""
        for path in (self.folder / GIVEN).glob("*"):
            if session not in (None, path.name):
                continue
            last, before = since.get(path.name), 0
            for line in _lines(path):
                try:
                    note = json.loads(line)
                    before = max(int(note["at"]), before + 1)
                    receipt = Injection(
                        path.name,
                        from_ms(before),
                        note["project"],
                        note["text"],
                        note.get("event", START),
                        note.get("subject", ""),
                        note.get("certainty"),
                    )
                except (ValueError, TypeError, KeyError):
                    continue  # half a line, of a hook whose time was up
                if last is None or receipt.given_at > last:
                    yield receipt

    def clear(self) -> None:
        for path in (*self.all(), *(self.folder / GIVEN).glob("*")):
            path.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Notes of which session was given what, long after it ended."""
        oldest = time.time() - GIVEN_FOR.total_seconds()
        for path in (self.folder / GIVEN).glob("*"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class _LastLook(NamedTuple):
    """The state at the last check."""

    version: Hashable
    at: datetime
    files: set[Path]


class Briefs:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._last: _LastLook | None = None

    def refresh(self, call: Call | None = None) -> int:
        """Render the briefs whose project changed, and remove those that are no longer needed.

        Returns the number of rendered briefs."""
        files = BriefFiles(self.engine.settings.home)
        read_paths = self.engine.read_paths.take()
        derive_next_runs(self.engine.store)
        derive_next(self.engine.store)  # before the version is read, which it changes
        version, now = self.engine.store.version(), self.engine.now()
        rendered = 0
        if not self._is_known(version, now, files):
            rendered, needed = self._render(files, call)
            self._last = None if version is None else _LastLook(version, now, needed)
        self._keep_injections(files)
        Watch(self.engine.settings.home).put(read_paths)
        return rendered

    def refresh_project(self, project: str) -> bool:
        """Render the brief of one project, if something in it changed; whether something had."""
        files = BriefFiles(self.engine.settings.home)
        return any(self._render_one(files, activity) for activity in self._wanted(project))

    def refresh_projects(self, projects: Iterable[str]) -> None:
        """Render the briefs of the projects in which this process has read something."""
        read_paths = self.engine.read_paths.take()
        for project in projects:
            self.refresh_project(project)
        Watch(self.engine.settings.home).put(read_paths)

    def _is_known(self, version: Hashable | None, now: datetime, files: BriefFiles) -> bool:
        """Return whether nothing changed except the time (only days count) and no file is missing."""
        last = self._last
        if last is None or last.version != version or now - last.at >= LOOK_AGAIN:
            return False
        return last.files == {*files.all()}

    def _render(self, files: BriefFiles, call: Call | None) -> tuple[int, set[Path]]:
        """Render briefs. Returns their number, and the files of all briefs that are still needed."""
        needed, rendered = set(), 0
        for activity in self._wanted():
            if call is not None:
                call.raise_if_cancelled()
            needed.add(files.path(activity.project))
            rendered += self._render_one(files, activity)
        for path in files.all():
            if path not in needed:
                path.unlink(missing_ok=True)
        return rendered, needed

    def _render_one(self, files: BriefFiles, activity: ProjectActivity) -> bool:
        """Return whether the brief had to be rendered."""
        parts = [RULES, self.engine.settings.redaction]
        for each in (activity, *self.engine.store.entries.activity(EVERY_PROJECT)):
            parts += [each.records, to_ms(each.last_at)]
        basis = ":".join(map(str, parts))
        if files.read(files.path(activity.project)).get("basis") == basis:
            return False
        files.write(activity.project, self._body(activity.project, basis))
        return True

    def _keep_injections(self, files: BriefFiles) -> None:
        """Store the receipts that hooks wrote, also of sessions that ran without a server."""
        store = self.engine.store
        with store.transaction():
            for injection in files.injections(store.injections.last_times()):
                store.injections.put(injection)
            store.injections.prune(self.engine.now() - GIVEN_FOR)
        files.sweep()

    def _wanted(self, project: str | None = None) -> Iterator[ProjectActivity]:
        """All projects, or one, that are directories here, in which something happened lately or is open, and which
        the user did not except."""
        excepted = self.engine.settings.brief_off
        since = self.engine.now() - RECENT
        for activity in self.engine.store.entries.activity(project):
            if not os.path.isabs(activity.project) or is_excepted(activity.project, excepted):
                continue
            if (activity.last_at >= since or self._has_tasks(activity.project)) and os.path.isdir(
                activity.project
            ):
                yield activity

    def _has_tasks(self, project: str) -> bool:
        return bool(self._core(project).state.tasks(project))

    def _body(self, project: str, basis: str) -> dict[str, Any]:
        core = self._core(project)
        state = core.state.of(project)
        brief, continued = core.briefing.both(state, CLOSING)
        return {
            "project": project,
            "basis": basis,
            "last_at": 0 if brief.last_at is None else to_ms(brief.last_at),
            "text": _text(brief),
            "own": {
                client: _text(core.briefing.both(state.without_notes_of(client), CLOSING)[0])
                for client in sorted({client for note in state.notes for client in clients_with(note)})
            },
            "continued": _text(continued),
            "files": notes_by_file(core, project, state),
        }

    def _core(self, project: str) -> Core:
        """A core without a session, so that nothing private is included."""
        return Core(self.engine, Caller(project=project, directory=project))


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except OSError:  # forgotten meanwhile
        return []


def _text(brief: Brief) -> str:
    return brief.text if brief.is_known else ""
