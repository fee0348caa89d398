"""Changes: every file that a session edited, with its edits folded into one difference."""

from __future__ import annotations

from ...core import Core
from ...core.browsing.session_changes import session_changes
from ..figures import figure
from ..page_query import PageQuery
from ..view import View
from .cards import conversation_card
from .conversation import named_conversation

MAX_LINES = 600
"""Lines of one file that are shown."""


def page(core: Core, asked: PageQuery) -> View:
    conversation = named_conversation(core, asked.text("id"))
    version = ("changes", conversation.id, conversation.updated_at)
    changes = figure(core, version, lambda: session_changes(core.engine, conversation))
    body = {
        "conversation": conversation_card(conversation),
        "files": [
            {
                **each._asdict(),
                "lines": [line._asdict() for line in each.lines[:MAX_LINES]],
                "left_out": max(len(each.lines) - MAX_LINES, 0),
            }
            for each in changes
        ],
        "added": sum(each.added for each in changes),
        "removed": sum(each.removed for each in changes),
    }
    return View("changes.html", body, f"Changes: {conversation.name}")
