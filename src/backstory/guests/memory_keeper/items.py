"""Context items: save, get, delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from ...core import Core
from ...core.memories import MemoryDraft
from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Filter, Sorting
from ...domain.metadata import as_given, as_object
from ...domain.records import Former, Memory, Priority
from ...domain.when import iso
from ...tools import ADDS, READS, REMOVES
from ...tools.origin import origin, safe_text
from ...tools.params import CoreName, Json, Range
from . import narrowing as by
from .deletions import Deletions
from .fitting import AnswerItem, AnswerPage, Truncation, answer_page, mark, page_size
from .vocabulary import CategoryName, PriorityName, checked_channel, surface


class SavedItem(TypedDict):
    id: str
    key: str
    sessionId: str
    createdAt: str


class Earlier(TypedDict):
    value: str
    category: NotRequired[str]
    priority: str
    channel: NotRequired[str]
    metadata: NotRequired[Any]
    savedAt: str


class ItemBody(TypedDict):
    id: str
    key: str
    value: str
    category: NotRequired[str]
    priority: NotRequired[str]
    metadata: NotRequired[Any]
    createdAt: str
    updatedAt: NotRequired[str]
    size: NotRequired[int]
    channel: NotRequired[str]
    sessionId: NotRequired[str]
    private: NotRequired[bool]
    history: NotRequired[list[Earlier]]
    archived: NotRequired[bool]
    truncated: NotRequired[Truncation]


class Pagination(TypedDict):
    """Pagination under MCP Memory Keeper's own field names."""

    total: int
    returned: int
    offset: int
    hasMore: bool
    nextOffset: int | None
    truncated: bool
    truncatedCount: int


class ItemPage(TypedDict):
    items: list[ItemBody]
    count: int
    totalCount: int
    hasMore: bool
    nextOffset: NotRequired[int]
    pagination: Pagination
    groups: NotRequired[list[by.ItemGroup]]


class DeletedItem(TypedDict):
    success: bool
    deletedCount: int
    notices: NotRequired[list[str]]


@surface.tool("Save context item", ADDS)
def context_save(
    core: Core,
    key: Annotated[str, "Unique identifier of the item in its session"],
    value: Annotated[str, "Content to save", CoreName("text")],
    category: Annotated[CategoryName | None, "What kind of item it is"] = None,
    priority: Annotated[PriorityName, "How much it matters"] = "normal",
    metadata: Annotated[Any, "Any further JSON"] = None,
    private: Annotated[bool, "Visible in this session only"] = False,
    channel: Annotated[str | None, "Default: the session's channel"] = None,
) -> SavedItem:
    """Save a context item under a key, with a category and a priority. The same key again in this session replaces
    the value, and keeps the former one in the item's history."""
    draft = MemoryDraft(
        text=value,
        key=key,
        category=category,
        priority=Priority(priority),
        channel=checked_channel(channel),
        metadata=as_object(metadata),
        private=private,
    )
    memory = core.memories.save_item(draft)
    return {
        "id": memory.id,
        "key": key,
        "sessionId": memory.session or "",
        "createdAt": iso(memory.created_at),
    }


@surface.tool("Get context items", READS)
def context_get(
    core: Core,
    key: Annotated[str | None, "Exactly this key; or the id of an item that has none"] = None,
    category: Annotated[str | None, "Only this category"] = None,
    categories: by.Categories = None,
    priority: Annotated[PriorityName | None, "Only this priority"] = None,
    priorities: by.Priorities = None,
    session_id: Annotated[str | None, "Only this session's items. Default: all that you may see"] = None,
    limit: Annotated[int | None, "Maximum items to return", Range(low=1)] = None,
    offset: Annotated[int, "Items to skip", Range(low=0)] = 0,
    channel: Annotated[str | None, "Only this channel"] = None,
    include_metadata: Annotated[bool, "Add times, size, channel and session; with `key` the history"] = False,
    sort: Annotated[by.SortName | None, "Default: created_desc"] = None,
    created_after: by.After = None,
    created_before: by.Before = None,
    after_date: by.After = None,
    before_date: by.Before = None,
    time_range: by.TimeRange = None,
    key_pattern: Annotated[str | None, "Regular expression that keys match, such as auth_.*|login_.*"] = None,
    sort_by: by.SortBy = None,
    order: by.SortOrder = None,
    group_by: by.GroupBy = None,
    value_offset: Annotated[
        int, "With `key`: read values from this character on, to go on with a cut one", Range(low=0)
    ] = 0,
) -> ItemPage:
    """Get context items: public ones of all sessions and your own private ones, newest first, narrowed by any of the
    filters. An answer that would be too long has `hasMore`; `nextOffset` is the `offset` of the rest."""
    if value_offset and key is None:
        raise InvalidInput("valueOffset needs a key.", field="valueOffset")
    where = by.item_filter(
        core,
        session_id,
        categories=[category, *(categories or ())],
        priorities=[priority, *(priorities or ())],
        channels=[channel],
        after={"createdAfter": created_after, "afterDate": after_date, "timeRange": time_range},
        before={"createdBefore": created_before, "beforeDate": before_date},
    )._replace(keys=() if key is None else (key,))
    is_whole = key is not None or group_by is not None
    listing = core.retrieval.items(
        where,
        by.sorting_of(sort, sort_by, order) or Sorting(),
        limit=None if is_whole else page_size(limit),
        offset=0 if is_whole else offset,
        key_pattern=key_pattern,
    )
    known = [_KnownItem(memory) for memory in listing.memories]
    if key is not None:
        known += _elsewhere(core, where, with_archive=include_metadata or not known)
    page = known[offset : offset + page_size(limit)] if is_whole else known
    total = len(known) if is_whole else listing.total
    view = _View(core, include_metadata, include_metadata and key is not None, value_offset)
    fit = answer_page((AnswerItem(one.memory.id, view.item(one)) for one in page), offset=offset, total=total)
    reply = _item_page(fit, total, offset)
    return reply if group_by is None else {**reply, "groups": by.groups_of(listing.memories, group_by)}


@surface.tool("Delete context item", REMOVES)
def context_delete(
    core: Core,
    key: Annotated[str, "Key of the item to delete"],
    session_id: Annotated[str | None, "Default: the current session"] = None,
) -> DeletedItem:
    """Delete one item of a session for good, with its history."""
    session = core.caller.session if session_id is None else core.sessions.get(session_id).id
    receipt = None if session is None else Deletions(core).for_good(key, session)
    if receipt is None or not receipt.memories:
        raise NotFound("item", key)
    reply: DeletedItem = {"success": True, "deletedCount": receipt.memories}
    return {**reply, "notices": receipt.notices} if receipt.notices else reply


def _item_page(fit: AnswerPage, total: int, offset: int) -> ItemPage:
    count, has_more = len(fit.items), fit.next_offset is not None
    reply: ItemPage = {
        "items": fit.items,
        "count": count,
        "totalCount": total,
        "hasMore": has_more,
        "pagination": {
            "total": total,
            "returned": count,
            "offset": offset,
            "hasMore": has_more,
            "nextOffset": fit.next_offset,
            "truncated": has_more,
            "truncatedCount": max(total - offset - count, 0),
        },
    }
    return reply if fit.next_offset is None else {**reply, "nextOffset": fit.next_offset}


class _KnownItem(NamedTuple):
    memory: Memory
    is_archived: bool = False


def _elsewhere(core: Core, where: Filter, *, with_archive: bool) -> list[_KnownItem]:
    """Return archived items with the key, or else the memory whose id it is."""
    if not with_archive:
        return []
    archived = [_KnownItem(memory, is_archived=True) for memory in core.retrieval.archived(where)]
    return archived or [_KnownItem(memory) for memory in core.retrieval.by_id(where)]


class _View(NamedTuple):
    """The parts of each item that a call requests."""

    core: Core
    is_full: bool
    with_history: bool
    start: int

    def item(self, known: _KnownItem) -> Json:
        memory = known.memory
        formers: Sequence[Former] = ()
        if self.with_history:
            source = self.core.archive if known.is_archived else self.core.memories
            formers = source.history(memory)
        item = self._body(memory, formers)
        return {**item, "archived": True} if known.is_archived else item

    def _body(self, memory: Memory, formers: Sequence[Former]) -> Json:
        item: Json = {
            "id": memory.id,
            "key": memory.key or memory.id,
            "value": safe_text(memory.text[self.start :], memory.trust),
        }
        item |= item_description(memory) | {"createdAt": iso(memory.created_at)}
        if self.is_full:
            item |= {
                "updatedAt": iso(memory.updated_at),
                "size": len(memory.text.encode()),
                "channel": memory.channel or "",
                "sessionId": memory.session or "",
                "private": memory.private,
            }
        if formers:
            item["history"] = [_earlier(former) for former in formers]
        if self.start:
            start = min(self.start, len(memory.text))
            item["truncated"] = mark(memory.id, start, len(memory.text) - start, len(memory.text))
        return item


def item_description(memory: Memory) -> Json:
    """Return the fields of an item besides its value, without missing ones."""
    about = {
        "category": memory.category,
        "priority": memory.priority.value,
        "metadata": as_given(memory.metadata) if memory.metadata else None,
        **origin(memory),
    }
    return {name: value for name, value in about.items() if value is not None}


def _earlier(former: Former) -> Json:
    about = {
        "category": former.category,
        "priority": former.priority.value,
        "channel": former.channel,
        "metadata": as_given(former.metadata) if former.metadata else None,
    }
    fields = {name: value for name, value in about.items() if value is not None}
    return {"value": former.text, **fields, "savedAt": iso(former.saved_at)}
