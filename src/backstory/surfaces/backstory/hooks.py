"""What assistants' hooks call in the server that runs: no model sees it, and its answer is the JSON that a hook prints."""

from __future__ import annotations

from typing import Annotated

from ...core import Core
from ...core.briefs import opening_brief
from ...tools import Effect, dump
from .vocabulary import surface


@surface.tool("Hook", Effect(), is_listed=False)
def hook(
    core: Core,
    event: Annotated[str, "The event's name: SessionStart, PreCompact, Stop"],
    session_id: Annotated[str, "What the assistant calls the conversation"] = "",
    source: Annotated[str, "How the session began: startup, clear, compact, resume"] = "startup",
    transcript: Annotated[str, "Where the assistant keeps its log of the session"] = "",
) -> str:
    """For hooks of assistants. SessionStart answers with the brief, if there is news for this session; before a compaction a checkpoint
    is taken; after every event the histories are read, and briefs rendered anew."""
    if session_id:
        core.caller.conversation = session_id
    if event == "PreCompact":
        core.checkpoints.before_compaction()
    text = opening_brief(core, session_id, source, transcript) if event == "SessionStart" else ""
    if not text:
        return ""  # of PreCompact, Claude Code gives the summariser whatever is answered
    return dump({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
