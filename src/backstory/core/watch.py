"""The list of read files with size and time, for hooks: a session that starts compares it with the disk and knows within
milliseconds, without opening a store, whether an assistant wrote unread messages.

`clients/hook.py` reads the list, and knows its name and fields; it imports nothing of ours."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..clients.hook import FOLDER_SIZE, MAX_FRUITLESS_READINGS, STARTS, WATCH
from ..store.whole_files import write_whole
from .read_paths import StampedPath

MAX_WATCHED_PATHS = 400
"""Maximum number of files, and of folders, for one reader: the latest changed ones."""
MAX_FOLDER_FILES = 2_000
"""Maximum number of files whose folders are watched: the latest changed ones."""
MAX_FOLDER_LEVELS = 4
"""Codex has a folder for each day, in one for each month, in one for each year."""
CLOCK_STEP_NS = 50_000_000
"""The resolution of a file system's times; two changes within one step look the same."""


class WatchedPath(NamedTuple):
    path: str
    size: int
    """FOLDER_SIZE for a folder."""
    modified_ns: int
    """0 for a path that is not there."""


class Watch:
    """For each reader, the paths whose change means new messages; and the Python that can read them, which may differ
    from the one that runs the hooks of a plugin."""

    def __init__(self, home: Path) -> None:
        self._path = home / WATCH

    def put(self, watched: Mapping[str, Sequence[StampedPath]]) -> None:
        """Replace the paths of these readers. If the list cannot be written, only the hooks notice: they then ask for
        every reader."""
        if not watched:
            return
        known = self._read()
        read = known.get("readers")
        paths = {
            **(read if isinstance(read, dict) else {}),
            **{name: [list(each) for each in some] for name, some in watched.items()},
        }
        body = {"python": sys.executable, "readers": paths}
        if body != known:
            self._write(body)

    def give_up(self, readers: Collection[str], clients: Collection[str]) -> None:
        """Forget readers that the settings do not allow, and the starts of their clients: a session that starts must
        not wait for them. A sync that reads them adds them again."""
        known = self._read()
        read = known.get("readers")
        if isinstance(read, dict) and not read.keys().isdisjoint(readers):
            left = {name: paths for name, paths in read.items() if name not in readers}
            self._write({**known, "readers": left})
        with suppress(OSError):
            for name in clients:
                start = self._path.with_name(STARTS) / name
                start.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                start.write_bytes(b"." * MAX_FRUITLESS_READINGS)

    def _write(self, body: Mapping[str, Any]) -> None:
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._path, [json.dumps(body)])

    def _read(self) -> dict[str, Any]:
        try:
            body = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return body if isinstance(body, dict) else {}


def watched_file(path: Path | str) -> WatchedPath:
    """The current state of a file. A missing file is watched too, because it may appear."""
    try:
        state = os.stat(path)
    except OSError:
        return WatchedPath(str(path), 0, 0)
    return WatchedPath(str(path), state.st_size, state.st_mtime_ns)


def watched_paths(
    files: Iterable[WatchedPath], home: Path, looked_at_ns: int, *, with_folders: bool = True
) -> list[WatchedPath]:
    """The files that changed last, with the folders in which new ones may appear, as they are now.

    Call it after the files were looked for, at `looked_at_ns`, and before they are read: a change in between is then
    seen as one."""
    newest = sorted(files, key=lambda each: each.modified_ns, reverse=True)
    folders = _folders_above(newest[:MAX_FOLDER_FILES], str(home)) if with_folders else []
    changed = sorted((_folder(path, looked_at_ns) for path in folders), key=lambda each: -each.modified_ns)
    return [*newest[:MAX_WATCHED_PATHS], *changed[:MAX_WATCHED_PATHS]]


def _folder(path: str, looked_at_ns: int) -> WatchedPath:
    modified_ns = watched_file(path).modified_ns
    is_settled = modified_ns < looked_at_ns - CLOCK_STEP_NS
    return WatchedPath(path, FOLDER_SIZE, modified_ns if is_settled else 0)


def _folders_above(files: Iterable[WatchedPath], home: str) -> list[str]:
    """The folders above files, below the program's own folder: `.codex` and the like contain other files that change
    often."""
    folders: dict[str, None] = {}
    for parent in dict.fromkeys(os.path.dirname(file.path) for file in files):
        folder = parent
        for _ in range(MAX_FOLDER_LEVELS):
            above = os.path.dirname(folder)
            if folder in folders or folder in (home, above) or os.path.basename(folder).startswith("."):
                break
            folders[folder] = None
            folder = above
    return list(folders)
