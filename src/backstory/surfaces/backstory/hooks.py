"""What assistants' hooks call in the server that runs: no model sees it, and its answer is the JSON that a hook prints."""

from __future__ import annotations

from typing import Annotated

from ...core import Core
from ...tools import READS, dump
from .vocabulary import surface

STARTS = ("startup", "clear", "compact")
"""Ways a session begins in which the model knows nothing of the work."""


@surface.tool("Hook", READS, is_listed=False)
def hook(
    core: Core,
    event: Annotated[str, "The event's name: SessionStart, Stop"],
    session_id: Annotated[str, "What the assistant calls the conversation"] = "",
    source: Annotated[str, "How the session began: startup, clear, compact, resume"] = "",
) -> str:
    """For hooks of assistants. SessionStart answers with the brief, if anything is known of the project; every other event with
    nothing."""
    if session_id:
        core.caller.conversation = session_id
    if event != "SessionStart" or source not in ("", *STARTS):
        return "{}"
    made = core.briefing.brief()
    if not made.is_known:
        return "{}"
    return dump({"hookSpecificOutput": {"hookEventName": event, "additionalContext": made.text}})
