"""Four numbers from 0 to 100: project health, permissions, available programs, and their weighted sum."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..project.health import Project
from ..project.stack import Stack

WEIGHTS = {"project_health": 0.6, "permissions": 0.2, "tools_available": 0.2}
"""Weights of the parts of `overall`. docs/project-health.md gives the reasons."""

_BY_MANAGER = {"pip": "python3", "maven": "mvn", "pipenv": "pipenv"}
_RUNTIMES = {"python": "python3", "node": "node", "rust": "cargo", "go": "go", "java": "java"}
_CONFIGURED = ("pytest", "ruff", "mypy", "pyright", "black", "flake8", "eslint", "jest", "vitest", "prettier")
_OWN_PROGRAMS = (".venv/bin", ".venv/Scripts", "venv/bin", "venv/Scripts", "node_modules/.bin", ".")


class QualityCheck(NamedTuple):
    name: str
    is_ok: bool
    detail: str


class Quality(NamedTuple):
    overall: int
    project_health: int
    permissions: int
    tools_available: int


class ProjectAssessment(NamedTuple):
    """The analysis of a project, and its quality scores."""

    project: Project
    permissions: tuple[QualityCheck, ...]
    programs: tuple[QualityCheck, ...]
    quality: Quality


def quality(
    project: Project, permissions: Sequence[QualityCheck], programs: Sequence[QualityCheck]
) -> Quality:
    parts = {
        "project_health": project.health,
        "permissions": _share(permissions),
        "tools_available": _share(programs),
    }
    overall = sum(WEIGHTS[name] * value for name, value in parts.items())
    return Quality(overall=round(overall), **parts)


def check_permissions(project: Project, ours: Path) -> list[QualityCheck]:
    """Check whether the project can be read and written, and our own directory written."""
    checks = [
        _access("project_readable", project.root, os.R_OK | os.X_OK, "be read"),
        _access("project_writable", project.root, os.W_OK | os.X_OK, "be written"),
    ]
    repository = project.root / ".git"
    if project.changes is not None and repository.exists():
        checks.append(_access("repository_readable", repository, os.R_OK, "be read"))
    place = next((path for path in (ours, *ours.parents) if os.path.exists(path)), ours)
    checks.append(_access("data_directory_writable", place, os.W_OK | os.X_OK, "be written"))
    return checks


def check_programs(project: Project) -> list[QualityCheck]:
    """Check the programs that the project's files require: on the path, or in its own environment."""
    return [_program(project.root, name) for name in dict.fromkeys(_wanted(project))]


def _wanted(project: Project) -> Iterator[str]:
    if project.changes is not None:
        yield "git"
    for ecosystem in project.stack.ecosystems:
        yield _RUNTIMES[ecosystem]
    for manager in project.stack.package_managers:
        wrapper = f"{'mvn' if manager == 'maven' else manager}w"
        yield wrapper if (project.root / wrapper).exists() else _BY_MANAGER.get(manager, manager)
    named = _named_tools(project.stack)
    yield from (name for name in _CONFIGURED if name in named)


def _named_tools(stack: Stack) -> set[str]:
    return {name for manifest in stack.manifests for name in manifest.dependencies | manifest.settings}


def _program(root: Path, name: str) -> QualityCheck:
    own = os.pathsep.join(str(root / place) for place in _OWN_PROGRAMS)
    path = shutil.which(name, path=own) or shutil.which(name)
    return QualityCheck(name, path is not None, path or f"{name} is not on the path.")


def _access(name: str, path: Path, mode: int, verb: str) -> QualityCheck:
    is_ok = os.access(path, mode)
    return QualityCheck(name, is_ok, f"{path} may {'' if is_ok else 'not '}{verb}.")


def _share(checks: Sequence[QualityCheck]) -> int:
    """Return the percentage of passed checks; 100 if there are none."""
    return round(100 * sum(check.is_ok for check in checks) / len(checks)) if checks else 100
