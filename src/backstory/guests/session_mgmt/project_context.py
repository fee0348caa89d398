"""The wire format of a project: `project_context` of init and status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from ...domain.when import iso

if TYPE_CHECKING:
    from .project.health import Project


class SignalFound(TypedDict):
    signal: str
    points: int
    of: int
    why: str


class FileCounts(TypedDict):
    total: int
    source: int
    tests: int
    complete: bool


class Pending(TypedDict):
    files: int
    lines: int
    untracked: int
    oldest: NotRequired[str]


class VersionControl(TypedDict):
    branch: NotRequired[str]
    last_commit: NotRequired[str]
    underway: NotRequired[str]
    uncommitted: Pending


class AdmittedDebt(TypedDict):
    marks: int
    lines_read: int
    files_read: int
    worst: list[dict[str, Any]]


class Structure(TypedDict):
    directory: str
    ecosystems: list[str]
    languages: dict[str, Any]
    frameworks: list[str]
    package_managers: list[str]
    manifests: list[str]
    lock_files: list[str]
    files: FileCounts
    version_control: NotRequired[VersionControl]
    debt: AdmittedDebt
    health: list[SignalFound]


class ProjectContext(TypedDict):
    name: str
    type: str
    health_score: int
    structure_analysis: Structure
    left_out: NotRequired[list[str]]


def project_context(project: Project) -> ProjectContext:
    context: ProjectContext = {
        "name": project.name,
        "type": project.stack.type,
        "health_score": project.health,
        "structure_analysis": _structure(project),
    }
    if project.left_out:
        context["left_out"] = list(project.left_out)
    return context


def _structure(project: Project) -> Structure:
    stack, debt = project.stack, project.debt
    structure: Structure = {
        "directory": str(project.root),
        "ecosystems": list(stack.ecosystems),
        "languages": dict(stack.languages),
        "frameworks": list(stack.frameworks),
        "package_managers": list(stack.package_managers),
        "manifests": [manifest.path for manifest in stack.manifests],
        "lock_files": list(stack.locks),
        "files": {
            "total": len(project.survey.paths),
            "source": len(stack.sources),
            "tests": len(project.tests),
            "complete": project.survey.is_whole,
        },
        "debt": {
            "marks": debt.marks,
            "lines_read": debt.lines,
            "files_read": debt.read,
            "worst": [{"file": path, "marks": marks} for path, marks in debt.worst],
        },
        "health": signals(project),
    }
    if project.changes is not None:
        structure["version_control"] = _version_control(project)
    return structure


def _version_control(project: Project) -> VersionControl:
    changes = project.changes
    assert changes is not None
    pending: Pending = {
        "files": len(changes.files),
        "lines": changes.lines,
        "untracked": len(project.survey.untracked),
    }
    if changes.since is not None:
        pending["oldest"] = iso(changes.since)
    control: VersionControl = {"uncommitted": pending}
    if changes.branch is not None:
        control["branch"] = changes.branch
    if changes.committed_at is not None:
        control["last_commit"] = iso(changes.committed_at)
    if changes.underway is not None:
        control["underway"] = changes.underway
    return control


def signals(project: Project) -> list[SignalFound]:
    return [{"signal": s.name, "points": s.points, "of": s.of, "why": s.why} for s in project.signals]
