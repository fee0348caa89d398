"""Checkpoints: take a true copy of the current session, and bring it back."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

from ...domain.checkpoints import CachedFile, Checkpoint
from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Filter, Kind, Page
from ...domain.records import Session
from ..authors import attribute
from ..merging import fresh_copies, merge_memories, take_arriving
from ..part import CallContext, CorePart
from ..projects import git_branch, git_status
from ..secrets import redactor
from . import GENERAL, Sessions, lineage


class RestoreResult(NamedTuple):
    checkpoint: Checkpoint
    session: Session
    items: int
    files: int
    withheld: int
    """Private memories that stay with the checkpoint's own session."""


class Checkpoints(CorePart):
    def __init__(self, context: CallContext, sessions: Sessions) -> None:
        super().__init__(context)
        self._sessions = sessions

    def before_compaction(self) -> list[Checkpoint]:
        """Take one checkpoint of the connection's session per surface that saved in it, before the assistant compacts
        its context. Memories outside of sessions need no copy, because they do not end with a session."""
        store, session = self.engine.store, self.caller.session
        if not session or store.sessions.get(session) is None:
            return []
        name = f"before compaction {self.engine.now():%Y-%m-%d %H:%M:%S}"
        saved = Filter(kinds=(Kind.MEMORY,), threads=(session,))
        return [
            self._through(surface).take(
                name, description="Taken when the assistant said so.", files=False, git=True
            )
            for surface in store.memories.surfaces()
            if store.entries.count(saved._replace(surfaces=(surface,)))
        ]

    def _through(self, surface: str) -> Checkpoints:
        context = self.context._replace(surface=surface)
        return Checkpoints(context, Sessions(context))

    def take(self, name: str, *, description: str, files: bool, git: bool) -> Checkpoint:
        """Copy all of the current session, including private memories.

        Later edits, deletions and archiving do not change the copy."""
        if not name.strip():
            raise InvalidInput("name is empty.", hint="Name the checkpoint.", field="name")
        store, session = self.engine.store, self._sessions.current()
        directory = Path(self.caller.directory)
        branch, status = (
            (git_branch(directory), self._git_status(directory))
            if git and self.caller.is_local
            else (None, None)
        )
        own = self.own(Filter(threads=(session.id,)))
        with store.transaction():
            self.engine.check_room()
            cached = store.files.find(session.id) if files else []
            copy = store.checkpoints.copy(own, cached)
            checkpoint = Checkpoint(
                id=self.engine.new_id(),
                name=name,
                description=description,
                session=session.id,
                project=session.project,
                surface=self.surface,
                root=copy.root,
                items=copy.items,
                files=len(cached),
                git_branch=branch,
                git_status=status,
                created_at=self.engine.now(),
            )
            store.checkpoints.put(checkpoint)
        return checkpoint

    def _git_status(self, directory: Path) -> str | None:
        """The git status with secrets redacted: a file name may contain one."""
        status = git_status(directory)
        return status and redactor(self.engine.settings.redaction).redact(status).text

    def find(self, *, id: str | None, name: str | None) -> Checkpoint:
        """The checkpoint with the id, else the newest with the name, else the newest; the caller's own project
        goes before others. Names are for everyone, private memories are not."""
        checkpoints = self.engine.store.checkpoints.find(self.surface, id=id, name=name)
        if not checkpoints:
            raise NotFound("checkpoint", next((each for each in (id, name) if each is not None), "latest"))
        return next((each for each in checkpoints if each.project == self.caller.project), checkpoints[0])

    def restore(self, checkpoint: Checkpoint, *, files: bool, merge: bool) -> RestoreResult:
        """Restore into a new session, which becomes the connection's, or merge into the current one, where restored
        values replace present ones. Private memories are restored, as private, only to the checkpoint's own session
        and to its descendants."""
        store = self.engine.store
        is_family = checkpoint.session in lineage(store, self.caller.session)
        current = self._sessions.current() if merge else None
        with store.transaction():
            checkpoint = self.find(id=checkpoint.id, name=None)  # its contents may be forgotten meanwhile
            contents = store.checkpoints.read(checkpoint)
            session = current or self._new_session(checkpoint, is_family)
            allowed = [memory for memory in contents.memories if is_family or not memory.private]
            self._unarchive({memory.key for memory in allowed}, session)
            merged = merge_memories(self.engine, fresh_copies(self.engine, allowed), session, take_arriving)
            attribute(self.engine, self.caller, merged.added)
            restored_files = contents.files if files else []
            self._put_files(restored_files, session)
        self.caller.session = session.id
        self.engine.embed_soon()
        withheld = len(contents.memories) - len(allowed)
        return RestoreResult(checkpoint, session, len(allowed), len(restored_files), withheld)

    def _new_session(self, checkpoint: Checkpoint, is_family: bool) -> Session:
        origin = self.engine.store.sessions.get(checkpoint.session)
        now = self.engine.now()
        session = Session(
            id=self.engine.new_id(),
            name=f"Restored: {checkpoint.name}",
            description=checkpoint.description,
            project=checkpoint.project,
            surface=self.surface,
            channel=origin.channel if origin else GENERAL,
            # a stranger's restore does not descend, else restoring twice would bring the private memories
            parent=checkpoint.session if is_family else None,
            created_at=now,
            updated_at=now,
        )
        self.engine.store.sessions.put(session)
        return session

    def _unarchive(self, keys: Set[str | None], session: Session) -> None:
        """Restore the session's archived memories under the given keys: a key is one memory, live or archived."""
        store, own = self.engine.store, self.own(Filter(threads=(session.id,)))
        oldest_first = [each.memory for each in reversed(store.archive.find_memories(own))]
        newest = {memory.key: memory.id for memory in oldest_first if memory.key in keys}
        live = {memory.key for memory in store.memories.find(own, Page())} if newest else set()
        store.archive.restore_memories([id for key, id in newest.items() if key not in live])

    def _put_files(self, files: list[CachedFile], session: Session) -> None:
        for file in files:
            known = self.engine.store.files.get(session.id, file.path)
            id = known.id if known else self.engine.new_id()
            self.engine.store.files.put(file._replace(id=id, session=session.id))
