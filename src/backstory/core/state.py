"""The current state of a project: decisions in force, rules of the user, open items, abandoned attempts.

This is its only implementation. The brief, resources, the page, `why` and the listing of statements use it, so that
none of them shows as current what another calls superseded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from ..domain.filters import ConversationFilter, Filter, Kind, Order, Page
from ..domain.kinds import MemoryKind, kind_of
from ..domain.origins import clients_with, is_loaded_note
from ..domain.records import OF_TEAM, QUOTABLE, Conversation, Memory, Trust
from ..domain.statements import PlacedSaying, Speaker, Statement, StatementKind, StatementState
from .insight.digest import open_tasks
from .part import CorePart
from .search.running import running_conversations
from .statements.deriving import MAX_AT_ONCE, sayings_in
from .statements.endings import ConversationEnd, is_spoken
from .statements.endings import sayings_of as endings_of
from .statements.extraction import RULES, clipped
from .statements.folding import ended, fold, with_checks_ended
from .statements.relations import StatedText
from .statements.settling import ConversationCourse, settle
from .statements.words import is_dropped, reason_in

MAX_MEMORIES = 200
EVERY_PROJECT = ""
"""The project of statements that apply to all projects."""
RECENT_CONVERSATIONS = 8
"""The number of conversations whose open items still count: older ones were resolved or abandoned."""
MAX_SILENT_CONVERSATIONS = 20
"""The number of newest conversations without a statement that are checked for work on the project."""
EXCHANGED_MESSAGES = 4
MAX_LATER_CHARS = 4_000
"""The part of a later message to look at."""
MAX_LATER_TEXTS = 40
"""Messages of a later conversation in which an earlier open item is looked for: its last ones."""


class ProjectState(NamedTuple):
    """Everything that applies in one project. Lists are sorted newest first, unless noted."""

    conversations: Sequence[Conversation]
    """Conversations that worked on the project."""
    statements: Sequence[Statement]
    """All, with their states, in the order of time."""
    decisions: Sequence[Memory]
    preferences: Sequence[Memory]
    dropped: Sequence[Memory]
    tasks: Sequence[Memory]
    """Still open, the most urgent first."""
    notes: Sequence[Memory] = ()
    """Facts of this project, and of every project, from other programs' memory files."""

    def holding(self, *kinds: StatementKind) -> list[Statement]:
        """Statements of these kinds that are in force or open, the last first."""
        return [each for each in reversed(self.statements) if each.kind in kinds and each.holds]

    def without_notes_of(self, client: str) -> ProjectState:
        """The state for a client that loads these notes from its own file."""
        return self._replace(notes=[each for each in self.notes if client not in clients_with(each)])


class _RecentEnd(NamedTuple):
    texts: Sequence[str]
    """The last requests and answers, in order."""
    leaving: Sequence[PlacedSaying]
    """The items that it leaves open."""


class ProjectStates(CorePart):
    def of(self, project: str, *, until: datetime | None = None) -> ProjectState:
        """The state of a project that the caller may see, now or at an earlier time. Running conversations are left out."""
        conversations = self._conversations(project, until)
        sayings = self._sayings(project, conversations, until)
        ends = self._ends(conversations, sayings, until)
        memories = self._memories(project, until)
        general = self._memories(EVERY_PROJECT, until)
        loaded_notes = list(filter(is_loaded_note, (*memories, *general)))
        of_spaces = [memory for memory in general if memory.trust is Trust.SPACE]
        saved = [
            memory
            for memory in memories
            if kind_of(memory) in (MemoryKind.DECISION, MemoryKind.PREFERENCE)
            and memory.trust not in OF_TEAM  # notes of the team never count as this user's words
        ]
        dismissed = self.engine.store.sayings.dismissed()
        statements = fold(self._settled(conversations, sayings, ends), saved, dismissed)
        last_work = max((each.updated_at for each in conversations), default=None)
        statements = ended(statements, _LaterWords(ends).after, last_work)
        statements = [
            each._replace(state=StatementState.DISMISSED) if each.id in dismissed else each
            for each in with_checks_ended(statements)
        ]
        return ProjectState(
            conversations=self._worked(conversations, {each.conversation for each in statements}),
            statements=statements,
            decisions=_once(
                memory for memory in (*memories, *of_spaces) if kind_of(memory) is MemoryKind.DECISION
            ),
            preferences=_once(
                memory
                for memory in (*memories, *loaded_notes, *of_spaces)
                if kind_of(memory) is MemoryKind.PREFERENCE
            ),
            dropped=[memory for memory in memories if _is_dropped(memory)],
            tasks=[task for task in self.tasks(project) if task.trust in QUOTABLE],
            notes=[memory for memory in loaded_notes if kind_of(memory) is MemoryKind.FACT],
        )

    def _worked(self, conversations: Sequence[Conversation], stating: set[str]) -> list[Conversation]:
        """Conversations that state something, touched files, or continued beyond one exchange.

        A question that only tests whether the assistant responds does not count."""
        silent = [each.id for each in conversations[:MAX_SILENT_CONVERSATIONS] if each.id not in stating]
        touching = self.engine.store.traces.conversations_with_files(silent)
        counts = self.engine.store.messages.count(silent)
        working = {id for id in silent if id in touching or counts.get(id, 0) >= EXCHANGED_MESSAGES}
        return [each for each in conversations if each.id in stating or each.id in working]

    def tasks(self, project: str) -> list[Memory]:
        """Open tasks that were saved, the most urgent first."""
        return open_tasks(self.engine.store, self._visible(project))

    def dismiss(self, statement: str) -> None:
        """Remember that a statement is none; reading its conversation again does not bring it back."""
        self.engine.store.sayings.dismiss(statement, self.engine.now())

    def _conversations(self, project: str, until: datetime | None) -> list[Conversation]:
        """Conversations that may be quoted, newest first, without the caller's own."""
        running = running_conversations(self.engine, self.caller)
        which = self.caller.visible_conversations(
            ConversationFilter(projects=(project,), kinds=("main", "fork", "prompt-log"))
        )
        conversations = self.engine.store.conversations.find(which)
        return [
            each
            for each in conversations
            if each.trust in QUOTABLE
            and each.id not in running
            and (until is None or each.created_at < until)
        ]

    def _settled(
        self,
        conversations: Sequence[Conversation],
        sayings: Mapping[str, Sequence[PlacedSaying]],
        ends: Mapping[str, _RecentEnd],
    ) -> list[Statement]:
        stating = [each for each in conversations if each.id in sayings or each.id in ends]
        courses = self._courses([each.id for each in stating], sayings)
        return [
            _statement(conversation, settled.placed, settled.state)
            for conversation in stating
            for settled in settle(
                sayings.get(conversation.id, ()),
                courses[conversation.id],
                ends[conversation.id].leaving if conversation.id in ends else (),
            )
        ]

    def _sayings(
        self, project: str, conversations: Sequence[Conversation], until: datetime | None
    ) -> dict[str, list[PlacedSaying]]:
        """Quotable sayings by conversation.

        Nothing is written: sayings of conversations that the background has not processed yet are derived for this
        answer."""
        store = self.engine.store
        missing = [each for each in conversations if each.rules < RULES][:MAX_AT_ONCE]
        wanted = {each.id for each in conversations}
        underived = {each.id for each in missing}
        stored = store.sayings.find(ConversationFilter(projects=(project,)))
        every = [each for each in stored if each.conversation not in underived]
        every += [placed for conversation in missing for placed in sayings_in(store, conversation)]
        sayings: dict[str, list[PlacedSaying]] = {}
        for placed in every:
            # records of a log have the log's trust, and the log was selected; text of tools is never a statement
            is_quotable = placed.saying.speaker is Speaker.LOG or placed.trust in QUOTABLE
            if is_quotable and placed.conversation in wanted and (until is None or placed.at < until):
                sayings.setdefault(placed.conversation, []).append(placed)
        return sayings

    def _ends(
        self,
        conversations: Sequence[Conversation],
        sayings: Mapping[str, Sequence[PlacedSaying]],
        until: datetime | None,
    ) -> dict[str, _RecentEnd]:
        """The ends of the last conversations, by id, newest first, until RECENT_CONVERSATIONS of them worked on the project.

        Conversations that only tested whether the assistant responds do not count."""
        store = self.engine.store
        ids = [each.id for each in conversations[: RECENT_CONVERSATIONS + MAX_SILENT_CONVERSATIONS]]
        edited, touched = store.traces.last_writes(ids), store.traces.conversations_with_files(ids)
        ends: dict[str, _RecentEnd] = {}
        working = 0
        for id in ids:
            newest_first = store.messages.last_said(id, limit=MAX_LATER_TEXTS)
            spoken = [
                each
                for each in reversed(newest_first)
                if is_spoken(each) and (until is None or each.created_at < until)
            ]
            is_cut_off = bool(spoken) and store.messages.has_calls(id, spoken[-1].seq)
            end = ConversationEnd(spoken, is_cut_off, id in touched, id in edited)
            leaving = _left_open(end, sayings.get(id, ()))
            ends[id] = _RecentEnd([each.text for each in spoken], leaving)
            working += bool(leaving) or id in sayings or id in touched or len(spoken) >= EXCHANGED_MESSAGES
            if working == RECENT_CONVERSATIONS:
                break
        return ends

    def _courses(
        self, ids: Sequence[str], sayings: Mapping[str, Sequence[PlacedSaying]]
    ) -> dict[str, ConversationCourse]:
        store = self.engine.store
        requests, edits = store.messages.last_requests(ids), store.traces.last_writes(ids)
        return {
            id: ConversationCourse(
                last_request=requests.get(id, -1),
                last_commit=max(
                    (each.place for each in sayings.get(id, ()) if each.saying.kind is StatementKind.COMMIT),
                    default=-1,
                ),
                last_edit=edits.get(id, -1),
            )
            for id in ids
        }

    def _memories(self, project: str, until: datetime | None) -> list[Memory]:
        page = Page(limit=MAX_MEMORIES, order=Order.UPDATED_NEWEST)
        memories = self.engine.store.memories.find(self._visible(project), page)
        return [
            memory
            for memory in memories
            if memory.trust in QUOTABLE and (until is None or memory.created_at < until)
        ]

    def _visible(self, project: str) -> Filter:
        return self.caller.visible(Filter(projects=(project,), kinds=(Kind.MEMORY,)))


def _left_open(end: ConversationEnd, stated: Sequence[PlacedSaying]) -> list[PlacedSaying]:
    """Items that a conversation leaves open by the way it ends, without those that the same message states."""
    return [
        PlacedSaying(message.conversation, message.id, message.seq, message.created_at, message.trust, saying)
        for message, saying in ((message, clipped(saying)) for message, saying in endings_of(end))
        if message.trust in QUOTABLE
        and not any(saying.text in each.saying.text for each in stated if each.message == message.id)
    ]


class _LaterWords:
    """The content words of the last messages, worked out only for conversations that an open item asks for: most of the
    time that a state takes would go into them."""

    def __init__(self, ends: Mapping[str, _RecentEnd]) -> None:
        self._ends = ends
        self._words: dict[str, list[frozenset[str]]] = {}

    def after(self, conversation: str) -> Iterator[frozenset[str]]:
        """The words of each message in the conversations after this one, newest first."""
        if conversation not in self._ends:
            return
        for id, end in self._ends.items():
            if id == conversation:
                return
            if id not in self._words:
                self._words[id] = [StatedText.of(text[:MAX_LATER_CHARS]).words for text in end.texts]
            yield from self._words[id]


def _once(memories: Iterable[Memory]) -> list[Memory]:
    return list({memory.id: memory for memory in memories}.values())


def _is_dropped(memory: Memory) -> bool:
    return kind_of(memory) is not MemoryKind.DECISION and is_dropped(memory.text)


def _statement(conversation: Conversation, placed: PlacedSaying, state: StatementState) -> Statement:
    saying = placed.saying
    parts = (conversation.id, placed.message, saying.kind.value, " ".join(saying.text.lower().split()))
    return Statement(
        id=sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16],
        kind=saying.kind,
        text=saying.text,
        reason=reason_in(saying.text),
        state=state,
        speaker=saying.speaker,
        project=conversation.project,
        branch=conversation.branch,
        conversation=conversation.id,
        message=placed.message,
        place=placed.place,
        at=placed.at,
        trust=placed.trust,
        subject=saying.subject,
        outcome=saying.outcome,
    )
