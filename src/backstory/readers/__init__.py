"""Histories of other assistants: each module turns files on disk into conversations, and writes nothing.

To add one, write a module or package here with `reader = Reader(...)`. A reader finds its sources and reads them piece
by piece. It does not decide which records are already known, which are stored, or which project they belong to. Formats
change without notice: a reader ignores unknown fields, never abandons a file because of one bad record, and counts the
records that it skipped."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
from functools import lru_cache
from keyword import iskeyword
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ..domain.discovery import modules_in
from ..domain.errors import InvalidInput
from ..domain.runs import CommandRun
from ..domain.statements import Saying
from ..domain.usage import ModelCall


class Form(StrEnum):
    LOG = "log"
    """Lines are appended; the bytes before the cursor never change."""
    DOCUMENT = "document"
    """Rewritten as a whole."""
    DATABASE = "database"
    """SQLite, which its owner may have open."""


class Role(StrEnum):
    USER = "user"
    """Typed by a person."""
    ASSISTANT = "assistant"
    SYSTEM = "system"
    """Inserted by the harness in the name of a participant."""
    SUMMARY = "summary"
    """The assistant's summary of the past after compaction."""


class ConversationKind(StrEnum):
    MAIN = "main"
    SUBAGENT = "subagent"
    FORK = "fork"
    PROMPT_LOG = "prompt-log"


class WitnessRank(IntEnum):
    """Reliability of a piece as a source of a conversation. A more reliable piece replaces a less reliable one."""

    PROMPTS = 0
    """A log of prompts without answers."""
    REPLAY = 1
    """The file of another conversation that repeats this one."""
    OWN = 2


class Places(NamedTuple):
    """Possible locations of this user's assistants' files."""

    home: Path
    environment: Mapping[str, str]
    """The assistants' own variables, such as CLAUDE_CONFIG_DIR."""
    platform: str
    """A value of sys.platform: linux, darwin or win32."""
    windows_homes: tuple[Path, ...] = ()
    """Windows home directories as seen from WSL: /mnt/c/Users/<name>."""
    projects: tuple[Path, ...] = ()
    """Directories that other histories mention. Some assistants store their history in the project."""
    roots: Mapping[str, tuple[Path, ...]] = MappingProxyType({})
    """Directories that the user named, by reader. They are read in addition to the usual ones."""


class Source(NamedTuple):
    path: Path
    form: Form
    directory: str = ""
    """The project that contains the source or that it is filed under, for conversations that name none."""
    beside: str = ""
    """A fingerprint of other files that the result depends on. The source is read again when they change."""


class ResultCut(NamedTuple):
    """The part of a long result that is left out of its text."""

    bytes: int
    head_chars: int
    """Length of the text before the line that marks the cut."""
    after_head: str = ""
    """The beginning of the omitted part. Redaction checks it, to leave no half of a secret in the text."""
    before_tail: str = ""
    """The end of the omitted part."""


class CallResult(NamedTuple):
    """The result of a tool call."""

    text: str = ""
    """The text. A long result is reduced to its head, a line with the omitted size, and its tail."""
    is_error: bool = False
    exit_code: int | None = None
    """None if the log does not record it."""
    duration_ms: int | None = None
    """None if the log does not record it."""
    bytes: int = 0
    """Size of the entire result."""
    cut: ResultCut | None = None
    """None if the text is complete."""


class ToolCall(NamedTuple):
    name: str
    """"" if files were named or changed without a call, as in a composer."""
    arguments: str = ""
    """The arguments as text, at most LONGEST_ARGUMENTS characters."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: str = ""
    error: str = ""
    """The error message; head and tail of a long one."""
    result: CallResult | None = None
    """None if the log contains no result, or not yet."""
    id: str = ""
    """The assistant's own id of the call; "" if it has none."""
    given: Any = None
    """The recorded arguments of a call that may have written files, manages a task list or asks the user.

    Not stored."""


class Turn(NamedTuple):
    """One side's contribution until the other side speaks. All blocks of one model message are one turn."""

    id: str
    """The assistant's own id if it has one. In any case, the id does not change when the source is read again."""
    role: Role
    text: str
    at_ms: int | None = None
    """None if the format does not record it. Times are never invented."""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    former_id: str = ""
    """The id that an earlier version assigned, by position in the file or by first line.

    A message stored under it gets the present id."""
    sayings: tuple[Saying, ...] = ()
    """Extracted statements. Readers leave it empty."""
    runs: tuple[CommandRun, ...] = ()
    """Extracted commands and their outcomes. Readers leave it empty."""
    recites: bool = False
    """True if Backstory was called in this turn, or the turn contains its brief.

    Statements in it may repeat Backstory's text."""

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.thinking or self.calls)


class ConversationHeader(NamedTuple):
    """The properties of a conversation besides its turns. Each piece carries everything known at that point."""

    native_id: str
    source: str
    """The file, or `file#key` if it contains several conversations."""
    title: str = ""
    directory: str = ""
    """The recorded directory; "" rather than a guess."""
    kind: ConversationKind = ConversationKind.MAIN
    parent: str | None = None
    """The native id of the conversation that started this one."""
    branch: str = ""
    model: str = ""
    started_ms: int | None = None
    ended_ms: int | None = None
    completeness: str = "full"
    standing: WitnessRank = WitnessRank.OWN
    session: str = ""
    """In another program's copy of a session, the id that its assistant assigned.

    If the assistant's own log was read, the copy is not stored."""
    written_as: str = ""
    """The id under which Backstory wrote the session, if its assistant assigned another one when importing it."""


class Cursor(NamedTuple):
    """The position up to which a source was read. `state` belongs to the reader and is JSON-compatible."""

    offset: int = 0
    state: Mapping[str, Any] = MappingProxyType({})


class Piece(NamedTuple):
    """Some consecutive turns of one conversation, which are stored together or not at all.

    A turn with the id of an earlier turn replaces it: a log is read again from the start of its last turn."""

    header: ConversationHeader
    turns: Sequence[Turn]
    cursor: Cursor | None = None
    """The position from which to continue once this piece is stored; None if more pieces must be stored with it."""
    is_whole: bool = False
    """True if these are all turns. Other turns of the conversation are deleted."""
    skipped: Mapping[str, int] = MappingProxyType({})
    """Number of skipped records by reason."""
    is_name: bool = False
    """True if the piece contains only a title, for a conversation that is known from elsewhere."""
    is_gone: bool = False
    """True if the conversation is no longer in the source: its owner deleted it."""
    usage: Sequence[ModelCall] = ()
    """Model calls. A call with a known key replaces the earlier one if it has more output."""
    late_results: Mapping[str, CallResult] = MappingProxyType({})
    """Results of calls in earlier pieces, by call id."""


class Resume(NamedTuple):
    """The assistant's own command that continues a conversation, run in the conversation's directory."""

    words: tuple[str, ...]
    """`{id}` is replaced by the assistant's id of the conversation."""
    sources: str = "*"
    """Pattern of files whose conversations the command knows.

    An editor's conversations differ from those of its command line."""


class DraftTurn(NamedTuple):
    role: Role
    text: str


class SessionDraft(NamedTuple):
    """A conversation that is to continue as a new session of an assistant."""

    turns: Sequence[DraftTurn]
    """Alternating turns: the first is the user's, the last the assistant's."""
    title: str
    directory: str
    written_ms: int
    """The time of writing. Every turn gets an earlier time."""
    prompt: str
    """The first prompt; "" to wait for the user."""
    folder: Path
    """Backstory's own folder, for files that the assistant can import from any location."""
    random: Callable[[], str]
    """Returns 32 random hexadecimal digits."""

    def times(self) -> list[int]:
        """Return a time in milliseconds for each turn, in ascending order."""
        return [self.written_ms - len(self.turns) + place for place in range(len(self.turns))]

    def uuid(self) -> str:
        digits = self.random()
        # some programs check the version and variant digits of a random UUID
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


class NativeSession(NamedTuple):
    """A session in the format that an assistant accepts as its own."""

    id: str
    """The assistant's id of the session."""
    files: Mapping[Path, str]
    """Contents of new files, by path."""
    command: tuple[str, ...]
    """The command that continues the session."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands to run first."""


class Reader(NamedTuple):
    name: str
    title: str
    """The name that people read, such as Claude Code."""
    find: Callable[[Places], Iterable[Source]]
    """Yield the existing sources. Nothing is created, and a missing location is not an error."""
    read: Callable[[Source, Cursor], Iterator[Piece]]
    """Read a source from a cursor; the empty cursor means everything. The last piece has a cursor.

    Raises Unreadable for a source that cannot be read (encrypted, or newer than this reader), and OSError if the source
    vanishes."""
    rereads: Callable[[Iterable[Path]], Iterable[Path]] | None = None
    """For new files, yield older files whose result changes because of them even though their bytes did not.

    They are read again from the start. None if files are independent of each other."""
    in_projects: bool = False
    """True if the files are in projects, and one may have come with a repository."""
    by_projects: bool = False
    """True if the result depends on the known projects. The reader runs again when there are more projects."""
    is_export: bool = False
    """True for archives that a user requested from a service.

    They are read once, when the user names them. They are not searched for, and deleting one has no effect."""
    resume: Resume | None = None
    """None if no command opens a single conversation."""
    write: Callable[[SessionDraft, Places], NativeSession | None] | None = None
    """Return the files of a session that the assistant can resume, without writing them.

    None if the assistant accepts no foreign sessions. The function returns None if something is missing on this
    machine."""
    prompt_words: tuple[str, ...] = ()
    """The command that starts the assistant with a prompt in place of `{prompt}`; empty if there is none."""


PLACE = "@"
"""Prefix of the position in a former id."""
PULL_REQUEST = "pull-request"
"""The name of a pseudo call for a pull request that the session created, as recorded in the log."""
FORMATS = "formats"
"""The package in this directory that is not a reader."""
LONGEST_ARGUMENTS = 2_000
PIECE_BYTES = 4_000_000
"""Approximate number of log bytes per piece. A piece is stored in one transaction, and other writers wait for it."""


CHAT_SERVICES = frozenset({"chatgpt", "claude-ai"})
"""Readers of exports from chat services. Their conversations are about anything; all others are about code."""


def load_readers(names: Iterable[str] = ()) -> dict[str, Reader]:
    """Return the named readers, or all. Modules are named after their reader: `claude-code` is claude_code."""
    known = reader_names()
    wanted = list(names) or known
    for name in wanted:
        if name not in known:
            raise InvalidInput(f"There is no reader {name!r}.", hint=f"Known: {', '.join(known)}.")
    return {name: _load(name) for name in wanted}


def reader_names() -> list[str]:
    """Return the names of all readers without loading them. A module whose name Python reserves ends with `_`."""
    return list(_reader_names())


@lru_cache(maxsize=1)  # every search asks for them, and listing the directory takes 0.2 ms
def _reader_names() -> tuple[str, ...]:
    modules = (module for module in modules_in(__path__) if module != FORMATS)
    return tuple(sorted(module.removesuffix("_").replace("_", "-") for module in modules))


def _load(name: str) -> Reader:
    module = name.replace("-", "_")
    if iskeyword(module):
        module += "_"
    reader = importlib.import_module(f"{__name__}.{module}").reader
    assert isinstance(reader, Reader)
    return reader
