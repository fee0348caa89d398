"""Edits that the last session of a project left uncommitted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..domain.statements import Speaker, Statement, StatementKind, StatementState
from .part import CallContext
from .projects import is_repository, work_tree
from .projects.git import git, names
from .state import ProjectState

STATUS_TIMEOUT_S = 2.0
MAX_LISTED_FILES = 6


def uncommitted(
    context: CallContext, project: str, state: ProjectState
) -> tuple[Statement, list[str]] | None:
    """Files that the last session edited and did not commit, as far as git still shows them, and the statement of them."""
    if not state.conversations:
        return None
    last = state.conversations[0]
    commits = [
        each.place
        for each in state.statements
        if each.conversation == last.id and each.kind is StatementKind.COMMIT
    ]
    written = context.engine.store.traces.written_since(last.id, max(commits, default=-1))
    edited = _files([path.replace("\\", "/") for path in written])
    here = project == context.caller.project
    directory = Path(context.caller.directory if here else project)
    changed = _changed_names(directory) if context.caller.is_local and edited else None
    if changed is not None:
        edited = [path for path in edited if Path(path).name in changed]
    if not edited:
        return None
    statement = Statement(
        id=f"uncommitted:{last.id}",
        kind=StatementKind.UNCOMMITTED,
        text=_listed(edited),
        reason="",
        state=StatementState.OPEN,
        speaker=Speaker.LOG,
        project=project,
        branch=last.branch,
        conversation=last.id,
        message="",
        place=max(context.engine.store.messages.last_place(last.id), 0),
        at=last.updated_at,
        trust=last.trust,
    )
    return statement, edited


def _files(paths: Sequence[str]) -> list[str]:
    """The paths without folders, which a command may have moved or removed: they end in a slash, or contain another path."""
    return [
        path
        for path in paths
        if path.rpartition("/")[2].strip("*") and not any(other.startswith(f"{path}/") for other in paths)
    ]


def _listed(paths: Sequence[str]) -> str:
    file_names = list(dict.fromkeys(path.rpartition("/")[2] for path in paths))
    more = len(file_names) - MAX_LISTED_FILES
    return ", ".join(file_names[:MAX_LISTED_FILES]) + (f" and {more} more" if more > 0 else "")


def _changed_names(directory: Path) -> set[str] | None:
    """Names of the files that git lists as changed; none outside a repository, where nothing can be committed. None if the
    directory is not on this machine, or git does not answer in time."""
    if not directory.is_dir():
        return None
    status = git(directory, "status", "--porcelain", "-z", timeout_s=STATUS_TIMEOUT_S)
    if status is None:
        return None if is_repository(work_tree(directory)) else set()
    return {Path(line[3:]).name for line in names(status)}
