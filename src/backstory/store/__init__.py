"""The store: one class ("room") per kind of record, over one database.

Rooms take and return whole records. Search works on entry numbers instead: each memory and message is an entry whose
number is never reused, which lets search rank a hundred thousand entries without loading a single text.

Every room is tested on SQLite and on PostgreSQL and must not ask which of the two it runs on. The backends differ
only in their Database, their TextIndex and their Vectors.

Rooms are created, and their modules imported, on first use: clients start a server for every window, and importing
all rooms up front would make that a sixth slower.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..domain.census import Census
from ..domain.errors import BackstoryError
from ..domain.filters import Kind
from ..domain.spans import is_traced, span
from ..domain.when import from_ms
from .database import Database
from .entries import EntryRoom
from .memories import MemoryRoom
from .text import TextIndex
from .vectors import Vectors
from .writing import EntryWriter

if TYPE_CHECKING:
    from .answers import AnswerRoom
    from .archive import ArchiveRoom
    from .backups import BackupFiles
    from .changes import ChangeRoom
    from .checkpoints import CheckpointRoom
    from .contributions import ContributionRoom
    from .conversations import ConversationRoom
    from .copying import CopyingRoom
    from .devices import DeviceRoom
    from .exports import ExportRoom
    from .files import FileRoom
    from .graph import GraphRoom
    from .handoffs import HandoffRoom
    from .imports import Imports
    from .injections import InjectionRoom
    from .leases import LeaseRoom
    from .links import LinkRoom
    from .messages import MessageRoom
    from .origins import OriginRoom
    from .outgoing import OutgoingRoom
    from .residue import Residues
    from .results import ResultRoom
    from .runs import RunRoom
    from .sayings import SayingRoom
    from .sessions import SessionRoom
    from .space_copies import SpaceCopyRoom
    from .sync import SyncRoom
    from .team import TeamRoom
    from .traces import TraceRoom
    from .usage import UsageRoom
    from .witnesses import WitnessRoom

T = TypeVar("T")

_PARTS = {
    "conversations": ("_writer", "traces", "sayings", "results", "runs", "usage"),
    "archive": ("memories", "conversations", "messages", "traces", "sayings", "results", "runs"),
    "checkpoints": ("files",),
    "sync": ("conversations",),
    "copying": ("text", "vectors", "_writer"),
}
"""The other rooms that each room needs, besides the database."""


class Store:
    """The rooms of a store. To add one: a module of its name, and a line here."""

    answers: AnswerRoom
    archive: ArchiveRoom
    changes: ChangeRoom
    checkpoints: CheckpointRoom
    contributions: ContributionRoom
    conversations: ConversationRoom
    copying: CopyingRoom
    devices: DeviceRoom
    exports: ExportRoom
    files: FileRoom
    graph: GraphRoom
    handoffs: HandoffRoom
    imports: Imports
    injections: InjectionRoom
    leases: LeaseRoom
    links: LinkRoom
    messages: MessageRoom
    origins: OriginRoom
    outgoing: OutgoingRoom
    residue: Residues
    results: ResultRoom
    runs: RunRoom
    sayings: SayingRoom
    sessions: SessionRoom
    space_copies: SpaceCopyRoom
    sync: SyncRoom
    team: TeamRoom
    traces: TraceRoom
    usage: UsageRoom
    witnesses: WitnessRoom

    def __init__(self, database: Database, text: TextIndex, vectors: Vectors) -> None:
        self.database = database
        self.text = text
        self.vectors = vectors
        self.entries = EntryRoom(database)
        self._writer = EntryWriter(database, text, vectors)
        self.memories = MemoryRoom(database, self._writer)
        self.backups: BackupFiles | None = None
        """The backups of a store that is a file; None if the database has its own tools for them."""

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or none of it does; committed when it ends. Nests."""
        if is_traced() and not self.in_transaction:
            return self._traced_transaction()
        return self.database.transaction()

    @contextmanager
    def _traced_transaction(self) -> Iterator[None]:
        with span("store.transaction"), self.database.transaction():
            yield

    @property
    def in_transaction(self) -> bool:
        """True inside a transaction of this thread."""
        return self.database.in_transaction

    def searched(self, search: Callable[[Store], T]) -> T:
        """Run a search, which changes nothing, on this store or on a copy with all that was saved until now."""
        return search(self)

    def standby_problem(self) -> str | None:
        """The reason why searches cannot run on the configured standby; None if they can, or if there is none."""
        return None

    def version(self) -> Hashable | None:
        """A value that changes with every commit of any process; None if the database cannot provide one."""
        return self.database.version()

    def census(self) -> Census:
        """Count the records of the store, for the status report."""
        kinds = self.database.pairs("SELECT kind, count(*) FROM conversation GROUP BY kind")
        subagents = kinds.get("subagent", 0)
        memories = "SELECT count(*) FROM entry WHERE kind = ?"
        return Census(
            memories=self.database.value(memories, [Kind.MEMORY]),
            messages=self.messages.count_places(),
            conversations=sum(kinds.values()) - subagents,
            subagents=subagents,
            projects=self.count_projects(),
            waiting=self.database.value("SELECT count(*) FROM waiting"),
            bytes=self.database.total_bytes(),
        )

    def count_projects(self) -> int:
        """Projects of conversations and memories. A subagent may work in a folder of its own, which is no project."""
        sql = (
            "SELECT count(*) FROM (SELECT project FROM conversation WHERE kind <> 'subagent'"
            " UNION SELECT project FROM entry WHERE kind = ?) AS known WHERE project <> ''"
        )
        return int(self.database.value(sql, [Kind.MEMORY]))

    def made_at(self) -> datetime:
        """The creation time of the store."""
        return from_ms(self.database.made_at_ms())

    def used_bytes(self) -> int:
        """The size of the stored data, excluding space freed by deletions."""
        return self.database.used_bytes()

    def problems(self) -> list[str]:
        """Check the stored data and return one line per problem; empty if the store is intact."""
        lines: list[str] = []
        for part, check in (self.database.checks() | self.text.checks()).items():
            try:
                lines += [f"{part}: {problem}" for problem in check()]
            except BackstoryError as error:
                lines.append(f"{part}: {error.message}")
        return lines

    def backup(self, target: Path) -> int:
        """Write a consistent copy while the store is in use, and verify it. Returns its number of rows.

        The file appears only when it is complete and verified."""
        return self.database.backup(target, is_checked=True)

    def close(self) -> None:
        self.database.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Create a room on first access. Afterwards it is an ordinary attribute."""
            if (room := Store.__annotations__.get(name)) is None:
                raise AttributeError(name)
            parts = [getattr(self, each) for each in _PARTS.get(name, ())]
            instance = getattr(import_module(f".{name}", __name__), room)(self.database, *parts)
            return self.__dict__.setdefault(name, instance)
