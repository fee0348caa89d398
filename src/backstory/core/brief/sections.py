"""What a brief says, section by section, in the order that someone who resumes work wants to read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...domain.records import Conversation, Memory, Trust
from ...domain.statements import Speaker, Statement, StatementKind
from ..names import short_conversation_id, short_memory_id
from ..projects.git import commits_since, git, names
from ..statements.words import reads_like_decision

if TYPE_CHECKING:
    from .. import Core
    from ..state import ProjectState

MAX_SESSIONS = 4
MAX_COMMITS = 3
STATUS_TIMEOUT_S = 2.0
UNTITLED = "a conversation"
"""For a title that reads like a decision: it may be anything that stood in the first message."""


class BriefItem(NamedTuple):
    """One line: a label, a quotation that may be shortened, and where it comes from."""

    label: str
    text: str
    source: str = ""


class BriefSection(NamedTuple):
    title: str
    items: Sequence[BriefItem]


def sections_of(core: Core, project: str, state: ProjectState, *, is_continued: bool) -> list[BriefSection]:
    """All sections, empty ones too. The most important items of each come first."""
    sections = [
        BriefSection("Waiting for you:", [*_waiting(state), *_uncommitted(core, project, state)]),
        BriefSection("Next:", list(_next(state))),
        BriefSection("Open:", [*_todos(state), *(_saved(task) for task in state.tasks)]),
        BriefSection("Rules of the user:", [*map(_saved, state.preferences), *_rules(state)]),
        BriefSection("Decisions in force:", [*map(_saved, state.decisions), *_decisions(state)]),
    ]
    if is_continued:
        return sections
    return [
        *sections,
        BriefSection("Tried and dropped:", [*map(_saved, state.dropped), *_dropped(state)]),
        BriefSection("Last sessions:", list(_sessions(state))),
        BriefSection("Since then:", list(_commits(core, project, state))),
    ]


def _waiting(state: ProjectState) -> Iterator[BriefItem]:
    for each in _latest(state, StatementKind.QUESTION):
        yield _stated("asked: ", each)
    for each in state.holding(StatementKind.CHECK):
        yield _stated("failed: ", each)
    for each in state.holding(StatementKind.PULL_REQUEST)[:1]:
        yield _stated("pull request open: ", each)


def _uncommitted(core: Core, project: str, state: ProjectState) -> Iterator[BriefItem]:
    """Files that the last session edited and did not commit, as far as git still shows them."""
    if not state.conversations:
        return
    last = state.conversations[0]
    commits = [
        each.place
        for each in state.statements
        if each.conversation == last.id and each.kind is StatementKind.COMMIT
    ]
    edited = core.engine.store.traces.written_since(last.id, max(commits, default=-1))
    if core.caller.is_local and edited:
        edited = _still_changed(_directory(core, project), edited)
    if edited:
        listed = ", ".join(dict.fromkeys(path.replace("\\", "/").rpartition("/")[2] for path in edited))
        yield BriefItem("edited, not committed: ", listed, short_conversation_id(last.id))


def _still_changed(directory: Path, edited: Sequence[str]) -> list[str]:
    """Those that git lists as changed; all of them where there is no repository to ask."""
    status = (
        git(directory, "status", "--porcelain", "-z", timeout_s=STATUS_TIMEOUT_S)
        if directory.is_dir()
        else None
    )
    if status is None:
        return list(edited)
    changed = {Path(line[3:]).name for line in names(status)}
    return [path for path in edited if Path(path.replace("\\", "/")).name in changed]


def _next(state: ProjectState) -> Iterator[BriefItem]:
    for each in _latest(state, StatementKind.NEXT_STEP):
        yield _stated("requested, not done: " if each.speaker is Speaker.USER else "", each)
    last = state.conversations[0].id if state.conversations else ""
    for each in _latest(state, StatementKind.ENDING):
        if each.conversation == last:  # how an earlier session ended is history
            yield _stated("ended: ", each)


def _todos(state: ProjectState) -> Iterator[BriefItem]:
    """In the order of their list, that of the last session first."""
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
        recap = recaps.get(conversation.id, "")
        title = "" if reads_like_decision(conversation.title) else conversation.title
        text = ": ".join(filter(None, (title, recap))) or UNTITLED
        yield BriefItem(f"{_where(conversation)}: ", text, short_conversation_id(conversation.id))


def _commits(core: Core, project: str, state: ProjectState) -> Iterator[BriefItem]:
    """On another machine a path is a name only."""
    if not state.conversations or not core.caller.is_local:
        return
    commits = commits_since(_directory(core, project), state.conversations[0].updated_at)
    if commits:
        more = f"; and {len(commits) - MAX_COMMITS} more" if len(commits) > MAX_COMMITS else ""
        yield BriefItem("commits: ", "; ".join(commits[:MAX_COMMITS]) + more)


def _directory(core: Core, project: str) -> Path:
    return Path(core.caller.directory if project == core.caller.project else project)


def _latest(state: ProjectState, kind: StatementKind) -> list[Statement]:
    """Those of the last session that left any open, in the order in which they were said."""
    open_items = state.holding(kind)
    return [each for each in reversed(open_items) if each.conversation == open_items[0].conversation]


def _most_confirmed(state: ProjectState, kind: StatementKind) -> list[Statement]:
    """The last first among those that were said equally often."""
    return sorted(state.holding(kind), key=lambda each: -each.confirmations)


def _where(conversation: Conversation) -> str:
    branch = f" on {conversation.branch}" if conversation.branch else ""
    return f"{conversation.updated_at:%Y-%m-%d} {conversation.surface}{branch}"


def _saved(memory: Memory) -> BriefItem:
    whose = "" if memory.trust is Trust.OWN else f"({memory.trust.value}) "
    return BriefItem(f"{memory.updated_at:%Y-%m-%d} {whose}", memory.text, short_memory_id(memory.id))


def _stated(label: str, statement: Statement) -> BriefItem:
    times = f", said {statement.confirmations + 1} times" if statement.confirmations else ""
    source = f"{short_conversation_id(statement.conversation)} at {statement.place + 1}{times}"
    return BriefItem(f"{statement.at:%Y-%m-%d} {label}", statement.text, source)
