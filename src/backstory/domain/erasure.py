"""What forgetting removed, and what it still has to overwrite."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple


class StaleBackup(NamedTuple):
    """A backup that may hold what is forgotten."""

    path: str
    until: datetime | None
    """About when it goes by itself, if it does."""


class StaleMachine(NamedTuple):
    """A machine of the same user that has not heard of the deletion yet."""

    name: str
    seen_at: datetime


class Receipt(NamedTuple):
    """What was removed, and from where."""

    removed: Mapping[str, int]
    """How many, by place; nothing that is 0."""
    files: tuple[str, ...] = ()
    """Handoffs and memory files of other programs that quoted it, and do so no longer."""
    pending: str = ""
    """Why bytes of it are not overwritten yet; empty when they are."""
    backups: tuple[StaleBackup, ...] = ()
    handed_over: tuple[str, ...] = ()
    """Sessions in other assistants' folders that go on with it, and repeat it."""
    machines: tuple[StaleMachine, ...] = ()
    """Other machines of the user, which erase it when they synchronise next."""

    @property
    def memories(self) -> int:
        """Live and archived ones."""
        return self.removed.get("memories", 0) + self.removed.get("archived memories", 0)

    @property
    def notices(self) -> list[str]:
        """What the one who asked must know."""
        notices = []
        if self.pending:
            notices.append(
                f"It can be found nowhere any more, but its bytes are not overwritten yet: {self.pending}"
            )
        if self.backups:
            held = ", ".join(map(_told, self.backups))
            notices.append(f"Backups may still hold it: {held}. `backstory forget ID --backups` cleans them.")
        if self.handed_over:
            paths = ", ".join(self.handed_over)
            notices.append(f"Sessions in which it went on still repeat it, and are not ours: {paths}")
        if self.machines:
            named = ", ".join(f"{each.name} (last seen {each.seen_at:%Y-%m-%d})" for each in self.machines)
            notices.append(
                f"Other machines erase it when they synchronise next: {named}. What carries the folder may keep sealed versions of it."
            )
        return notices


def _told(backup: StaleBackup) -> str:
    until = "you remove it" if backup.until is None else f"about {backup.until:%Y-%m-%d}"
    return f"{backup.path} until {until}"


class Residue(NamedTuple):
    """Tables that may hold bytes of what was deleted from them."""

    tables: frozenset[str]
    moment: str
    """Of the last such deletion, in the backend's own words."""
