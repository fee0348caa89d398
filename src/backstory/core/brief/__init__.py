"""The brief: where work on a project stands, for whoever begins to work on it now.

It is made of what is there: of conversations alone when nobody saved anything. It is a record and not an instruction, and nothing that
it quotes can end it. Neither other projects nor what came with a repository is quoted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path, PurePath
from typing import NamedTuple

from ...domain.errors import InvalidInput
from ...domain.filters import ConversationFilter, Filter, Kind, Order, Page
from ...domain.provenance import own_text
from ...domain.records import QUOTABLE, Conversation, Injection, Memory, Message
from ...domain.tokens import count_tokens
from ..facet import Facet
from ..insight.digest import open_tasks
from ..projects.git import commits_since
from ..projects.related import project_named
from ..search.conclusions import Conclusion, dead_ends, decisions, is_dead_end, next_step, reads_like_decision
from ..search.running import running_conversations
from ..unasked import redacted_memories, redacted_texts
from . import rendering

FEWEST_TOKENS, MOST_TOKENS, USUAL_TOKENS = 100, 600, 400
CONVERSATIONS = 4
"""The last ones that are told of."""
MESSAGES = 60  # at the end of each, where conclusions are drawn
MEMORIES = 200
DECIDED = "decision"


class Account(NamedTuple):
    """What one conversation was about."""

    conversation: Conversation
    asked: str
    """What the user wanted last, where that is not what the conversation is called."""
    done: str
    """How the assistant ended."""


class Standing(NamedTuple):
    """What is known of a project, before it is shortened to a brief. The newest first."""

    accounts: Sequence[Account]
    next_step: str
    tasks: Sequence[Memory]
    decisions: Sequence[Memory]
    said_decisions: Sequence[Conclusion]
    dead_ends: Sequence[Memory]
    said_dead_ends: Sequence[Conclusion]
    commits: Sequence[str]
    """Subjects."""


class Brief(NamedTuple):
    project: str
    """Its path, or what the caller called it when it is not known."""
    text: str
    tokens: int
    is_known: bool
    made_at: datetime
    last_at: datetime | None = None
    """When anything was last said or saved in the project."""
    open_tasks: int = 0


class Briefing(Facet):
    def brief(
        self,
        project: str | None = None,
        max_tokens: int = USUAL_TOKENS,
        *,
        closing: str = "",
        is_continued: bool = False,
    ) -> Brief:
        """Of the caller's project, or one that is named or at a path. `closing` is the last line, in words of whoever
        shows it. Whoever continues, with a summary of the work, is only told what is open and what was decided.
        Raises InvalidInput for a name that several projects have."""
        _check_tokens(max_tokens)
        found = self._project(project)
        standing = None if found is None else self._standing(found)
        if standing is not None and is_continued:
            standing = standing._replace(accounts=(), dead_ends=(), said_dead_ends=(), commits=())
        if found is None or standing is None or not _is_known(standing):
            return self._unknown(project or self.caller.project)
        name = PurePath(found).name or found
        text = rendering.text(self._without_secrets(standing), name, self.engine.now(), max_tokens, closing)
        return Brief(
            project=found,
            text=text,
            tokens=count_tokens(text),
            is_known=True,
            made_at=self.engine.now(),
            last_at=max(_times(standing), default=None),
            open_tasks=len(standing.tasks),
        )

    def tell(self, project: str | None = None, max_tokens: int = USUAL_TOKENS) -> Brief:
        """The brief as a session was given it: what it was told is kept, for people to look at."""
        brief = self.brief(project, max_tokens)
        if brief.is_known:
            told = Injection(self.caller.conversation, self.engine.now(), brief.project, brief.text)
            self.engine.store.injections.put(told)
        return brief

    def _project(self, wanted: str | None) -> str | None:
        if wanted is None:
            return self.caller.project
        return project_named(wanted, self.engine.store.entries.projects())

    def _unknown(self, project: str) -> Brief:
        text = f"Nothing is known yet of the project {rendering.project_name(project)}."
        return Brief(project, text, count_tokens(text), is_known=False, made_at=self.engine.now())

    def _standing(self, project: str) -> Standing:
        conversations = self._conversations(project)
        said = {each.id: self._said(each) for each in conversations}
        accounts = [_account(each, said[each.id]) for each in conversations]
        every = [message for each in conversations for message in said[each.id]]
        steps = (next_step(message) for message in every if message.role == "assistant")
        memories = self._memories(project)
        return Standing(
            accounts=accounts,
            next_step=next(filter(None, steps), ""),
            tasks=[each for each in self.tasks(project) if each.trust in QUOTABLE],
            decisions=[each for each in memories if each.category == DECIDED],
            said_decisions=decisions(every, self.engine.store),
            dead_ends=[each for each in memories if each.category != DECIDED and is_dead_end(each.text)],
            said_dead_ends=dead_ends(every),
            commits=self._commits(project, conversations),
        )

    def _without_secrets(self, standing: Standing) -> Standing:
        """As far as a brief can show it."""
        most, settings = rendering.TURNS, self.engine.settings
        accounts = [
            (each.conversation.title, each.conversation.branch, each.asked, each.done)
            for each in standing.accounts
        ]
        others = (standing.next_step, *standing.commits)
        said = (*standing.said_decisions[:most], *standing.said_dead_ends[:most])
        texts = iter(
            redacted_texts([*chain.from_iterable(accounts), *others, *(each.text for each in said)], settings)
        )
        return standing._replace(
            accounts=[
                Account(
                    each.conversation._replace(title=next(texts), branch=next(texts)),
                    next(texts),
                    next(texts),
                )
                for each in standing.accounts
            ],
            next_step=next(texts),
            commits=[next(texts) for _ in standing.commits],
            said_decisions=[each._replace(text=next(texts)) for each in standing.said_decisions[:most]],
            said_dead_ends=[each._replace(text=next(texts)) for each in standing.said_dead_ends[:most]],
            tasks=redacted_memories(standing.tasks[:most], settings),
            decisions=redacted_memories(standing.decisions[:most], settings),
            dead_ends=redacted_memories(standing.dead_ends[:most], settings),
        )

    def _conversations(self, project: str) -> list[Conversation]:
        """The last ones in which somebody said something; not the one that this is made for."""
        running = running_conversations(self.engine, self.caller)
        which = self.caller.visible_conversations(ConversationFilter(projects=(project,), kinds=("main",)))
        found = self.engine.store.conversations.find(which, limit=4 * CONVERSATIONS + len(running))
        counts = self.engine.store.messages.count([each.id for each in found])
        told = [
            each
            for each in found
            if each.trust in QUOTABLE and each.id not in running and counts.get(each.id)
        ]
        return told[:CONVERSATIONS]

    def _said(self, conversation: Conversation) -> list[Message]:
        """By user and assistant, the newest first."""
        last = self.engine.store.messages.last_said(conversation.id, limit=MESSAGES)
        return [message for message in last if message.trust in QUOTABLE and message.role != "system"]

    def _memories(self, project: str) -> list[Memory]:
        page = Page(limit=MEMORIES, order=Order.UPDATED_NEWEST)
        found = self.engine.store.memories.find(self._visible(project), page)
        return [memory for memory in found if memory.trust in QUOTABLE]

    def tasks(self, project: str) -> list[Memory]:
        return open_tasks(self.engine.store, self._visible(project))

    def _visible(self, project: str) -> Filter:
        return self.caller.visible(Filter(projects=(project,), kinds=(Kind.MEMORY,)))

    def _commits(self, project: str, conversations: Sequence[Conversation]) -> list[str]:
        """On another machine a path is a name only."""
        if not conversations or not self.caller.is_local:
            return []
        directory = self.caller.directory if project == self.caller.project else project
        return commits_since(Path(directory), conversations[0].updated_at)


def _check_tokens(max_tokens: int) -> None:
    if not FEWEST_TOKENS <= max_tokens <= MOST_TOKENS:
        raise InvalidInput(
            f"max_tokens must be between {FEWEST_TOKENS} and {MOST_TOKENS}.", field="max_tokens"
        )


def _is_known(standing: Standing) -> bool:
    said = standing.next_step or standing.said_decisions
    return bool(standing.accounts or standing.tasks or standing.decisions or standing.dead_ends or said)


def _times(standing: Standing) -> list[datetime]:
    memories = (*standing.tasks, *standing.decisions, *standing.dead_ends)
    return [each.conversation.updated_at for each in standing.accounts] + [
        each.updated_at for each in memories
    ]


def _account(conversation: Conversation, said: Sequence[Message]) -> Account:
    """In the speakers' own words. A title may be anything that stood in the first message, so one that decides something is left out."""
    last = {
        role: next(
            (own_text(each.text, role) for each in said if each.role == role and each.text.strip()), ""
        )
        for role in ("user", "assistant")
    }
    if reads_like_decision(conversation.title):
        conversation = conversation._replace(title="")
    return Account(conversation, last["user"], last["assistant"])
