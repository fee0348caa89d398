"""The folder that something else carries between machines: listed, read and written, with a time limit for each step.

No file is ever changed. A device writes into its own directory, under a hidden name first; it may delete any segment."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from ...domain.errors import NotWritten, StorageFull, TimedOut, Unavailable, Unreadable
from ...domain.lazy import lazy_pattern
from ...store.whole_files import replace_file, sync_file
from ..abandoning import Stalled, run_aside
from .segments import SegmentName, parse_name
from .vault import VaultFile, read_vault_file

T = TypeVar("T")

SUBFOLDER = "backstory-devices"
STEP_TIMEOUT_S = 60.0
"""Time limit for one file or one listing on a slow share."""
MAX_SEGMENT_FILE_BYTES = 50_000_000
_VAULT = lazy_pattern(r"vault-(\d{1,6})[^/]*\.json")
_PLACEHOLDER = lazy_pattern(r"\.(.+\.seg)\.icloud")


class FolderListing(NamedTuple):
    segments: dict[SegmentName, list[str]]
    """The paths of each segment below the folder, including copies under other names."""
    vaults: list[str]
    foreign: list[str]
    placeholders: list[str]
    """Files that the carrier lists but has not fetched."""


class DeviceFolder:
    def __init__(self, folder: Path, between: Callable[[], None] = lambda: None) -> None:
        """`between` is called repeatedly during a long step, and may raise to cancel it."""
        self._between = between
        self.path = folder
        self.root = folder / SUBFOLDER

    def check_there(self) -> None:
        """Raise Unavailable if the folder or its vault is missing, for example a USB stick or a share that is not
        mounted."""
        if not self._step(self.path.is_dir):
            raise Unavailable(
                f"The folder {self.path} does not exist; nothing was sent.",
                hint="Plug in the stick or mount the share, or name another one: backstory devices join FOLDER.",
            )
        # The mount point exists although nothing is mounted: writing there would fill the wrong disk.
        if not self._step(self.root.is_dir):
            raise Unavailable(
                f"There is no vault in {self.path}; nothing was sent.",
                hint="Is it mounted? If the folder was lost, `backstory devices init FOLDER` writes everything again.",
            )

    def read_listing(self) -> FolderListing:
        return self._step(self._list)

    def vaults(self, listing: FolderListing) -> list[VaultFile]:
        """The readable vault files, the newest key first."""
        by_generation: dict[tuple[str, int], VaultFile] = {}
        problem: Unreadable | None = None
        for path in listing.vaults:
            try:
                vault = read_vault_file(self.read(path))
            except Unreadable as error:
                problem = error
                continue
            by_generation[vault.id, vault.number] = vault
        # One half-copied vault file does not matter as long as another one can be read.
        if not by_generation and problem is not None:
            raise problem
        return sorted(by_generation.values(), key=lambda vault: -vault.number)

    def read(self, path: str) -> bytes:
        def read() -> bytes:
            with open(self.root / path, "rb") as file:
                return file.read(MAX_SEGMENT_FILE_BYTES)

        return self._step(read)

    def write(self, path: str, raw: bytes) -> None:
        """Write a file atomically."""
        self._step(lambda: self._write(self.root / path, raw))

    def delete(self, path: str) -> None:
        self._step(lambda: (self.root / path).unlink(missing_ok=True))

    def _list(self) -> FolderListing:
        listing = FolderListing({}, [], [], [])
        for entry in sorted(os.scandir(self.root), key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                for file in sorted(os.listdir(entry.path)):
                    _sort_in(listing, f"{entry.name}/{file}")
            elif _VAULT.fullmatch(entry.name):
                listing.vaults.append(entry.name)
            else:
                _sort_in(listing, entry.name)
        return listing

    def _write(self, path: Path, raw: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Hidden names are skipped by this program and by most synchronisers, so no half segment travels.
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with open(draft, "wb") as file:
                file.write(raw)
                file.flush()
                sync_file(file.fileno())
            replace_file(draft, path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def _step(self, work: Callable[[], T]) -> T:
        try:
            # A call on a share that is gone hangs in the kernel, where no timeout reaches it.
            return run_aside(work, "devices", STEP_TIMEOUT_S, between=self._between)
        except Stalled:
            raise TimedOut(
                f"The folder {self.path} does not answer; unsent records will be sent later.",
                hint="Is it on a share that is disconnected?",
            ) from None
        except OSError as error:
            raise self._in_our_words(error) from error

    def _in_our_words(self, error: OSError) -> Exception:
        reason = error.strerror or type(error).__name__
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return StorageFull(
                f"The folder {self.path} is full; unsent records will be sent later.",
                hint="Free some space, and sync again.",
            )
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return NotWritten(
                f"{error.filename or self.path} cannot be used: {reason}.",
                hint="Check the owner and mode of the folder.",
            )
        return Unavailable(
            f"The folder {self.path} cannot be used: {reason}.", hint="Nothing was lost; sync again later."
        )


def _sort_in(listing: FolderListing, path: str) -> None:
    name = path.rpartition("/")[2]
    if segment := parse_name(path):
        listing.segments.setdefault(segment, []).append(path)
    elif _PLACEHOLDER.fullmatch(name):
        listing.placeholders.append(path)
    elif not name.startswith("."):  # the others are still being written, here or by the synchroniser
        listing.foreign.append(path)
