"""Which edit wrote a line: by its text and the lines around it. Pure.

A line is one of an edit when it stands in what the edit put there, and not in what the edit replaced. How much of the
surroundings agrees says how sure that is: a brace alone says nothing, a brace in the middle of ten lines that are all
there says all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

ENOUGH = 3.0
"""So many telling lines together are no accident."""
TELLING = 8  # characters; what is shorter stands everywhere
UNMISTAKABLE = 24
"""A line of so many characters that stands once in the file is enough by itself."""
SLIGHT = 0.1


class Match(NamedTuple):
    edit: int
    """Its place among the edits."""
    line: int
    """The line's place in what the edit wrote."""
    weight: float
    """How much agrees, the line itself and its neighbours."""


def matches(lines: Sequence[str], edits: Sequence[tuple[str, str]]) -> list[list[Match]]:
    """For each line of a file the edits that wrote such a line, in the order of the edits. An edit is what it replaced and
    what it put there."""
    bare = [line.strip() for line in lines]
    weights = _weights(bare)
    found: list[list[Match]] = [[] for _ in lines]
    where: dict[str, list[int]] = {}
    for place, text in enumerate(bare):
        where.setdefault(text, []).append(place)
    for number, (old, new) in enumerate(edits):
        for place, line, weight in _matches_of(old, new, where, weights):
            found[place].append(Match(number, line, weight))
    return found


def _weights(bare: Sequence[str]) -> list[float]:
    counts: dict[str, int] = {}
    for text in bare:
        counts[text] = counts.get(text, 0) + 1
    return [
        ENOUGH if len(text) >= UNMISTAKABLE and counts[text] == 1 else 1.0 if len(text) >= TELLING else SLIGHT
        for text in bare
    ]


def _matches_of(
    old: str, new: str, where: dict[str, list[int]], weights: Sequence[float]
) -> Iterator[tuple[int, int, float]]:
    """Of each line of the file the best place in one edit."""
    written = [line.strip() for line in new.splitlines()]
    pairs = [(place, line) for line, text in enumerate(written) for place in where.get(text, ())]
    above: dict[tuple[int, int], float] = {}
    for place, line in pairs:  # in the order of the lines, so that the one above is known
        above[place, line] = weights[place] + above.get((place - 1, line - 1), 0.0)
    below: dict[tuple[int, int], float] = {}
    for place, line in reversed(pairs):
        below[place, line] = weights[place] + below.get((place + 1, line + 1), 0.0)
    best: dict[int, tuple[float, int]] = {}
    for line in _added(old, written):
        for place in where.get(written[line], ()):
            weight = above[place, line] + below[place, line] - weights[place]
            if weight > best.get(place, (0.0, 0))[0]:
                best[place] = (weight, line)
    for place, (weight, line) in best.items():
        yield place, line, weight


def _added(old: str, written: Sequence[str]) -> Iterator[int]:
    """The lines that were not there before."""
    before = [line.strip() for line in old.splitlines()]
    if not before:
        yield from range(len(written))
        return
    for tag, _, _, start, end in SequenceMatcher(None, before, written, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            yield from range(start, end)


def author(candidates: Sequence[Match]) -> Match | None:
    """The first edit that wrote the line, among those of which that is sure; else the one that agrees most. None where
    nothing agrees but what stands everywhere."""
    best = max((match.weight for match in candidates), default=0.0)
    if best < 1.0:
        return None
    return next(match for match in candidates if match.weight >= min(best, ENOUGH))
