"""Cache the contents of files, and detect changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from ...core import GuestPart
from ...core.sessions import lineage
from ...domain.checkpoints import CachedFile
from ...domain.errors import InvalidInput, NotAllowed, NotFound, Unreadable

LARGEST_READ = 50 * 1024 * 1024


class FileChange(NamedTuple):
    """The current hash of a file, and its cached record. A file that was never cached counts as changed."""

    current_hash: str
    cached: CachedFile | None

    @property
    def changed(self) -> bool:
        return self.cached is None or self.cached.hash != self.current_hash


class FileCache(GuestPart):
    def remember(self, path: str, content: str, metadata: Mapping[str, Any]) -> CachedFile:
        """Cache a file's content for the current session, replacing its earlier record."""
        whole = _normal(path, self.caller.directory)
        session = self.core.sessions.current()
        data = content.encode()
        store = self.engine.store
        with store.transaction():
            self.engine.check_room()
            known = store.files.get(session.id, whole)
            file = CachedFile(
                id=known.id if known else self.engine.new_id(),
                session=session.id,
                path=whole,
                hash=store.files.put_blobs([data])[0],
                size=len(data),
                cached_at=self.engine.now(),
                metadata=metadata,
            )
            store.files.put(file)
        return file

    def changed(self, path: str, content: str | None) -> FileChange:
        """Compare a content, or the file on disk, with the cached version.

        That is the version of the current session, else of the nearest session that it continues or branched from, else
        the last version that any session cached."""
        store = self.engine.store
        whole = _normal(path, self.caller.directory)
        if content is None:
            self.caller.check_local("path", hint="Send the content.")
        data = _read(whole) if content is None else content.encode()
        known = (store.files.get(session, whole) for session in lineage(store, self.caller.session))
        cached = next(filter(None, known), None) or store.files.latest(whole)
        return FileChange(sha256(data).hexdigest(), cached)


def _normal(path: str, project: str) -> str:
    """Return an absolute path without `.` and `..`.

    Links are not followed: a file has the name that the caller uses."""
    if not path.strip() or "\0" in path:
        raise InvalidInput("path is not the name of a file.", field="path")
    return os.path.normpath(os.path.join(project, path))


def _read(path: str) -> bytes:
    try:
        _check_readable(path, os.stat(path))
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("file", path, hint="Check the path, or send the content.") from None
    except PermissionError:
        raise NotAllowed(f"{path} may not be read.", hint="Check its mode, or send the content.") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from None


def _check_readable(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"{path} is not a regular file.", field="path")
    if status.st_size > LARGEST_READ:
        raise InvalidInput(
            f"{path} has {status.st_size:,} bytes; at most {LARGEST_READ:,} are read.",
            hint="Send the content instead.",
            field="path",
        )
