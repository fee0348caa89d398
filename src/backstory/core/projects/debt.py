"""Debt that the code itself admits: TODO, FIXME, HACK and XXX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .effort import Effort
from .survey import read_beginning

MOST_READ = 10_000
"""Files that are read; of more, as many are picked evenly."""
LARGEST_READ = 200_000
MOST_NAMED = 5

_MARKS = (b"TODO", b"FIXME", b"HACK", b"XXX")
_MARK = re.compile(rb"\b(?:TODO|FIXME|HACK|XXX)\b")


class Debt(NamedTuple):
    marks: int
    lines: int
    """How many lines were read."""
    read: int
    of: int
    """How many source files were read, of how many."""
    worst: tuple[tuple[str, int], ...]
    """The files with most marks."""

    @property
    def per_thousand(self) -> float:
        return 1000 * self.marks / self.lines if self.lines else 0.0


def debt(root: Path, sources: Sequence[str], effort: Effort) -> Debt:
    step = -(-len(sources) // MOST_READ) or 1
    read = lines = 0
    counts: Counter[str] = Counter()
    for path in sources[::step]:
        if effort.is_over():
            break
        data = read_beginning(f"{root}/{path}", LARGEST_READ)
        if data is None:
            continue
        read += 1
        lines += data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        if any(mark in data for mark in _MARKS):  # a plain search is ten times as fast as the pattern
            counts[path] = len(_MARK.findall(data))
    worst = sorted(
        ((path, count) for path, count in counts.items() if count), key=lambda pair: (-pair[1], pair[0])
    )
    return Debt(counts.total(), lines, read, len(sources), tuple(worst[:MOST_NAMED]))
