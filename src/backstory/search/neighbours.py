"""The messages around a candidate, as columns of the same candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..domain.arrays import np
from ..domain.entries import Outline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def prompt_columns(
    outlines: Sequence[Outline], prompts: Mapping[tuple[str, int], int], column: Mapping[int, int]
) -> Ints:
    """For each message the column of the prompt that it answers, or -1."""
    numbers = [prompts.get((o.thread or "", o.seq), -1) for o in outlines]
    return np.array([column.get(number, -1) for number in numbers], np.int64)


def columns_beside(outlines: Sequence[Outline], is_said: Sequence[bool]) -> tuple[Ints, Ints]:
    """For each message the columns of the messages before and after it, or -1."""
    spoken = [(column, o.thread, o.seq) for column, o in enumerate(outlines) if is_said[column]]
    places = {(thread, seq): column for column, thread, seq in spoken}
    before, after = np.full((2, len(outlines)), -1, np.int64)
    for column, thread, seq in spoken:
        before[column] = places.get((thread, seq - 1), -1)
        after[column] = places.get((thread, seq + 1), -1)
    return before, after
