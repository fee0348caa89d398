"""The contents of a store in numbers, as `status`, `doctor` and the pages show them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from ..domain.backups import Backup
from ..domain.census import ArchiveCensus, Census, ReaderCensus
from ..domain.filters import ConversationFilter
from ..domain.origins import MemoryFileCensus
from .backups import Backups
from .engine import Engine

_HEADS = ConversationFilter(kinds=("main", "fork", "prompt-log"))
"""Conversations that a person had, without those that only tools started."""


class BackupState(NamedTuple):
    files: list[Backup]
    """The oldest first."""
    are_made: bool
    is_too_large: bool
    """The store is larger than the setting allows its backups to be."""


class StoreContents(NamedTuple):
    census: Census
    archived: ArchiveCensus
    histories: Mapping[str, ReaderCensus]
    """Counts by reader."""
    unreadable: Mapping[str, str]
    """Files of histories that cannot be read, and why."""
    client_memories: Mapping[str, MemoryFileCensus]
    without_results: int
    """Conversations whose source was gone before the results of tools were stored."""
    assistants: int


def contents_of(engine: Engine, census: Census | None = None) -> StoreContents:
    """All of it; with a census that was made before, only the parts that are cheap to read."""
    store = engine.store
    return StoreContents(
        census or store.census(),
        store.archive.census(),
        store.sync.census(),
        unreadable_files(engine),
        store.origins.census(),
        store.results.count_lost(),
        len({each.surface for each in store.conversations.tally(_HEADS)}),
    )


def census_of(engine: Engine) -> Census:
    """Counts of the records, which read a large part of the indexes."""
    return engine.store.census()


def version_of(engine: Engine) -> Hashable | None:
    """A value that changes with every commit of any process; None if the database cannot provide one."""
    return engine.store.version()


def size_hint(engine: Engine) -> int:
    """At least the number of memories and messages; it grows with every new one, and is cheap to read."""
    return engine.store.entries.size_hint()


def unreadable_files(engine: Engine) -> Mapping[str, str]:
    """Files of histories that cannot be read, and why."""
    return engine.store.sync.problems()


def is_empty(engine: Engine) -> bool:
    """True if there is neither a memory nor a conversation."""
    census = census_of(engine)
    return not (census.memories or census.conversations)


def latest_project(engine: Engine) -> str:
    """The project of the last updated conversation, or ""."""
    return next((each.project for each in engine.store.conversations.find(_HEADS, limit=1)), "")


def waiting_texts(engine: Engine) -> int:
    """The number of texts without a vector of the model in use. Vectors of another model do not count."""
    return 0 if engine.backlog is None else engine.store.vectors.count_waiting(engine.backlog.space)


def waiting_deliveries(engine: Engine) -> int:
    """The number of memories that have yet to reach a joined space."""
    return len(engine.store.outgoing.all())


def backup_state(engine: Engine) -> BackupState | None:
    """The backups of the store; None if the database has its own tools for them."""
    if engine.store.backups is None:
        return None
    is_too_large = engine.makes_backups and Backups(engine).is_too_large()
    return BackupState(engine.store.backups.find(), engine.makes_backups and not is_too_large, is_too_large)
