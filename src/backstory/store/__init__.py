"""The store: a few rooms over one database, each a class that knows all about its noun.

Records go in and come out whole. Search works on numbers instead: each memory and message is an entry with a
number that is never used again, so that a hundred thousand can be ranked without loading one text.

Every test of a room runs on SQLite and on PostgreSQL; none may ask which one it got. The two differ in their Database,
their TextIndex and their Vectors, and in nothing else.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.census import Census
from ..domain.errors import BackstoryError
from ..domain.filters import Kind
from ..domain.when import from_ms
from .answers import Answers
from .archive import Archive
from .checkpoints import Checkpoints
from .conversations import Conversations
from .copying import Copying
from .database import Database
from .entries import Entries
from .files import Files
from .graph import Graph
from .leases import Leases
from .memories import Memories
from .residue import Residues
from .sessions import Sessions
from .sync import Sync
from .team import Team
from .text import TextIndex
from .traces import Traces
from .vectors import Vectors
from .witnesses import Witnesses
from .writing import EntryWriter

if TYPE_CHECKING:
    from .backups import BackupFiles


class Store:
    def __init__(self, database: Database, text: TextIndex, vectors: Vectors) -> None:
        writer = EntryWriter(database, text, vectors)
        self.database = database
        self.text = text
        self.vectors = vectors
        self.entries = Entries(database)
        self.memories = Memories(database, writer)
        self.traces = Traces(database)
        self.conversations = Conversations(database, writer, self.traces)
        self.archive = Archive(database, self.memories, self.conversations, self.traces)
        self.sessions = Sessions(database)
        self.files = Files(database)
        self.checkpoints = Checkpoints(database, self.files)
        self.graph = Graph(database)
        self.sync = Sync(database, self.conversations)
        self.witnesses = Witnesses(database)
        self.leases = Leases(database)
        self.answers = Answers(database)
        self.residue = Residues(database)
        self.team = Team(database)
        self.copying = Copying(database, text, vectors, writer)
        self.backups: BackupFiles | None = None
        """None where the database has its own tools for them."""

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or none of it does; committed when it ends. Nests."""
        return self.database.transaction()

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside one."""
        return self.database.in_transaction

    def census(self) -> Census:
        """What the store holds, for people."""
        kinds = self.database.pairs("SELECT kind, count(*) FROM entry GROUP BY kind")
        return Census(
            memories=kinds.get(Kind.MEMORY, 0),
            messages=kinds.get(Kind.MESSAGE, 0),
            conversations=self.database.value("SELECT count(*) FROM conversation"),
            projects=self.database.value("SELECT count(DISTINCT project) FROM entry"),
            waiting=self.database.value("SELECT count(*) FROM waiting"),
            bytes=self.database.total_bytes(),
        )

    def made_at(self) -> datetime:
        """When the store was new."""
        return from_ms(self.database.value("SELECT min(applied_at) FROM migration"))

    def used_bytes(self) -> int:
        """The size of what the store holds. Space that deletions freed does not count."""
        return self.database.used_bytes()

    def problems(self) -> list[str]:
        """What is wrong with the stored data; empty when all is well."""
        found: list[str] = []
        for part, check in (self.database.checks() | self.text.checks()).items():
            try:
                found += [f"{part}: {problem}" for problem in check()]
            except BackstoryError as error:
                found.append(f"{part}: {error.message}")
        return found

    def backup(self, target: Path) -> None:
        """Write a whole, consistent copy while others go on working. The file appears when it is whole."""
        self.database.backup(target)

    def close(self) -> None:
        self.database.close()
