"""Export conversations to files, one each."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from ...core import Core
from ...tools import ADDS
from ...tools.params import CoreName, PathName, Range
from .vocabulary import Stopwatch, surface


class ExportedConversations(TypedDict):
    exported_files: int
    output_directory: str
    export_format: str
    processing_time: float
    total_conversations: int
    files: list[str]
    notices: NotRequired[list[str]]


@surface.tool("Export individual conversations", ADDS)
def export_individual_conversations(
    core: Core,
    format: Annotated[Literal["json", "md", "markdown", "txt"], "Export format"] = "json",
    limit: Annotated[int, "Maximum number of conversations, the last updated first", Range(1, 100)] = 20,
    output_dir: Annotated[
        str | None,
        "Where to write: absolute, or relative to the usual directory (default: ~/.gandalf/exports)",
        PathName(),
        CoreName("folder"),
    ] = None,
    conversation_filter: Annotated[
        str | None, "Only conversations whose title has this part, in upper or lower case"
    ] = None,
    workspace_filter: Annotated[
        str | None,
        "Only conversations of this workspace: a project's path, its name or the hash of its path",
    ] = None,
) -> ExportedConversations:
    """Export conversations with any assistant, whole, each to a file of its own: what was said, and marked as such
    what was thought and which tools were used. Subagents are in the file of the conversation that started them. A
    file that is there is never overwritten."""
    clock = Stopwatch()
    notices = [*core.engine.sync_first(core.call)]
    export = core.export.write(
        "md" if format == "markdown" else format,
        limit=limit,
        folder=output_dir,
        title_part=conversation_filter or "",
        workspace=workspace_filter or "",
    )
    reply: ExportedConversations = {
        "exported_files": len(export.files),
        "output_directory": str(export.folder),
        "export_format": format,
        "processing_time": clock.seconds(),
        "total_conversations": export.total,
        "files": [file.name for file in export.files],
    }
    if not export.total:
        notices.append("No conversation matches; nothing was written.")
    return {**reply, "notices": notices} if notices else reply
