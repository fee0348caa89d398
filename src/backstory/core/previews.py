"""Previews of hits: a whole memory, or the matching passage of a message, and its context."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from ..domain.filters import ConversationFilter, Filter, Order, Page
from ..domain.lines import one_line
from ..domain.paths import is_about_file
from ..domain.records import Entry, Memory, Message, Trust, heading
from ..domain.terms import terms_of
from ..search.passage import best_passage
from .graph.names import find_files
from .part import CorePart

if TYPE_CHECKING:
    from ..search.engine import Hit
    from .ask import Ranking

EXCERPT = 55  # characters of a neighbouring message
SUGGESTED = 3
RECENT = 50
"""The number of recent conversations whose files are suggested."""
MOST_FILES = 20
LONGEST_READ = 30_000  # characters of a text in which files are looked for


class Preview(NamedTuple):
    hit: Hit
    entry: Entry
    content: str
    """A memory's text, or a passage of a message's."""
    is_whole: bool
    context: str
    files: list[str]
    later: Entry | None = None
    """A decision that came after this one, on the same matter."""


class Suggestions(NamedTuple):
    subjects: list[str]
    """Words of the nearest entries, or else of the newest."""
    nearest: float = 0.0
    """The certainty of the best hit below the minimum."""
    least: float = 0.0
    """The minimum with which `more` hits would be found; `nearest` to two digits, rounded down."""
    more: int = 0


class Previews(CorePart):
    def show(
        self, hits: Sequence[Hit], ranking: Ranking, *, files: bool = False, context: bool = False
    ) -> list[Preview]:
        """Previews of hits, or of other places in them. Entries that the caller may no longer see are left out.

        Files and surrounding messages are read only on request."""
        entries = self.load(hit.entry for hit in hits)
        later = self.load(ranking.later.values())
        around = self._around([*entries]) if context else {}
        named = self._files(list(entries.values())) if files else {}
        previews = []
        for hit in hits:
            if (entry := entries.get(hit.entry)) is None:
                continue
            content, is_whole = entry.text, True
            if isinstance(entry, Message):
                passage = best_passage(entry.text, ranking.words)
                content, is_whole = passage.text, passage.is_whole
            text_around = around.get(hit.entry) or heading(entry)
            files_of, newer = named.get(entry.id, []), later.get(ranking.later.get(hit.entry, -1))
            previews.append(Preview(hit, entry, content, is_whole, text_around, files_of, newer))
        return previews

    def suggestions(self, ranking: Ranking) -> Suggestions:
        """Suggestions for other searches, if there are few hits."""
        nearest = [hit for hit in ranking.missed[:SUGGESTED] if hit.certainty > 0]
        if not nearest:
            return Suggestions(self._newest_subjects(ranking.hits))
        entries = self.load(hit.entry for hit in nearest)
        texts = [entries[hit.entry] for hit in nearest if hit.entry in entries]
        subjects = [_subject(entry, terms_of(entry.text)) for entry in texts]
        lower = int(nearest[0].certainty * 100) / 100
        more = sum(hit.certainty >= lower for hit in ranking.missed)
        return Suggestions(list(dict.fromkeys(filter(None, subjects))), nearest[0].certainty, lower, more)

    def other_files(self, path: str) -> list[str]:
        """Other files that the newest conversations worked on, most similar paths first."""
        store = self.engine.store
        which = self.caller.visible_conversations(ConversationFilter())
        newest = [each.id for each in store.conversations.find(which, limit=RECENT)]
        touched = store.traces.files(newest)
        files = dict.fromkeys(file for id in newest for file in touched.get(id, ()))
        others = [file for file in files if not is_about_file(file, path)]
        return sorted(others, key=lambda file: -SequenceMatcher(None, file, path).ratio())[:SUGGESTED]

    def _newest_subjects(self, hits: Sequence[Hit]) -> list[str]:
        """Subjects of the latest memories and messages that are not among the hits."""
        store = self.engine.store
        known = {entry.id for entry in self.load(hit.entry for hit in hits).values()}
        talked = {hit.conversation for hit in hits}
        newest = Page(limit=SUGGESTED + len(hits), order=Order.UPDATED_NEWEST)
        memories = store.memories.find(self.caller.visible(Filter()), newest)
        conversations = store.conversations.find(
            self.caller.visible_conversations(ConversationFilter()), limit=newest.limit
        )
        saved = [each for each in memories if each.id not in known and each.trust is Trust.OWN]
        subjects = [_subject(memory, terms_of(memory.text)) for memory in saved]
        titles = [
            one_line(each.title, EXCERPT)
            for each in conversations
            if each.id not in talked and each.trust is Trust.OWN
        ]
        return list(dict.fromkeys(filter(None, (*subjects[:SUGGESTED], *titles[:SUGGESTED]))))[:SUGGESTED]

    def _around(self, entries: Sequence[int]) -> dict[int, str]:
        """The text before and after each message; for tool output, its own message and the message that it answers."""
        store = self.engine.store
        visible = self.caller.visible(Filter())
        outlines = store.entries.outlines(entries, visible)
        neighbours = store.entries.neighbours(outlines, visible)
        beside = {(o.thread, o.seq): _excerpt(o.role, text) for o, text in neighbours}
        threads = tuple({o.thread for o in outlines if o.role and o.thread})
        conversations = store.conversations.find(ConversationFilter(ids=threads)) if threads else []
        titles = {conversation.id: conversation.title for conversation in conversations}
        around = {}
        for o in outlines:
            texts: list[str] = []
            if o.is_said:
                texts = [beside[place] for step in (-1, 1) if (place := (o.thread, o.seq + step)) in beside]
            elif o.role and o.thread:
                spoken = store.messages.said(o.thread, first=max(o.seq - 1, 0), limit=2)
                texts = [_excerpt(message.role, message.text) for message in spoken]
            around[o.entry] = "\n".join(texts) or titles.get(o.thread or "", "")
        return around

    def _files(self, entries: Sequence[Entry]) -> dict[str, list[str]]:
        """Files by entry: the files that its conversation touched or its own text mentions."""
        threads = {entry.conversation for entry in entries if isinstance(entry, Message)}
        touched = self.engine.store.traces.files(sorted(threads)) if threads else {}
        files: dict[str, list[str]] = {}
        for entry in entries:
            whole = touched.get(entry.conversation, []) if isinstance(entry, Message) else []
            named = list(find_files(entry.text[:LONGEST_READ]))
            shorter = [name for name in named if not any(is_about_file(path, name) for path in whole)]
            files[entry.id] = list(dict.fromkeys((*shorter, *whole)))[:MOST_FILES]
        return files


def _excerpt(role: str, text: str) -> str:
    return f"{role}: {one_line(text, EXCERPT)}"


def _subject(entry: Entry, terms: frozenset[str]) -> str:
    """A few words to search for: a memory's key and tags, else the longest words of the text."""
    if isinstance(entry, Memory) and (entry.key or entry.tags):
        return " ".join(filter(None, (entry.key, *entry.tags[:2])))
    return " ".join(sorted(terms, key=lambda term: (-len(term), term))[:3])
