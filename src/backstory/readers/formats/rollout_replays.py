"""Where a fork stops repeating the thread it comes from: Codex copies that into the fork's log, stamped anew.

What is copied was said in turns that began before the fork did, and a turn's id tells when it began (UUID version 7)."""

from __future__ import annotations

from typing import Any

from .rollout_lines import RolloutItem


class ForkReplay:
    """One log being read; `memory` is all it remembers, fit for JSON."""

    def __init__(self, memory: dict[str, Any]) -> None:
        self._memory = memory

    @property
    def origin(self) -> str:
        """The thread that is repeated at this place; empty where the fork speaks for itself."""
        return str(self._memory.get("origin", ""))

    @property
    def directory(self) -> str:
        return str(self._memory.get("directory", ""))

    def begin(self, fork: str, origin: RolloutItem) -> None:
        """The fork repeats the record with which its origin began. Nothing comes of it when nobody knows when the fork
        began."""
        if not self._memory and (begun_ms := _minted_ms(fork)) is not None:
            self._memory.update(origin=origin.id, directory=origin.cwd or "", begun_ms=begun_ms, turns=0)

    def ends_with(self, turn: str | None) -> bool:
        """A turn begins. Whether it is the first of the fork's own."""
        if not self.origin or (minted_ms := _minted_ms(turn or "")) is None:
            return False
        self._memory["turns"] += 1
        return minted_ms >= self._memory["begun_ms"] and self._end()

    def ends_in_doubt(self) -> bool:
        """Somebody speaks. Whether no turn was told of by then: older versions tell of none, and where the fork begins
        cannot be known."""
        return bool(self.origin) and not self._memory["turns"] and self._end()

    def _end(self) -> bool:
        self._memory["origin"] = ""
        return True


def _minted_ms(id: str) -> int | None:
    digits = id.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        return None
    try:
        return int(digits[:12], 16)
    except ValueError:
        return None
