"""Conversations: all of them, with any assistant, the last updated first."""

from __future__ import annotations

from ...core import Core
from ...core.browsing import HEADS
from ...domain.filters import ConversationFilter
from ..page_query import PageQuery
from ..view import View
from .cards import conversation_card

PAGE_CONVERSATIONS = 40


def page(core: Core, asked: PageQuery) -> View:
    number = asked.number("page", 1, least=1, most=100_000)
    which = ConversationFilter(
        projects=tuple(filter(None, [asked.text("project")])),
        surfaces=tuple(filter(None, [asked.text("assistant")])),
        title_part=asked.text("title"),
    )
    total = core.browsing.count(which)
    tallies = core.replay.tally(ConversationFilter(kinds=HEADS))
    conversations = core.browsing.latest(
        which, limit=PAGE_CONVERSATIONS, offset=PAGE_CONVERSATIONS * (number - 1)
    )
    body = {
        "conversations": [conversation_card(*each) for each in conversations],
        "total": total,
        "page": number,
        "pages_count": -(-total // PAGE_CONVERSATIONS),
        "known_projects": sorted({each.project for each in tallies} | {asked.text("project")} - {""}),
        "known_assistants": sorted({each.surface for each in tallies} | {asked.text("assistant")} - {""}),
    }
    return View("conversations.html", body, "Conversations")
