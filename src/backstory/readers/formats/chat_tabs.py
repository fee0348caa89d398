"""The chat of 2024 in Cursor, and in Windsurf after it: tabs of bubbles in a workspace's database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .. import ConversationHeader, Piece
from .bubbles import bubble_of, turns_of
from .databases import DatabaseProgress, document
from .pieces import whole
from .values import Value, fields_of, fingerprint, records_of, text_of, time_ms

CHAT_KEY = "workbench.panel.aichat.view.aichat.chatdata"
NO_SPEAKER = "bubble of unknown type"


def read_tabs(value: Value, source: str, directory: str, progress: DatabaseProgress) -> Iterator[Piece]:
    """One conversation for each tab that was spoken in and has changed. Its only time is that of the last question."""
    for tab in records_of(fields_of(document(value)).get("tabs")):
        id = text_of(tab.get("tabId"))
        if not id or not progress.is_new(id, fingerprint(repr(tab))):
            continue
        skipped: Counter[str] = Counter()
        told = [
            bubble_of(text_of(bubble.get("id")) or str(number), bubble)
            for number, bubble in enumerate(records_of(tab.get("bubbles")))
        ]
        if missing := told.count(None):
            skipped[NO_SPEAKER] = missing
        turns = turns_of(bubble for bubble in told if bubble)
        if turns:
            header = ConversationHeader(
                id,
                f"{source}/{id}",
                title=text_of(tab.get("chatTitle")),
                directory=directory,
                ended_ms=time_ms(tab.get("lastSendTime")),
            )
            yield whole(header, turns, skipped, cursor=None)
