"""Look up what is known: memories and conversations in one ranking, as a caller narrows it, and how sure each hit is.

Neither the conversation that the caller is in nor what we ourselves said in one is a memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...domain.errors import InvalidInput, check_at_least
from ...domain.filters import Filter, Kind
from ...domain.kinds import MemoryKind, categories_of, kind_of
from ...domain.provenance import Provenance, foreign_part
from ...domain.records import Entry, Memory, Message, Trust
from ...domain.statements import StatementKind
from ...search.passage import Passage, best_passage
from ..facet import Facet
from ..memories.file_marks import freshness
from ..names import ConversationNames, known_source, short_memory_id
from ..projects.related import EVERY_PROJECT, project_named
from . import SURE, Ranking
from .running import running_conversations
from .superseding import later_decisions

if TYPE_CHECKING:
    from ...search.engine import Hit

WORTH_SHOWING = 0.01  # beside a sure one; of what is less certain hardly anything is right
LARGEST_POOL = 4  # for what keeps only some of the hits: a kind, a file
PASSAGE = 240  # characters
CONVERSATION = "conversation"
_STATED: dict[str | None, StatementKind] = {
    MemoryKind.DECISION: StatementKind.DECISION,
    MemoryKind.PREFERENCE: StatementKind.PREFERENCE,
}
"""Kinds of memories that conversations state as well."""
RECALLED_KINDS = (*MemoryKind, CONVERSATION)


class LookupQuery(NamedTuple):
    query: str
    project: str | None = None
    """By name or path, EVERY_PROJECT for all alike; None for all, the caller's own first."""
    kind: str | None = None
    """One of MemoryKind, or CONVERSATION."""
    file: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    assistant: str | None = None
    limit: int = 5


class LookupHit(NamedTuple):
    id: str
    """Of the memory, or of the conversation."""
    name: str
    """What it can be opened by, shorter: of a conversation with the number of the message."""
    at: datetime
    project: str
    source: str
    """The assistant of a conversation; the surface that a memory was saved through."""
    kind: str
    passage: str
    trust: Trust
    certainty: float
    places: int = 1
    """Messages of the conversation that match."""
    freshness: str = ""
    """What became of the files that a memory is about."""
    later: str = ""
    """The name of a decision that came after this one, on the same matter."""
    provenance: Provenance = Provenance.OWN
    """How words of others came into the passage of a message, if there are any in it."""


class LookupAnswer(NamedTuple):
    hits: Sequence[LookupHit]
    is_sure: bool
    """Whether at least the first is more likely right than wrong; else these are the nearest."""
    more: int
    notices: Sequence[str] = ()


class Lookup(Facet):
    def find(self, wanted: LookupQuery) -> LookupAnswer:
        check_at_least(1, wanted.limit, "limit")
        if wanted.kind not in (None, *RECALLED_KINDS):
            raise InvalidInput(f"kind must be one of {', '.join(RECALLED_KINDS)}.", field="kind")
        self.engine.sync_recent(self.call)
        ranking = self._ranking(wanted)
        running = running_conversations(self.engine, self.caller)
        hits = [hit for hit in ranking.hits if hit.conversation not in running]
        is_sure = any(hit.certainty >= SURE for hit in hits)
        if is_sure:
            hits = [hit for hit in hits if hit.certainty >= WORTH_SHOWING]
        chosen = hits[: wanted.limit]
        more = len(hits) - len(chosen) if is_sure else 0
        return LookupAnswer(self._shown(chosen, ranking.words), is_sure, more, ranking.notices)

    def _ranking(self, wanted: LookupQuery) -> Ranking:
        """What is sure first, wherever it is from; an own project counts among equals."""
        narrow, own_first = self._narrow(wanted), wanted.project != EVERY_PROJECT
        if wanted.file is not None:
            return self._about(wanted.file, wanted, narrow, own_first)
        is_fact = wanted.kind == MemoryKind.FACT or wanted.kind in _STATED
        ranking = self.core.search.everywhere(
            wanted.query,
            narrow=narrow,
            own_first=own_first,
            largest_pool=LARGEST_POOL if is_fact else 1,
            are_enough=lambda hits: len(self._of_kind(hits, wanted.kind)) >= wanted.limit,
        )
        return _surest_first(ranking, self._of_kind(ranking.hits, wanted.kind))

    def _about(self, file: str, wanted: LookupQuery, narrow: Filter, own_first: bool) -> Ranking:
        """Those of the hits that touched or name the file; where none does, what did without answering the question."""
        if not file.strip():
            raise InvalidInput("file is empty.", hint="Name the file, or leave it out.", field="file")
        about = self.core.search.by_file(file, narrow=narrow, own_first=own_first)
        touching = {hit.identity: hit for hit in self._of_kind(about.hits, wanted.kind)}

        def kept(hits: Sequence[Hit]) -> list[Hit]:
            return [hit for hit in hits if hit.identity in touching]

        ranking = self.core.search.everywhere(
            wanted.query,
            narrow=narrow,
            own_first=own_first,
            largest_pool=LARGEST_POOL,
            are_enough=lambda hits: len(kept(hits)) >= min(wanted.limit, len(touching)),
        )
        unsure = [hit._replace(certainty=WORTH_SHOWING) for hit in touching.values()]
        ranking = ranking._replace(notices=(*about.notices, *ranking.notices))
        return _surest_first(ranking, kept(ranking.hits) or unsure)

    def _narrow(self, wanted: LookupQuery) -> Filter:
        if wanted.since is not None and wanted.until is not None and wanted.since >= wanted.until:
            raise InvalidInput("until is before since.", field="until")
        kinds: tuple[Kind, ...] = ()
        categories: tuple[str, ...] = ()
        if wanted.kind is not None:
            kinds = (Kind.MESSAGE,) if wanted.kind == CONVERSATION else (Kind.MEMORY,)
            categories = () if wanted.kind == CONVERSATION else categories_of(MemoryKind(wanted.kind))
            if wanted.kind in _STATED:  # which conversations state too
                kinds = categories = ()
        return Filter(
            kinds=kinds,
            categories=categories,
            projects=self._projects(wanted.project),
            surfaces=() if wanted.assistant is None else (known_source(self.engine, wanted.assistant),),
            created_after=wanted.since,
            created_before=wanted.until,
        )

    def _projects(self, wanted: str | None) -> tuple[str, ...]:
        if wanted is None or wanted == EVERY_PROJECT:
            return ()
        named = project_named(wanted, self.engine.store.entries.projects())
        if named is None:
            raise InvalidInput(
                f"Nothing is known of a project {wanted!r}.",
                hint='Leave it out, or "*" for all.',
                field="project",
            )
        return (named,)

    def _of_kind(self, hits: Sequence[Hit], kind: str | None) -> list[Hit]:
        """What a filter cannot say: a fact has no other kind's category, and a decision may be one that a message states."""
        if kind != MemoryKind.FACT and kind not in _STATED:
            return list(hits)
        entries = self.loaded(hit.entry for hit in hits)
        wanted = {n for n, each in entries.items() if isinstance(each, Memory) and kind_of(each) == kind}
        if kind in _STATED:
            messages = {each.id: n for n, each in entries.items() if isinstance(each, Message)}
            stating = self.engine.store.sayings.by_message(list(messages), (_STATED[kind],))
            wanted |= {messages[id] for id in stating}
        return [hit for hit in hits if hit.entry in wanted]

    def _shown(self, hits: Sequence[Hit], words: Sequence[str]) -> list[LookupHit]:
        entries = self.loaded(hit.entry for hit in hits)
        messages = [entry for entry in entries.values() if isinstance(entry, Message)]
        names = self.core.browsing.names({message.conversation for message in messages})
        later = later_decisions(entries.values(), self.engine.store)
        shown = []
        for hit in hits:
            entry = entries.get(hit.entry)
            if entry is None:  # forgotten meanwhile
                continue
            passage, provenance = best_passage(entry.text, words, PASSAGE), Provenance.OWN
            if isinstance(entry, Message):
                kind, id, fresh = CONVERSATION, entry.conversation, ""
                provenance = _provenance(entry, passage)
            else:
                kind, id, fresh = kind_of(entry).value, entry.id, self.freshness(entry)
            newer = later.get(entry.id)
            shown.append(
                LookupHit(
                    id, _name(entry, names), entry.created_at, entry.project, entry.surface, kind, passage.text, entry.trust,
                    hit.certainty, 1 + len(hit.other_places), fresh, _name(newer, names) if newer else "", provenance,
                )
            )  # fmt: skip
        return sorted(shown, key=lambda each: bool(each.later))

    def freshness(self, memory: Memory) -> str:
        """What became of the files that a memory is about; empty where they are not on this machine."""
        if not self.caller.is_local:
            return ""
        own = memory.project == self.caller.project
        return freshness(memory, Path(self.caller.directory if own else memory.project))


def _surest_first(ranking: Ranking, kept: Sequence[Hit]) -> Ranking:
    return ranking._replace(hits=sorted(kept, key=lambda hit: hit.certainty < SURE))


def _provenance(message: Message, passage: Passage) -> Provenance:
    return foreign_part(message.text.strip(), message.role, passage.start, passage.start + PASSAGE)


def _name(entry: Entry, names: ConversationNames) -> str:
    if isinstance(entry, Message):
        return f"{names.short(entry.conversation)}#{entry.seq + 1}"
    return short_memory_id(entry.id)
