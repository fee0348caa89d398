"""The lifecycle of a session: init, checkpoint, end, status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from ...core import Core
from ...domain.when import iso
from ...tools import ADDS, READS
from ...tools.params import PathName
from .project_context import ProjectContext, SignalFound, project_context, signals
from .vocabulary import surface
from .work import Working

if TYPE_CHECKING:
    from .project.health import Project
    from .work import Assessment
    from .work.quality import Quality, QualityCheck


class Dependencies(TypedDict):
    ecosystem: str
    folder: str
    synced: bool
    how: str


class LastHandoff(TypedDict):
    session_id: str
    ended_at: str
    open_tasks: list[str]


class InitAnswer(TypedDict):
    project_context: ProjectContext
    dependencies_synced: bool
    memory_initialized: bool
    permissions_setup: bool
    recommendations: list[str]
    session_id: str
    dependencies: list[Dependencies]
    last_handoff: NotRequired[LastHandoff]


class QualityScore(TypedDict):
    overall: int
    project_health: int
    permissions: int
    tools_available: int


class Occurrence(TypedDict):
    what: str
    times: int


class GitCheckpoint(TypedDict):
    ref: NotRequired[str]
    why: str
    left_out: NotRequired[list[str]]


class Insights(TypedDict):
    session_minutes: int
    checkpoints: int
    minutes_since_checkpoint: NotRequired[int]
    items_saved: int
    items_by_category: dict[str, Any]
    files_touched_again: list[Occurrence]
    errors_repeated: list[Occurrence]
    test_runs: int
    changed_files: int
    changed_lines: int
    since_last_checkpoint: NotRequired[dict[str, Any]]


class CheckpointMade(TypedDict):
    quality_score: QualityScore
    recommendations: list[str]
    git_checkpoint_created: bool
    optimization_suggestions: list[str]
    workflow_insights: Insights
    session_id: str
    git_checkpoint: GitCheckpoint
    health: list[SignalFound]


class Learnings(TypedDict):
    insights: list[str]
    solutions: list[str]
    patterns: list[str]


class EndAnswer(TypedDict):
    final_quality_score: int
    learning_captured: Learnings
    handoff_file_created: bool
    handoff_file_path: NotRequired[str]
    memory_persisted: bool
    cleanup_performed: bool
    session_id: NotRequired[str]
    notices: NotRequired[list[str]]


class MemoryStatus(TypedDict):
    enabled: bool
    conversations_stored: int
    embeddings_available: bool
    memories_stored: int
    embeddings_problem: NotRequired[str]


class CheckResult(TypedDict):
    ok: bool
    detail: str


class SessionStatus(TypedDict):
    session_active: bool
    project_context: ProjectContext
    available_tools: list[str]
    memory_system_status: MemoryStatus
    permissions_status: dict[str, Any]
    health_checks: dict[str, Any]
    session_id: NotRequired[str]
    session_started_at: NotRequired[str]
    notices: NotRequired[list[str]]


@surface.tool("Start a session", ADDS, of_checkout=True)
def init(
    core: Core,
    working_directory: Annotated[
        str | None, "The project's directory; without it, the one the server works in", PathName()
    ] = None,
) -> InitAnswer:
    """Begin a session of work: look at the project (languages, frameworks, tests, lock files, version control, debt),
    score its health, and say what the last session left open. Call it first. It installs and changes nothing in the
    project."""
    started = Working(core).start(working_directory)
    project = started.measured.project
    reply: InitAnswer = {
        "project_context": project_context(project),
        "dependencies_synced": project.is_synced,
        "memory_initialized": started.is_remembered,
        "permissions_setup": all(check.is_ok for check in started.measured.permissions),
        "recommendations": started.recommendations,
        "session_id": started.session.id,
        "dependencies": [
            {"ecosystem": each.ecosystem, "folder": each.folder, "synced": each.is_synced, "how": each.how}
            for each in project.agreements
        ],
    }
    if (handoff := started.handoff) is not None:
        reply["last_handoff"] = {
            "session_id": handoff.session,
            "ended_at": iso(handoff.ended_at),
            "open_tasks": [task.text for task in started.still_open],
        }
    return reply


@surface.tool("Check the session", ADDS, of_checkout=True)
def checkpoint(core: Core) -> CheckpointMade:
    """Measure quality and workflow in the middle of a session and keep the figures, so that later checkpoints compare:
    call it every 30 to 45 minutes. With git checkpoints switched on, tracked changes are kept under a private ref as well;
    branch, index and files stay as they are."""
    checked = Working(core).assess()
    git: GitCheckpoint = {"why": checked.git.why}
    if checked.git.ref is not None:
        git["ref"] = checked.git.ref
    if checked.git.left_out:
        git["left_out"] = list(checked.git.left_out)
    return {
        "quality_score": _scores(checked.measured.quality),
        "recommendations": checked.recommendations,
        "git_checkpoint_created": checked.git.ref is not None,
        "optimization_suggestions": checked.suggestions,
        "workflow_insights": _insights(checked),
        "session_id": checked.session.id,
        "git_checkpoint": git,
        "health": signals(checked.measured.project),
    }


@surface.tool("End the session", ADDS, of_checkout=True)
def end(core: Core) -> EndAnswer:
    """Close the session: say what was learned in it, and leave a handoff of decisions, open tasks, errors, files and next
    steps for the next init of this project. Without a session the project is measured and nothing is handed over."""
    ended = Working(core).end()
    reply: EndAnswer = {
        "final_quality_score": ended.measured.quality.overall,
        "learning_captured": {
            "insights": list(ended.learning.insights),
            "solutions": list(ended.learning.solutions),
            "patterns": list(ended.learning.patterns),
        },
        "handoff_file_created": ended.file is not None,
        "memory_persisted": ended.is_persisted,
        "cleanup_performed": ended.session is not None,
    }
    if ended.file is not None:
        reply["handoff_file_path"] = str(ended.file)
    if ended.session is not None:
        reply["session_id"] = ended.session.id
    else:
        reply["notices"] = [
            "No session was open on this connection, so nothing was handed over; init begins one."
        ]
    return reply


@surface.tool("Session status", READS, of_checkout=True)
def status(
    core: Core,
    working_directory: Annotated[str | None, "Another project's directory to look at", PathName()] = None,
) -> SessionStatus:
    """How things stand: whether a session is open, the project's health, the tools at hand, the memory system and
    permissions. It changes nothing and begins no session."""
    standing = Working(core).status(working_directory)
    reply: SessionStatus = {
        "session_active": standing.session is not None,
        "project_context": project_context(standing.measured.project),
        "available_tools": core.call.tool_names(),
        "memory_system_status": {
            "enabled": True,
            "conversations_stored": standing.conversations,
            "embeddings_available": standing.can_embed,
            "memories_stored": standing.memories,
        },
        "permissions_status": _checks(standing.measured.permissions),
        "health_checks": {
            "dependencies": _dependencies(standing.measured.project),
            "programs": _checks(standing.measured.programs),
            "store": {"ok": True, "detail": f"It answered; {standing.bytes} bytes are in use."},
        },
    }
    if standing.problem is not None:
        reply["memory_system_status"]["embeddings_problem"] = standing.problem
    if standing.session is not None:
        reply["session_id"] = standing.session.id
        reply["session_started_at"] = iso(standing.session.created_at)
    if standing.notices:
        reply["notices"] = list(standing.notices)
    return reply


def _scores(quality: Quality) -> QualityScore:
    return {
        "overall": quality.overall,
        "project_health": quality.project_health,
        "permissions": quality.permissions,
        "tools_available": quality.tools_available,
    }


def _insights(checked: Assessment) -> Insights:
    seen = checked.workflow
    insights: Insights = {
        "session_minutes": seen.minutes,
        "checkpoints": seen.checkpoints,
        "items_saved": seen.saved,
        "items_by_category": dict(seen.by_category),
        "files_touched_again": [{"what": what, "times": times} for what, times in seen.files],
        "errors_repeated": [{"what": what, "times": times} for what, times in seen.errors],
        "test_runs": seen.test_runs,
        "changed_files": seen.changed_files,
        "changed_lines": seen.changed_lines,
    }
    if seen.minutes_since_checkpoint is not None:
        insights["minutes_since_checkpoint"] = seen.minutes_since_checkpoint
    if checked.since_last:
        insights["since_last_checkpoint"] = {**checked.since_last}
    return insights


def _checks(checks: Iterable[QualityCheck]) -> dict[str, CheckResult]:
    return {check.name: {"ok": check.is_ok, "detail": check.detail} for check in checks}


def _dependencies(project: Project) -> dict[str, CheckResult]:
    return {
        f"{each.folder or '.'} ({each.ecosystem})": {"ok": each.is_synced, "detail": each.how}
        for each in project.agreements
    }
