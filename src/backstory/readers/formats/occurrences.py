"""Names for records that have no id of their own: by what their line says, and which of several equal lines it is.

So a record has the same name wherever it stands, in every copy of a log: another line that is added, edited or missing
changes no other name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .values import fingerprint


class Occurrences:
    """The lines of one log that were named so far, as far as they matter for the next.

    Lines with a time are equal only if they were written in the same moment, so only those of the last moment are
    remembered. A log that repeats itself later tells the same again."""

    def __init__(self, saved: Mapping[str, Any]) -> None:
        self._moment: int | None = saved.get("moment")
        self._timed = {name: [-1] * count for name, count in saved.get("timed", {}).items()}
        self._untimed = {name: [-1] * count for name, count in saved.get("untimed", {}).items()}
        """Where each line stands that has this name; -1 for what was read before."""

    def name(self, line: bytes, at_ms: int | None, offset: int) -> str:
        if at_ms is not None and at_ms != self._moment:
            self._moment = at_ms
            self._timed.clear()
        # names of one log in their order are added to an index of names many times faster than at random
        name = fingerprint(line) if at_ms is None else f"{at_ms:012x}-{fingerprint(line)}"
        places = (self._untimed if at_ms is None else self._timed).setdefault(name, [])
        places.append(offset)
        return f"={name}" if len(places) == 1 else f"={name}.{len(places)}"

    def saved(self, offset: int) -> dict[str, Any]:
        """Fit for JSON: the lines before an offset, from which reading goes on."""
        return {
            "moment": self._moment,
            "timed": _counts(self._timed, offset),
            "untimed": _counts(self._untimed, offset),
        }


def _counts(places: Mapping[str, list[int]], offset: int) -> dict[str, int]:
    counts = {name: sum(place < offset for place in each) for name, each in places.items()}
    return {name: count for name, count in counts.items() if count}
