"""The current session at a glance, and its project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

from ...core import Core
from ...core.projects import git_branch, git_status, is_repository, work_tree
from ...domain.filters import Filter, Order, Page
from ...domain.lines import counted
from ...domain.when import iso
from ...tools import ADDS, READS
from ...tools.params import CoreName, PathName
from .vocabulary import session_of, surface

RECENT_ITEMS = 5
_STATUS_LETTERS = {"A": "created", "?": "untracked", "D": "deleted"}
"""Letters of `git status --short`. Any other letter is a modification."""


class RecentItem(TypedDict):
    key: str
    category: str | None
    priority: str
    updatedAt: str


class StatusAnswer(TypedDict):
    sessionId: str | None
    sessionName: str | None
    createdAt: str | None
    projectDir: str
    channel: str | None
    itemCount: int
    fileCount: int
    checkpointCount: int
    recentItems: list[RecentItem]
    text: str


class GitStatusCounts(TypedDict):
    modified: int
    created: int
    deleted: int
    untracked: int


class ProjectDirAnswer(TypedDict):
    sessionId: str
    projectDir: str
    isGitRepository: bool
    branch: str | None
    status: GitStatusCounts
    text: str


@surface.tool("Session status", READS)
def context_status(core: Core) -> StatusAnswer:
    """Show the current session: its project, channel, numbers of items, cached files and checkpoints, and the items that were changed last.
    Nothing is started: without a session, sessionId is null."""
    session = session_of(core, None)
    if session is None:
        return {
            "sessionId": None,
            "sessionName": None,
            "createdAt": None,
            "projectDir": _shown_directory(core),
            "channel": None,
            "itemCount": 0,
            "fileCount": 0,
            "checkpointCount": 0,
            "recentItems": [],
            "text": "No session yet. context_session_start begins one, and so does the first save.",
        }
    store, mine = core.engine.store, Filter(threads=(session.id,))
    recent = core.memories.find(mine, Page(limit=RECENT_ITEMS, order=Order.UPDATED_NEWEST))
    items = store.memories.count_by_session(core.memories.own(mine)).get(session.id, 0)
    files = len(store.files.find(session.id))
    checkpoints = len(store.checkpoints.find(core.surface, session=session.id))
    lines = [
        f"Current session: {session.name} ({session.id[:8]}), since {iso(session.created_at)}",
        f"{counted(items, 'item')}, {counted(files, 'cached file')}, {counted(checkpoints, 'checkpoint')}",
        *(
            f"• [{each.priority}] {each.key or each.id} ({each.category or 'uncategorized'})"
            for each in recent
        ),
    ]
    return {
        "sessionId": session.id,
        "sessionName": session.name,
        "createdAt": iso(session.created_at),
        "projectDir": _shown_directory(core),
        "channel": session.channel,
        "itemCount": items,
        "fileCount": files,
        "checkpointCount": checkpoints,
        "recentItems": [
            {
                "key": memory.key or memory.id,
                "category": memory.category,
                "priority": memory.priority.value,
                "updatedAt": iso(memory.updated_at),
            }
            for memory in recent
        ],
        "text": "\n".join(lines),
    }


@surface.tool("Set project directory", ADDS)
def context_set_project_dir(
    core: Core,
    project_dir: Annotated[
        str,
        "Directory of the project: absolute, or relative to the present one",
        PathName(),
        CoreName("directory"),
    ],
) -> ProjectDirAnswer:
    """Set the project that the session works on. Items saved from now on belong to it; earlier ones stay where they are. Starts a session if there
    is none."""
    session = core.sessions.work_in(project_dir)
    directory = Path(core.caller.directory)
    is_git = core.caller.is_local and is_repository(work_tree(directory))
    branch = git_branch(directory) if is_git else None
    status = _counts((git_status(directory) or "") if is_git else "")
    repository = f"Git repository, branch {branch or 'detached'}." if is_git else "No git repository found."
    return {
        "sessionId": session.id,
        "projectDir": core.caller.directory,
        "isGitRepository": is_git,
        "branch": branch,
        "status": status,
        "text": f"Project directory of session {session.id[:8]} set. {repository}",
    }


def _shown_directory(core: Core) -> str:
    """Return the caller's directory; "" for the server's own, which is not disclosed to callers on other machines."""
    is_servers_own = core.caller.directory == str(core.engine.settings.project)
    return "" if is_servers_own and not core.caller.is_local else core.caller.directory


def _counts(status: str) -> GitStatusCounts:
    counts: GitStatusCounts = {"modified": 0, "created": 0, "deleted": 0, "untracked": 0}
    for line in filter(None, status.split("\n")):
        letter = next((each for each in line[:2] if each != " "), "M")
        match _STATUS_LETTERS.get(letter):
            case "created":
                counts["created"] += 1
            case "untracked":
                counts["untracked"] += 1
            case "deleted":
                counts["deleted"] += 1
            case _:
                counts["modified"] += 1
    return counts
