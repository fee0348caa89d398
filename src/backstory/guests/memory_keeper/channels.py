"""Channels: list them, and move items between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from ...core import Core
from ...core.sessions import GENERAL
from ...domain.census import ChannelTally
from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Order, Page
from ...domain.lines import counted
from ...domain.records import Memory, Priority
from ...domain.when import iso
from ...tools import ADDS, READS
from ...tools.budget import fitting
from ...tools.params import Range
from . import narrowing as by
from .batches import MAX_BATCH_ITEMS
from .fitting import page_size
from .vocabulary import LONGEST_GLOB, CategoryName, checked_channel, session_of, surface

ChannelSort = Literal["name", "count", "activity", "item_count", "last_activity"]
UNCATEGORIZED = "uncategorized"
CHANNEL_BYTES = 60_000
TEXT_BYTES = 15_000  # the channel list again, as text lines
MOVED_BYTES = 35_000  # the answer contains the moved items under two names


class ChannelBody(TypedDict):
    channel: str
    itemCount: int
    publicCount: int
    privateCount: int
    sessions: int
    lastActivity: str | None
    categories: dict[str, int]
    priorities: dict[str, int]


class ChannelList(TypedDict):
    channels: list[ChannelBody]
    totalChannels: int
    text: str
    hasMore: NotRequired[bool]
    nextOffset: NotRequired[int]


class MovedItem(TypedDict):
    key: str
    oldChannel: str | None
    newChannel: str


class ReassignAnswer(TypedDict):
    success: bool
    dryRun: bool
    itemsAffected: int
    movedCount: int
    itemsMoved: list[MovedItem]
    items: list[MovedItem]
    notFound: NotRequired[list[str]]
    notices: NotRequired[list[str]]


class ChannelNumbers(NamedTuple):
    """Counts for one channel, restricted to items that the caller may see."""

    name: str
    tallies: Sequence[ChannelTally] = ()

    @property
    def items(self) -> int:
        return sum(tally.total for tally in self.tallies)

    @property
    def private_items(self) -> int:
        return sum(tally.total for tally in self.tallies if tally.is_private)

    @property
    def bytes(self) -> int:
        return sum(tally.bytes for tally in self.tallies)

    @property
    def sessions(self) -> Counter[str]:
        """Number of items by session."""
        return self._count((tally.session or "", tally.total) for tally in self.tallies)

    @property
    def categories(self) -> Counter[str]:
        return self._count((tally.category or UNCATEGORIZED, tally.total) for tally in self.tallies)

    @property
    def priorities(self) -> Counter[str]:
        return self._count((tally.priority.value, tally.total) for tally in self.tallies)

    @property
    def last(self) -> datetime | None:
        return max((tally.last for tally in self.tallies), default=None)

    @staticmethod
    def _count(pairs: Iterable[tuple[str, int]]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for name, total in pairs:
            counts[name] += total
        return counts


def channel_numbers(core: Core, where: Filter) -> dict[str, ChannelNumbers]:
    """Return the channels of matching items that the caller may see, by name."""
    grouped: dict[str, list[ChannelTally]] = {}
    for tally in core.engine.store.memories.tally_channels(core.memories.own(where)):
        grouped.setdefault(tally.channel or GENERAL, []).append(tally)
    return {name: ChannelNumbers(name, tallies) for name, tallies in sorted(grouped.items())}


@surface.tool("List channels", READS)
def context_list_channels(
    core: Core,
    session_id: Annotated[str | None, 'Only items of this session; "current" is the own one'] = None,
    session_ids: Annotated[list[str] | None, "Only items of these sessions"] = None,
    sort: Annotated[ChannelSort, "By name, or the most items or the latest activity first"] = "name",
    include_empty: Annotated[
        bool, "Also channels without items: defaults of sessions, and those that held items once"
    ] = False,
    limit: Annotated[int | None, "Maximum number of channels", Range(low=1)] = None,
    offset: Annotated[int, "Channels to skip", Range(low=0)] = 0,
) -> ChannelList:
    """List channels with their numbers of items, over the public items of all sessions and your own private ones."""
    sessions = _sessions(core, session_id, session_ids)
    channels = {} if sessions == () else channel_numbers(core, Filter(threads=sessions or ()))
    if include_empty:
        channels |= {
            name: ChannelNumbers(name) for name in _known_channels(core, sessions) if name not in channels
        }
    ordered = _ordered(channels.values(), sort)
    page = ordered[offset : offset + page_size(limit)]
    bodies = fitting(map(_channel_body, page), CHANNEL_BYTES)
    lines = fitting(map(_channel_line, page[: len(bodies)]), TEXT_BYTES)
    reply: ChannelList = {
        "channels": bodies,
        "totalChannels": len(ordered),
        "text": "\n".join(lines) if lines else "No channels.",
    }
    after = offset + len(bodies)
    return {**reply, "hasMore": True, "nextOffset": after} if bodies and after < len(ordered) else reply


def _sessions(core: Core, session_id: str | None, session_ids: list[str] | None) -> tuple[str, ...] | None:
    """Return the ids of the requested sessions; None for all, empty if only a current session is requested and there is
    none."""
    named = [*([session_id] if session_id is not None else []), *(session_ids or [])]
    if not named:
        return None
    matches = (session_of(core, name) for name in named)
    return tuple(dict.fromkeys(session.id for session in matches if session is not None))


def _known_channels(core: Core, sessions: tuple[str, ...] | None) -> set[str]:
    """Return channels that are a session's default, or that contained items before these were moved or deleted."""
    store, own = core.engine.store, core.caller.session or ""
    started = store.sessions.find(core.surface, after=None, before=None)
    defaults = {each.channel for each in started if sessions is None or each.id in sessions}
    if sessions == ():
        return defaults
    former = store.memories.former_channels(core.memories.own(Filter(threads=sessions or ())))
    emptied = store.changes.deleted_channels(core.surface, own) if sessions is None else []
    return {*defaults, *former, *emptied}


def _ordered(channels: Iterable[ChannelNumbers], sort: ChannelSort) -> list[ChannelNumbers]:
    named = sorted(channels, key=lambda channel: channel.name)
    if sort in ("count", "item_count"):
        return sorted(named, key=lambda channel: -channel.items)
    if sort in ("activity", "last_activity"):
        return sorted(
            named, key=lambda channel: channel.last.timestamp() if channel.last else 0, reverse=True
        )
    return named


def _channel_body(channel: ChannelNumbers) -> ChannelBody:
    return {
        "channel": channel.name,
        "itemCount": channel.items,
        "publicCount": channel.items - channel.private_items,
        "privateCount": channel.private_items,
        "sessions": len(channel.sessions),
        "lastActivity": iso(channel.last) if channel.last else None,
        "categories": dict(sorted(channel.categories.items())),
        "priorities": dict(sorted(channel.priorities.items())),
    }


def _channel_line(channel: ChannelNumbers) -> str:
    public = channel.items - channel.private_items
    return f"• {channel.name}: {counted(channel.items, 'item')} ({public} public, {channel.private_items} private)"


@surface.tool("Move items to a channel", ADDS)
def context_reassign_channel(
    core: Core,
    to_channel: Annotated[str, "Channel to move to; its name is shortened as everywhere"],
    keys: Annotated[list[str] | None, "Keys of items to move", Range(low=1, high=MAX_BATCH_ITEMS)] = None,
    key_pattern: Annotated[
        str | None, "Glob that keys of items to move match, such as auth_*", Range(low=1, high=LONGEST_GLOB)
    ] = None,
    from_channel: Annotated[str | None, "Move items of this channel"] = None,
    category: Annotated[CategoryName | None, "Of these, only this category"] = None,
    priorities: by.Priorities = None,
    session_id: Annotated[str | None, "Whose items to move (default: the current session)"] = None,
    dry_run: Annotated[bool, "Only show what would be moved"] = False,
) -> ReassignAnswer:
    """Move items of one session to another channel, all or none. Name them by keys, keyPattern or fromChannel; several of these narrow together. The former
    channel stays in the items' history."""
    target = checked_channel(to_channel, "toChannel") or ""
    source = checked_channel(from_channel, "fromChannel")
    if keys is None and key_pattern is None and source is None:
        raise InvalidInput("Name the items by keys, keyPattern or fromChannel.", field="keys")
    if source == target:
        raise InvalidInput("fromChannel and toChannel are the same channel.", field="fromChannel")
    session = session_of(core, session_id)
    where = Filter(
        threads=(session.id,) if session else (),
        keys=tuple(keys or ()),
        key_glob=key_pattern,
        channels=() if source is None else (source,),
        categories=() if category is None else (category,),
        priorities=tuple(map(Priority, priorities or ())),
    )
    with core.engine.store.transaction():
        matches = core.memories.find(where, Page(order=Order.OLDEST)) if session else []
        moving = [memory for memory in matches if memory.channel != target]
        updates = [] if dry_run else [core.memories.amend(memory, channel=target) for memory in moving]
    for memory in updates:
        core.memories.follow_up(memory)
    return _reassigned(moving, matches, keys, target, dry_run)


def _reassigned(
    moving: list[Memory], matches: list[Memory], keys: list[str] | None, target: str, dry_run: bool
) -> ReassignAnswer:
    moves: Iterable[MovedItem] = (
        {"key": memory.key or memory.id, "oldChannel": memory.channel, "newChannel": target}
        for memory in moving
    )
    bodies = fitting(moves, MOVED_BYTES)
    reply: ReassignAnswer = {
        "success": True,
        "dryRun": dry_run,
        "itemsAffected": len(moving),
        "movedCount": len(moving),
        "itemsMoved": bodies,
        "items": bodies,
    }
    if keys is not None:
        matching_keys = {memory.key for memory in matches}
        reply["notFound"] = [key for key in dict.fromkeys(keys) if key not in matching_keys]
    if len(bodies) < len(moving):
        reply["notices"] = [f"{len(moving) - len(bodies):,} more items do not fit into this answer."]
    return reply
