"""Presentation of hits by `recall` and the library: one passage of each, its kind, and its successors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..domain.kinds import MemoryKind, kind_of
from ..domain.memory_trail import note_read
from ..domain.provenance import Provenance, foreign_part
from ..domain.records import Entry, Memory, Message, Trust
from ..search.passage import Passage, best_passage
from ..search.scoring import is_answer
from .answering import AnsweringStatement, StatementAnswers
from .ask import CONVERSATION, Ask, Inquiry, Ranking, check_query
from .authors import author_names
from .browsing import Browsing
from .file_marks import freshness
from .names import ConversationNames, short_memory_id
from .part import CallContext, CorePart
from .search.own_project import WORTH_SHOWING

if TYPE_CHECKING:
    from ..search.engine import Hit

PASSAGE = 240  # characters
FURTHER_PASSAGES, FURTHER_READ = 4, 8
"""Additional passages of the first conversation, and the number of its next best messages to read for them.

Of 170 questions whose first conversation is right, five messages show the answer to 119, three to 105, and one to 76
(bench/RESULTS.md). Further conversations are seldom right, so one passage of each is enough.
"""

MEMORY_KINDS = frozenset(MemoryKind)
"""The kinds of hits that are memories."""


class LookupHit(NamedTuple):
    id: str
    """The id of the memory or the conversation."""
    name: str
    """The short name to open it by; for a conversation, with the number of the message."""
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
    """The state of the files that a memory is about."""
    later: str = ""
    """The name of a decision that came after this one, on the same matter."""
    provenance: Provenance = Provenance.OWN
    """The origin of other people's words in the passage of a message, if it has any."""
    further: tuple[tuple[int, str], ...] = ()
    """Passages of other messages of the same conversation, the best first, each with the number of its message from 1;
    only of the first conversation."""
    confirmations: int = 0
    """The number of later conversations that repeat a statement."""
    author: str = ""
    """The author of a memory that the team shares, if it is another person."""


class LookupAnswer(NamedTuple):
    hits: Sequence[LookupHit]
    is_sure: bool
    """True if the first hit is more likely right than wrong; otherwise these are only the nearest."""
    more: int
    notices: Sequence[str] = ()


class Lookup(CorePart):
    def __init__(self, context: CallContext, ask: Ask, browsing: Browsing, answers: StatementAnswers) -> None:
        super().__init__(context)
        self._ask = ask
        self._browsing = browsing
        self._answers = answers

    def find(self, inquiry: Inquiry, limit: int) -> LookupAnswer:
        check_query(inquiry.query)
        ranking = self._ask.find(inquiry._replace(limit=limit, shows_nearest_memories=True))
        hits = ranking.hits
        if ranking.is_sure:
            hits = [hit for hit in hits if hit.certainty >= WORTH_SHOWING]
        chosen = hits[:limit]
        more = len(hits) - len(chosen) if ranking.is_sure else 0
        listed = self._with_further(self._shown(chosen, ranking), chosen, ranking)
        note_read(hit.id for hit in listed if hit.kind in MEMORY_KINDS)
        answers = self._with_statements(inquiry, hits, listed, limit)
        return LookupAnswer(answers, ranking.is_sure, more, ranking.notices)

    def _with_statements(
        self, inquiry: Inquiry, hits: Sequence[Hit], listed: Sequence[LookupHit], limit: int
    ) -> list[LookupHit]:
        """The hits, and the statements that answer the query, before the first hit that is no more certain than they are.

        Saved memories of the same certainty stay in front. A conversation that would be listed only for the message
        of a statement is not listed twice."""
        answers = [_stated_hit(each) for each in self._answers.find(inquiry, hits, limit)]
        names = {each.name for each in answers}
        others = [each for each in listed if each.name not in names]
        best = max((each.certainty for each in answers), default=0.0)
        place = next((n for n, each in enumerate(others) if not _precedes(each, best)), len(others))
        return [*others[:place], *answers, *others[place:]][:limit]

    def _shown(self, hits: Sequence[Hit], ranking: Ranking) -> list[LookupHit]:
        entries = self.load([*(hit.entry for hit in hits), *ranking.later.values()])
        messages = [each for each in entries.values() if isinstance(each, Message)]
        names = self._browsing.names({message.conversation for message in messages})
        memories = [each for each in entries.values() if isinstance(each, Memory)]
        authors = author_names(self.engine, self.caller, memories)
        listed = []
        for hit in hits:
            entry = entries.get(hit.entry)
            if entry is None:  # forgotten meanwhile
                continue
            passage, provenance = best_passage(entry.text, ranking.words, PASSAGE), Provenance.OWN
            if isinstance(entry, Message):
                kind, id, fresh = CONVERSATION, entry.conversation, ""
                provenance = _provenance(entry, passage)
            else:
                kind, id, fresh = kind_of(entry).value, entry.id, self.freshness(entry)
            newer = entries.get(ranking.later.get(hit.entry, -1))
            listed.append(
                LookupHit(
                    id, _name(entry, names), entry.created_at, entry.project, entry.surface, kind, passage.text, entry.trust,
                    hit.certainty, 1 + len(hit.other_places), fresh, _name(newer, names) if newer else "", provenance,
                    author=authors.get(entry.id, ""),
                )
            )  # fmt: skip
        return listed

    def _with_further(
        self, listed: Sequence[LookupHit], hits: Sequence[Hit], ranking: Ranking
    ) -> list[LookupHit]:
        """The hits, with additional passages of the first conversation's next best messages.

        Other people's words are left out, because only the main passage of a hit is labelled with its origin."""
        hit = next((each for each in hits if each.conversation is not None), None)
        place = next((n for n, each in enumerate(listed) if each.kind == CONVERSATION), None)
        if hit is None or place is None:
            return list(listed)
        first = listed[place]
        others = hit.other_places[:FURTHER_READ]
        entries = self.load(others)
        messages = (entries[number] for number in others if number in entries)
        further = tuple(islice(_further(messages, first, ranking.words), FURTHER_PASSAGES))
        return [*listed[:place], first._replace(further=further), *listed[place + 1 :]]

    def freshness(self, memory: Memory) -> str:
        """The state of the files that a memory is about, or "" if they are not on this machine."""
        if not self.caller.is_local:
            return ""
        own = memory.project == self.caller.project
        return freshness(memory, Path(self.caller.directory if own else memory.project))


def _precedes(hit: LookupHit, certainty: float) -> bool:
    """Return whether a hit is listed before statements of this certainty."""
    return hit.certainty > certainty or (hit.certainty == certainty and hit.kind in MEMORY_KINDS)


def _stated_hit(answer: AnsweringStatement) -> LookupHit:
    statement = answer.statement
    return LookupHit(
        id=statement.conversation,
        name=answer.name,
        at=statement.at,
        project=statement.project,
        source=answer.assistant,
        kind=statement.kind.value,
        passage=statement.text,
        trust=statement.trust,
        certainty=answer.certainty,
        later=answer.later,
        confirmations=statement.confirmations,
    )


def _further(messages: Iterable[Entry], first: LookupHit, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Passages of a hit's other messages that may contain the answer, each once."""
    texts = {first.passage}
    for message in messages:
        # a family is one hit, and a number means a message of the conversation that is named
        if not isinstance(message, Message) or message.conversation != first.id:
            continue
        passage = best_passage(message.text, words, PASSAGE)
        may_answer = passage.text not in texts and is_answer(message.role, message.text)
        # the provenance is asked for last: it reads the whole message
        if may_answer and message.trust is Trust.OWN and _provenance(message, passage) is Provenance.OWN:
            texts.add(passage.text)
            yield message.seq + 1, passage.text


def _provenance(message: Message, passage: Passage) -> Provenance:
    return foreign_part(message.text.strip(), message.role, passage.start, passage.start + PASSAGE)


def _name(entry: Entry, names: ConversationNames) -> str:
    if isinstance(entry, Message):
        return f"{names.short(entry.conversation)}#{entry.seq + 1}"
    return short_memory_id(entry.id)
