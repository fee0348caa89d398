"""The sections of a brief, in the order that someone who resumes work wants to read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...domain.records import Conversation, Memory, Trust
from ...domain.statements import Speaker, Statement, StatementKind
from ..authors import author_names
from ..names import short_conversation_id, short_memory_id
from ..projects.git import commits_since
from ..quoting import quote, sentences
from ..statements.words import reads_like_decision
from ..uncommitted import uncommitted

if TYPE_CHECKING:
    from ..part import CallContext
    from ..state import ProjectState

MAX_SESSIONS = 4
MAX_COMMITS = 3
CONTINUED_SECTIONS = 5
"""The first sections, which a session needs that continues with a summary of its own work."""
OPEN_SECTIONS = 3
"""The number of first sections, which list open items. A brief has at least one line of each."""
MAX_AUTHOR_CHARS = 30
UNTITLED = "a conversation"
"""Replaces a title that reads like a decision: a title may be any text of the first message."""


class BriefItem(NamedTuple):
    """One line: a label, a quotation that may be shortened, and where it comes from."""

    label: str
    text: str
    source: str = ""


class BriefSection(NamedTuple):
    title: str
    items: Sequence[BriefItem]


def sections_of(context: CallContext, project: str, state: ProjectState) -> list[BriefSection]:
    """All sections, empty ones too. The most important items of each come first."""
    memories = (*state.tasks, *state.preferences, *state.decisions, *state.dropped)
    authors = author_names(context.engine, context.caller, memories)

    def saved(memory: Memory) -> BriefItem:
        return _saved(memory, authors.get(memory.id, ""))

    return [
        BriefSection("Waiting for you:", [*_waiting(state), *_uncommitted(context, project, state)]),
        BriefSection("Next:", list(_next(state))),
        BriefSection("Open:", [*_todos(state), *map(saved, state.tasks), *_endings(state)]),
        BriefSection("Rules of the user:", [*map(saved, state.preferences), *_rules(state)]),
        BriefSection("Decisions in force:", [*map(saved, state.decisions), *_decisions(state)]),
        BriefSection("Noted by assistants:", list(map(saved, state.notes))),
        BriefSection("Tried and dropped:", [*map(saved, state.dropped), *_dropped(state)]),
        BriefSection("Last sessions:", list(_sessions(state))),
        BriefSection("Since then:", list(_commits(context, project, state))),
    ]


def _waiting(state: ProjectState) -> Iterator[BriefItem]:
    for each in _latest(state, StatementKind.QUESTION):
        yield _stated("asked: ", each)
    # a runner that failed in several sessions is one thing to mend
    for each in {check.subject: check for check in reversed(state.holding(StatementKind.CHECK))}.values():
        yield _stated("failed: ", each)
    for each in state.holding(StatementKind.PULL_REQUEST)[:1]:
        yield _stated("pull request open: ", each)


def _uncommitted(context: CallContext, project: str, state: ProjectState) -> Iterator[BriefItem]:
    if (edits := uncommitted(context, project, state)) is not None:
        statement, _ = edits
        yield BriefItem(
            "edited, not committed: ", statement.text, short_conversation_id(statement.conversation)
        )


def _next(state: ProjectState) -> Iterator[BriefItem]:
    for each in _latest(state, StatementKind.NEXT_STEP):
        yield _stated("requested, not done: " if each.speaker is Speaker.USER else "", each)


def _endings(state: ProjectState) -> Iterator[BriefItem]:
    last = state.conversations[0].id if state.conversations else ""
    for each in _latest(state, StatementKind.ENDING):
        if each.conversation == last:  # how an earlier session ended is history
            yield _stated("ended: ", each)


def _todos(state: ProjectState) -> Iterator[BriefItem]:
    """The open todos in the order of their list; the list of the last session comes first."""
    todos = state.holding(StatementKind.TODO)
    conversations = dict.fromkeys(each.conversation for each in todos)
    for conversation in conversations:
        yield from (_stated("", each) for each in reversed(todos) if each.conversation == conversation)


def _rules(state: ProjectState) -> Iterator[BriefItem]:
    return (_stated("", each) for each in _most_confirmed(state, StatementKind.PREFERENCE))


def _decisions(state: ProjectState) -> Iterator[BriefItem]:
    return (_stated("said: ", each) for each in _most_confirmed(state, StatementKind.DECISION))


def _dropped(state: ProjectState) -> Iterator[BriefItem]:
    return (_stated("said: ", each) for each in state.holding(StatementKind.DROPPED))


def _sessions(state: ProjectState) -> Iterator[BriefItem]:
    recaps = {each.conversation: each.text for each in state.holding(StatementKind.RECAP)}
    for conversation in state.conversations[:MAX_SESSIONS]:
        title = "" if reads_like_decision(conversation.title) else conversation.title
        source = short_conversation_id(conversation.id)
        yield BriefItem(f"{_where(conversation)}: ", title or UNTITLED, source)
        # sentence by sentence: a recap says at its end what comes next, which a short quotation would cut off
        for sentence in sentences(recaps.get(conversation.id, "")):
            yield BriefItem("recap: ", sentence, source)


def _commits(context: CallContext, project: str, state: ProjectState) -> Iterator[BriefItem]:
    """On another machine a path is a name only."""
    if not state.conversations or not context.caller.is_local:
        return
    commits = commits_since(_directory(context, project), state.conversations[0].updated_at)
    if commits:
        more = f"; and {len(commits) - MAX_COMMITS} more" if len(commits) > MAX_COMMITS else ""
        yield BriefItem("commits: ", "; ".join(commits[:MAX_COMMITS]) + more)


def _directory(context: CallContext, project: str) -> Path:
    return Path(context.caller.directory if project == context.caller.project else project)


def _latest(state: ProjectState, kind: StatementKind) -> list[Statement]:
    """The todos of the last session that left any open, in their order."""
    open_items = state.holding(kind)
    return [each for each in reversed(open_items) if each.conversation == open_items[0].conversation]


def _most_confirmed(state: ProjectState, kind: StatementKind) -> list[Statement]:
    """Most confirmed first; newest first among equals."""
    return sorted(state.holding(kind), key=lambda each: -each.confirmations)


def _where(conversation: Conversation) -> str:
    branch = f" on {conversation.branch}" if conversation.branch else ""
    return f"{conversation.updated_at:%Y-%m-%d} {conversation.surface}{branch}"


def _saved(memory: Memory, author: str) -> BriefItem:
    trust = "" if memory.trust is Trust.OWN else memory.trust.value
    words = ", ".join(filter(None, (trust, quote(author, MAX_AUTHOR_CHARS) if author else "")))
    whose = f"({words}) " if words else ""
    return BriefItem(f"{memory.updated_at:%Y-%m-%d} {whose}", memory.text, short_memory_id(memory.id))


def _stated(label: str, statement: Statement) -> BriefItem:
    times = f", said {statement.confirmations + 1} times" if statement.confirmations else ""
    source = f"{short_conversation_id(statement.conversation)} at {statement.place + 1}{times}"
    return BriefItem(f"{statement.at:%Y-%m-%d} {label}", statement.text, source)
