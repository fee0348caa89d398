"""Export sessions from the store to a file, and import them. Items that the caller may not see are not exported.

Private memories of a session are exported only through the session's own connection. This applies to its items, their
history and the copies in its checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .... import __version__
from ....core import GuestPart, export_paths, stored_exports
from ....core.authors import attribute
from ....core.merging import MemoryCopy
from ....domain.errors import InvalidInput, NotAllowed, NotFound
from ....domain.filters import Filter, Kind, Order, Page
from ....domain.records import Former, Memory, Session
from ....domain.topics import slug
from ....domain.when import iso
from ....settings import expand_home
from . import arrival, ours, reading, table
from .arrival import ImportResult, Strategy
from .bundle import CheckpointCopy, Counts, FileCopy, LinkCopy, SessionCopy, count

if TYPE_CHECKING:
    from ....domain.checkpoints import CachedFile, Checkpoint

__all__ = ["ExportResult", "ImportResult", "Strategy", "Transfer"]


class ExportResult(NamedTuple):
    path: Path
    counts: Counts
    size: int


class Transfer(GuestPart):
    def export(
        self, sessions: Sequence[str], *, as_table: bool, path: str | None, with_facts: bool
    ) -> ExportResult:
        """Write sessions, by default the current one, with everything in them that the caller may see."""
        departure = Departure(self.core)
        with self.engine.store.transaction():  # a consistent snapshot
            parts = departure.with_links([departure.part(each) for each in self._sessions(sessions)])
        if as_table:
            parts = tuple(SessionCopy(part.session, part.items) for part in parts)
        counts = count(parts)
        facts = self._facts(counts) if with_facts else None
        name = path if path is not None else self._new_name(parts[0].session, "csv" if as_table else "json")
        text = (table if as_table else ours).write(parts, facts)
        if not self.caller.is_local:
            export = stored_exports.save(self.engine, self._stored_name(name), text, _memory_ids(parts))
            return ExportResult(Path(export.path), counts, export.size)
        target = self._locate(name)
        size = export_paths.write(target, text, self._exports, (ours.OPENING, table.OPENING))
        return ExportResult(target.path, counts, size)

    def bring(
        self, path: str, *, merge: bool = False, strategy: Strategy = Strategy.SKIP, name: str | None = None
    ) -> ImportResult:
        """Import a file completely or not at all: as new sessions, or into the current one."""
        if merge and name is not None:
            raise InvalidInput(
                "name is for a new session; with merge the items go into the current one.",
                hint="Leave out the name, or do not merge.",
                field="name",
            )
        file, text = self._read(path)
        sessions, problems = reading.read(text, file, self.surface, self.caller.project)
        if problems:
            return ImportResult(problems=problems)
        self.engine.check_room()
        session = self.core.sessions.current() if merge else None
        with self.engine.store.transaction():
            if session is not None:
                arrived = arrival.into(self.engine, session, sessions, strategy)
            else:
                arrived = arrival.as_new(self.engine, sessions, name)
            imported = Filter(threads=arrived.sessions, kinds=(Kind.MEMORY,))
            attribute(self.engine, self.caller, self.engine.store.memories.find(imported, Page()))
        self.engine.embed_soon()
        return arrived

    @property
    def _exports(self) -> Path:
        """The default directory for exports."""
        return self.engine.settings.home / "exports"

    def _read(self, path: str) -> tuple[str, str]:
        """Return name and text of a file to import."""
        if not self.caller.is_local:
            name = self._stored_name(path)
            return name, stored_exports.read(self.engine, name)
        source = self._source(path)
        return source.shown, export_paths.read(source)

    def _stored_name(self, path: str) -> str:
        if path.startswith("~") or Path(path).is_absolute():
            self.caller.check_local("path", hint="Give a relative path: the server stores exports itself.")
        return stored_exports.export_name(path, "path")

    def _locate(self, path: str) -> export_paths.ExportPlace:
        real = export_paths.locate(self._exports, path, "path")
        return export_paths.ExportPlace(real, str(real))

    def _source(self, path: str) -> export_paths.ExportPlace:
        """Return a file to import. The path comes from a model, and may only name files in permitted directories."""
        source = self._locate(path)
        bases = [self._exports, *self._import_places()]
        if not any(source.path.is_relative_to(base.resolve()) for base in bases):
            raise NotAllowed(
                f"{path} is neither in the export directory nor in the project.",
                hint=f"Copy it to {self._exports}, or start the server with --import-dirs.",
                field="path",
            )
        return source

    def _import_places(self) -> Iterator[Path]:
        """Yield directories besides the export directory.

        A server started in the user's home or above it has no project."""
        yield from map(expand_home, self.engine.settings.import_dirs)
        if not expand_home("~").is_relative_to(self.caller.directory):
            yield Path(self.caller.directory)

    def _sessions(self, ids: Sequence[str]) -> Iterator[Session]:
        """Yield each session once, in the requested order."""
        if not ids and self.caller.session is None:
            raise NotFound("session", "current", hint="Start one, or name one.")
        for id in dict.fromkeys(ids or [self.caller.session or ""]):
            session = self.core.sessions.get(id)
            if not self.core.sessions.is_own(session):
                raise NotFound("session", id)
            yield session

    def _facts(self, counts: Counts) -> dict[str, Any]:
        return {
            "exportedAt": iso(self.engine.now()),
            "server": f"backstory {__version__}",
            "surface": self.surface,
            "counts": counts._asdict(),
        }

    def _new_name(self, session: Session, suffix: str) -> str:
        stem = f"{slug(session.name)[:40] or 'session'}-{self.engine.now():%Y%m%d-%H%M%S}"
        return f"{stem}-{self.engine.new_id()[-8:]}.{suffix}"


def _memory_ids(parts: Sequence[SessionCopy]) -> set[str]:
    """Return the ids of all memories in the parts, including copies in checkpoints."""
    return {
        memory.id
        for part in parts
        for memory in (
            *(item.memory for item in (*part.items, *part.archived)),
            *(memory for checkpoint in part.checkpoints for memory in checkpoint.memories),
        )
    }


class Departure(GuestPart):
    def part(self, session: Session) -> SessionCopy:
        memories, store = self.core.memories, self.engine.store
        items = memories.find(Filter(threads=(session.id,)), Page(order=Order.OLDEST))
        archived = store.archive.find_memories(self.own(Filter(threads=(session.id,))))
        checkpoints = reversed(store.checkpoints.find(self.surface, session=session.id))
        return SessionCopy(
            session,
            items=tuple(self._item(memory, store.memories.former(memory.id)) for memory in items),
            files=self._files(store.files.find(session.id)),
            checkpoints=tuple(map(self._checkpoint, checkpoints)),
            archived=tuple(self._item(each.memory, each.history) for each in archived),
        )

    def with_links(self, parts: Sequence[SessionCopy]) -> tuple[SessionCopy, ...]:
        """Add the links between the items of these sessions."""
        owners = {item.memory.id: part.session.id for part in parts for item in (*part.items, *part.archived)}
        links = [
            link for link in self.engine.store.links.at(owners) if {link.source, link.target} <= owners.keys()
        ]
        return tuple(
            part._replace(
                links=tuple(
                    LinkCopy(link.source, link.target, link.relationship, link.metadata, link.created_at)
                    for link in links
                    if owners[link.source] == part.session.id
                )
            )
            for part in parts
        )

    def _item(self, memory: Memory, history: Sequence[Former]) -> MemoryCopy:
        """Copy an item with its visible history. A value that was once private stays private."""
        return MemoryCopy(memory, tuple(self.caller.visible_former(memory, history)))

    def _checkpoint(self, checkpoint: Checkpoint) -> CheckpointCopy:
        copy = self.engine.store.checkpoints.read(checkpoint)
        own = checkpoint.session == self.caller.session
        return CheckpointCopy(
            checkpoint,
            memories=tuple(memory for memory in copy.memories if own or not memory.private),
            files=self._files(copy.files),
        )

    def _files(self, files: Sequence[CachedFile]) -> tuple[FileCopy, ...]:
        contents = self.engine.store.files.read_blobs([file.hash for file in files])
        return tuple(
            FileCopy(file.path, contents[file.hash], file.cached_at, file.metadata) for file in files
        )
