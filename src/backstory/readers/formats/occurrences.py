"""Names for records without an id: a hash of the line, and a number among equal lines.

A record has the same name at any position and in every copy of a log. Adding, editing or removing another line does not
change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .values import fingerprint


class Occurrences:
    """The lines of a log that were named so far, as far as the next name depends on them.

    Lines with a time are equal only if they have the same time, and only those of the last time are remembered. If a
    log repeats itself later, the names repeat too."""

    def __init__(self, saved: Mapping[str, Any]) -> None:
        self._moment: int | None = saved.get("moment")
        self._timed = {name: [-1] * count for name, count in saved.get("timed", {}).items()}
        self._untimed = {name: [-1] * count for name, count in saved.get("untimed", {}).items()}
        """Offsets of the lines with each name; -1 for lines that were read before."""

    def name(self, line: bytes, at_ms: int | None, offset: int) -> str:
        if at_ms is not None and at_ms != self._moment:
            self._moment = at_ms
            self._timed.clear()
        # names in chronological order are inserted into an index many times faster than random ones
        name = fingerprint(line) if at_ms is None else f"{at_ms:012x}-{fingerprint(line)}"
        places = (self._untimed if at_ms is None else self._timed).setdefault(name, [])
        places.append(offset)
        return f"={name}" if len(places) == 1 else f"={name}.{len(places)}"

    def saved(self, offset: int) -> dict[str, Any]:
        """Return a JSON-compatible state of the lines before `offset`, from which reading continues."""
        return {
            "moment": self._moment,
            "timed": _counts(self._timed, offset),
            "untimed": _counts(self._untimed, offset),
        }


def _counts(places: Mapping[str, list[int]], offset: int) -> dict[str, int]:
    counts = {name: sum(place < offset for place in each) for name, each in places.items()}
    return {name: count for name, count in counts.items() if count}
