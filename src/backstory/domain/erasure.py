"""Records of a deletion: what was removed, and which bytes are still to be overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple


class StaleBackup(NamedTuple):
    """A backup that may still contain deleted records."""

    path: str
    until: datetime | None
    """The approximate time when the backup is removed automatically; None if it is not."""


class StaleMachine(NamedTuple):
    """A machine of the same user that has not received the deletion yet."""

    name: str
    seen_at: datetime


class Receipt(NamedTuple):
    """A report of the removed records and their locations."""

    removed: Mapping[str, int]
    """Number of removed records by location. Locations with 0 are left out."""
    files: tuple[str, ...] = ()
    """Handoffs and memory files of other programs from which quotations were removed."""
    pending: str = ""
    """The reason why some bytes are not overwritten yet; "" if all are."""
    backups: tuple[StaleBackup, ...] = ()
    handed_over: tuple[str, ...] = ()
    """Sessions in other assistants' folders that continue the deleted conversation and repeat its text."""
    machines: tuple[StaleMachine, ...] = ()
    """Other machines of the user. They erase the records at their next sync."""

    @property
    def memories(self) -> int:
        """Number of removed memories, live and archived."""
        return self.removed.get("memories", 0) + self.removed.get("archived memories", 0)

    @property
    def notices(self) -> list[str]:
        """Warnings for the caller, one sentence each."""
        notices = []
        if self.pending:
            notices.append(
                f"No search finds it any more, but its bytes are not overwritten yet: {self.pending}"
            )
        if self.backups:
            listed = ", ".join(map(_described, self.backups))
            notices.append(
                f"Backups may still contain it: {listed}. `backstory forget ID --backups` cleans them."
            )
        if self.handed_over:
            paths = ", ".join(self.handed_over)
            notices.append(f"Continued sessions in folders of assistants still contain it: {paths}")
        if self.machines:
            named = ", ".join(f"{each.name} (last seen {each.seen_at:%Y-%m-%d})" for each in self.machines)
            notices.append(
                f"Other machines erase it when they synchronise next: {named}. The service that shares the folder may keep encrypted versions of it."
            )
        return notices


def _described(backup: StaleBackup) -> str:
    until = "you remove it" if backup.until is None else f"about {backup.until:%Y-%m-%d}"
    return f"{backup.path} until {until}"


class Residue(NamedTuple):
    """Tables that may contain bytes of rows that were deleted from them."""

    tables: frozenset[str]
    moment: str
    """The time of the last deletion, in the backend's own format."""
