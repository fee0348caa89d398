"""The conversation that a caller is in: it is not a memory yet, and search must not return it."""

from __future__ import annotations

from datetime import timedelta

from ...domain.filters import ConversationFilter
from ...readers import reader_names
from ...search.families import descendants
from ..engine import Caller, Engine

JUST_NOW = timedelta(minutes=2)


def running_conversations(engine: Engine, caller: Caller) -> frozenset[str]:
    """The caller's own conversation with its subagents.

    It is the one that the assistant named, or else those that the same assistant wrote in the same project a moment ago."""
    store, assistant = engine.store, assistant_called(caller.assistant)
    if caller.conversation:
        heads = [f"{assistant}:{caller.conversation}"] if assistant else []
    elif assistant:
        which = ConversationFilter(
            surfaces=(assistant,),
            projects=(caller.project,),
            updated_after=engine.now() - JUST_NOW,
        )
        heads = [each.id for each in store.conversations.find(which, limit=1)]
    else:
        return frozenset()
    return frozenset({*heads, *descendants(store, heads, ConversationFilter(kinds=("subagent",)))})


def assistant_called(client: str) -> str:
    """The reader of a program with this client name: `codex-mcp-client` is codex. "" if there is none."""
    name = "-".join(client.lower().replace("_", " ").split())
    known = [each for each in reader_names() if name == each or name.startswith(f"{each}-")]
    return max(known, key=len, default="")
