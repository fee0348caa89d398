"""The current project: its description, and its relevant files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from ... import __version__
from ...core import Core
from ...core.projects.effort import look
from ...domain.errors import InvalidInput
from ...tools import READS
from ...tools.budget import fitting
from ...tools.params import Range, Shaped
from .description import describe
from .files import list_files
from .vocabulary import Stopwatch, surface

if TYPE_CHECKING:
    from .description import Description
    from .files import ProjectFile


class ProjectName(TypedDict):
    name: str
    root: str
    valid: bool


class GitState(TypedDict):
    is_git_repo: bool
    current_branch: str | None
    repo_root: str | None
    commit: NotRequired[str]
    is_detached: NotRequired[bool]
    is_worktree: NotRequired[bool]
    is_bare: NotRequired[bool]
    notice: NotRequired[str]


class Statistics(TypedDict):
    files: int
    directories: int


class Metadata(TypedDict):
    timestamp: float
    sanitized: bool


class ProjectInfo(TypedDict):
    project: ProjectName
    git: GitState
    statistics: NotRequired[Statistics]
    metadata: Metadata
    notices: NotRequired[list[str]]


class ListedFile(TypedDict):
    path: str
    score: NotRequired[float]
    priority: NotRequired[str]
    size: int
    commits: NotRequired[int]


class ListedFiles(TypedDict):
    files: list[ListedFile]
    total_files: int
    processing_time: float
    next_offset: NotRequired[int]
    notices: NotRequired[list[str]]


@surface.tool("Get project info", READS, of_checkout=True)
def get_project_info(
    core: Core,
    include_stats: Annotated[bool, "Count files and directories, without what .gitignore leaves out"] = True,
) -> Shaped[ProjectInfo]:
    """Tell what the project at hand is: its name and root, the state of its git repository (branch, commit, whether
    HEAD is detached, whether it is a worktree or bare), and how many files and directories it has."""
    root = Path(core.caller.checkout())
    description = look(lambda effort: describe(root, effort, with_size=include_stats), core.call)
    info: ProjectInfo = {
        "project": {"name": description.name, "root": description.root, "valid": description.is_valid},
        "git": _git(description),
        "metadata": {"timestamp": core.engine.now().timestamp(), "sanitized": description.is_altered},
    }
    if description.size is not None:
        info["statistics"] = {"files": description.size.files, "directories": description.size.directories}
    if description.left_out:
        info["notices"] = list(description.left_out)
    text: dict[str, Any] = {
        "project_root": description.root,
        "project_name": description.name,
        "valid_path": description.is_valid,
        **info["git"],
        **({"statistics": info["statistics"]} if "statistics" in info else {}),
        **info["metadata"],
        **({"notices": info["notices"]} if "notices" in info else {}),
    }
    return Shaped(text, info)


def _git(description: Description) -> GitState:
    repository = description.repository
    if repository is None:
        return {"is_git_repo": False, "current_branch": None, "repo_root": None}
    git: GitState = {
        "is_git_repo": True,
        "current_branch": repository.branch,
        "repo_root": repository.root,
    }
    if not repository.is_known_to_git:
        return {**git, "notice": "git could not be asked: it is not installed, or refuses this repository."}
    if repository.commit is not None:
        git["commit"] = repository.commit
    return {
        **git,
        "is_detached": repository.branch is None,
        "is_worktree": repository.is_worktree,
        "is_bare": repository.is_bare,
    }


@surface.tool("List project files", READS, of_checkout=True)
def list_project_files(
    core: Core,
    file_types: Annotated[
        list[str] | None, "Only files with these extensions, such as .py or js", Range(high=20)
    ] = None,
    max_files: Annotated[int, "Maximum number of files", Range(1, 10_000)] = 1000,
    use_relevance_scoring: Annotated[bool, "Score the files and list the most relevant first"] = True,
    offset: Annotated[int, "Skip so many files: how to read on", Range(low=0)] = 0,
) -> ListedFiles:
    """List the files of the project at hand, without what .gitignore leaves out, the most relevant first. A score
    from 0 to 1 counts how lately a file changed, how often it was committed in the last 90 days (`commits`), what it
    is, where it lies and its size; priority is high, medium or low. `total_files` are all that match; when an answer
    cannot hold them, `next_offset` says how to read on."""
    clock = Stopwatch()
    types = file_types or []
    if not all(ending.strip(". ") and "/" not in ending for ending in types):
        raise InvalidInput("file_types must be extensions.", hint="Such as .py or js.", field="file_types")
    root, now, is_scored = Path(core.caller.checkout()), core.engine.now(), use_relevance_scoring
    listing = look(lambda effort: list_files(root, now, effort, types=types, is_scored=is_scored), core.call)
    rows = fitting(map(_listed, listing.files[offset : offset + max_files]))
    reply: ListedFiles = {
        "files": rows,
        "total_files": len(listing.files),
        "processing_time": clock.seconds(),
    }
    if offset + len(rows) < len(listing.files):
        reply["next_offset"] = offset + len(rows)
    if listing.notices:
        reply["notices"] = list(listing.notices)
    return reply


def _listed(file: ProjectFile) -> ListedFile:
    listed: ListedFile = {"path": file.path, "size": file.size}
    if file.score is not None and file.priority is not None:
        listed = {"path": file.path, "score": file.score, "priority": file.priority, "size": file.size}
    return {**listed, "commits": file.commits} if file.commits else listed


class ServerVersion(TypedDict):
    server_version: str
    protocol_version: str
    server_name: str


@surface.tool("Get server version", READS)
def get_server_version(core: Core) -> ServerVersion:
    """Tell this server's name and version, and the version of the protocol that was agreed on."""
    return {
        "server_version": __version__,
        "protocol_version": core.call.protocol,
        "server_name": "backstory",
    }
