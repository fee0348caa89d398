"""Branches: continue in a copy of the session, and merge another session into it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, TypedDict

from ...core import Core
from ...domain.records import Memory
from ...tools import ADDS, Effect
from ...tools.params import CoreName
from .branching import Branches, Resolution
from .vocabulary import surface

CopyDepth = Literal["shallow", "deep"]
ResolutionName = Literal["keep_current", "keep_source", "keep_newest"]


class BranchAnswer(TypedDict):
    branchId: str
    parentId: str
    copiedItems: int
    copiedFiles: int


class MergeStats(TypedDict):
    byCategory: dict[str, int]
    byResolution: dict[str, int]


class MergeAnswer(TypedDict):
    merged: int
    conflicts: int
    skipped: int
    stats: MergeStats


@surface.tool("Branch session", ADDS)
def context_branch_session(
    core: Core,
    branch_name: Annotated[str, "Name for the branch", CoreName("name")],
    copy_depth: Annotated[
        CopyDepth, "shallow copies critical and high priority items, deep copies everything with cached files"
    ] = "shallow",
    description: Annotated[str | None, "What the branch is for"] = None,
) -> BranchAnswer:
    """Create a branch from the current session and go on in it: the branch becomes the current session, its parent
    stays as it is. Private items stay private in the branch."""
    branch = Branches(core).branch(branch_name, description=description or "", deep=copy_depth == "deep")
    return {
        "branchId": branch.session.id,
        "parentId": branch.session.parent or "",
        "copiedItems": branch.items,
        "copiedFiles": branch.files,
    }


@surface.tool("Merge sessions", Effect(destructive=True))
def context_merge_sessions(
    core: Core,
    source_session_id: Annotated[str, "Session to merge from; it stays as it is", CoreName("source")],
    conflict_resolution: Annotated[
        ResolutionName, "Whose value stays where both have the key; keep_newest compares the times of change"
    ],
    categories: Annotated[list[str] | None, "Merge only these categories"] = None,
) -> MergeAnswer:
    """Merge another session's public items into the current one; private items never come over. A value that is
    replaced stays in the item's history. A conflict is a key with different values; an item that both have alike
    is skipped. byResolution tells which side won how many conflicts."""
    arrived = Branches(core).merge(
        source_session_id, Resolution(conflict_resolution), tuple(categories or ())
    )
    merged = [*arrived.added, *arrived.replaced]
    return {
        "merged": len(merged),
        "conflicts": len(arrived.replaced) + len(arrived.refused),
        "skipped": len(arrived.refused) + len(arrived.known),
        "stats": {
            "byCategory": by_category(merged),
            "byResolution": {"keep_current": len(arrived.refused), "keep_source": len(arrived.replaced)},
        },
    }


def by_category(memories: Iterable[Memory]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for memory in memories:
        category = memory.category or "uncategorized"
        counts[category] = counts.get(category, 0) + 1
    return counts
