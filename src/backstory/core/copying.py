"""Copy a whole store into another of either backend: resumable, and compared row by row at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..domain.backups import CopyProgress
from ..domain.errors import Incompatible, InvalidInput
from ..store import Store
from ..store.copying import fingerprints
from ..store.database import Row
from ..store.tables import COPIED_TABLES

Tick = Callable[[str, int, int], None]
"""Receives a description of the step, the amount done and the total."""


FIRST = next(iter(COPIED_TABLES))


class TableDigest(NamedTuple):
    rows: int
    hash: str
    """A hash of all rows, independent of their order."""


class TableComparison(NamedTuple):
    table: str
    source: TableDigest
    target: TableDigest

    @property
    def is_equal(self) -> bool:
        return self.source == self.target


def copy_store(source: Store, target: Store, name: str, tick: Tick) -> list[TableComparison]:
    """Fill the target and compare it with the source, which is only read.

    The target must be empty or partly filled from the same source. A complete one is only compared. `name`
    identifies the source."""
    if not (source.copying.is_known() and target.copying.is_known()):
        raise Incompatible(
            "One of the two stores was written by another version of Backstory.",
            hint="Update Backstory, then try again.",
        )
    start = _begin(target, name)
    if not start.is_done:
        _copy(source, target, start, tick)
        target.copying.finish(source.copying.last_number())
    compared = [_compare(table, source, target, tick) for table in COPIED_TABLES]
    is_equal = all(each.is_equal for each in compared)
    if start.is_done and not is_equal:
        raise InvalidInput(
            f"All of {name} arrived before, and one of the two stores has changed since; nothing was copied.",
            hint="Copy to a new file, or to a database without memories.",
            field="target",
        )
    # the mark stays, so that a command that was killed before its report can be repeated
    target.copying.put_progress(CopyProgress(name, FIRST, is_done=is_equal, is_void=not is_equal))
    return compared


def _begin(target: Store, name: str) -> CopyProgress:
    """The progress to resume from, or the beginning of a new copy."""
    known = target.copying.progress()
    if known is not None and known.is_done and known.source != name:
        known = None
    if known is None and not target.copying.is_empty():
        raise InvalidInput(
            "The target store is not empty; nothing was changed.",
            hint="Copy to a new file, or to a database without memories.",
            field="target",
        )
    if known is not None and known.source != name:
        raise InvalidInput(
            f"The target store contains a part of {known.source}; nothing was changed.",
            hint=f"Copy {known.source} to continue that copy, or choose another target.",
            field="target",
        )
    if known is not None and not known.is_void:
        return known
    start = CopyProgress(name, FIRST)
    with target.transaction():
        target.copying.clear()
        target.copying.put_progress(start)
    return start


def _copy(source: Store, target: Store, start: CopyProgress, tick: Tick) -> None:
    total = sum(map(source.copying.count, COPIED_TABLES))
    row_count = sum(map(target.copying.count, COPIED_TABLES))
    tables = list(COPIED_TABLES)
    for table in tables[tables.index(start.table) :]:
        after = start.after if table == start.table else ()
        for rows in _pages(source, table, after):
            with target.transaction():
                target.copying.insert(table, rows)
                target.copying.put_progress(CopyProgress(start.source, table, _key(table, rows[-1])))
            row_count += len(rows)
            tick(f"Moving {table}", row_count, total)


def _compare(table: str, source: Store, target: Store, tick: Tick) -> TableComparison:
    return TableComparison(table, *(_digest(store, table, tick) for store in (source, target)))


def _digest(store: Store, table: str, tick: Tick) -> TableDigest:
    count, total, sum_ = 0, store.copying.count(table), 0
    for rows in _pages(store, table, ()):
        sum_ += sum(fingerprints(table, rows))
        count += len(rows)
        tick(f"Comparing {table}", count, total)
    return TableDigest(count, f"{sum_ % 2**128:032x}")


def _pages(store: Store, table: str, after: Row) -> Iterator[list[Row]]:
    while rows := store.copying.export(table, after):
        yield rows
        after = _key(table, rows[-1])


def _key(table: str, row: Row) -> tuple[object, ...]:
    return tuple(row[: len(COPIED_TABLES[table].key)])
