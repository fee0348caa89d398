"""Checkpoints: copy the session, and restore it."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from ...core import Core
from ...domain.when import iso
from ...tools import ADDS, Effect
from .vocabulary import surface

STATUS_LINES = 200


class TakenCheckpoint(TypedDict):
    checkpointId: str
    name: str
    itemCount: int
    fileCount: int
    gitBranch: NotRequired[str]
    gitStatus: NotRequired[str]
    createdAt: str


class RestoredCheckpoint(TypedDict):
    id: str
    name: str
    createdAt: str
    description: NotRequired[str]


class RestoredSession(TypedDict):
    restoredItems: int
    restoredFiles: int
    sessionId: str
    checkpoint: RestoredCheckpoint
    withheldPrivateItems: NotRequired[int]


@surface.tool("Create checkpoint", ADDS)
def context_checkpoint(
    core: Core,
    name: Annotated[str, "Checkpoint name; a name may be used again, restoring takes the latest"],
    description: Annotated[str | None, "What this state is"] = None,
    include_files: Annotated[bool, "Copy the session's cached files too"] = False,
    include_git_status: Annotated[bool, "Record the project's git branch and status"] = False,
) -> TakenCheckpoint:
    """Create a complete snapshot of the current session: a true copy of all its items, the private ones too, that
    later edits, deletions and compressions do not touch. Take one before a large change."""
    checkpoint = core.checkpoints.take(
        name, description=description or "", files=include_files, git=include_git_status
    )
    reply: TakenCheckpoint = {
        "checkpointId": checkpoint.id,
        "name": checkpoint.name,
        "itemCount": checkpoint.items,
        "fileCount": checkpoint.files,
        "createdAt": iso(checkpoint.created_at),
    }
    if checkpoint.git_branch is not None:
        reply["gitBranch"] = checkpoint.git_branch
    if checkpoint.git_status is not None:
        reply["gitStatus"] = _fitted(checkpoint.git_status)
    return reply


@surface.tool("Restore checkpoint", Effect(destructive=True))
def context_restore_checkpoint(
    core: Core,
    name: Annotated[
        str | None, "Checkpoint name; the latest with it, or the latest of all when absent"
    ] = None,
    checkpoint_id: Annotated[str | None, "A specific checkpoint"] = None,
    restore_files: Annotated[bool, "Restore the file cache too (files on disk are never written)"] = False,
    merge: Annotated[bool, "Restore into the current session instead of a new one"] = False,
) -> RestoredSession:
    """Restore context from a checkpoint into a new session, which becomes the current one. With merge it goes into
    the current session: where a key has another value now, the restored one wins and the present one stays in the
    item's history. Private items come back only to the session they belong to and to those continued or branched
    from it; withheldPrivateItems counts what was left out."""
    checkpoint = core.checkpoints.find(id=checkpoint_id, name=name)
    restored = core.checkpoints.restore(checkpoint, files=restore_files, merge=merge)
    about: RestoredCheckpoint = {
        "id": checkpoint.id,
        "name": checkpoint.name,
        "createdAt": iso(checkpoint.created_at),
    }
    if checkpoint.description:
        about["description"] = checkpoint.description
    reply: RestoredSession = {
        "restoredItems": restored.items,
        "restoredFiles": restored.files,
        "sessionId": restored.session.id,
        "checkpoint": about,
    }
    if restored.withheld:
        reply["withheldPrivateItems"] = restored.withheld
    return reply


def _fitted(status: str) -> str:
    lines = status.split("\n")
    if len(lines) <= STATUS_LINES:
        return status
    rest = (
        f"… and {len(lines) - STATUS_LINES} of {len(lines)} lines more; `git status --short` shows them all."
    )
    return "\n".join([*lines[:STATUS_LINES], rest])
