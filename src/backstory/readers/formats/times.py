"""Times that stand in another file than the words they belong to: found by the words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class TurnTimes:
    """What was said, and when, in order. Each time is given once; how the words are spaced does not matter."""

    def __init__(self, said: Iterable[tuple[str, int]]) -> None:
        self._times: dict[str, list[tuple[int, str]]] = {}
        for text, at_ms in said:
            self._times.setdefault(_fold(text), []).append((at_ms, text))

    def take(self, text: str) -> int | None:
        """When this was said, the first time that was not taken yet."""
        told = self._times.get(_fold(text))
        return told.pop(0)[0] if told else None

    def left(self) -> Iterator[tuple[int, str]]:
        """What was not asked for."""
        for told in self._times.values():
            yield from told


def _fold(text: str) -> str:
    return " ".join(text.split())
