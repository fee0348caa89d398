"""Sync: import the histories that other assistants store on disk. Their files are only read.

Each piece of a conversation is saved in one transaction together with the cursor for the next read, so an
interrupted sync resumes where it stopped. Imported conversations stay when their file vanishes.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import BackstoryError, InvalidInput
from ...domain.sources import SourceStamp
from ...readers import Form, Places, Reader, Source
from ...readers.formats.databases import beside
from ..abandoning import Stalled, run_aside
from ..calls import Call, Cancelled
from ..engine import Engine
from ..exclusion import Exclusion
from ..projects.identity import Identities
from ..watch import WatchedPath, watched_file, watched_paths
from . import decoding
from .decoder_process import DecoderProcess
from .decoding import DueSource, Portion
from .files import Stamp, stamp_of
from .keeper import Keeper, SourceFiles
from .keeping import PieceOutcome
from .reading import SourceReading
from .redacting import Redaction
from .transactions import ShortTransactions
from .worktrees import join_worktrees

LEASE = "sync"
LEASE_MS = 15_000  # renewed after a third of it; see `_pause`
ASK_AGAIN_S = 0.1  # pause between two attempts to get the lease
FIND_S = 300.0
"""Time limit for finding files. Beyond it the file system counts as hanging."""


class SyncReport(NamedTuple):
    """The result of a sync for one assistant."""

    title: str
    sources: int
    unchanged: int
    vanished: int
    conversations: int
    """Conversations with something new, subagents included."""
    turns: int
    redacted: int
    private: int
    """Passages between `<private>` and `</private>` that were left out."""
    excluded: int
    """The number of files and pieces of conversations that match the user's exclusion rules."""
    skipped: Mapping[str, int]
    problems: Mapping[str, str]
    """Problems by path; "" if the search for files failed."""
    subagents: int = 0
    projects: frozenset[str] = frozenset()
    """Projects with new content."""

    def and_then(self, more: SyncReport) -> SyncReport:
        """Combine this report with that of a second pass."""
        return more._replace(
            # The second pass looks at the same files, so these three counts are not added up.
            unchanged=min(self.unchanged, more.unchanged),
            vanished=self.vanished + more.vanished,
            conversations=max(self.conversations, more.conversations),
            subagents=max(self.subagents, more.subagents),
            turns=self.turns + more.turns,
            redacted=self.redacted + more.redacted,
            private=self.private + more.private,
            excluded=max(self.excluded, more.excluded),
            skipped=Counter(self.skipped) + Counter(more.skipped),
            projects=self.projects | more.projects,
        )


class Sync:
    """The synchronisation of one process. A lease lets only one process work at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.store
        self._redaction = Redaction(engine.settings.redaction)
        self._exclusion = Exclusion(engine.settings.exclude)
        self._holder = engine.new_id()
        self._leased_at = 0.0
        self._is_newest_first = False

    def run(
        self,
        readers: Iterable[Reader],
        places: Places,
        *,
        call: Call | None = None,
        patience_s: float = 0.0,
        newest_first: bool = False,
    ) -> dict[str, SyncReport] | None:
        """Import new content and return a report per reader. With `newest_first` the file that changed last is read
        first, for a caller with little time.

        Returns None if another process was syncing for all of `patience_s`. Raises Cancelled between pieces; pieces
        saved by then stay."""
        call = call or Call()
        if not self._is_our_turn(call, patience_s):
            return None
        self._exclusion = Exclusion(self._engine.settings.exclude)  # ignore files may have changed
        self._is_newest_first = newest_first
        try:
            with closing(DecoderProcess(self._redaction, self._exclusion)) as process:
                return self._run(list(readers), places, call, process)
        finally:
            self._store.leases.drop(LEASE, self._holder)

    def run_file(
        self,
        readers: Iterable[Reader],
        places: Places,
        path: Path,
        *,
        call: Call | None = None,
        patience_s: float = 0.0,
    ) -> SyncReport | None:
        """Import new content of one file, which must be in a reader's own folders.

        Returns None if another process was syncing for all of `patience_s`. Raises InvalidInput for a file that no
        reader finds."""
        call = call or Call()
        if not self._is_our_turn(call, patience_s):
            return None
        try:
            places = self._with_projects(places)
            reader = next((each for each in readers if _finds(each, places, path)), None)
            if reader is None:
                raise InvalidInput(
                    f"{path} is not in a folder of histories that Backstory reads.",
                    hint="`backstory sync` reads all histories in the assistants' own folders.",
                    field="file",
                )
            self._exclusion = Exclusion(self._engine.settings.exclude)  # ignore files may have changed
            with closing(DecoderProcess(self._redaction, self._exclusion)) as process:
                return self._sync(reader, places, call, process, only=os.path.realpath(path))
        finally:
            self._store.leases.drop(LEASE, self._holder)

    def _run(
        self, readers: Sequence[Reader], places: Places, call: Call, process: DecoderProcess
    ) -> dict[str, SyncReport]:
        """Run all readers. Readers that search projects run again if others discovered more projects.

        A bug in one reader is raised after all others have finished."""
        outcome: dict[str, SyncReport] = {}
        asked: dict[str, Places] = {}
        bugs: list[Exception] = []

        def sync(reader: Reader, places: Places) -> None:
            try:
                report = self._sync(reader, places, call, process)
            except (BackstoryError, Cancelled):
                raise
            except Exception as bug:  # raised below: a bug in one reader must not stop the others
                bugs.append(bug)
                return
            before = outcome.get(reader.name)
            outcome[reader.name] = report if before is None else before.and_then(report)

        for reader in readers:
            asked[reader.name] = self._with_projects(places)
            sync(reader, asked[reader.name])
        places = self._with_projects(places)
        for reader in readers:
            if reader.by_projects and asked[reader.name].projects != places.projects:
                sync(reader, places)
        if any(report.conversations for report in outcome.values()):
            # New conversations may have revealed the repository of a deleted worktree.
            join_worktrees(self._store, Identities(places.platform, self._with_projects(places).projects))
        # After all readers: the bug is reported, but the other histories are saved.
        if bugs:
            raise bugs[0]
        return outcome

    def _with_projects(self, places: Places) -> Places:
        known = map(Path, self._store.conversations.projects())
        return places._replace(projects=tuple(dict.fromkeys((*places.projects, *known))))

    def _is_our_turn(self, call: Call, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while not self._lease():
            if time.monotonic() >= deadline:
                return False
            call.raise_if_cancelled()
            call.progress(0, None, "Waiting for another process that is reading histories")
            time.sleep(ASK_AGAIN_S)
        return True

    def _lease(self) -> bool:
        self._leased_at = time.monotonic()
        return self._store.leases.take(LEASE, self._holder, for_ms=LEASE_MS)

    def _pause(self, call: Call) -> None:
        """Check for cancellation between pieces, and renew the lease.

        An expired lease does no harm: a piece that two processes save concurrently is stored once."""
        call.raise_if_cancelled()
        # Renew after a third of the lease (milliseconds / 1000 / 3).
        if time.monotonic() - self._leased_at > LEASE_MS / 3000:
            self._lease()

    def _sync(
        self, reader: Reader, places: Places, call: Call, process: DecoderProcess, *, only: str = ""
    ) -> SyncReport:
        """Sync one reader.

        With `only`, the path of one file, all other files wait for the next sync, including vanished ones."""
        tally = _Tally(reader.title)
        known = self._store.sync.stamps(reader.name)
        looked_at_ns = time.time_ns()
        try:
            # In a thread that can be abandoned: a file system may hang.
            stamps, tally.excluded, outdated = run_aside(
                lambda: self._find(reader, places, known), f"find {reader.name}", FIND_S
            )
        except OSError as error:
            tally.problems[""] = str(error)
            return tally.report()
        except Stalled:
            tally.problems[""] = f"Where its files may be did not answer within {FIND_S:.0f} seconds."
            return tally.report()
        watched = _watched(reader, places, stamps, looked_at_ns)
        keeper = Keeper(
            self._store,
            reader.name,
            Identities(places.platform, places.projects),
            SourceFiles(stamps.keys(), known.keys()),
            ShortTransactions(self._store),
        )
        vanished = [path for path, stamp in known.items() if path not in stamps and not stamp.is_gone]
        # Exports are imported once and may be deleted; with `only` the other files were not looked at.
        if reader.is_export or only:
            vanished = []
        self._reset(keeper, vanished, outdated)
        if outdated:
            known = self._store.sync.stamps(reader.name)  # the reset changed them
        tally.sources, tally.vanished = len(stamps), len(vanished)
        reading = SourceReading(self._engine, reader, self._redaction, self._exclusion, keeper, process)
        due = [
            DueSource(
                source, stamp, self._store.sync.get(path) if path in known else None, reading.trust_of(source)
            )
            for path, (source, stamp) in stamps.items()
            if reading.is_due(source, stamp, known.get(path)) and only in ("", os.path.realpath(path))
        ]
        if self._is_newest_first:
            due.sort(key=lambda each: each.stamp.modified_ns, reverse=True)
        self._read(reading, due, call, tally)
        if not only:
            self._engine.read_paths.note(reader.name, watched)
        tally.unchanged = tally.sources - len(due)
        # Problems of earlier syncs are reported as long as they last.
        after = self._store.sync.stamps(reader.name) if due else known
        tally.problems |= {path: stamp.problem for path, stamp in after.items() if stamp.problem}
        touched = self._store.conversations.get(sorted(tally.conversations))
        return tally.report()._replace(
            subagents=sum(each.kind == "subagent" for each in touched),
            projects=frozenset(each.project for each in touched),
        )

    def _reset(self, keeper: Keeper, vanished: Sequence[str], outdated: Sequence[str]) -> None:
        """Note that files vanished, and let outdated ones be read from their beginning."""
        if vanished:
            with keeper.transactions:
                keeper.vanish(vanished)
        if outdated:
            with keeper.transactions:
                # Reset the cursors; the files are then due like new ones.
                for path in outdated:
                    self._store.sync.restart(path)

    def _find(
        self, reader: Reader, places: Places, known: Mapping[str, SourceStamp]
    ) -> tuple[dict[str, tuple[Source, Stamp]], int, list[str]]:
        """The reader's files with their stamps, the number of excluded ones, and the known files that are outdated."""
        stamps = _find(reader, places)
        # Before comparing: excluded files must not be opened.
        excluded = self._leave_out(stamps)
        return stamps, excluded, _outdated(reader, stamps, known)

    def _leave_out(self, stamps: dict[str, tuple[Source, Stamp]]) -> int:
        """Remove excluded files before any of them is opened. Returns their number."""
        excluded = [
            path
            for path, (source, _) in stamps.items()
            if self._exclusion.excludes_source(source.path, source.directory)
        ]
        for path in excluded:
            del stamps[path]
        return len(excluded)

    def _read(self, reading: SourceReading, due: Sequence[DueSource], call: Call, tally: _Tally) -> None:
        read, total = 0, sum(each.stamp.size for each in due)
        batch: list[tuple[DueSource, Portion]] = []
        size = 0
        self._engine.check_room()
        call.progress(read, total, f"Reading {tally.title}")
        if not due:
            return
        for each, portion in reading.portions(due):
            batch.append((each, portion))
            size += each.stamp.size
            # Small files share a transaction; each part of a large file has its own.
            if size >= decoding.SMALL_BYTES or not portion.is_last:
                self._keep(reading, batch, tally)
                read += sum(each.stamp.size for each, portion in batch if portion.is_last)
                call.progress(read, total, f"Reading {tally.title}")
                batch, size = [], 0
                self._engine.check_room()
            # Outside of the transaction: cancelling leaves only whole batches.
            self._pause(call)
        self._keep(reading, batch, tally)
        self._engine.embed_soon()

    def _keep(
        self, reading: SourceReading, batch: Sequence[tuple[DueSource, Portion]], tally: _Tally
    ) -> None:
        if batch:
            with reading.transactions:
                for each, portion in batch:
                    for outcome in reading.keep(each, portion):
                        tally.add(outcome)
                    reading.transactions.rest()


def _find(reader: Reader, places: Places) -> dict[str, tuple[Source, Stamp]]:
    """The reader's files with their stamps, sorted by path."""
    stamps = {}
    for path, source in sorted((str(source.path), source) for source in reader.find(places)):
        try:
            stamps[path] = source, stamp_of(source)
        except OSError:
            continue  # it was deleted after it was found
    return stamps


def _watched(
    reader: Reader, places: Places, stamps: Mapping[str, tuple[Source, Stamp]], looked_at_ns: int
) -> list[WatchedPath]:
    """Files within projects have folders in which much else changes. A database is read when its -wal changes, too."""
    files: list[WatchedPath] = []
    for path, (source, stamp) in stamps.items():
        if source.form is Form.DATABASE:
            files += [watched_file(path), watched_file(beside(source.path, "-wal"))]
        else:
            files.append(WatchedPath(path, *stamp))
    return watched_paths(files, places.home, looked_at_ns, with_folders=not reader.in_projects)


def _finds(reader: Reader, places: Places, path: Path) -> bool:
    wanted = os.path.realpath(path)
    try:
        paths = run_aside(
            lambda: [source.path for source in reader.find(places)], f"find {reader.name}", FIND_S
        )
    except (OSError, Stalled):
        return False
    # Compare names first: realpath of every file would cost system calls.
    return any(each.name == path.name and os.path.realpath(each) == wanted for each in paths)


def _outdated(
    reader: Reader, stamps: Mapping[str, tuple[Source, Stamp]], known: Mapping[str, SourceStamp]
) -> list[str]:
    """Known files that must be read again because new files appeared. A file that was empty counts as new."""
    seen = {path for path, stamp in known.items() if stamp.size and not stamp.is_gone}
    if reader.rereads is None or not seen:
        return []
    new = [source.path for path, (source, _) in stamps.items() if path not in seen]
    return sorted(seen & stamps.keys() & {str(path) for path in reader.rereads(new)})


class _Tally:
    def __init__(self, title: str) -> None:
        self.title = title
        self.sources = self.unchanged = self.vanished = self.turns = 0
        self.redacted = self.private = self.excluded = 0
        self.conversations: set[str] = set()
        self.skipped: Counter[str] = Counter()
        self.problems: dict[str, str] = {}

    def add(self, outcome: PieceOutcome) -> None:
        if outcome.conversation is not None:
            self.conversations.add(outcome.conversation)
        self.turns += outcome.turns
        self.redacted += outcome.redacted
        self.private += outcome.private
        self.excluded += outcome.excluded
        self.skipped.update(outcome.skipped)

    def report(self) -> SyncReport:
        return SyncReport(
            self.title,
            sources=self.sources,
            unchanged=self.unchanged,
            vanished=self.vanished,
            conversations=len(self.conversations),
            turns=self.turns,
            redacted=self.redacted,
            private=self.private,
            excluded=self.excluded,
            skipped=dict(self.skipped),
            problems=self.problems,
        )
