"""Find context items: by words with context_search, by meaning with context_semantic_search."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ...core import Core
from ...core.ask import Inquiry
from ...domain.entries import TextFields
from ...domain.errors import InvalidInput
from ...domain.filters import Kind, MemoryPage
from ...domain.records import Memory
from ...domain.when import iso
from ...tools import READS
from ...tools.budget import ANSWER_BYTES
from ...tools.origin import safe_text
from ...tools.params import Json, Range
from . import narrowing as by
from .fitting import AnswerItem, Truncation, answer_page, cut, page_size
from .items import item_description
from .vocabulary import LONGEST_GLOB, PriorityName, surface

ALL_SESSIONS = "all"

Searched = Literal["key", "value"]
EVERYWHERE: list[Searched] = ["key", "value"]


class Result(TypedDict):
    key: str
    value: str
    category: NotRequired[str]
    priority: str
    truncated: NotRequired[Truncation]


class DetailedItem(TypedDict):
    id: str
    key: str
    value: str
    category: NotRequired[str]
    priority: str
    channel: str
    created_at: str
    updated_at: str
    size: int
    metadata: NotRequired[Any]
    sessionId: str
    private: bool
    truncated: NotRequired[Truncation]


class SearchResult(TypedDict):
    results: NotRequired[list[Result]]
    items: NotRequired[list[DetailedItem]]
    totalCount: NotRequired[int]
    page: NotRequired[int]
    pageSize: NotRequired[int]
    hasMore: NotRequired[bool]
    nextOffset: NotRequired[int]
    groups: NotRequired[list[by.ItemGroup]]
    notices: NotRequired[list[str]]


class SimilarItem(TypedDict):
    id: str
    key: str
    value: str
    similarity: float
    category: NotRequired[str]
    priority: NotRequired[str]
    sessionId: str
    truncated: NotRequired[Truncation]


class SemanticAnswer(TypedDict):
    results: list[SimilarItem]
    queryEmbedding: list[float]
    notices: NotRequired[list[str]]


@surface.tool("Search context items", READS)
def context_search(
    core: Core,
    query: Annotated[
        str, 'Words that must all occur, "a phrase", prefix*, a OR b, -not, field:value, field:>10'
    ],
    search_in: Annotated[list[Searched], "Where the words may stand"] = EVERYWHERE,
    session_id: Annotated[str | None, "Only this session. Default: all that you may see"] = None,
    category: Annotated[str | None, "Only this category"] = None,
    categories: by.Categories = None,
    channel: Annotated[str | None, "Only this channel"] = None,
    channels: Annotated[list[str] | None, "Only these channels"] = None,
    priority: Annotated[PriorityName | None, "Only this priority"] = None,
    priorities: by.Priorities = None,
    key_pattern: Annotated[
        str | None, "Glob that the key matches, such as user_*", Range(high=LONGEST_GLOB)
    ] = None,
    created_after: by.After = None,
    created_before: by.Before = None,
    after_date: by.After = None,
    before_date: by.Before = None,
    relative_time: Annotated[str | None, 'Only items since: "2 hours ago", "yesterday"'] = None,
    time_range: by.TimeRange = None,
    sort: Annotated[by.SortName | None, "Default: the best match first"] = None,
    sort_by: by.SortBy = None,
    order: by.SortOrder = None,
    group_by: by.GroupBy = None,
    limit: Annotated[int | None, "Maximum results", Range(low=1)] = None,
    offset: Annotated[int, "Results to skip", Range(low=0)] = 0,
    include_metadata: Annotated[bool, "Answer with `items` in detail, and their `totalCount`"] = False,
) -> SearchResult:
    """Search the text of context items, and of whatever the other tools saved. Only what holds the words is found;
    context_semantic_search finds by meaning."""
    after = {"createdAfter": created_after, "afterDate": after_date}
    where = by.item_filter(
        core,
        session_id,
        categories=[category, *(categories or ())],
        priorities=[priority, *(priorities or ())],
        channels=[channel, *(channels or ())],
        after={**after, "relativeTime": relative_time, "timeRange": time_range},
        before={"createdBefore": created_before, "beforeDate": before_date},
    )
    whole = core.ask.holding(
        query,
        where._replace(key_glob=key_pattern),
        fields=text_fields(search_in),
        sorting=by.sorting_of(sort, sort_by, order),
        limit=None if group_by else page_size(limit),
        offset=0 if group_by else offset,
    )
    listing = whole
    if group_by is not None:
        listing = MemoryPage(whole.memories[offset:][: page_size(limit)], whole.total)
    reply = _answer(listing, limit, offset, include_metadata)
    if not whole.total and (notices := core.ask.conversation_notice(query)):
        reply["notices"] = list(notices)
    return reply if group_by is None else {**reply, "groups": by.groups_of(whole.memories, group_by)}


@surface.tool("Search context by meaning", READS)
def context_semantic_search(
    core: Core,
    query: Annotated[str, "What you look for, in your own words"],
    top_k: Annotated[int, "Number of results", Range(low=1)] = 10,
    min_similarity: Annotated[float, "Least similarity, 0 to 1", Range(low=0, high=1)] = 0.0,
    session_id: Annotated[
        str | None, "Only this session; 'all', the default, is all that you may see"
    ] = None,
    categories: by.Categories = None,
) -> SemanticAnswer:
    """Find context items by what they mean, whatever their words. Everything any tool saved is searched; items that have
    nothing to do with the query are left out."""
    session = None if session_id == ALL_SESSIONS else session_id
    where = by.item_filter(core, session, categories=categories or ())
    limit = page_size(top_k)
    inquiry = Inquiry(query, where=where._replace(kinds=(Kind.MEMORY,)), least=min_similarity, limit=limit)
    ranking = core.ask.find(inquiry)
    similar = core.ask.memories(ranking, limit)
    share = ANSWER_BYTES // max(len(similar), 1)
    results = [
        cut(AnswerItem(memory.id, _similar_item(memory, certainty)), share) for memory, certainty in similar
    ]
    vector = [] if ranking.vector is None else [round(float(number), 6) for number in ranking.vector]
    reply: SemanticAnswer = {"results": results, "queryEmbedding": vector}
    notices = [*ranking.notices, *core.ask.conversation_notice(query, similar)]
    return {**reply, "notices": notices} if notices else reply


def text_fields(search_in: list[Searched]) -> TextFields:
    if not search_in:
        raise InvalidInput("searchIn is empty.", hint='Use ["key"], ["value"] or both.', field="searchIn")
    chosen = set(search_in)
    if len(chosen) == 2:
        return TextFields.BOTH
    return TextFields.KEY if "key" in chosen else TextFields.VALUE


def _answer(listing: MemoryPage, limit: int | None, offset: int, is_detailed: bool) -> SearchResult:
    shape = detailed_item if is_detailed else found_item
    answers = (AnswerItem(memory.id, shape(memory)) for memory in listing.memories)
    fit = answer_page(answers, offset=offset, total=listing.total)
    reply: SearchResult = {}
    if is_detailed:
        size = page_size(limit)
        page = offset // size + 1
        reply = {"items": fit.items, "totalCount": listing.total, "page": page, "pageSize": size}
    else:
        reply = {"results": fit.items}
    if fit.next_offset is not None:
        reply |= {"totalCount": listing.total, "hasMore": True, "nextOffset": fit.next_offset}
    return reply


def found_item(memory: Memory) -> Json:
    about = item_description(memory)
    about.pop("metadata", None)
    return {"key": memory.key or memory.id, "value": safe_text(memory.text, memory.trust), **about}


def detailed_item(memory: Memory) -> Json:
    return {
        "id": memory.id,
        "key": memory.key or memory.id,
        "value": safe_text(memory.text, memory.trust),
        **item_description(memory),
        "channel": memory.channel or "",
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "size": len(memory.text.encode()),
        "sessionId": memory.session or "",
        "private": memory.private,
    }


def _similar_item(memory: Memory, similarity: float) -> Json:
    return {
        "id": memory.id,
        **found_item(memory),
        "similarity": similarity,
        "sessionId": memory.session or "",
    }
