"""Times as files write them, and times that stand in another file than the words they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...domain.when import from_ms


def iso_ms(at_ms: int) -> str:
    """In UTC and to the millisecond, as assistants write it."""
    return from_ms(at_ms).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03}Z"


class TurnTimes:
    """What was said, and when, in order. Each time is given once; how the words are spaced does not matter."""

    def __init__(self, texts: Iterable[tuple[str, int]]) -> None:
        self._times: dict[str, list[tuple[int, str]]] = {}
        for text, at_ms in texts:
            self._times.setdefault(_fold(text), []).append((at_ms, text))

    def take(self, text: str) -> int | None:
        """When this was said, the first time that was not taken yet."""
        times = self._times.get(_fold(text))
        return times.pop(0)[0] if times else None

    def left(self) -> Iterator[tuple[int, str]]:
        """What was not asked for."""
        for times in self._times.values():
            yield from times


def _fold(text: str) -> str:
    return " ".join(text.split())
