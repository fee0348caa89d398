"""Other assistants' histories: each module turns what lies on disk into conversations, and writes nothing.

To add one: a module, or a package, here with `reader = Reader(...)`. A reader finds its sources and reads them piece by piece;
what is known already, what is kept and whom it belongs to is not its business. Formats change without notice,
so a reader ignores what it does not know, never gives up a file for one bad record, and counts what it skipped.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
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
    """Lines are appended; the bytes before the cursor stay as they are."""
    DOCUMENT = "document"
    """Written anew as a whole."""
    DATABASE = "database"
    """SQLite, which its owner may have open."""


class Role(StrEnum):
    USER = "user"
    """A person typed it."""
    ASSISTANT = "assistant"
    SYSTEM = "system"
    """What the harness put there in somebody's name."""
    SUMMARY = "summary"
    """What the assistant made of the past when it compacted it."""


class ConversationKind(StrEnum):
    MAIN = "main"
    SUBAGENT = "subagent"
    FORK = "fork"
    PROMPT_LOG = "prompt-log"


class WitnessRank(IntEnum):
    """How good a witness of a conversation a piece is: a better one replaces what a worse one told."""

    PROMPTS = 0
    """A log of what was typed, without answers."""
    REPLAY = 1
    """Another conversation's file that repeats it."""
    OWN = 2


class Places(NamedTuple):
    """Where this user's assistants may keep their files."""

    home: Path
    environment: Mapping[str, str]
    """The assistants' own variables, such as CLAUDE_CONFIG_DIR."""
    platform: str
    """As sys.platform says it: linux, darwin or win32."""
    windows_homes: tuple[Path, ...] = ()
    """Seen from WSL: /mnt/c/Users/<name>."""
    projects: tuple[Path, ...] = ()
    """Directories that other histories speak of: some assistants keep theirs in the project."""
    roots: Mapping[str, tuple[Path, ...]] = MappingProxyType({})
    """By reader, directories that the user named; they are read besides the usual ones."""


class Source(NamedTuple):
    path: Path
    form: Form
    directory: str = ""
    """The project it lies in or is filed under, for what does not say so itself."""
    beside: str = ""
    """A fingerprint of what else the reading depends on: when another file adds to what this one tells, it is read
    again."""


class ResultCut(NamedTuple):
    """The part of a long result that is left out of its text."""

    bytes: int
    head_chars: int
    """Length of the text before the line that names the cut."""
    after_head: str = ""
    """The beginning of the part left out. Redaction looks at it, so that no half of a secret stays in the text."""
    before_tail: str = ""
    """The end of the part left out."""


class CallResult(NamedTuple):
    """The result of a tool call."""

    text: str = ""
    """Of a long result: its head, a line that says how much is left out, and its tail."""
    is_error: bool = False
    exit_code: int | None = None
    """None where the log does not tell."""
    duration_ms: int | None = None
    """None where the log does not tell."""
    bytes: int = 0
    """Size of the whole result."""
    cut: ResultCut | None = None
    """None where the text is whole."""


class ToolCall(NamedTuple):
    name: str
    """Empty where files were named or changed without a call, as in a composer."""
    arguments: str = ""
    """As text, at most LONGEST_ARGUMENTS characters."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: str = ""
    error: str = ""
    """What it said when it failed; head and tail of a long one."""
    result: CallResult | None = None
    """None where the log has no result, or does not have it yet."""
    id: str = ""
    """The assistant's own id of the call; empty where it has none."""
    given: Any = None
    """The arguments of a call that may have written, keeps a list of tasks or asks the user, as recorded. Not stored."""


class Turn(NamedTuple):
    """What one side said until the other spoke: all blocks of one model message are one turn."""

    id: str
    """The assistant's own where it has one; in any case the same whenever the source is read again."""
    role: Role
    text: str
    at_ms: int | None = None
    """None where the format does not tell; nothing is invented."""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    former_id: str = ""
    """The id that an earlier version gave it, by its place in the file or by its first line. A message that is stored
    under it gets the present id."""
    sayings: tuple[Saying, ...] = ()
    """What it states, once that was extracted; readers leave it empty."""
    runs: tuple[CommandRun, ...] = ()
    """The commands of its calls and how they ended, once that was extracted; readers leave it empty."""
    recites: bool = False
    """Backstory was asked in this turn, or its brief stands in it: what is said then may be what it told."""

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.thinking or self.calls)


class ConversationHeader(NamedTuple):
    """What is known of a conversation besides its turns. Each piece carries all that is known by then."""

    native_id: str
    source: str
    """The file, or `file#key` where it holds many conversations."""
    title: str = ""
    directory: str = ""
    """As recorded; empty rather than guessed."""
    kind: ConversationKind = ConversationKind.MAIN
    parent: str | None = None
    """The native id of the conversation it was started from."""
    branch: str = ""
    model: str = ""
    started_ms: int | None = None
    ended_ms: int | None = None
    completeness: str = "full"
    standing: WitnessRank = WitnessRank.OWN
    session: str = ""
    """In another program's copy of a session, the id that its assistant gave it: where that one's own log was read, the copy
    is not kept."""
    written_as: str = ""
    """The id under which we wrote the session, where its assistant gave it another one on taking it in."""


class Cursor(NamedTuple):
    """How far a source was read. Reading goes on from here; `state` is the reader's own, and fit for JSON."""

    offset: int = 0
    state: Mapping[str, Any] = MappingProxyType({})


class Piece(NamedTuple):
    """Some turns of one conversation, in order: what is kept, or not kept, together.

    A turn that was given before, by its id, is replaced: a log is read again from the start of its last turn."""

    header: ConversationHeader
    turns: Sequence[Turn]
    cursor: Cursor | None = None
    """Where to go on once this piece is kept; None within what can only be read together."""
    is_whole: bool = False
    """These are all the turns there are: others of the conversation go."""
    skipped: Mapping[str, int] = MappingProxyType({})
    """Why records were passed over, and how many."""
    is_name: bool = False
    """It tells what a conversation is called and nothing else, for one that is known from elsewhere."""
    is_gone: bool = False
    """It tells that a conversation which was in the source is not there any more: its owner deleted it."""
    usage: Sequence[ModelCall] = ()
    """Calls of the model. One that was given before, by its key, is replaced if this one has more output."""
    late_results: Mapping[str, CallResult] = MappingProxyType({})
    """By the id of the call, results of calls that an earlier piece has."""


class Resume(NamedTuple):
    """The assistant's own command that goes on with a conversation, in the directory where that was held."""

    words: tuple[str, ...]
    """`{id}` stands for what the assistant calls the conversation."""
    sources: str = "*"
    """A pattern of the files whose conversations it knows: those of an editor are not those of its command line."""


class DraftTurn(NamedTuple):
    role: Role
    text: str


class SessionDraft(NamedTuple):
    """A conversation that is to go on as a new session of an assistant."""

    turns: Sequence[DraftTurn]
    """User and assistant in turns; the first is the user's, the last the assistant's."""
    title: str
    directory: str
    written_ms: int
    """When it is written: every turn gets a time before this one."""
    prompt: str
    """What to say first; empty to wait for the user."""
    folder: Path
    """Ours, for files that the assistant takes from anywhere."""
    random: Callable[[], str]
    """32 hexadecimal digits, others at each call."""

    def times(self) -> list[int]:
        """A time in milliseconds for each turn, ascending."""
        return [self.written_ms - len(self.turns) + place for place in range(len(self.turns))]

    def uuid(self) -> str:
        digits = self.random()
        # version and variant of a random UUID, which some programs check
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


class NativeSession(NamedTuple):
    """A session that an assistant accepts as its own."""

    id: str
    """What the assistant calls it."""
    files: Mapping[Path, str]
    """New files, by path."""
    command: tuple[str, ...]
    """What goes on with it."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands to run first."""


class Reader(NamedTuple):
    name: str
    title: str
    """For people: Claude Code."""
    find: Callable[[Places], Iterable[Source]]
    """What is there; nothing is made, and a missing place is no error."""
    read: Callable[[Source, Cursor], Iterator[Piece]]
    """From a cursor, the empty one for all. The last piece has a cursor. Raises Unreadable for what is found but cannot
    be read (encrypted, or newer than this reader), and OSError when the source vanishes."""
    rereads: Callable[[Iterable[Path]], Iterable[Path]] | None = None
    """Given files that are new, the older files that are read differently because of them, though their own bytes are the
    same. These are read again from their start. None where each file is read for itself."""
    in_projects: bool = False
    """Its files lie in projects, so that one may have come with a repository."""
    by_projects: bool = False
    """What it finds, or to whom that belongs, depends on the projects that are known: it is asked again when these
    have become more."""
    is_export: bool = False
    """Its files are archives that a user asked a service for. They are read when the user names them, once: nothing is
    found otherwise, and it means nothing that one is not there any more."""
    resume: Resume | None = None
    """None where no command opens one conversation."""
    write: Callable[[SessionDraft, Places], NativeSession | None] | None = None
    """Writes nothing itself: it gives the files of a session that the assistant resumes. None where it accepts no session of
    others, or gives None because something on this machine is missing."""
    prompt_words: tuple[str, ...] = ()
    """The command that starts the assistant with a prompt, for which `{prompt}` stands; empty where there is none."""


PLACE = "@"
"""What stands before the place in a former id."""
PULL_REQUEST = "pull-request"
"""The name of a call that stands for a pull request which the session made, as the log records it."""
FORMATS = "formats"
"""The package here that is no reader."""
LONGEST_ARGUMENTS = 2_000
PIECE_BYTES = 4_000_000
"""About how much of a log makes one piece: it is kept in one transaction, and others wait for that."""


CHAT_SERVICES = frozenset({"chatgpt", "claude-ai"})
"""Readers of exports: their conversations are chats about anything, all others are about code."""


def load_readers(names: Iterable[str] = ()) -> dict[str, Reader]:
    """The named readers, or all. Modules are named after their reader: `claude-code` is claude_code."""
    known = reader_names()
    wanted = list(names) or known
    for name in wanted:
        if name not in known:
            raise InvalidInput(f"There is no reader {name!r}.", hint=f"Known: {', '.join(known)}.")
    return {name: _load(name) for name in wanted}


def reader_names() -> list[str]:
    """The names of all readers, without loading any. A name that Python reserves ends with `_` as a module."""
    modules = (module for module in modules_in(__path__) if module != FORMATS)
    return sorted(module.removesuffix("_").replace("_", "-") for module in modules)


def _load(name: str) -> Reader:
    module = name.replace("-", "_")
    if iskeyword(module):
        module += "_"
    reader = importlib.import_module(f"{__name__}.{module}").reader
    assert isinstance(reader, Reader)
    return reader
