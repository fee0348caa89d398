"""Recommendations: open tasks, needs of the session, and deficits of the project."""

from __future__ import annotations

from collections.abc import Sequence

from ....core.insight.advice import recommendations
from ....core.insight.digest import quotable
from ....domain.lines import one_line
from ....domain.records import Memory
from ..project.health import Project
from .handoff import Handoff
from .history import History
from .insights import untested
from .quality import ProjectAssessment

MOST_ADVICE = 3
"""Maximum number of health signals to recommend, those with the most missing points."""
MOST_TASKS = 20
QUOTED = 200


def left_open(tasks: Sequence[Memory], handoff: Handoff | None) -> list[str]:
    lines = [f"{_since(task, handoff)}: {one_line(quotable(task), QUOTED)}" for task in tasks[:MOST_TASKS]]
    return lines + ([f"{len(tasks) - MOST_TASKS} more tasks are open."] if len(tasks) > MOST_TASKS else [])


def _since(task: Memory, handoff: Handoff | None) -> str:
    if handoff is not None and task.id in handoff.task_ids:
        return f"Left open on {handoff.ended_at:%Y-%m-%d}"
    return f"Open since {task.created_at:%Y-%m-%d}"


def from_session(past: History, project: Project) -> list[str]:
    """Return recommendations from the session's memories and changes."""
    advice = [each.statement for each in recommendations(past.sample, ())]
    if project.tests and untested(project.changes, project.stack.sources):
        advice.append(
            "Source files were changed and no test file was: see whether the tests cover the change."
        )
    return advice


def from_project(measured: ProjectAssessment) -> list[str]:
    project = measured.project
    unsynced = [
        f"Bring the dependencies up to date: {each.how}" for each in project.agreements if not each.is_synced
    ]
    lacking = sorted((s for s in project.signals if s.advice), key=lambda s: (s.points - s.of, s.name))
    absent = [check.detail for check in (*measured.permissions, *measured.programs) if not check.is_ok]
    return [*unsynced, *(signal.advice for signal in lacking[:MOST_ADVICE]), *absent]
