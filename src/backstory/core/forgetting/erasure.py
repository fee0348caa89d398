"""Forget for good: out of the store, its archive and its indexes, and out of every copy that we made ourselves.

What another program or a person owns is not touched: the assistants' own files, exports, stored sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from ...domain.backups import Backup
from ...domain.erasure import Receipt, StaleBackup
from ...domain.errors import BackstoryError
from ...domain.filters import ConversationFilter, Order, Page
from ...domain.records import Conversation
from ...store import Store
from ..backups import DAILY, Backups
from ..brief.files import BriefFiles
from ..engine import Engine
from .removal import ForgetRequest, Removal, all_conversations

AT_ONCE_BYTES = 30_000_000
"""A smaller store is written anew before the answer; a larger one behind it, where something works there."""


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
        since = self._since(request)
        briefs = BriefFiles(self.engine.settings.home)
        with self.engine.store.transaction():
            removed = self._removal(self.engine.store).forget(request)
            if removed.counts:
                briefs.clear()  # what is noted there is kept by nobody who waits for this transaction
                afterwards()
        if not removed.counts and not with_backups:
            return Receipt({})
        briefs.clear()  # what was rendered meanwhile
        backups = [
            backup for backup in Backups(self.engine).find() if since is None or backup.made_at >= since
        ]
        changed = self._forget_in_backups(request, backups) if with_backups else {}
        return Receipt(
            {**removed.counts, **changed},
            files=tuple(file.path for file in removed.files if file.run()),
            pending=self._overwrite() if removed.counts else "",
            backups=() if with_backups else tuple(map(self._stale, backups)),
        )

    def with_subagents(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """These, and those that were started in them to do a part of their work."""
        found = {conversation.id: conversation for conversation in conversations}
        latest = tuple(found)
        while latest:
            which = ConversationFilter(parents=latest, kinds=("subagent",))
            started = all_conversations(self.engine.store, which)
            latest = tuple(conversation.id for conversation in started if conversation.id not in found)
            found |= {conversation.id: conversation for conversation in started}
        return list(found.values())

    def finish(self) -> str:
        """Overwrite the bytes of all that was forgotten; why that cannot be done now, or nothing."""
        try:
            self.engine.store.residue.overwrite()
        except BackstoryError as error:
            return error.message
        return ""

    def _removal(self, store: Store) -> Removal:
        return Removal(store, self.engine.now(), self.engine.derivations())

    def _overwrite(self) -> str:
        background = self.engine.background
        if background is not None and self.engine.store.census().bytes > AT_ONCE_BYTES:
            background.wake()
            return "that is done in the background."
        return self.finish()

    def _since(self, request: ForgetRequest) -> datetime | None:
        """No backup from before holds any of it; None when that is not known."""
        store, times = self.engine.store, []
        if request.memories is not None:
            oldest = Page(limit=1, order=Order.OLDEST)
            times += [memory.created_at for memory in store.memories.find(request.memories, oldest)]
            archived = store.archive.oldest(request.memories)
            times += [archived] if archived else []
        if request.conversations:
            which = ConversationFilter(ids=tuple(request.conversations))
            times += [conversation.created_at for conversation in all_conversations(store, which)]
        # names of backups tell the second
        return min(times).replace(microsecond=0) if times else None

    def _forget_in_backups(self, request: ForgetRequest, backups: Sequence[Backup]) -> dict[str, int]:
        """What is no store cannot be looked into, and goes whole."""
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

    def _stale(self, backup: Backup) -> StaleBackup:
        kept_for = timedelta(days=self.engine.settings.backups_kept)
        return StaleBackup(str(backup.path), backup.made_at + kept_for if backup.reason == DAILY else None)
