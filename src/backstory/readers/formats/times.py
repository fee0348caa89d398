"""Times as files record them, and times stored in a different file than the text they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...domain.when import from_ms


def iso_ms(at_ms: int) -> str:
    """Format a time in UTC with milliseconds, as assistants do."""
    return from_ms(at_ms).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03}Z"


class TurnTimes:
    """Texts and their times, in order. Each time is returned once; whitespace is ignored."""

    def __init__(self, texts: Iterable[tuple[str, int]]) -> None:
        self._times: dict[str, list[tuple[int, str]]] = {}
        for text, at_ms in texts:
            self._times.setdefault(_fold(text), []).append((at_ms, text))

    def take(self, text: str) -> int | None:
        """Return and remove the first remaining time of this text, or None."""
        times = self._times.get(_fold(text))
        return times.pop(0)[0] if times else None

    def left(self) -> Iterator[tuple[int, str]]:
        """Yield the times that were not taken."""
        for times in self._times.values():
            yield from times


def _fold(text: str) -> str:
    return " ".join(text.split())
