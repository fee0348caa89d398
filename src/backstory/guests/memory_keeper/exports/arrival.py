"""Store the contents of a file as new sessions, or in an existing one.

The file was already checked. The caller holds a transaction, which makes the import complete or void."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from ....core.engine import Engine
from ....core.merging import (
    Choice,
    MemoryCopy,
    keep_current,
    merge_memories,
    put_with_history,
    take_arriving,
)
from ....domain.checkpoints import CachedFile
from ....domain.filters import Filter, Page
from ....domain.links import MemoryLink
from ....domain.records import Memory, Session
from .bundle import CheckpointCopy, Counts, FileCopy, SessionCopy, count


class Strategy(StrEnum):
    """The treatment of an item whose key is in use."""

    SKIP = "skip"
    OVERWRITE = "overwrite"
    RENAME = "rename"


class ImportResult(NamedTuple):
    counts: Counts = Counts()
    skipped: int = 0
    sessions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Reasons why nothing was imported."""


def as_new(engine: Engine, parts: tuple[SessionCopy, ...], name: str | None) -> ImportResult:
    """Store the sessions unchanged, with their own ids if these are free."""
    ids = {part.session.id: _free_session(engine, part.session.id) for part in parts}
    parts = _with_free_ids(engine, parts)
    for number, part in enumerate(parts, start=1):
        session = part.session
        session = session._replace(
            id=ids[session.id],
            name=_named(session, name, number),
            parent=ids.get(session.parent or "", session.parent),
        )
        engine.store.sessions.put(session)
        for checkpoint in part.checkpoints:
            keep_checkpoint(engine, session, checkpoint)
        for item in part.items:
            _keep(engine, item, session)
        for file in part.files:
            keep_file(engine, session, file)
        _archive(engine, session, part.archived)
    _keep_links(engine, parts, ids)
    return ImportResult(count(parts), sessions=tuple(ids.values()))


def _named(session: Session, name: str | None, number: int) -> str:
    if name is None:
        return session.name
    return name if number == 1 else f"{name} {number}"


def into(
    engine: Engine, session: Session, parts: tuple[SessionCopy, ...], strategy: Strategy
) -> ImportResult:
    """Store everything in one session. Existing items and files are left or replaced, or an item gets a new key.

    Checkpoints are copies, and are added to the existing ones."""
    parts = _with_free_ids(engine, parts)
    for part in parts:
        for checkpoint in part.checkpoints:
            keep_checkpoint(engine, session, checkpoint)
    items = _merge_items(engine, session, [item for part in parts for item in part.items], strategy)
    items += _merge_archived(engine, session, [item for part in parts for item in part.archived])
    files = _merge_files(engine, session, [file for part in parts for file in part.files], strategy)
    _keep_links(engine, parts, {part.session.id: session.id for part in parts})
    all_ = count(parts)
    return ImportResult(
        Counts(0, items, files, all_.checkpoints), all_.items - items + all_.files - files, (session.id,)
    )


def _merge_items(engine: Engine, session: Session, items: Iterable[MemoryCopy], strategy: Strategy) -> int:
    """Merge items, and return the number imported."""
    merged = merge_memories(engine, [_prepared(engine, item) for item in items], session, _CHOICES[strategy])
    # items that already had the same value count as overwritten, if that was requested
    same = [each for each in merged.known if strategy is Strategy.OVERWRITE and each.key is not None]
    return len(merged.added) + len(merged.replaced) + len(same)


def _rename(current: Memory, arriving: Memory) -> Choice:
    return Choice.KEEP if current.key is None else Choice.RENAME


_CHOICES = {
    Strategy.SKIP: keep_current,
    Strategy.OVERWRITE: take_arriving,
    Strategy.RENAME: _rename,
}


def _merge_files(engine: Engine, session: Session, files: Iterable[FileCopy], strategy: Strategy) -> int:
    """Merge files, and return the number imported. A path cannot be renamed: it is replaced or left alone."""
    count = 0
    for file in files:
        if strategy is Strategy.OVERWRITE or engine.store.files.get(session.id, file.path) is None:
            keep_file(engine, session, file)
            count += 1
    return count


def _merge_archived(engine: Engine, session: Session, items: Sequence[MemoryCopy]) -> int:
    """Add archived items, and return the number imported.

    Keys may repeat in an archive; only identical values are left out."""
    mine = Filter(surfaces=tuple({item.memory.surface for item in items}), threads=(session.id,))
    present = {_value(archived.memory) for archived in engine.store.archive.find_memories(mine)}
    return _archive(engine, session, [item for item in items if _value(item.memory) not in present])


def _value(memory: Memory) -> tuple[str | None, str, datetime]:
    return memory.key, memory.text, memory.created_at


def _archive(engine: Engine, session: Session, items: Sequence[MemoryCopy]) -> int:
    engine.store.archive.put_memories([_keep(engine, item, session) for item in items])
    return len(items)


def _prepared(engine: Engine, item: MemoryCopy) -> MemoryCopy:
    """Add a summary, which files do not contain."""
    summary = engine.summarizer.summary(item.memory.text)
    return item._replace(memory=item.memory._replace(summary=summary))


def _keep(engine: Engine, item: MemoryCopy, session: Session) -> Memory:
    memory, history = _prepared(engine, item)
    memory = memory._replace(session=session.id, project=session.project)
    put_with_history(engine.store, memory, history)
    return memory


def _keep_links(engine: Engine, parts: tuple[SessionCopy, ...], sessions: Mapping[str, str]) -> None:
    """Store the links between the imported items. An item that was skipped is replaced by the session's own with the
    same key.

    `sessions` maps the session of the file to the one that received its items."""
    items = {
        item.memory.id: (item.memory, sessions[part.session.id])
        for part in parts
        for item in (*part.items, *part.archived)
    }
    now = engine.now()
    for link in (link for part in parts for link in part.links):
        source, target = (_present(engine, *items[end]) for end in (link.source, link.target))
        if engine.store.links.get(source, target, link.relationship) is None and source != target:
            engine.store.links.put(
                MemoryLink(
                    engine.new_id(), source, target, link.relationship, link.created_at, now, link.metadata
                )
            )


def _present(engine: Engine, memory: Memory, session: str) -> str:
    """Return the id of an item after its import into a session."""
    if memory.key is None or engine.store.entries.count(Filter(ids=(memory.id,))):
        return memory.id
    same = Filter(surfaces=(memory.surface,), threads=(session,), keys=(memory.key,))
    present = engine.store.memories.find(same, Page(limit=1))
    return present[0].id if present else memory.id


def _with_free_ids(engine: Engine, parts: tuple[SessionCopy, ...]) -> tuple[SessionCopy, ...]:
    """Assign new ids where they are in use: an item, its copies in checkpoints and its links get the same one."""
    items = [item.memory for part in parts for item in (*part.items, *part.archived)]
    copied = [memory for part in parts for copy in part.checkpoints for memory in copy.memories]
    ids = {id: engine.new_id() for id in _taken(engine, sorted({memory.id for memory in (*items, *copied)}))}

    def freed(memory: Memory) -> Memory:
        return memory._replace(id=ids.get(memory.id, memory.id))

    return tuple(
        part._replace(
            items=tuple(item._replace(memory=freed(item.memory)) for item in part.items),
            archived=tuple(item._replace(memory=freed(item.memory)) for item in part.archived),
            checkpoints=tuple(
                checkpoint._replace(memories=tuple(map(freed, checkpoint.memories)))
                for checkpoint in part.checkpoints
            ),
            links=tuple(
                link._replace(
                    source=ids.get(link.source, link.source), target=ids.get(link.target, link.target)
                )
                for link in part.links
            ),
        )
        for part in parts
    )


def _taken(engine: Engine, ids: Sequence[str]) -> Iterator[str]:
    """Yield the ids that the store uses for any memory or message, live or archived."""
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        archived_memories = engine.store.archive.find_memories(Filter(ids=tuple(some)), with_forgotten=True)
        archived = {each.memory.id for each in archived_memories}
        is_quiet = not engine.store.entries.count(Filter(ids=tuple(some)))
        for id in some:
            if id in archived or not (is_quiet or engine.store.entries.count(Filter(ids=(id,))) == 0):
                yield id


def _free_session(engine: Engine, id: str) -> str:
    return engine.new_id() if engine.store.sessions.get(id) else id


def keep_file(engine: Engine, session: Session, file: FileCopy) -> CachedFile:
    cached = _keep_content(engine, session, file)
    engine.store.files.put(cached)
    return cached


def _keep_content(engine: Engine, session: Session, file: FileCopy) -> CachedFile:
    return CachedFile(
        id=engine.new_id(),
        session=session.id,
        path=file.path,
        hash=engine.store.files.put_blobs([file.content])[0],
        size=len(file.content),
        cached_at=file.cached_at,
        metadata=file.metadata,
    )


def keep_checkpoint(engine: Engine, session: Session, arriving: CheckpointCopy) -> None:
    store = engine.store
    memories = [
        memory._replace(project=session.project, summary=engine.summarizer.summary(memory.text))
        for memory in arriving.memories
    ]
    files = [_keep_content(engine, session, file) for file in arriving.files]
    copy = store.checkpoints.copy_foreign(memories, files)
    checkpoint = arriving.checkpoint
    is_known = bool(store.checkpoints.find(checkpoint.surface, id=checkpoint.id))
    store.checkpoints.put(
        checkpoint._replace(
            id=engine.new_id() if is_known else checkpoint.id,
            session=session.id,
            project=session.project,
            root=copy.root,
            items=copy.items,
            files=len(files),
        )
    )
