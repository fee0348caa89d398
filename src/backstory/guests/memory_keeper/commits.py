"""Commit staged changes, and create a checkpoint that contains the commit's id."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn, NotRequired, TypedDict

from ...core import Core
from ...core.projects import git_branch, is_repository, work_tree
from ...core.projects.git import git, names, printable, run_git
from ...domain.checkpoints import Checkpoint
from ...domain.errors import GitFailed, InvalidInput, NotAllowed, NotFound, NothingToCommit
from ...domain.lines import counted, one_line
from ...domain.when import iso
from ...tools import Effect
from ...tools.budget import fitting
from .vocabulary import surface

FILE_BYTES = 20_000
SUBJECT_CHARS = 100
SHORT_HASH = 8
COMMIT_TIMEOUT_S = 120.0
"""Hooks may run a test suite."""
_UNCHANGED = " ?!"


class CommitAnswer(TypedDict):
    committed: bool
    commit: str
    branch: str | None
    files: list[str]
    fileCount: int
    checkpoint: str | None
    checkpointId: str | None
    text: str
    notices: NotRequired[list[str]]


@surface.tool("Commit staged changes", Effect(), of_checkout=True)
def context_git_commit(
    core: Core,
    message: Annotated[str, "Commit message"],
    auto_save: Annotated[bool, "Take a checkpoint of the session too"] = True,
    all: Annotated[
        bool, "With nothing staged: commit all changes to tracked files, never untracked ones"
    ] = False,
) -> CommitAnswer:
    """Commit what is staged in the project, and take a checkpoint that names the commit. Nothing is ever staged that git does not track. Off unless the user set
    BACKSTORY_GIT_COMMIT=on."""
    if not message.strip():
        raise InvalidInput("message is empty.", hint="Say what the commit does.", field="message")
    if core.engine.settings.git_commit != "on":
        _refuse(core, auto_save)
    directory = Path(core.caller.checkout())
    if not is_repository(work_tree(directory)):
        raise NotFound("git repository", str(directory), hint="context_set_project_dir sets the project.")
    staged, unstaged = _pending_files(directory)
    if not staged and not (unstaged and all):
        raise _nothing_staged(unstaged)
    files = staged or unstaged
    id = _commit(directory, message, with_tracked=not staged)
    branch = git_branch(directory)
    checkpoint = (
        _checkpoint(core, f"commit-{id[:SHORT_HASH]}", f"Commit {id}: {message}") if auto_save else None
    )
    page = fitting(files, FILE_BYTES)
    text = f"Committed {counted(len(files), 'file')} as {id[:SHORT_HASH]} on {branch or 'a detached HEAD'}."
    if checkpoint is not None:
        text += f" Checkpoint: {checkpoint.name}."
    reply: CommitAnswer = {
        "committed": True,
        "commit": id,
        "branch": branch,
        "files": page,
        "fileCount": len(files),
        "checkpoint": checkpoint.name if checkpoint else None,
        "checkpointId": checkpoint.id if checkpoint else None,
        "text": text,
    }
    if len(page) < len(files):
        reply["notices"] = [f"{len(files) - len(page):,} more files do not fit into this answer."]
    return reply


def _nothing_staged(unstaged: list[str]) -> NothingToCommit:
    hint = (
        f"{counted(len(unstaged), 'tracked file')} changed: stage with `git add`, or add all: true."
        if unstaged
        else "Stage changes with `git add` first."
    )
    return NothingToCommit("Nothing is staged; nothing was committed.", hint=hint)


def _refuse(core: Core, auto_save: bool) -> NoReturn:
    """Explain how to enable commits. The checkpoint is created nevertheless."""
    checkpoint = _checkpoint(core, f"before-commit-{iso(core.engine.now())}", "") if auto_save else None
    raise NotAllowed(
        "Commits by tools are switched off; nothing was committed.",
        hint="The user can start the server with BACKSTORY_GIT_COMMIT=on.",
        details={"checkpoint": checkpoint.name, "checkpointId": checkpoint.id} if checkpoint else {},
    )


def _checkpoint(core: Core, name: str, description: str) -> Checkpoint:
    about = one_line(description, SUBJECT_CHARS)
    return core.checkpoints.take(name, description=about, files=False, git=True)


def _pending_files(directory: Path) -> tuple[list[str], list[str]]:
    """The staged and the unstaged changes to tracked files. Raises GitFailed where git does not answer."""
    status = git(directory, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")
    if status is None:
        raise GitFailed("git status failed; nothing was committed.", hint="Run `git status` to see why.")
    lines = [(line[:2], printable(line[3:])) for line in names(status)]
    staged = [name for letters, name in lines if letters[0] not in _UNCHANGED]
    unstaged = [name for letters, name in lines if letters[1] not in _UNCHANGED]
    return staged, unstaged


def _commit(directory: Path, message: str, *, with_tracked: bool) -> str:
    """Commit in the user's checkout, with the user's own hooks, identity and signing: the staged changes, or every change to tracked files. Returns the id of the commit."""
    words = ("commit", *(["-a"] if with_tracked else []), "-m", message)
    process = run_git(directory, *words, timeout_s=COMMIT_TIMEOUT_S, hint="Commit in a terminal.")
    if process.returncode != 0:
        raise GitFailed(f"git commit failed: {_last_line(process.stderr) or _last_line(process.stdout)}")
    id = git(directory, "rev-parse", "HEAD")
    if id is None:
        raise GitFailed("git committed, but did not say which commit it made.", hint="See `git log`.")
    return id.strip()


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
