"""What holds in a project now: decisions in force, rules of the user, open items, attempts that were dropped.

The only door to it. The brief, resources, the page, `why` and the listing of statements ask here, so that none of them
announces what another calls superseded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from ..domain.filters import ConversationFilter, Filter, Kind, Order, Page
from ..domain.kinds import MemoryKind, kind_of
from ..domain.records import QUOTABLE, Conversation, Memory
from ..domain.statements import PlacedSaying, Speaker, Statement, StatementKind, StatementState
from .facet import Facet
from .insight.digest import open_tasks
from .search.running import running_conversations
from .statements.deriving import MAX_AT_ONCE, sayings_in
from .statements.extraction import RULES
from .statements.folding import ended, fold, with_checks_ended
from .statements.settling import ConversationCourse, settle
from .statements.words import is_dropped, reason_in

MAX_MEMORIES = 200
RECENT_CONVERSATIONS = 8
"""Whose open items still count: what an older session left open was taken up, or given up."""
MAX_SILENT_CONVERSATIONS = 20
"""Without a statement, the newest, of which it is looked at whether they worked on the project."""
EXCHANGED_MESSAGES = 4
MAX_LATER_TEXTS = 40
"""Messages of a later conversation in which an earlier open item is looked for: its last ones."""


class ProjectState(NamedTuple):
    """Everything that holds in one project. Lists begin with what was said or saved last, unless said otherwise."""

    conversations: Sequence[Conversation]
    """Those that worked on the project."""
    statements: Sequence[Statement]
    """All, with their states, in the order of time."""
    decisions: Sequence[Memory]
    preferences: Sequence[Memory]
    dropped: Sequence[Memory]
    tasks: Sequence[Memory]
    """Still open, the most urgent first."""

    def holding(self, *kinds: StatementKind) -> list[Statement]:
        """Statements of these kinds that are in force or open, the last first."""
        return [each for each in reversed(self.statements) if each.kind in kinds and each.holds]


class ProjectStates(Facet):
    def of(self, project: str, *, until: datetime | None = None) -> ProjectState:
        """What the caller may know of a project, now or at an earlier time. What is being said at this moment is not part
        of it."""
        conversations = self._conversations(project, until)
        memories = [each for each in self._memories(project) if until is None or each.created_at < until]
        saved = [
            memory for memory in memories if kind_of(memory) in (MemoryKind.DECISION, MemoryKind.PREFERENCE)
        ]
        statements = fold(self._settled(project, conversations, until), saved)
        recent = conversations[:RECENT_CONVERSATIONS]
        statements = ended(statements, self._later_texts(recent), until or self.engine.now())
        statements = self._without_dismissed(with_checks_ended(statements))
        return ProjectState(
            conversations=self._worked(conversations, {each.conversation for each in statements}),
            statements=statements,
            decisions=[memory for memory in memories if kind_of(memory) is MemoryKind.DECISION],
            preferences=[memory for memory in memories if kind_of(memory) is MemoryKind.PREFERENCE],
            dropped=[memory for memory in memories if _is_dropped(memory)],
            tasks=[task for task in self.tasks(project) if task.trust in QUOTABLE],
        )

    def _worked(self, conversations: Sequence[Conversation], stating: set[str]) -> list[Conversation]:
        """Those that state something, touched files, or went on beyond one exchange: a question to try whether the
        assistant answers pushes nothing out."""
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
        """Those that may be quoted, the last first, without the one that this is asked from."""
        running = running_conversations(self.engine, self.caller)
        which = self.caller.visible_conversations(
            ConversationFilter(projects=(project,), kinds=("main", "fork", "prompt-log"))
        )
        found = self.engine.store.conversations.find(which)
        return [
            each
            for each in found
            if each.trust in QUOTABLE
            and each.id not in running
            and (until is None or each.created_at < until)
        ]

    def _settled(
        self, project: str, conversations: Sequence[Conversation], until: datetime | None
    ) -> list[Statement]:
        by_conversation: dict[str, list[PlacedSaying]] = {each.id: [] for each in conversations}
        for placed in self._sayings(project, conversations):
            # what a log records is as good as the log, which was chosen; what tools said is nobody's statement
            is_quotable = placed.saying.speaker is Speaker.LOG or placed.trust in QUOTABLE
            if (
                is_quotable
                and placed.conversation in by_conversation
                and (until is None or placed.at < until)
            ):
                by_conversation[placed.conversation].append(placed)
        by_conversation = {id: placed for id, placed in by_conversation.items() if placed}
        courses = self._courses(tuple(by_conversation), by_conversation)
        return [
            _statement(conversation, settled.placed, settled.state)
            for conversation in conversations
            if conversation.id in by_conversation
            for settled in settle(by_conversation[conversation.id], courses[conversation.id])
        ]

    def _sayings(self, project: str, conversations: Sequence[Conversation]) -> list[PlacedSaying]:
        """Stored ones, and those of conversations that the background has not come to yet: who only asks writes nothing."""
        store = self.engine.store
        missing = [each for each in conversations if each.rules < RULES][:MAX_AT_ONCE]
        ids = {each.id for each in missing}
        stored = store.sayings.find(ConversationFilter(projects=(project,)))
        derived = [placed for conversation in missing for placed in sayings_in(store, conversation)]
        return [*(each for each in stored if each.conversation not in ids), *derived]

    def _courses(
        self, ids: Sequence[str], sayings: dict[str, list[PlacedSaying]]
    ) -> dict[str, ConversationCourse]:
        store = self.engine.store
        requests, edits = store.messages.last_requests(ids), store.traces.last_writes(ids)
        return {
            id: ConversationCourse(
                last_request=requests.get(id, -1),
                last_commit=max(
                    (each.place for each in sayings[id] if each.saying.kind is StatementKind.COMMIT),
                    default=-1,
                ),
                last_edit=edits.get(id, -1),
            )
            for id in ids
        }

    def _later_texts(self, recent: Sequence[Conversation]) -> dict[str, list[str]]:
        """By conversation, what was asked and answered in those after it; of one that is not recent, everything was."""
        later: dict[str, list[str]] = {}
        texts: list[str] = []
        for conversation in recent:
            later[conversation.id] = list(texts)
            messages = self.engine.store.messages.last_said(conversation.id, limit=MAX_LATER_TEXTS)
            texts += [each.text for each in messages if each.role in ("user", "assistant")]
        return later

    def _without_dismissed(self, statements: Iterable[Statement]) -> list[Statement]:
        dismissed = self.engine.store.sayings.dismissed()
        return [
            each._replace(state=StatementState.DISMISSED) if each.id in dismissed else each
            for each in statements
        ]

    def _memories(self, project: str) -> list[Memory]:
        page = Page(limit=MAX_MEMORIES, order=Order.UPDATED_NEWEST)
        found = self.engine.store.memories.find(self._visible(project), page)
        return [memory for memory in found if memory.trust in QUOTABLE]

    def _visible(self, project: str) -> Filter:
        return self.caller.visible(Filter(projects=(project,), kinds=(Kind.MEMORY,)))


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
