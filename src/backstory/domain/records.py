"""What Backstory keeps: memories, and conversations with their messages.

Records are NamedTuples throughout: as immutable as frozen dataclasses, and made at import in a quarter of the
time, which every start of the server pays (docs/decisions/0004-records.md).
"""

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
    """Whose words a record holds. No word of it is an instruction; `project` least of all."""

    OWN = "own"
    """Saved by this user's assistants, or said in this user's conversations with them."""
    PROJECT = "project"
    """Of files that came with a repository and that this user did not write: found in that project only."""
    IMPORTED = "imported"
    """Read from an export file, whoever wrote that."""
    TEAM = "team"
    """Of a file on the shared branch of a repository that this user trusts: found in that project only, with its author."""
    TOOL = "tool"
    """What a program reported or a harness put in: output of tools, pages, files."""


QUOTABLE = (Trust.OWN, Trust.IMPORTED, Trust.TEAM)
"""What may be told unasked, as the past of the user or of the user's team."""


class Memory(NamedTuple):
    """One thing worth remembering. `surface` says which vocabulary it was saved through."""

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
    """A stretch of work on a project. It has a parent when it was branched or continued."""

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
    """What a memory said until it was saved again."""

    text: str
    category: str | None
    priority: Priority
    channel: str | None
    metadata: Mapping[str, Any]
    saved_at: datetime
    private: bool = False


class Event(NamedTuple):
    """Something another tool reported. `memory` is the one that was made of it, when it was important."""

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
    """A transcript, stored through us or read from another assistant, whose name `surface` then is."""

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
    """What the assistant itself calls it."""
    source: str = ""
    """The file it was read from; with `#key` where one file holds many."""
    directory: str = ""
    """Where the assistant worked. Worktrees of one project have one `project` and several directories."""
    branch: str = ""
    model: str = ""
    completeness: str = "full"
    """full, partial or encrypted: how much of it could be read."""
    standing: int = 2
    """How good a witness its source is: 2 the conversation's own file, 1 a replay in another, 0 prompts alone."""
    subject: str = "general"
    """architecture, debugging, problem_solving, technical, code_discussion or general."""
    is_gone: bool = False
    """Its source vanished; what was read stays."""
    trust: Trust = Trust.OWN
    rules: int = 0
    """The rules by which its statements were extracted; 0 where they were not."""
    run_rules: int = 0
    """The rules by which the runs of its commands were extracted; 0 where they were not."""

    @property
    def name(self) -> str:
        """What people know it by: a conversation in which nobody said a word has no title."""
        return self.title or f"{self.surface}, {self.created_at:%Y-%m-%d %H:%M}"

    def trust_of(self, role: str) -> Trust:
        """Of a message in it: what tools were told and answered, and what the harness put in, nobody said."""
        return Trust.TOOL if self.trust is Trust.OWN and role in ("tool", "system") else self.trust


class Message(NamedTuple):
    """`role` is user, assistant, system or summary for what was said; `tool` and `thinking` entries stand at the
    same `seq` as the message they belong to."""

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
    """What an assistant did besides speaking: a file it read or wrote, a command, an error it met."""

    message: str
    """The id of the `tool` message it stands in."""
    kind: str
    """read, written, command or error."""
    value: str


class TraceHit(NamedTuple):
    """A trace with where and when it was left."""

    kind: str
    value: str
    conversation: str
    at: datetime
    entry: int
    """The message it stands in."""


MINOR = ("subagent", "fork")
"""Kinds of conversations that speak for the one that started them."""


class ConversationOutline(NamedTuple):
    """What ranking needs to know of a conversation."""

    id: str
    project: str
    surface: str
    kind: str
    parent: str | None
    subject: str
    updated_ms: int


class CachedAnswer(NamedTuple):
    """An answer that is fetched piece by piece."""

    key: str
    kind: str
    owner: str
    """The caller it was given to; empty when the key alone is enough."""
    body: Any
    """Fit for JSON."""
    expires_at: datetime


class Injection(NamedTuple):
    """What a hook or the tool `brief` told a session: the receipt of one text."""

    session: str
    """As the assistant calls it; empty when it did not say."""
    given_at: datetime
    project: str
    text: str
    event: str = "SessionStart"
    """The occasion: SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, or brief where the assistant asked for it."""
    subject: str = ""
    """The file, the error or the record that the text is about; empty for a brief."""
    certainty: float | None = None
    """How sure it was that the text helps; None for a brief, which answers no question."""
    used: bool | None = None
    """Whether the assistant acted on it; None while the conversation has not gone on."""


class InjectionCount(NamedTuple):
    """How many texts were injected on one occasion, how many of them can be judged by now, and how many were used."""

    event: str
    given: int
    judged: int
    used: int


QUIET_ROLES = ("system", "thinking", "tool")
"""Messages that nobody said to anybody: their words are found, at a lower weight, and they get no vectors."""

Entry = Memory | Message
"""Anything that search can find."""


def heading(entry: Entry) -> str:
    """What is known of an entry besides its text, as words that a search may use."""
    if isinstance(entry, Message):
        return f"{entry.speaker} {_day(entry.created_at.date())}".strip()
    return " ".join(part for part in (entry.key, entry.category, *entry.tags) if part)


@lru_cache(maxsize=1024)
def _day(day: date) -> str:
    """Formatting costs more than all else of a message, and thousands are of one day."""
    return f"{day:%d %B %Y}"


class ArchivedMemory(NamedTuple):
    memory: Memory
    history: tuple[Former, ...]


class ArchivedConversation(NamedTuple):
    conversation: Conversation
    said: int
    """Messages of user and assistant."""


class PackSize(NamedTuple):
    """`original` bytes of values with all their fields and history became `packed` bytes, index included."""

    items: int
    original: int
    packed: int
