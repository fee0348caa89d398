"""Replace one store by another while servers use it: they notice, and continue with the new one.

Writing is blocked from before the safety copy until the new file has its name. Every acknowledged write is therefore
in the safety copy or in the new store, and a restore that is killed at any moment leaves one of the two complete.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from pathlib import Path

from ...domain.backups import DAMAGED
from ...domain.errors import Incompatible, NotAllowed, TimedOut, Unavailable
from ...domain.when import utc_now
from ..backups import backup_path
from ..whole_files import make_private, put_in_place
from . import SqliteStore
from .errors import translated
from .file import alone_in
from .log import drop_log, log_of, put_away_log


class _InPlace(Exception):
    """Ends a transaction on the former store."""


def replace_store(live: Path, incoming: Path, backups: Path, *, busy_timeout_s: float) -> Path | None:
    """Replace the live store by the incoming file, a whole store that is not in use. Returns the path of the safety copy.

    A live file that cannot be opened is saved as it is."""
    with translated(live):
        if not live.exists():
            with alone_in(live.parent, busy_timeout_s):
                put_away_log(live, backups)
                put_in_place(incoming, live)
            return None
    try:
        present = SqliteStore(live, busy_timeout_s=busy_timeout_s, backups=backups)
    except (NotAllowed, TimedOut):
        raise
    except (Unavailable, Incompatible):
        return _replace_damaged(live, incoming, backups, busy_timeout_s)
    copy = backup_path(backups, live.stem, utc_now(), "before-restore")
    with closing(present), suppress(_InPlace), present.transaction():
        present.database.backup(copy, is_checked=False)  # even a damaged store is saved
        with translated(live), alone_in(live.parent, busy_timeout_s):
            put_in_place(incoming, live)
            drop_log(live)
        raise _InPlace
    return copy


def delete_store(live: Path, *, busy_timeout_s: float) -> None:
    """Delete a store and its log. A server that has it open notices, and saves nothing into the deleted file."""
    present = SqliteStore(live, busy_timeout_s=busy_timeout_s)
    with translated(live), closing(present), suppress(_InPlace), present.transaction():
        with alone_in(live.parent, busy_timeout_s):
            live.unlink()
            drop_log(live)
        raise _InPlace


def _replace_damaged(live: Path, incoming: Path, backups: Path, busy_timeout_s: float) -> Path:
    copy = backup_path(backups, live.stem, utc_now(), DAMAGED)
    with translated(live), alone_in(live.parent, busy_timeout_s):
        make_private(copy)
        shutil.copyfile(live, copy)
        if log_of(live).exists():
            make_private(log_of(copy))
            shutil.copyfile(log_of(live), log_of(copy))
            # A server that still has the log open must not write it to the new store.
            os.truncate(log_of(live), 0)
        put_in_place(incoming, live)
        drop_log(live)
    return copy
