"""Search the items of several sessions, or of all."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from ...core import Core
from ...domain.lines import one_line
from ...domain.records import Memory
from ...tools import READS
from ...tools.budget import ANSWER_BYTES, fitting, size
from ...tools.params import Json, Range
from . import narrowing as by
from .fitting import AnswerItem, answer_page
from .searching import EVERYWHERE, DetailedItem, Result, Searched, detailed_item, found_item, text_fields
from .vocabulary import LONGEST_GLOB, session_of, surface

FoundSort = Literal["relevance", "created_desc", "created_asc", "updated_desc", "key_asc", "key_desc"]
MAX_RESULTS = 100
LINE_CHARS = 100
LINE_BYTES = 15_000


class SessionResult(Result):
    sessionId: str
    sessionName: str


class SessionItem(DetailedItem):
    sessionName: str


class SearchAllAnswer(TypedDict):
    results: NotRequired[list[SessionResult]]
    items: NotRequired[list[SessionItem]]
    totalCount: int
    page: int
    pageSize: int
    hasMore: bool
    nextOffset: NotRequired[int]
    text: str


@surface.tool("Search all sessions", READS)
def context_search_all(
    core: Core,
    query: Annotated[
        str, 'Words that must all occur, "a phrase", prefix*, a OR b, -not, field:value, field:>10'
    ],
    sessions: Annotated[list[str] | None, "Only these sessions, by id"] = None,
    include_shared: Annotated[bool, "false: only the current session"] = True,
    limit: Annotated[int, "Maximum results", Range(low=1, high=MAX_RESULTS)] = 25,
    offset: Annotated[int, "Results to skip", Range(low=0)] = 0,
    sort: Annotated[FoundSort, "relevance: the best match first"] = "relevance",
    category: Annotated[str | None, "Only this category"] = None,
    channel: Annotated[str | None, "Only this channel"] = None,
    channels: Annotated[list[str] | None, "Only these channels"] = None,
    priorities: by.Priorities = None,
    created_after: by.After = None,
    created_before: by.Before = None,
    key_pattern: Annotated[
        str | None, "Glob that the key matches, such as user_*", Range(high=LONGEST_GLOB)
    ] = None,
    search_in: Annotated[list[Searched], "Where the words may stand"] = EVERYWHERE,
    include_metadata: Annotated[bool, "Answer with `items` in detail instead of `results`"] = False,
) -> SearchAllAnswer:
    """Search the public items of all sessions and your own private ones, as context_search does; each result names its session."""
    where = by.item_filter(
        core,
        None,
        categories=[category],
        priorities=priorities or (),
        channels=[channel, *(channels or ())],
        after={"createdAfter": created_after},
        before={"createdBefore": created_before},
    )
    where = where._replace(key_glob=key_pattern, threads=_threads(core, sessions, include_shared))
    listing = core.ask.holding(
        query,
        where,
        fields=text_fields(search_in),
        sorting=None if sort == "relevance" else by.sorting_of(sort, None, None),
        limit=limit,
        offset=offset,
    )
    names = _session_names(core, listing.memories)
    shape = detailed_item if include_metadata else found_item
    lines = fitting((_line(memory) for memory in listing.memories), LINE_BYTES)
    bodies = (AnswerItem(memory.id, shape(memory) | _session(memory, names)) for memory in listing.memories)
    fit = answer_page(bodies, offset=offset, total=listing.total, room=ANSWER_BYTES - size(lines))
    headline = f"Found {len(fit.items)} results on this page ({listing.total:,} in all sessions)."
    reply: SearchAllAnswer = {
        "totalCount": listing.total,
        "page": offset // limit + 1,
        "pageSize": limit,
        "hasMore": fit.next_offset is not None,
        "text": "\n".join([headline, *lines[: len(fit.items)]]),
    }
    if include_metadata:
        reply["items"] = fit.items
    else:
        reply["results"] = fit.items
    return reply if fit.next_offset is None else {**reply, "nextOffset": fit.next_offset}


def _threads(core: Core, sessions: list[str] | None, include_shared: bool) -> tuple[str, ...]:
    named = [session.id for name in sessions or () if (session := session_of(core, name)) is not None]
    if include_shared:
        return tuple(named) or (("",) if sessions else ())
    own = core.caller.session
    return (own,) if own is not None and (not sessions or own in named) else ("",)  # no session has the id ""


def _session_names(core: Core, memories: list[Memory]) -> dict[str, str]:
    ids = {memory.session for memory in memories if memory.session is not None}
    headline = (core.engine.store.sessions.get(id) for id in sorted(ids))
    return {session.id: session.name for session in headline if session is not None}


def _session(memory: Memory, names: dict[str, str]) -> Json:
    return {"sessionId": memory.session or "", "sessionName": names.get(memory.session or "", "")}


def _line(memory: Memory) -> str:
    item = found_item(memory)
    return one_line(f"• [{(memory.session or '')[:8]}] {item['key']}: {item['value']}", LINE_CHARS)
