"""Sorted lists of memories by filter. Memories that the caller may not see are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Kind, MemoryPage, Page, Sorting
from ...domain.lazy import lazy_module
from ...domain.memory_trail import note_read
from ...domain.query import field_of, sort_key
from ...domain.records import Memory
from ..archive import Archive
from ..part import CallContext, CorePart

if TYPE_CHECKING:
    import re2
else:  # 3 ms, and most lists need no pattern
    re2 = lazy_module("re2")


class Retrieval(CorePart):
    def __init__(self, context: CallContext, archive: Archive) -> None:
        super().__init__(context)
        self._archive = archive

    def items(
        self,
        where: Filter,
        sorting: Sorting,
        *,
        limit: int | None,
        offset: int,
        key_pattern: str | None = None,
    ) -> MemoryPage:
        """This surface's memories that match. Under one key, the current session's come first."""
        where = self.own(where)._replace(kinds=(Kind.MEMORY,))
        store = self.engine.store
        if key_pattern is None and sorting.field is None and not where.keys:
            page = Page(limit, offset, sorting.order)
            return MemoryPage(store.memories.find(where, page), store.entries.count(where))
        matches = _key_matcher(key_pattern)
        listed = store.memories.listing(where, sorting.order)
        memories = self.in_order(
            [one.entry for one in listed if matches(one.key or "")], sorting, bool(where.keys)
        )
        return MemoryPage(self.page(memories, limit, offset), len(memories))

    def archived(self, where: Filter) -> list[Memory]:
        """Archived memories under the one key of the filter."""

        memories = self._archive.find(where.keys[0], None)
        return [memory for memory in memories if _passes(memory, where)]

    def by_id(self, where: Filter) -> list[Memory]:
        """The memory of any surface whose id is given instead of a key: memories without a key are listed by id."""
        where = self.caller.visible(where)._replace(keys=(), ids=where.keys, kinds=(Kind.MEMORY,))
        return self.engine.store.memories.find(where, Page(limit=1))

    def in_order(self, entries: list[int], sorting: Sorting, own_first: bool = False) -> list[int]:
        if sorting.field is None and not own_first:
            return entries
        records = self.load(entries)
        known = [(entry, record) for entry in entries if isinstance(record := records.get(entry), Memory)]
        if sorting.field is not None:
            path = sorting.field
            values = {entry: field_of(record.metadata, path) for entry, record in known}
            there = [entry for entry, _ in known if values[entry] is not None]
            there.sort(key=lambda entry: sort_key(values[entry]), reverse=sorting.is_descending)
            entries = there + [entry for entry, _ in known if values[entry] is None]
        if own_first:
            own = {entry for entry, record in known if record.session == self.caller.session}
            entries = sorted(entries, key=lambda entry: entry not in own)
        return entries

    def page(self, entries: Sequence[int], limit: int | None, offset: int) -> list[Memory]:
        page = entries[offset:] if limit is None else entries[offset : offset + limit]
        records = self.load(page)
        memories = [record for entry in page if isinstance(record := records.get(entry), Memory)]
        note_read(memory.id for memory in memories)
        return memories


def _passes(memory: Memory, where: Filter) -> bool:
    """True if a memory that is not in the store's tables passes a filter."""
    wanted = (
        (where.threads, memory.session),
        (where.categories, memory.category),
        (where.priorities, memory.priority),
        (where.channels, memory.channel),
    )
    return (
        all(not values or value in values for values, value in wanted)
        and (where.created_after is None or memory.created_at >= where.created_after)
        and (where.created_before is None or memory.created_at < where.created_before)
    )


def _key_matcher(pattern: str | None) -> Callable[[str], Any]:
    """A function that matches keys against a regular expression. RE2 runs in linear time for any pattern."""
    if pattern is None:
        return lambda key: True
    options = re2.Options()
    options.log_errors = False  # it would print them
    try:
        search: Callable[[str], Any] = re2.compile(pattern, options).search
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise InvalidInput(
            f"key_pattern is not a regular expression: {reason}.",
            hint='Such as "auth_.*|login_.*". Look-around and back-references are not supported.',
            field="key_pattern",
        ) from None
    return search
