"""Find where a fork stops repeating its original thread. Codex copies the thread into the fork's log with new
timestamps.

Copied turns began before the fork did, and a turn's id contains its start time (UUID version 7)."""

from __future__ import annotations

from typing import Any

from .rollout_lines import RolloutItem


class ForkReplay:
    """The state of reading one log. `memory` contains all of it and is JSON-compatible."""

    def __init__(self, memory: dict[str, Any]) -> None:
        self._memory = memory

    @property
    def origin(self) -> str:
        """The thread that is being repeated at this position; "" once the fork's own turns begin."""
        return str(self._memory.get("origin", ""))

    @property
    def directory(self) -> str:
        return str(self._memory.get("directory", ""))

    def begin(self, fork: str, origin: RolloutItem) -> None:
        """Note that the fork repeats the first record of its original. Ignored if the fork's start time is unknown."""
        if not self._memory and (begun_ms := _minted_ms(fork)) is not None:
            self._memory.update(origin=origin.id, directory=origin.cwd or "", begun_ms=begun_ms, turns=0)

    def ends_with(self, turn: str | None) -> bool:
        """Note the beginning of a turn. Return True if it is the first of the fork's own."""
        if not self.origin or (minted_ms := _minted_ms(turn or "")) is None:
            return False
        self._memory["turns"] += 1
        return minted_ms >= self._memory["begun_ms"] and self._end()

    def ends_in_doubt(self) -> bool:
        """Note a message. Return True if no turn was recorded before it.

        Older versions record no turns, and the beginning of the fork cannot be determined."""
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
