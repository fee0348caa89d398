"""Export sessions to files, and import them."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from ...core import Core
from ...tools import ADDS
from ...tools.params import CoreName, PathName, Range
from .exports import Strategy, Transfer
from .vocabulary import surface

MOST_PROBLEMS = 100
"""Maximum number of reported problems, to protect the model's context from a file that is wrong throughout."""


class ExportStats(TypedDict):
    sessions: int
    items: int
    files: int
    checkpoints: int
    size: int


class ExportedFile(TypedDict):
    filePath: str
    stats: ExportStats


class ImportCounts(TypedDict):
    sessions: int
    items: int
    files: int
    checkpoints: int


class ImportedSessions(TypedDict):
    imported: ImportCounts
    skipped: int
    errors: list[str]
    sessionIds: list[str]


@surface.tool("Export context", ADDS)
def context_export(
    core: Core,
    session_id: Annotated[str | None, "Session to export (default: current)"] = None,
    session_ids: Annotated[list[str] | None, "Several sessions to export", Range(low=1)] = None,
    format: Annotated[Literal["json", "csv"], "JSON holds everything, CSV the items only"] = "json",
    output_path: Annotated[
        str | None,
        "Where to write: absolute, or relative to the export directory (default: a new file there)",
        PathName(),
        CoreName("path"),
    ] = None,
    include_metadata: Annotated[bool, "Add facts on the export itself: time, server version, counts"] = False,
) -> ExportedFile:
    """Export sessions with their items, cached files and checkpoints to a file. Private items of other sessions
    stay out. A file that is not an export is never overwritten."""
    wanted = [*([session_id] if session_id is not None else []), *(session_ids or [])]
    exported = Transfer(core).export(
        wanted, as_table=format == "csv", path=output_path, with_facts=include_metadata
    )
    return {
        "filePath": str(exported.path),
        "stats": {
            "sessions": exported.counts.sessions,
            "items": exported.counts.items,
            "files": exported.counts.files,
            "checkpoints": exported.counts.checkpoints,
            "size": exported.size,
        },
    }


@surface.tool("Import context", ADDS)
def context_import(
    core: Core,
    file_path: Annotated[
        str,
        "File to import, relative to the export directory, or an absolute path in it or in the project",
        PathName(),
        CoreName("path"),
    ],
    merge: Annotated[bool, "Merge into the current session instead of making new ones"] = False,
    merge_strategy: Annotated[
        Literal["skip", "overwrite", "rename"], "What to do with an item whose key the session has already"
    ] = "skip",
    session_name: Annotated[str | None, "Name for the imported session", CoreName("name")] = None,
) -> ImportedSessions:
    """Import an export of this server or of MCP Memory Keeper, whole or not at all: if anything is wrong with
    the file, nothing changes and `errors` says what."""
    arrived = Transfer(core).bring(
        file_path, merge=merge, strategy=Strategy(merge_strategy), name=(session_name or "").strip() or None
    )
    return {
        "imported": {
            "sessions": arrived.counts.sessions,
            "items": arrived.counts.items,
            "files": arrived.counts.files,
            "checkpoints": arrived.counts.checkpoints,
        },
        "skipped": arrived.skipped,
        "errors": _fitted(arrived.problems),
        "sessionIds": list(arrived.sessions),
    }


def _fitted(problems: tuple[str, ...]) -> list[str]:
    more = len(problems) - MOST_PROBLEMS
    return [*problems[:MOST_PROBLEMS], *([f"… and {more} more."] if more > 0 else [])]
