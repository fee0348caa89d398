"""The records that Backstory stores: memories, and conversations with their messages.

Records are NamedTuples throughout. They are as immutable as frozen dataclasses and are created at import in a quarter
of the time, which every start of the server pays for (docs/decisions/0004-records.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple


class Priority(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class Trust(StrEnum):
    """The author of a record's text. No text is ever an instruction, least of all `project`."""

    OWN = "own"
    """Saved by this user's assistants, or part of this user's conversations with them."""
    PROJECT = "project"
    """Text of files that came with a repository and that this user did not write. Found only in that project."""
    IMPORTED = "imported"
    """Read from an export file by any author."""
    TEAM = "team"
    """Text of a file on the shared branch of a repository that this user trusts.

    Found only in that project, with its author."""
    SPACE = "space"
    """Text of a member of a team's space, copied from the team's server. Found in every project, with its author."""
    TOOL = "tool"
    """Reported by a program or inserted by a harness: output of tools, pages, files."""


QUOTABLE = (Trust.OWN, Trust.IMPORTED, Trust.TEAM, Trust.SPACE)
"""Records that may be shown unasked as the past of the user or the user's team."""
OF_TEAM = (Trust.TEAM, Trust.SPACE)
"""Records by other members of the team, which never count as the user's own words."""


class Memory(NamedTuple):
    """One saved memory. `surface` names the vocabulary through which it was saved."""

    id: str
    text: str
    project: str
    surface: str
    created_at: datetime
    updated_at: datetime
    summary: str = ""
    key: str | None = None
    category: str | None = None
    priority: Priority = Priority.NORMAL
    channel: str | None = None
    tags: tuple[str, ...] = ()
    session: str | None = None
    private: bool = False
    metadata: Mapping[str, Any] = MappingProxyType({})
    trust: Trust = Trust.OWN


class Session(NamedTuple):
    """A period of work on a project. It has a parent if it was branched or continued."""

    id: str
    name: str
    project: str
    surface: str
    created_at: datetime
    updated_at: datetime
    channel: str = "general"
    description: str = ""
    parent: str | None = None


class Former(NamedTuple):
    """An earlier version of a memory."""

    text: str
    category: str | None
    priority: Priority
    channel: str | None
    metadata: Mapping[str, Any]
    saved_at: datetime
    private: bool = False


class Event(NamedTuple):
    """An event that another tool reported. `memory` is the memory created from it, if it was important."""

    id: str
    session: str
    project: str
    surface: str
    tool: str
    type: str
    data: Any
    created_at: datetime
    memory: str | None = None


class Conversation(NamedTuple):
    """A transcript, stored by a tool or read from another assistant.

    In the latter case `surface` is the assistant's name."""

    id: str
    title: str
    project: str
    surface: str
    created_at: datetime
    updated_at: datetime
    kind: str = "main"
    """main, subagent, fork or prompt-log."""
    parent: str | None = None
    """The conversation that started it, when it is a subagent's or a fork."""
    native_id: str = ""
    """The assistant's own id of the conversation."""
    source: str = ""
    """The file it was read from, with `#key` if the file contains several conversations."""
    directory: str = ""
    """The assistant's working directory. Worktrees of one project share `project` and differ in `directory`."""
    branch: str = ""
    model: str = ""
    completeness: str = "full"
    """full, partial or encrypted: how much could be read."""
    standing: int = 2
    """Reliability of the source: 2 is the conversation's own file, 1 a replay in another file, 0 prompts only."""
    subject: str = "general"
    """architecture, debugging, problem_solving, technical, code_discussion or general."""
    is_gone: bool = False
    """True if the source no longer exists. The stored messages remain."""
    trust: Trust = Trust.OWN
    rules: int = 0
    """Version of the rules that extracted its statements; 0 if they were not extracted."""
    run_rules: int = 0
    """Version of the rules that extracted its command runs; 0 if they were not extracted."""

    @property
    def name(self) -> str:
        """The title, or assistant and time for a conversation without messages, which has no title."""
        return self.title or f"{self.surface}, {self.created_at:%Y-%m-%d %H:%M}"

    def trust_of(self, role: str) -> Trust:
        """Return the trust of a message in this conversation.

        Tool calls, tool results and system messages are not the user's."""
        return Trust.TOOL if self.trust is Trust.OWN and role in ("tool", "system") else self.trust


class Message(NamedTuple):
    """A message. `role` is user, assistant, system or summary for spoken messages.

    Entries with the role `tool` and `thinking` have the same `seq` as the message they belong to."""

    id: str
    conversation: str
    seq: int
    role: str
    text: str
    project: str
    surface: str
    created_at: datetime
    speaker: str = ""
    trust: Trust = Trust.OWN


class Trace(NamedTuple):
    """A side effect of an assistant's work: a file it read or wrote, a command, an error."""

    message: str
    """The id of the `tool` message that contains it."""
    kind: str
    """read, written, command or error."""
    value: str


class TraceHit(NamedTuple):
    """A trace with its message and time."""

    kind: str
    value: str
    conversation: str
    at: datetime
    entry: int
    """Entry number of the message that contains it."""


MINOR = ("subagent", "fork")
"""Kinds of conversations that belong to another conversation, which started them."""


class ConversationOutline(NamedTuple):
    """The fields of a conversation that ranking needs."""

    id: str
    project: str
    surface: str
    kind: str
    parent: str | None
    subject: str
    updated_ms: int


class CachedAnswer(NamedTuple):
    """An answer that is fetched in several parts."""

    key: str
    kind: str
    owner: str
    """The caller that received it; "" if the key alone is sufficient."""
    body: Any
    """A JSON-compatible value."""
    expires_at: datetime


class Injection(NamedTuple):
    """A record of one text that a hook or the tool `brief` gave to a session."""

    session: str
    """The assistant's id of the session; "" if it is not known."""
    given_at: datetime
    project: str
    text: str
    event: str = "SessionStart"
    """The occasion: SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, or brief if the assistant called the
    tool."""
    subject: str = ""
    """The file, error or record that the text is about; "" for a brief."""
    certainty: float | None = None
    """The estimated probability that the text helps; None for a brief, which answers no question."""
    used: bool | None = None
    """True if the assistant used the text; None while the conversation has not continued."""


class InjectionCount(NamedTuple):
    """Number of texts injected on one occasion, how many can be judged already, and how many were used."""

    event: str
    given: int
    judged: int
    used: int


QUIET_ROLES = ("system", "thinking", "tool")
"""Roles of messages that are not part of the dialogue.

Their words are found at a lower weight, and they have no vectors."""

Entry = Memory | Message
"""Anything that search can find."""


def heading(entry: Entry) -> str:
    """Return the searchable words of an entry that are not in its text."""
    if isinstance(entry, Message):
        return f"{entry.speaker} {_day(entry.created_at.date())}".strip()
    return " ".join(part for part in (entry.key, entry.category, *entry.tags) if part)


@lru_cache(maxsize=1024)
def _day(day: date) -> str:
    """Format a day. Cached: formatting is the most expensive part of a heading, and thousands of messages share a
    day."""
    return f"{day:%d %B %Y}"


class ArchivedMemory(NamedTuple):
    memory: Memory
    history: tuple[Former, ...]


class ArchivedConversation(NamedTuple):
    conversation: Conversation
    said: int
    """Number of messages by user and assistant."""


class PackSize(NamedTuple):
    """The result of packing: `original` bytes of values with their fields and history became `packed` bytes, including
    the index."""

    items: int
    original: int
    packed: int
