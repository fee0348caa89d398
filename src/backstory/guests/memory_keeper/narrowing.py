"""The filters and sort orders that context_get and context_search share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict

from ...core import Core
from ...core.sessions import channel_name
from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Order, Sorting
from ...domain.query import field_of
from ...domain.records import Memory, Priority
from ...domain.when import parse_when
from .vocabulary import PriorityName

SortName = Literal[
    "created_asc", "created_desc", "updated_asc", "updated_desc", "priority", "key_asc", "key_desc"
]
OrderName = Literal["asc", "desc"]
SortOrder = Annotated[OrderName | None, "Of sortBy. Default: desc for times and priority, else asc"]
Priorities = Annotated[list[PriorityName] | None, "Only these priorities"]
Categories = Annotated[list[str] | None, "Only these categories"]
After = Annotated[
    str | None, 'Only items created at or after this time: ISO, or "2 hours ago", "yesterday", "-7d"'
]
Before = Annotated[str | None, "Only items created before this time, written in the same ways"]
TimeRange = Annotated[str | None, 'Only items created since: "-7d", "-12h", "-2w", "last week"']
SortBy = Annotated[str | None, "created_at, updated_at, key, priority or metadata.<field>"]
GroupBy = Annotated[
    str | None, "category, priority, channel, sessionId, key or metadata.<field>: adds `groups`"
]

_SORTS = {
    "created_asc": Order.OLDEST,
    "created_desc": Order.NEWEST,
    "updated_asc": Order.UPDATED_OLDEST,
    "updated_desc": Order.UPDATED_NEWEST,
    "priority": Order.PRIORITY,
    "key_asc": Order.KEY,
    "key_desc": Order.KEY_REVERSED,
}
# field → ascending, descending, and the default of the two
_SORT_FIELDS: dict[str, tuple[Order, Order, OrderName]] = {
    "created_at": (Order.OLDEST, Order.NEWEST, "desc"),
    "createdAt": (Order.OLDEST, Order.NEWEST, "desc"),
    "updated_at": (Order.UPDATED_OLDEST, Order.UPDATED_NEWEST, "desc"),
    "updatedAt": (Order.UPDATED_OLDEST, Order.UPDATED_NEWEST, "desc"),
    "priority": (Order.PRIORITY_REVERSED, Order.PRIORITY, "desc"),
    "key": (Order.KEY, Order.KEY_REVERSED, "asc"),
}
_GROUP_FIELDS: dict[str, Callable[[Memory], str | None]] = {
    "category": lambda memory: memory.category,
    "priority": lambda memory: memory.priority.value,
    "channel": lambda memory: memory.channel,
    "sessionId": lambda memory: memory.session,
    "key": lambda memory: memory.key or memory.id,
}
_METADATA = "metadata."


class ItemGroup(TypedDict):
    value: Any
    count: int
    keys: list[str]


def item_filter(
    core: Core,
    session: str | None,
    *,
    categories: Sequence[str | None] = (),
    priorities: Sequence[PriorityName | None] = (),
    channels: Sequence[str | None] = (),
    after: Mapping[str, str | None] = MappingProxyType({}),
    before: Mapping[str, str | None] = MappingProxyType({}),
) -> Filter:
    """Return the filter for a call. An unknown session is an error.

    `after` and `before` map argument names to times as written in the call; all of them apply."""
    if session is not None:
        core.sessions.get(session)
    return Filter(
        threads=() if session is None else (session,),
        categories=tuple(category for category in categories if category is not None),
        priorities=tuple(Priority(priority) for priority in priorities if priority is not None),
        channels=tuple(channel_name(channel) or channel for channel in channels if channel is not None),
        created_after=max(_moments(core, after), default=None),
        created_before=min(_moments(core, before), default=None),
    )


def _moments(core: Core, bounds: Mapping[str, str | None]) -> list[datetime]:
    now = core.engine.now()
    return [parse_when(text, now, field=name) for name, text in bounds.items() if text is not None]


def sorting_of(sort: SortName | None, sort_by: str | None, order: OrderName | None) -> Sorting | None:
    """Return the sort order, or None if the call does not specify one."""
    if sort is not None:
        if sort_by is not None or order is not None:
            raise InvalidInput("sort and sortBy say the same in two ways.", hint="Give one.", field="sortBy")
        return Sorting(_SORTS[sort])
    if sort_by is None and order is None:
        return None
    field = "created_at" if sort_by is None else sort_by
    if field.startswith(_METADATA):
        return Sorting(field=field.removeprefix(_METADATA), is_descending=order == "desc")
    if field not in _SORT_FIELDS:
        raise InvalidInput(
            f"Items cannot be sorted by {field!r}.",
            hint="Use created_at, updated_at, key, priority or metadata.<field>.",
            field="sortBy",
        )
    ascending, descending, usual = _SORT_FIELDS[field]
    return Sorting(ascending if (order or usual) == "asc" else descending)


def group_reader(group_by: str) -> Callable[[Memory], Any]:
    if group_by.startswith(_METADATA):
        return lambda memory: field_of(memory.metadata, group_by.removeprefix(_METADATA))
    if group_by not in _GROUP_FIELDS:
        raise InvalidInput(
            f"Items cannot be grouped by {group_by!r}.",
            hint=f"Use {', '.join(_GROUP_FIELDS)} or metadata.<field>.",
            field="groupBy",
        )
    return _GROUP_FIELDS[group_by]


def groups_of(memories: Sequence[Memory], group_by: str) -> list[ItemGroup]:
    """Return the groups, largest first. Items without the field form a group with the value null."""
    read = group_reader(group_by)
    groups: dict[str, ItemGroup] = {}
    for memory in memories:
        value = read(memory)
        group = groups.setdefault(repr(value), {"value": value, "count": 0, "keys": []})
        group["count"] += 1
        if len(group["keys"]) < KEYS_SHOWN:
            group["keys"].append(memory.key or memory.id)
    return sorted(groups.values(), key=lambda group: (-group["count"], repr(group["value"])))


KEYS_SHOWN = 20
