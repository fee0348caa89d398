"""Open a record by id, page by page: a memory with its history, a message, or a part of a conversation.

A page costs a model at most PAGE_TOKENS. Messages are numbered from 1, and so are the pieces of long texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..domain.errors import BackstoryError, InvalidInput, NotFound, check_at_least
from ..domain.filters import ConversationFilter, Filter
from ..domain.records import Conversation, Former, Memory, Message
from ..domain.tokens import count_tokens
from .browsing import Browsing
from .lookup import Lookup
from .memories import Memories
from .part import CallContext, CorePart

PAGE_TOKENS = 1_800
"""The maximum tokens of the texts on a page; headers are extra."""
MESSAGE_TOKENS = 700
"""The maximum tokens of one message on a page with others."""
HEAD_TOKENS = 14  # tokens of the line before each message
MOST_MESSAGES = 50
LETTERS = 12  # maximum characters of a token: a longer text exceeds the limit without counting
END = -1
"""The last page of a conversation."""


class TextPage(NamedTuple):
    """A piece of a memory's or a message's text."""

    entry: Memory | Message
    text: str
    number: int
    total: int
    history: Sequence[Former] = ()
    """The former values of a memory, oldest first."""
    freshness: str = ""
    """The state of the files that a memory is about."""


class PagedMessage(NamedTuple):
    number: int
    message: Message
    text: str
    left_out: int
    """Characters at the end of it that are not in the text."""


class ConversationPage(NamedTuple):
    conversation: Conversation
    messages: Sequence[PagedMessage]
    total: int
    """The number of the last message."""
    next: int | None
    """The number at which the next page begins."""


class Pages(CorePart):
    def __init__(self, context: CallContext, browsing: Browsing, memories: Memories, lookup: Lookup) -> None:
        super().__init__(context)
        self._browsing = browsing
        self._memories = memories
        self._lookup = lookup

    def open(self, id: str, at: int | None = None, limit: int = 10) -> TextPage | ConversationPage:
        """Open the record with this id or abbreviated id, from piece or message `at` on; a negative one counts from the end.

        `ID#N` opens a conversation around message N. A message's own id opens its text."""
        if at == 0:
            raise InvalidInput("at must not be 0.", hint="Numbers start at 1; -1 is the last.", field="at")
        check_at_least(1, limit, "limit")
        try:
            target = self._browsing.find(id)
        except NotFound:
            raise self._not_found(id) from None
        if isinstance(target, Memory):
            page = self._text_page(target, at or 1)
            history, freshness = self._memories.history(target), self._lookup.freshness(target)
            return page._replace(history=history, freshness=freshness)
        if message := self.engine.store.messages.get(id):
            return self._text_page(message, at or 1)
        before = 1 if target.number is None else max(target.number - 1, 1)  # the message that it answers
        return self._conversation_page(target.conversation, at or before, limit)

    def mark_opened(self, id: str) -> None:
        """Mark this session's receipts of hooks that name the record it opens now. A failed write must not fail the reader."""
        if not self.caller.conversation:
            return
        injections = self.engine.store.injections
        for receipt in injections.naming(self.caller.conversation, id.partition("#")[0]):
            with suppress(BackstoryError):
                injections.judge(receipt, used=True)

    def _not_found(self, id: str) -> NotFound:
        """The error for an unknown id, with a hint if it is in the archive."""
        visible = self.caller.visible(Filter(ids=(id,)))
        archived = self.engine.store.archive
        if archived.find_memories(visible, with_forgotten=True) or archived.find_conversations(
            ConversationFilter(ids=(id,))
        ):
            return NotFound(
                "live memory or conversation", id, hint=f"It is in the archive: backstory unarchive {id}"
            )
        return NotFound("memory or conversation", id, hint="Use the complete id, as it was shown.")

    def _text_page(self, entry: Memory | Message, at: int) -> TextPage:
        texts = list(pieces(entry.text, PAGE_TOKENS))
        number = _counted_from_end(at, len(texts))
        if number > len(texts):
            raise InvalidInput(
                f"at must be at most {len(texts)}.", hint="That is its last piece.", field="at"
            )
        return TextPage(entry, texts[number - 1], number, len(texts))

    def _conversation_page(self, conversation: Conversation, at: int, limit: int) -> ConversationPage:
        room = self.engine.store.messages
        total = room.last_place(conversation.id) + 1
        first = max(total - limit, 0) + 1 if at == END else _counted_from_end(at, total)
        if first > max(total, 1):
            raise InvalidInput(f"at must be at most {total}.", hint="That is its last message.", field="at")
        messages = room.said(conversation.id, first=first - 1, limit=min(limit, MOST_MESSAGES) + 1)
        messages_on_page: list[PagedMessage] = []
        left = PAGE_TOKENS
        for message in messages[:limit]:
            text = next(pieces(message.text, MESSAGE_TOKENS))
            left -= count_tokens(text) + HEAD_TOKENS
            if left < 0 and messages_on_page:
                break
            messages_on_page.append(
                PagedMessage(message.seq + 1, message, text, len(message.text) - len(text))
            )
        following = messages[len(messages_on_page) :]
        return ConversationPage(
            conversation, messages_on_page, total, following[0].seq + 1 if following else None
        )


def _counted_from_end(at: int, total: int) -> int:
    return at if at > 0 else max(total + 1 + at, 1)


def pieces(text: str, tokens: int) -> Iterator[str]:
    """Split a text into parts of at most `tokens` tokens, at a paragraph, line or word boundary if one is near.

    Joined, the parts are the text."""
    longest = tokens * LETTERS
    while len(text) > longest or count_tokens(text) > tokens:
        size = _fitting_length(text[:longest], tokens)
        ends = (text.rfind(mark, size // 2, size) + len(mark) for mark in ("\n\n", "\n", " "))
        cut = next((end for end in ends if end > size // 2), size)
        yield text[:cut]
        text = text[cut:]
    yield text


def _fitting_length(text: str, tokens: int) -> int:
    """The largest number of characters that fits into `tokens`."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low
