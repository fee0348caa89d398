"""Cached files and checkpoints of a file, put into the store."""

from __future__ import annotations

from ...domain.checkpoints import CachedFile
from ...domain.checkpoints import Checkpoint as Taken
from ...domain.records import Session
from ..engine import Engine
from .bundle import CheckpointCopy, FileCopy


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


def keep_checkpoint(engine: Engine, session: Session, checkpoint: CheckpointCopy) -> None:
    store = engine.store
    memories = [
        memory._replace(project=session.project, summary=engine.summarizer.summary(memory.text))
        for memory in checkpoint.memories
    ]
    files = [_keep_content(engine, session, file) for file in checkpoint.files]
    copy = store.checkpoints.copy_foreign(memories, files)
    store.checkpoints.put(
        Taken(
            id=engine.new_id()
            if store.checkpoints.find(session.surface, id=checkpoint.id)
            else checkpoint.id,
            name=checkpoint.name,
            description=checkpoint.description,
            session=session.id,
            project=session.project,
            surface=session.surface,
            root=copy.root,
            items=copy.items,
            files=len(files),
            git_branch=checkpoint.git_branch,
            git_status=checkpoint.git_status,
            created_at=checkpoint.created_at,
        )
    )
