"""Match lines to edits, by their text and the lines around them. Pure functions.

A line belongs to an edit if the edit's new text contains it and the old text does not. The amount of matching
context determines the certainty: a single brace proves nothing, a brace in the middle of ten matching lines does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

SURE_WEIGHT = 3.0
"""The weight of matching lines that rules out coincidence."""
MIN_DISTINCTIVE_CHARS = 8  # shorter lines occur everywhere
UNIQUE_LINE_CHARS = 24
"""A line of at least this length that occurs once in the file identifies its edit alone."""
COMMON_LINE_WEIGHT = 0.1


class Match(NamedTuple):
    edit: int
    """The index of the edit."""
    line: int
    """The line's position in the edit's new text."""
    weight: float
    """The amount of agreement of the line and its neighbours."""


class _File(NamedTuple):
    lines: list[str]
    """The lines without indentation, which formatters change."""
    weights: list[float]
    distinctive: dict[str, list[int]]
    """The positions of each distinctive line."""


def matches(lines: Sequence[str], edits: Sequence[tuple[str, str]]) -> list[list[Match]]:
    """For each line of a file, the edits that wrote it, in the order of the edits.

    An edit is a pair of old and new text. A common line matches only next to a distinctive one."""
    file = _read([line.strip() for line in lines])
    by_line: list[list[Match]] = [[] for _ in lines]
    for number, (old, new) in enumerate(edits):
        for place, line, weight in _matches_of(file, old, _bare(new)):
            by_line[place].append(Match(number, line, weight))
    return by_line


def _bare(text: str) -> list[str]:
    """Lines as git counts them: by newlines alone."""
    # Formatters change indentation after the edit, so it does not count.
    return [line.strip() for line in text.removesuffix("\n").split("\n")] if text else []


def _read(bare: list[str]) -> _File:
    where: dict[str, list[int]] = {}
    for place, text in enumerate(bare):
        where.setdefault(text, []).append(place)
    weights = [
        COMMON_LINE_WEIGHT
        if len(text) < MIN_DISTINCTIVE_CHARS
        else SURE_WEIGHT
        if len(text) >= UNIQUE_LINE_CHARS and len(where[text]) == 1
        else 1.0
        for text in bare
    ]
    return _File(
        bare, weights, {text: places for text, places in where.items() if len(text) >= MIN_DISTINCTIVE_CHARS}
    )


def _matches_of(file: _File, old: str, written: list[str]) -> Iterator[tuple[int, int, float]]:
    """The best position in one edit for each line of the file."""
    pairs = _pairs(file, written)
    above: dict[tuple[int, int], float] = {}
    for place, line in pairs:  # in the order of the lines, so that the one above is known
        above[place, line] = file.weights[place] + above.get((place - 1, line - 1), 0.0)
    below: dict[tuple[int, int], float] = {}
    # Both directions are added up, so that every line of a matching block has the weight of the whole block.
    for place, line in reversed(pairs):
        below[place, line] = file.weights[place] + below.get((place + 1, line + 1), 0.0)
    added = set(_added(old, written))
    best: dict[int, tuple[float, int]] = {}
    for place, line in pairs:
        weight = above[place, line] + below[place, line] - file.weights[place]
        if line in added and weight > best.get(place, (0.0, 0))[0]:
            best[place] = (weight, line)
    for place, (weight, line) in best.items():
        yield place, line, weight


def _pairs(file: _File, written: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of equal lines in the file and in the new text: of distinctive lines, and of common ones next to them."""
    pairs = {(place, line) for line, text in enumerate(written) for place in file.distinctive.get(text, ())}
    # A brace or a blank line counts only as a neighbour of a line that could not be there by chance.
    for start in tuple(pairs):
        for step in (-1, 1):
            place, line = start[0] + step, start[1] + step
            while (
                0 <= place < len(file.lines)
                and 0 <= line < len(written)
                and file.lines[place] == written[line]
                and (place, line) not in pairs
            ):
                pairs.add((place, line))
                place, line = place + step, line + step
    return sorted(pairs)


def _added(old: str, written: Sequence[str]) -> Iterator[int]:
    """The lines that were not there before."""
    before = _bare(old)
    if not before:
        yield from range(len(written))
        return
    for tag, _, _, start, end in SequenceMatcher(None, before, written, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            yield from range(start, end)


def author(candidates: Sequence[Match]) -> Match | None:
    """The first edit that certainly wrote the line, else the best match; None if only common lines match."""
    best = max((match.weight for match in candidates), default=0.0)
    if best < 1.0:
        return None
    return next(match for match in candidates if match.weight >= min(best, SURE_WEIGHT))
