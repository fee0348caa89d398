"""The lifecycle of a work session on a project: begun, assessed at intervals, ended with a handoff."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....core import GuestPart
from ....core.insight.advice import errors_and_answers, recommendations
from ....core.insight.digest import open_tasks, quotable, urgent_first
from ....core.projects import project_root, work_tree
from ....core.projects.effort import Effort, look
from ....core.unasked import redacted_memories
from ....domain.errors import NotAllowed, NotFound
from ....domain.filters import Filter, Kind, Page
from ....domain.lines import one_line
from ....domain.records import Memory, Session
from ..project.health import look_at
from ..project.survey import directory_of
from .advice import from_project, from_session, left_open
from .git_snapshot import GitSnapshot, take_git_snapshot
from .handoff import HANDOFF, TOOL, Handoff, as_data, from_data, go_on, note, write
from .history import CHECKPOINT, MOST_READ, History, history, sample
from .insights import Learning, Workflow, is_insight, kept_changes, learning, suggestions, workflow
from .quality import ProjectAssessment, check_permissions, check_programs, quality

QUOTED = 200
MOST_NEW = 200
"""Maximum number of new files in a handoff."""
_SWITCHED_OFF = GitSnapshot(None, "Git checkpoints are off; BACKSTORY_GIT_CHECKPOINTS=on makes them.")


class SessionStart(NamedTuple):
    session: Session
    measured: ProjectAssessment
    is_remembered: bool
    """True if the session was saved in the store."""
    handoff: Handoff | None
    """The handoff of the project's last session."""
    still_open: list[Memory]
    """Tasks of that session that were neither finished nor deleted since."""
    recommendations: list[str]


class Assessment(NamedTuple):
    session: Session
    measured: ProjectAssessment
    recommendations: list[str]
    suggestions: list[str]
    workflow: Workflow
    since_last: dict[str, int]
    """Changes of the figures since the last checkpoint; empty at the first."""
    git: GitSnapshot


class SessionEnd(NamedTuple):
    measured: ProjectAssessment
    session: Session | None
    """None if no session was open."""
    learning: Learning
    file: Path | None
    """The file of the handoff."""
    is_persisted: bool


class WorkStatus(NamedTuple):
    session: Session | None
    measured: ProjectAssessment
    memories: int
    """Number of memories that the caller may see."""
    conversations: int
    bytes: int
    """Size of the store in bytes."""
    can_embed: bool
    problem: str | None
    """The reason why texts are not being embedded at the moment."""
    notices: tuple[str, ...]
    """Errors of other background jobs."""


class Working(GuestPart):
    def start(self, directory: str | None) -> SessionStart:
        """Begin a session in a directory, whose project becomes the connection's.

        The new
        session continues one that is open there."""
        own = self.caller.checkout()
        place, project = look(lambda _: _place(directory or own), self.call)
        measured = self._measure(place)
        with self.core.sessions.locked():
            former = self._open_session()
            continued = former.id if former is not None and former.project == project else None
            session = self.core.sessions.begin(
                measured.project.name, description="", channel="", continued=continued, directory=str(place)
            )
        handoff, tasks = self._last_handoff(project), self._open_tasks(project)
        return SessionStart(
            session=session,
            measured=measured,
            is_remembered=self.engine.store.sessions.get(session.id) is not None,
            handoff=handoff,
            still_open=[task for task in tasks if handoff and task.id in handoff.task_ids],
            recommendations=[
                *left_open(tasks, handoff),
                *self._unsettled(handoff),
                *from_project(measured),
            ],
        )

    def assess(self) -> Assessment:
        """Measure the work, and store the figures for later checkpoints. Begins a session if there is none."""
        measured = self._measure(self.caller.checkout())
        session = self.core.sessions.current()
        past = history(self.core, session)
        project = measured.project
        seen = workflow(past, project)
        wanted = self.engine.settings.git_checkpoints == "on"
        snapshot = take_git_snapshot(project.root, session.id, past.now) if wanted else _SWITCHED_OFF
        figures = _figures(measured, seen)
        data: dict[str, Any] = {
            "figures": figures,
            "files": kept_changes(project.changes),
            "git": snapshot.ref,
        }
        self.core.events.record(TOOL, CHECKPOINT, data)
        before = past.last.get("figures", {})
        return Assessment(
            session=session,
            measured=measured,
            recommendations=[*from_session(past, project), *from_project(measured)],
            suggestions=suggestions(past, project, seen),
            workflow=seen,
            since_last={name: value - before[name] for name, value in figures.items() if name in before},
            git=snapshot,
        )

    def end(self) -> SessionEnd:
        """Close the connection's session, and leave a handoff in the store and as a file."""
        measured = self._measure_last()
        with self.core.sessions.locked():  # if two calls run at once, the second one finds no session
            session = self._open_session()
            if session is None:
                return SessionEnd(measured, None, Learning((), (), ()), None, is_persisted=False)
            past = history(self.core, session)
            handoff = self._handoff(past, measured)
            file = write(handoff, measured.project.root, self._own_folder)
            path = None if file is None else str(file)
            event = self.core.events.record(TOOL, HANDOFF, as_data(handoff) | {"path": path})
            self.caller.session = None
        events = self.engine.store.sessions.events(Filter(threads=(session.id,)))
        return SessionEnd(
            measured=measured,
            session=session,
            learning=learning(past, workflow(past, measured.project), self.surface),
            file=file,
            is_persisted=any(each.id == event.id for each in events),
        )

    def status(self, directory: str | None) -> WorkStatus:
        """Return the state of the connection's project or another one, without changing anything."""
        own = self.caller.checkout()
        measured = self._measure(directory or own)
        store, backlog = self.engine.store, self.engine.backlog
        census = store.census()
        return WorkStatus(
            session=self._open_session(),
            measured=measured,
            memories=store.entries.count(self.caller.visible(Filter(kinds=(Kind.MEMORY,)))),
            conversations=census.conversations,
            bytes=census.bytes,
            can_embed=backlog is not None and backlog.problem is None,
            problem=None if backlog is None else backlog.problem,
            notices=tuple(each.sentence for each in self.engine.problems.reported()),
        )

    def _measure_last(self) -> ProjectAssessment:
        """Measure the project at the end of a session, even if its directory has vanished."""
        own = self.caller.checkout()
        try:
            return self._measure(own)
        except (NotFound, NotAllowed):
            if self._open_session() is None:
                raise
            return look(lambda effort: self._measure_tree(Path(own), effort), self.call)

    def _measure(self, directory: str | Path) -> ProjectAssessment:
        def measure(effort: Effort) -> ProjectAssessment:
            return self._measure_tree(work_tree(directory_of(str(directory))), effort)

        return look(measure, self.call)

    def _measure_tree(self, root: Path, effort: Effort) -> ProjectAssessment:
        project = look_at(root, self.engine.now(), effort)
        permissions = tuple(check_permissions(project, self._own_folder))
        programs = tuple(check_programs(project))
        return ProjectAssessment(project, permissions, programs, quality(project, permissions, programs))

    def _open_session(self) -> Session | None:
        id = self.caller.session
        return None if id is None else self.engine.store.sessions.get(id)

    def _open_tasks(self, project: str) -> list[Memory]:
        """Return public tasks. A task that is private to a session is not passed on to the next one."""
        return self._redacted(open_tasks(self.engine.store, Filter(projects=(project,), public_or_in="")))

    def _redacted(self, memories: Sequence[Memory]) -> list[Memory]:
        return redacted_memories(memories, self.engine.settings)

    def _last_handoff(self, project: str) -> Handoff | None:
        where = Filter(surfaces=(self.surface,), projects=(project,))
        events = self.engine.store.sessions.events(where, MOST_READ)
        return next((from_data(event.data) for event in events if event.type == HANDOFF), None)

    def _unsettled(self, handoff: Handoff | None) -> list[str]:
        """Return errors of the last handoff that are still stored."""
        if handoff is None or not handoff.errors:
            return []
        ids = tuple(error.id for error in handoff.errors)
        known = self.engine.store.memories.find(Filter(ids=ids, public_or_in=""), Page())
        texts = {memory.id: quotable(memory) for memory in self._redacted(known)}
        day = f"{handoff.ended_at:%Y-%m-%d}"
        return [f"Not settled on {day}: {one_line(texts[id], QUOTED)}" for id in ids if id in texts]

    def _handoff(self, past: History, measured: ProjectAssessment) -> Handoff:
        session, project = past.session, measured.project
        public = sample(self.engine.store, Filter(threads=(session.id,), public_or_in=""), past.now)
        public = public._replace(memories=tuple(self._redacted(public.memories)))
        decisions = [memory for memory in public.memories if memory.category == "decision"]
        learned = [each for each in public.memories if is_insight(each) and each not in decisions]
        errors = [group[0] for group, answer in errors_and_answers(public) if answer is None]
        changed = [file.path for file in project.changes.files] if project.changes else []
        touched = [file for file, _ in workflow(past, project).files]
        new = project.survey.new_since(session.created_at)[:MOST_NEW]
        tasks = tuple(map(note, self._open_tasks(session.project)))
        advice = [each.statement for each in recommendations(public, ()) if each.kind != "open task"]
        return Handoff(
            session=session.id,
            project=session.project,
            started_at=session.created_at,
            ended_at=past.now,
            branch=(project.changes.branch if project.changes else None) or "",
            quality=measured.quality.overall,
            decisions=tuple(map(note, urgent_first(decisions))),
            insights=tuple(map(note, urgent_first(learned))),
            tasks=tasks,
            errors=tuple(map(note, urgent_first(errors))),
            files=tuple(dict.fromkeys([*touched, *changed, *new])),
            next_steps=(
                *go_on(tasks),
                *advice,
                *(from_project(measured) if project.root.is_dir() else ()),
            ),
        )

    @property
    def _own_folder(self) -> Path:
        """The folder for handoffs if the project is not writable."""
        return self.engine.settings.home / "handoffs"


def _place(directory: str) -> tuple[Path, str]:
    """Return an existing directory, and its project."""
    place = directory_of(directory)
    return place, str(project_root(place))


def _figures(measured: ProjectAssessment, seen: Workflow) -> dict[str, int]:
    return {
        **measured.quality._asdict(),
        "items_saved": seen.saved,
        "changed_files": seen.changed_files,
        "changed_lines": seen.changed_lines,
        "test_runs": seen.test_runs,
    }
