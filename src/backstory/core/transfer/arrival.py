"""What a file held, put into the store: as sessions of its own, or into one that is there.

Nothing here checks the file; the caller holds a transaction, so all of it arrives or nothing does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import count as numbers
from typing import NamedTuple

from ...domain.filters import Filter, Page
from ...domain.records import Memory, Session
from ..engine import Engine
from ..merging import put_with_history
from .bundle import Counts, FileCopy, MemoryCopy, SessionCopy, count
from .copies import keep_checkpoint, keep_file


class Strategy(StrEnum):
    """What happens to an item whose key is in use."""

    SKIP = "skip"
    OVERWRITE = "overwrite"
    RENAME = "rename"


class ImportResult(NamedTuple):
    counts: Counts = Counts()
    skipped: int = 0
    sessions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Why nothing arrived."""


def as_new(engine: Engine, parts: tuple[SessionCopy, ...], name: str | None) -> ImportResult:
    """Sessions as they were, under their own ids where these are free."""
    ids = {part.session.id: _free_session(engine, part.session.id) for part in parts}
    for number, part in enumerate(parts, start=1):
        session = part.session
        session = session._replace(
            id=ids[session.id],
            name=_named(session, name, number),
            parent=ids.get(session.parent or "", session.parent),
        )
        engine.store.sessions.put(session)
        part = _with_free_ids(engine, part)
        for checkpoint in part.checkpoints:
            keep_checkpoint(engine, session, checkpoint)
        for item in part.items:
            _keep(engine, item, session)
        for file in part.files:
            keep_file(engine, session, file)
        _archive(engine, session, part.archived)
    return ImportResult(count(parts), sessions=tuple(ids.values()))


def _named(session: Session, name: str | None, number: int) -> str:
    if name is None:
        return session.name
    return name if number == 1 else f"{name} {number}"


def into(
    engine: Engine, session: Session, parts: tuple[SessionCopy, ...], strategy: Strategy
) -> ImportResult:
    """Everything into one session; an item or a file that is there already is kept or replaced, or an item is
    joined by the other under a new key. Checkpoints are copies, and join those that are there."""
    parts = tuple(_with_free_ids(engine, part) for part in parts)
    for part in parts:
        for checkpoint in part.checkpoints:
            keep_checkpoint(engine, session, checkpoint)
    items = _merge_items(engine, session, [item for part in parts for item in part.items], strategy)
    items += _merge_archived(engine, session, [item for part in parts for item in part.archived])
    files = _merge_files(engine, session, [file for part in parts for file in part.files], strategy)
    engine.store.sessions.put(session._replace(updated_at=engine.now()))
    all_ = count(parts)
    return ImportResult(
        Counts(0, items, files, all_.checkpoints), all_.items - items + all_.files - files, (session.id,)
    )


def _merge_items(engine: Engine, session: Session, items: Iterable[MemoryCopy], strategy: Strategy) -> int:
    """How many were brought in."""
    items = list(items)
    mine = Filter(surfaces=(session.surface,), threads=(session.id,))
    present = {_mark(memory): memory for memory in engine.store.memories.find(mine, Page())}
    keys = {memory.key for memory in (*present.values(), *(item.memory for item in items))}
    skipped = 0
    for item in items:
        known = present.get(_mark(item.memory))
        if known is None:
            memory = _keep(engine, item, session)
        elif strategy is Strategy.SKIP or known.key is None:
            skipped += 1
            continue
        elif strategy is Strategy.OVERWRITE:
            memory = _overwrite(engine, item, known, session)
        else:
            memory = _keep(engine, _renamed(item, keys), session)
        present[_mark(memory)] = memory
        keys.add(memory.key)
    return len(items) - skipped


def _merge_files(engine: Engine, session: Session, files: Iterable[FileCopy], strategy: Strategy) -> int:
    """How many were brought in. A path is no name that could be changed: it is replaced, or left alone."""
    kept = 0
    for file in files:
        if strategy is Strategy.OVERWRITE or engine.store.files.get(session.id, file.path) is None:
            keep_file(engine, session, file)
            kept += 1
    return kept


def _merge_archived(engine: Engine, session: Session, items: Iterable[MemoryCopy]) -> int:
    """How many were brought in. An archive may hold a key often, so only the very same value is left out."""
    mine = Filter(surfaces=(session.surface,), threads=(session.id,))
    present = {_value(archived.memory) for archived in engine.store.archive.find_memories(mine)}
    return _archive(engine, session, [item for item in items if _value(item.memory) not in present])


def _value(memory: Memory) -> tuple[str | None, str, datetime]:
    return memory.key, memory.text, memory.created_at


def _archive(engine: Engine, session: Session, items: Sequence[MemoryCopy]) -> int:
    engine.store.archive.put_memories([_keep(engine, item, session) for item in items])
    return len(items)


def _mark(memory: Memory) -> object:
    """What makes an item the same as another in its session: its key, else what it says and when it was said."""
    return memory.key if memory.key is not None else (memory.text, memory.category, memory.created_at)


def _said(m: Memory) -> object:
    return m.text, m.category, m.priority, m.channel, m.tags, dict(m.metadata), m.private


def _renamed(item: MemoryCopy, taken: Iterable[str | None]) -> MemoryCopy:
    key = next(key for number in numbers(2) if (key := f"{item.memory.key}-{number}") not in taken)
    return item._replace(memory=item.memory._replace(key=key))


def _overwrite(engine: Engine, item: MemoryCopy, known: Memory, session: Session) -> Memory:
    """As saving the key again: id and time of making stay, the former value goes to the history. What was
    private stays so."""
    if _said(item.memory) == _said(known):
        return known
    engine.store.memories.add_former(known)
    memory = item.memory._replace(
        id=known.id,
        channel=item.memory.channel or known.channel,
        created_at=known.created_at,
        updated_at=engine.now(),
        private=known.private or item.memory.private,
    )
    return _keep(engine, MemoryCopy(memory, item.history), session)


def _keep(engine: Engine, item: MemoryCopy, session: Session) -> Memory:
    memory = item.memory._replace(
        session=session.id,
        project=session.project,
        summary=engine.summarizer.summary(item.memory.text),
    )
    put_with_history(engine.store, memory, item.history)
    return memory


def _with_free_ids(engine: Engine, part: SessionCopy) -> SessionCopy:
    """An item and its copies in checkpoints get the same new id where theirs is in use."""
    copied = (memory for checkpoint in part.checkpoints for memory in checkpoint.memories)
    memories = [*(item.memory for item in (*part.items, *part.archived)), *copied]
    ids = {id: engine.new_id() for id in _taken(engine, sorted({memory.id for memory in memories}))}

    def freed(memory: Memory) -> Memory:
        return memory._replace(id=ids.get(memory.id, memory.id))

    return part._replace(
        items=tuple(item._replace(memory=freed(item.memory)) for item in part.items),
        archived=tuple(item._replace(memory=freed(item.memory)) for item in part.archived),
        checkpoints=tuple(
            checkpoint._replace(memories=tuple(map(freed, checkpoint.memories)))
            for checkpoint in part.checkpoints
        ),
    )


def _taken(engine: Engine, ids: Sequence[str]) -> Iterator[str]:
    """Those that the store uses, for any memory or message, live or archived."""
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        found = engine.store.archive.find_memories(Filter(ids=tuple(some)), with_forgotten=True)
        archived = {each.memory.id for each in found}
        is_quiet = not engine.store.entries.count(Filter(ids=tuple(some)))
        for id in some:
            if id in archived or not (is_quiet or engine.store.entries.count(Filter(ids=(id,))) == 0):
                yield id


def _free_session(engine: Engine, id: str) -> str:
    return engine.new_id() if engine.store.sessions.get(id) else id
