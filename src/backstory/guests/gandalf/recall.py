"""Recall conversations with any assistant by their content, their age, and the files worked on in them.

The shared search answers the query; `scores.py` adds age, files and type.
Subagents and forks count for the conversation that started them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from ...core import GuestPart
from ...core.ask import Inquiry
from ...core.freshness import freshness
from ...core.projects.related import EVERY_PROJECT
from ...domain.filters import ConversationFilter, Filter, Kind
from ...domain.lazy import lazy_pattern
from ...domain.records import Conversation
from ...domain.when import to_ms
from ...search.families import Families
from ...search.passage import best_passage
from .keywords import KeywordQuery, WordIndex, keyword_query
from .scores import RecallParts, Scorer, raised

if TYPE_CHECKING:
    from ...domain.entries import EntryText
    from ...domain.records import ConversationOutline

MAX_SNIPPET_CHARS = 85
LEAST_CERTAINTY = 0.2  # for hits of a query that do not contain all its words
MOST_NAMED = 5
_BETWEEN = lazy_pattern(r"[\s\"'`()<>\[\]{},;]+")
_LONGEST_ENDING = 8


class RecallQuery(NamedTuple):
    days: int | None = 30
    """None means no limit."""
    least_score: float = 0.0
    surfaces: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    query: str = ""
    """Restricts the result to search hits and conversations with all words, in any of their messages or in the title."""
    tags: tuple[str, ...] = ()
    """A conversation must contain at least one of them."""
    prompt: str = ""
    """A text from which keywords are taken. It does not exclude any conversation."""
    with_subagents: bool = False
    """If true, list subagents as separate conversations."""


class ConversationHit(NamedTuple):
    conversation: Conversation
    parts: RecallParts
    excerpt: str
    files: tuple[str, ...]
    messages: int
    subagents: int


class RecallPage(NamedTuple):
    found: list[ConversationHit]
    total: int
    older: int
    """Number of matches older than the requested period; counted only if nothing else matched."""
    by_surface: Mapping[str, int]
    keywords: tuple[str, ...]
    notices: tuple[str, ...] = ()


class ReaderState(NamedTuple):
    """The state of the files of one assistant."""

    files: int
    problems: Mapping[str, int]
    """Number of unreadable files, by reason."""
    unread: Mapping[str, int]
    """Number of conversations whose text cannot be read, by completeness."""


class _Scored(NamedTuple):
    outline: ConversationOutline
    parts: RecallParts
    score: float
    share: float
    """The share of the best answer that it reaches; orders conversations with equal scores."""


class _Answers(NamedTuple):
    """Search hits: for each conversation, its score relative to the best one, and its best message."""

    shares: Mapping[str, float]
    entries: Mapping[str, int]
    words: Sequence[str]
    notices: tuple[str, ...] = ()

    @property
    def threads(self) -> list[str]:
        """Conversation ids with the best one last, so that it wins if several belong to one head."""
        return sorted(self.shares, key=lambda id: self.shares[id])

    def by_head(self, families: Families) -> dict[str, float]:
        return {
            head: self.shares[id] for id in self.threads if (head := families.head_of.get(id)) is not None
        }


class Recall(GuestPart):
    def find(self, wanted: RecallQuery, *, limit: int, offset: int = 0) -> RecallPage:
        """Return the matching conversations, best first; equal ones by their answers, then by the time of their last
        message."""
        store = self.engine.store
        since = None if wanted.days is None else self.engine.now() - timedelta(days=wanted.days)
        which = self.caller.visible_conversations(
            ConversationFilter(surfaces=wanted.surfaces, updated_after=since)
        )
        asked = keyword_query(store, wanted.query, wanted.tags, wanted.prompt)
        index = WordIndex(store, which)
        answers = self._answers(wanted, asked, since)
        seeds = index.seeds(asked)
        among = None if seeds is None else {*seeds, *answers.threads}
        families = Families.of(store, which, among=among, are_apart=wanted.with_subagents)
        scored = self._scored(wanted, asked, families, index, answers)
        best = nsmallest(
            offset + limit, scored, key=lambda s: (-s.score, -s.share, -s.outline.updated_ms, s.outline.id)
        )
        return RecallPage(
            self._hits(best[offset:], asked, families, index, answers),
            total=len(scored),
            older=0 if scored or since is None else self._count_older(wanted, asked, since),
            by_surface=Counter(each.outline.surface for each in scored),
            keywords=tuple(dict.fromkeys(label for keyword in asked.keywords for label in keyword.labels)),
            notices=answers.notices,
        )

    def _count_older(self, wanted: RecallQuery, asked: KeywordQuery, since: datetime) -> int:
        """Count the matching conversations before a time, without scoring them, which would read all conversations.

        For a query with operators and for tags, conversations that contain the words are counted."""
        store = self.engine.store
        older = ConversationFilter(surfaces=wanted.surfaces, updated_before=since)
        which = self.caller.visible_conversations(older)
        answers = self._answers(wanted, asked, None)
        index = WordIndex(store, which)
        seeds = answers.threads or index.seeds(asked)
        families = Families.of(store, which, among=seeds, are_apart=wanted.with_subagents)
        heads = (
            index.tagged(asked, {*families.heads}, families)
            if answers.threads
            else index.chosen(asked, families)
        )
        return sum(not wanted.subjects or families.heads[id].subject in wanted.subjects for id in heads)

    def readers(self) -> dict[str, ReaderState]:
        """Return the state of each reader that has files."""
        states: dict[str, ReaderState] = {}
        for reader, problem, files in self.engine.store.sync.count_sources():
            known = states.get(reader, ReaderState(0, {}, {}))
            problems = {**known.problems, **({problem: files} if problem else {})}
            states[reader] = ReaderState(known.files + files, problems, {})
        for surface, completeness, conversations in self.engine.store.conversations.count_unread():
            if (state := states.get(surface)) is not None:
                states[surface] = state._replace(unread={**state.unread, completeness: conversations})
        return states

    def _answers(self, wanted: RecallQuery, asked: KeywordQuery, since: datetime | None) -> _Answers:
        """Search for the query or the prompt.

        A query with operators is matched literally, and not searched for here."""
        question = wanted.query or wanted.prompt
        if not question.strip() or (wanted.query and asked.has_operators):
            return _Answers({}, {}, ())
        where = Filter(kinds=(Kind.MESSAGE,), surfaces=wanted.surfaces, created_after=since)
        ranking = self.core.ask.find(Inquiry(question, EVERY_PROJECT, where=where))
        hits = [hit for hit in ranking.hits if not wanted.query or hit.certainty >= LEAST_CERTAINTY]
        best = max((hit.score for hit in hits), default=0.0)
        threads = self.engine.store.entries.threads([hit.entry for hit in hits])
        shares, entries = {}, {}
        for hit, thread in zip(hits, threads, strict=True):
            for id in {thread} if wanted.with_subagents else {thread, hit.conversation}:
                if id is not None and id not in shares:
                    shares[id], entries[id] = hit.score / best, hit.entry
        return _Answers(shares, entries, ranking.words, ranking.notices)

    def _scored(
        self,
        wanted: RecallQuery,
        asked: KeywordQuery,
        families: Families,
        index: WordIndex,
        answers: _Answers,
    ) -> list[_Scored]:
        holding = chosen = index.chosen(asked, families)
        if wanted.query:
            chosen = chosen | index.tagged(asked, families.heads_of(answers.threads), families)
        if wanted.subjects:
            chosen = {id for id in chosen if families.heads[id].subject in wanted.subjects}
        is_asked = bool(wanted.query or wanted.prompt) and not asked.has_operators
        shares = answers.by_head(families)
        ranks_only = not wanted.query and wanted.least_score > 0
        # a conversation that answers nothing scores 0; but a prompt without a query lowers no score
        weighed = chosen & shares.keys() if shares and not ranks_only else chosen
        working = self.engine.store.traces.conversations_with_files(families.members(weighed))
        answering = chosen & shares.keys()
        words = index.among(families.members(answering)) if shares else index
        scorer = Scorer(
            is_asked=is_asked,
            shares=shares,
            members=families.members_of,
            holders=[words.holding(keyword) for keyword in asked.keywords] if answering or not shares else [],
            working=families.heads_of(working),
            named=self._touching_named(wanted, families),
            project=self.caller.project,
            least=wanted.least_score if ranks_only else 0.0,
        )
        now_ms = to_ms(self.engine.now())
        scored = []
        for id in chosen:
            outline = families.heads[id]
            recency = freshness(outline.updated_ms, now_ms)
            nothing = RecallParts(0.0 if is_asked else None)
            parts = scorer.parts(outline, recency) if id in weighed else nothing
            if wanted.query and is_asked and wanted.least_score:
                usual = scorer.usual(outline, recency) if id in weighed else nothing
                full = usual._replace(recency=recency, keywords=1.0 if id in holding else usual.keywords)
                parts = raised(parts, wanted.least_score, full)
            if (score := parts.score) >= wanted.least_score:
                scored.append(_Scored(outline, parts, score, shares.get(id, 0.0)))
        return scored

    def _touching_named(self, wanted: RecallQuery, families: Families) -> set[str] | None:
        """Return the conversations that touched a named file; None if no file is named."""
        named = named_files(f"{wanted.query} {' '.join(wanted.tags)} {wanted.prompt}")
        messages = Filter(kinds=(Kind.MESSAGE,))
        touched = (self.engine.store.traces.touching(name, messages) for name in named)
        return families.heads_of(did.conversation for some in touched for did in some) or None

    def _hits(
        self,
        page: Sequence[_Scored],
        asked: KeywordQuery,
        families: Families,
        index: WordIndex,
        answers: _Answers,
    ) -> list[ConversationHit]:
        store = self.engine.store
        ids = [each.outline.id for each in page]
        conversations = {each.id: each for each in store.conversations.get(ids)}
        counts = store.messages.count(ids)
        files = store.traces.files(families.members(ids))
        excerpts = self._passages(ids, families, answers)
        excerpts |= self._excerpts([id for id in ids if id not in excerpts], asked, families, index)
        return [
            ConversationHit(
                conversation=conversations[each.outline.id],
                parts=each.parts,
                excerpt=excerpts[each.outline.id],
                files=_merged(files, families.members_of[each.outline.id]),
                messages=counts.get(each.outline.id, 0),
                subagents=len(families.members_of[each.outline.id]) - 1,
            )
            for each in page
            if each.outline.id in conversations  # forgotten by another process since it was ranked
        ]

    def _passages(self, ids: Sequence[str], families: Families, answers: _Answers) -> dict[str, str]:
        """Return the passages at the positions of the search hits."""
        heads = ((families.head_of.get(id, ""), answers.entries[id]) for id in answers.threads)
        places = {head: entry for head, entry in heads if head in ids}
        read = self._read(places.values())
        return {
            head: best_passage(read[entry].text, answers.words, MAX_SNIPPET_CHARS).text
            for head, entry in places.items()
            if entry in read
        }

    def _excerpts(
        self, ids: Sequence[str], asked: KeywordQuery, families: Families, index: WordIndex
    ) -> dict[str, str]:
        """Return excerpts around the requested words, else the beginning of the user's first message, else the
        assistant's."""
        store = self.engine.store
        proposed = index.best_entries(asked, families, ids)
        read = self._read([entry for some in proposed.values() for entry, _ in some])
        texts: dict[str, str] = {}
        for id in ids:
            messages = [(words, read[entry]) for entry, words in proposed.get(id, ()) if entry in read]
            if messages:
                # prefer dialogue to the output of a tool
                best = max(messages, key=lambda each: (each[0], each[1].outline.is_said))
                texts[id] = best[1].text
        for role in ("user", "assistant"):
            texts |= store.messages.first_said([id for id in ids if id not in texts], role)
        return {id: best_passage(texts.get(id, ""), asked.words, MAX_SNIPPET_CHARS).text for id in ids}

    def _read(self, entries: Collection[int]) -> dict[int, EntryText]:
        """Return messages that the caller may still see."""
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,)))
        return {each.outline.entry: each for each in self.engine.store.entries.readings(entries, where)}


def _merged(files: Mapping[str, Sequence[str]], members: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for member in members for path in files.get(member, ())))


def named_files(text: str) -> list[str]:
    """Return the words that look like the path or name of a file."""
    words = (word.strip(".:!?*") for word in _BETWEEN.split(text[:4_000]))
    return list(dict.fromkeys(word for word in words if _is_file(word)))[:MOST_NAMED]


def _is_file(word: str) -> bool:
    stem, _, ending = word.rpartition(".")
    return bool(stem) and ending[:1].isalpha() and ending.isalnum() and len(ending) <= _LONGEST_ENDING
