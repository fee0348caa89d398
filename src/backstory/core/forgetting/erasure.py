"""Permanent erasure: from the store, its archive and its indexes, and from every copy that Backstory made.

Data of other programs and people is not touched: assistants' own files, and files that people exported or saved.
Exports and stored sessions of a team server's callers are in the store and are erased with the text they quote.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from ...domain.backups import Backup
from ...domain.erasure import Receipt, StaleBackup, StaleMachine
from ...domain.errors import BackstoryError
from ...domain.filters import ConversationFilter, Filter, Order, Page
from ...domain.hours import DailyHours
from ...domain.records import Conversation
from ...store import Store
from ..backups import DAILY, Backups
from ..brief.files import BriefFiles
from ..client_memories.feeding import withdraw
from ..engine import Engine
from ..handoff.files import remove_handoff_files
from ..sync.transactions import GAP_S
from .removal import ForgetRequest, Removal, all_conversations

AT_ONCE_BYTES = 30_000_000
"""Smaller stores are overwritten before the answer, larger ones in the background if there is a worker."""
LOCKED_AT_ONCE_BYTES = 2_000_000
"""Tables that others wait for are rewritten at any time up to this size: about 100 ms on a busy machine."""
MEMORIES_AT_ONCE = 100
"""Memories that one transaction forgets: at most 70 ms of CPU in a store of 100,000."""
LOOK_EVERY_S = 3600.0


class Erasure:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def forget(
        self,
        request: ForgetRequest,
        *,
        with_backups: bool = False,
        afterwards: Callable[[], None] = lambda: None,
    ) -> Receipt:
        """`afterwards` is called in the transaction that forgot something."""
        request = self._with_twins(request)
        since = self._since(request)
        handoffs = self.engine.store.handoffs.after(request.conversations)
        briefs = BriefFiles(self.engine.settings.home)
        counts, files = self._forget_portions(request)
        with self.engine.store.transaction():
            removed = self._removal(self.engine.store).forget(request)
            counts.update(removed.counts)
            if counts:
                briefs.clear()  # inside the transaction: nobody who waits for it may store receipts of these briefs
                afterwards()
        if not counts and not with_backups:
            return Receipt({})
        briefs.clear()  # again, for briefs that were rendered meanwhile
        files += [file.path for file in removed.files if file.run()]
        rewritten = withdraw(self.engine.settings.home) if counts else []
        backups = [
            backup for backup in Backups(self.engine).find() if since is None or backup.made_at >= since
        ]
        changed = self._forget_in_backups(request, backups) if with_backups else {}
        return Receipt(
            {**counts, **changed},
            files=(*dict.fromkeys(files), *rewritten),
            pending=self._overwrite() if counts else "",
            backups=() if with_backups else tuple(map(self._stale, backups)),
            handed_over=remove_handoff_files(self.engine.settings.home, handoffs),
            machines=self._machines() if counts else (),
        )

    def _forget_portions(self, request: ForgetRequest) -> tuple[Counter[str], list[str]]:
        """Forget all but the last of many memories, each portion in a transaction of its own, so that other writers
        wait briefly. Returns the counts by place and the files that were rewritten. The caller forgets the rest by
        the request itself, and so what was saved meanwhile. After an interruption the rest can be forgotten again."""
        store, where = self.engine.store, request.memories
        counts: Counter[str] = Counter()
        files: list[str] = []
        ids = [id for id, _ in store.memories.stamps(where)] if where is not None else []
        for start in range(0, len(ids) - MEMORIES_AT_ONCE, MEMORIES_AT_ONCE):
            assert where is not None
            some = where._replace(ids=tuple(ids[start : start + MEMORIES_AT_ONCE]))
            removed = self._removal(store).forget(request._replace(conversations=(), memories=some))
            counts.update(removed.counts)
            # The next portion expects the files as this one leaves them.
            files += [file.path for file in removed.files if file.run()]
            _let_others_write()
        return counts, files

    def with_subagents(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """The conversations and their subagents."""
        by_id = {conversation.id: conversation for conversation in conversations}
        latest = tuple(by_id)
        while latest:
            which = ConversationFilter(parents=latest, kinds=("subagent",))
            started = all_conversations(self.engine.store, which)
            latest = tuple(conversation.id for conversation in started if conversation.id not in by_id)
            by_id |= {conversation.id: conversation for conversation in started}
        return list(by_id.values())

    def finish(self) -> str:
        """Overwrite the bytes of all that was forgotten; why that cannot be done now, or nothing."""
        try:
            self.engine.store.residue.overwrite()
        except BackstoryError as error:
            return error.message
        return ""

    def overwrite_due(self, rest: Callable[[], None]) -> float | None:
        """Overwrite the bytes that may be overwritten now; `rest` is called in between.

        Returns the seconds until the hours for larger tables begin if bytes are left for them."""
        residue = self.engine.store.residue
        if residue.locked_bytes() <= LOCKED_AT_ONCE_BYTES:
            residue.overwrite(rest)
            return None
        hours = self._postponed_to()
        if hours is not None:
            return (hours[0] - self.engine.now()).total_seconds()
        residue.overwrite_everywhere(rest)
        return None

    def _postponed_to(self) -> tuple[datetime, datetime] | None:
        """The next hours for tables that others wait for; None if it is such an hour now."""
        hours, now = DailyHours.parse(self.engine.settings.erasure_window), self.engine.now()
        return None if hours.contain(now) else hours.around(now)

    def _removal(self, store: Store) -> Removal:
        return Removal(store, self.engine.now(), self.engine.derivations())

    def _overwrite(self) -> str:
        background = self.engine.background
        are_others_waiting = self.engine.store.residue.locked_bytes() > LOCKED_AT_ONCE_BYTES
        if are_others_waiting and (hours := self._postponed_to()):
            start, end = hours
            return f"a server that is running between {start:%Y-%m-%d %H:%M} and {end:%H:%M} UTC does that."
        if background is not None and (
            are_others_waiting or self.engine.store.census().bytes > AT_ONCE_BYTES
        ):
            background.wake()
            return "that is done in the background."
        return self.finish()

    def _since(self, request: ForgetRequest) -> datetime | None:
        """The creation time of the oldest record to forget: earlier backups contain none of it. None if unknown."""
        store, times = self.engine.store, []
        if request.memories is not None:
            oldest = Page(limit=1, order=Order.OLDEST)
            times += [memory.created_at for memory in store.memories.find(request.memories, oldest)]
            archived = store.archive.oldest(request.memories)
            times += [archived] if archived else []
        if request.conversations:
            which = ConversationFilter(ids=tuple(request.conversations))
            times += [conversation.created_at for conversation in all_conversations(store, which)]
        # names of backups have a resolution of one second
        return min(times).replace(microsecond=0) if times else None

    def _forget_in_backups(self, request: ForgetRequest, backups: Sequence[Backup]) -> dict[str, int]:
        """Erase the records from backups. Files that are not stores cannot be edited and are deleted."""
        files = Backups(self.engine)
        changed: list[Backup] = []

        def forget(backup: Backup, copy: Store) -> None:
            if self._removal(copy).forget(request).counts:
                changed.append(backup)
            copy.residue.overwrite()

        for backup in backups:
            if backup.is_store:
                files.rewrite(backup, partial(forget, backup))
            else:
                files.remove(backup)
        gone = sum(not backup.is_store for backup in backups)
        return {
            place: count for place, count in (("backups", len(changed)), ("removed backups", gone)) if count
        }

    def _with_twins(self, request: ForgetRequest) -> ForgetRequest:
        """Add memories with equal text in the same project: a text saved on two machines before their first sync
        exists twice."""
        room, where = self.engine.store.devices, request.memories
        if where is None or not where.ids or not room.is_possible or room.identity() is None:
            return request
        find = self.engine.store.memories.find
        twins = [
            twin.id
            for memory in find(where, Page())
            if memory.key is None
            for twin in find(
                Filter(texts=(memory.text,), projects=(memory.project,), surfaces=(memory.surface,)), Page()
            )
            if twin.key is None
        ]
        return request._replace(memories=where._replace(ids=tuple(dict.fromkeys((*where.ids, *twins)))))

    def _machines(self) -> tuple[StaleMachine, ...]:
        room = self.engine.store.devices
        own = room.identity() if room.is_possible else None
        if own is None:
            return ()
        peers = [peer for peer in room.peers() if peer.id != own and not (peer.state or peer.mark)]
        return tuple(StaleMachine(peer.name, peer.seen_at) for peer in peers)

    def _stale(self, backup: Backup) -> StaleBackup:
        kept_for = timedelta(days=self.engine.settings.backups_kept)
        return StaleBackup(str(backup.path), backup.made_at + kept_for if backup.reason == DAILY else None)


def _let_others_write() -> None:
    time.sleep(GAP_S)


def erase_everywhere(engine: Engine) -> float:
    """Overwrite the bytes of all stores that share tables, if this is an hour for it.

    Returns the seconds until the next look."""
    now = engine.now()
    start, _ = DailyHours.parse(engine.settings.erasure_window).around(now)
    if start > now:
        return min((start - now).total_seconds(), LOOK_EVERY_S)
    engine.store.residue.overwrite_everywhere()
    return LOOK_EVERY_S
