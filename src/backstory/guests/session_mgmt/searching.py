"""session-mgmt's memory and search tools: calibrated scores, frozen rankings, one result format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, cast

from ...core import Core
from ...core.ask import Inquiry, Ranking
from ...domain.errors import InvalidInput
from ...domain.records import Message
from ...domain.when import iso
from ...search.engine import Hit
from ...tools import READS
from ...tools.chunks import in_chunks
from ...tools.origin import cautions, safe_text
from ...tools.params import CoreName, Json, OrNull, PathName, Range
from ...tools.parts import cut_to
from .vocabulary import surface

if TYPE_CHECKING:
    from ...core.previews import Preview
    from ...search.engine import Hit


DEFAULT_SCORE = 0.7
CONCEPT_SCORE = 0.5  # lower: one or two words yield less certain results than a question
FEW = 3
NOTHING_ELSE = "Nothing else is remembered yet; store_reflection saves what is worth finding again."
TOP_BYTES = 12_000
TOP_NOTE = "get_more_results with this cache_key, offset 0 and limit 1 gives them"
_RANKING = "ranking"

Strategy = Literal["semantic", "text_fallback"]
Score = Annotated[
    float, "Minimum similarity, 0 to 1: nothing below it is returned or counted (docs/scores.md)", Range(0, 1)
]
Project = Annotated[
    str | None,
    "Only this project: its directory or its name. Without it all, your own first",
    PathName(),
    OrNull(),
]


class ConversationResult(TypedDict):
    content: str
    project: str
    timestamp: str
    similarity_score: float
    context: str
    id: str
    source: str
    trust: str
    conversation_id: NotRequired[str]
    role: NotRequired[str]
    content_size: NotRequired[int]
    more_in_conversation: NotRequired[int]
    files: NotRequired[list[str]]
    superseded_by: NotRequired[str]


class ReflectionAnswer(TypedDict):
    results: list[ConversationResult]
    total_found: int
    search_strategy: Strategy
    suggestions: NotRequired[list[str]]
    notices: NotRequired[list[str]]


class QuickSearch(TypedDict):
    total_count: int
    top_result: ConversationResult | None
    has_more: bool
    search_strategy: Strategy
    cache_key: NotRequired[str]
    suggestions: NotRequired[list[str]]
    notices: NotRequired[list[str]]


class MoreResults(TypedDict):
    results: list[ConversationResult]
    has_more: bool
    total_available: int


@surface.tool("Reflect on the past", READS)
def reflect_on_past(
    core: Core,
    query: Annotated[str, "What to look for, in any words"],
    limit: Annotated[int, "Most results", Range(1, 50)] = 10,
    min_score: Score = DEFAULT_SCORE,
    project: Project = None,
    include_related_projects: Annotated[
        bool, "With a project: also those declared related or cloned from the same remote"
    ] = True,
) -> ReflectionAnswer:
    """Search past conversations, reflections and saved items by meaning and by words. Each result has a similarity
    from 0 to 1 that means the same for every query, and what was said around it."""
    ranking = _ranking(core, query, min_score, project, with_related=include_related_projects)
    return _reflected(core, ranking, limit, lambda: _suggestions(core, ranking))


@surface.tool("Quick search", READS)
def quick_search(
    core: Core,
    query: Annotated[str, "What to look for, in any words"],
    project: Project = None,
    min_score: Score = DEFAULT_SCORE,
) -> QuickSearch:
    """Count what past conversations, reflections and items have on a subject and show the best. `get_more_results`
    with the cache_key pages the rest of the very same ranking."""
    ranking = _ranking(core, query, min_score, project)
    previews = core.previews.show(ranking.hits[:1], ranking, context=True)
    top = _result(previews[0]) if previews else None
    reply: QuickSearch = {
        "total_count": len(ranking.hits),
        "top_result": cut_to(top, TOP_BYTES, TOP_NOTE),
        "has_more": len(ranking.hits) > 1,
        "search_strategy": _strategy(ranking),
    }
    if reply["has_more"] or reply["top_result"] != top:
        frozen = {
            "query": query,
            "words": ranking.words,
            "found": [_frozen(hit) for hit in ranking.hits],
            "later": [*ranking.later.items()],
        }
        reply["cache_key"] = core.answers.keep(_RANKING, frozen, owner=core.caller.id)
    if not ranking.hits:
        reply["suggestions"] = _suggestions(core, ranking)
    if ranking.notices:
        reply["notices"] = list(ranking.notices)
    return reply


@surface.tool("Get more results", READS)
def get_more_results(
    core: Core,
    query: Annotated[str, "The query of the search before"],
    offset: Annotated[int, "How many results to pass over", Range(low=0)] = 3,
    limit: Annotated[int, "Most results", Range(low=1)] = 3,
    project: Project = None,
    cache_key: Annotated[
        str | None, "From quick_search: pages the same ranking, whatever was saved meanwhile"
    ] = None,
) -> MoreResults:
    """Get the next results of a search."""
    if cache_key is None:
        ranking = _ranking(core, query, DEFAULT_SCORE, project)
    else:
        ranking = _thawed(core, cache_key, query)
    hits = ranking.hits
    page = core.previews.show(hits[offset : offset + limit], ranking, context=True)
    reply: MoreResults = {
        "results": [_result(each) for each in page],
        "has_more": offset + limit < len(hits),
        "total_available": len(hits),
    }
    return cast(MoreResults, _fitted(core, {**reply}, hits))


@surface.tool("Search by file", READS)
def search_by_file(
    core: Core,
    file_path: Annotated[
        str, "A file, by its path or the end of it: whole parts are compared", PathName(), CoreName("file")
    ],
    limit: Annotated[int, "Most results", Range(low=1)] = 10,
    project: Project = None,
) -> ReflectionAnswer:
    """Find conversations that read or changed a file, and everything that speaks of it, newest first."""
    ranking = _ranking(core, "", 0.0, project, file=file_path)
    return _reflected(
        core,
        ranking,
        limit,
        lambda: core.previews.other_files(file_path) or _suggestions(core, ranking),
        files=True,
    )


@surface.tool("Search by concept", READS)
def search_by_concept(
    core: Core,
    concept: Annotated[str, 'A concept such as "error handling" or "authentication"', CoreName("query")],
    include_files: Annotated[bool, "Name the files of each result"] = True,
    limit: Annotated[int, "Most results", Range(low=1)] = 10,
    project: Project = None,
) -> ReflectionAnswer:
    """Find past conversations, reflections and items about a development concept, with the files they dealt with."""
    ranking = _ranking(core, concept, CONCEPT_SCORE, project)
    return _reflected(core, ranking, limit, lambda: _suggestions(core, ranking), files=include_files)


def _ranking(
    core: Core,
    query: str,
    least: float,
    project: str | None,
    *,
    with_related: bool = True,
    file: str | None = None,
) -> Ranking:
    return core.ask.find(Inquiry(query, project, with_related, file=file, least=least))


def _reflected(
    core: Core, ranking: Ranking, limit: int, suggest: Callable[[], list[str]], *, files: bool = False
) -> ReflectionAnswer:
    previews = core.previews.show(ranking.hits[:limit], ranking, files=files, context=True)
    reply: ReflectionAnswer = {
        "results": [_result(each, files=files) for each in previews],
        "total_found": len(ranking.hits),
        "search_strategy": _strategy(ranking),
    }
    if len(ranking.hits) < FEW:
        reply["suggestions"] = suggest()
    if notices := [*ranking.notices, *cautions(each.entry.trust for each in previews)]:
        reply["notices"] = notices
    return cast(ReflectionAnswer, _fitted(core, {**reply}, (*ranking.hits, *ranking.missed)))


def _suggestions(core: Core, ranking: Ranking) -> list[str]:
    """Return subjects to search for, and the min_score that would include the nearest result below it."""
    suggested = core.previews.suggestions(ranking)
    lower = f"The nearest below min_score has {suggested.nearest:.2f}; min_score {suggested.least:.2f} shows {suggested.more} more."
    return [*suggested.subjects, *([lower] if suggested.more else [])] or [NOTHING_ELSE]


def _fitted(core: Core, reply: Json, hits: Sequence[Hit]) -> Json:
    """Return an answer of any size. All its chunks depend on these entries, if only by their number."""
    return in_chunks(core, reply, {hit.entry for hit in hits})


def _frozen(hit: Hit) -> list[Any]:
    return [hit.entry, hit.certainty, hit.project, hit.conversation, len(hit.other_places)]


def _thawed(core: Core, key: str, query: str) -> Ranking:
    answer = core.answers.fetch(_RANKING, key)
    if answer["query"] != query:
        raise InvalidInput(
            "cache_key belongs to another query.",
            hint=f"It was made for {answer['query']!r}.",
            field="cache_key",
        )
    hits = [
        Hit(entry, certainty, certainty, project, conversation=conversation, other_places=(0,) * others)
        for entry, certainty, project, conversation, others in answer["found"]
    ]
    visible = core.answers.visible([hit.entry for hit in hits])
    known = [hit for hit in hits if hit.entry in visible]
    return Ranking(known, [], "text", words=answer["words"], later=dict(answer.get("later", ())))


def _strategy(ranking: Ranking) -> Strategy:
    return "semantic" if ranking.strategy == "hybrid" else "text_fallback"


def _result(preview: Preview, *, files: bool = False) -> ConversationResult:
    entry = preview.entry
    result: ConversationResult = {
        "content": safe_text(preview.content, entry.trust),
        "project": entry.project,
        "timestamp": iso(entry.created_at),
        "similarity_score": preview.hit.certainty,
        "context": safe_text(preview.context, entry.trust),
        "id": entry.id,
        "source": entry.surface,
        "trust": entry.trust.value,
    }
    if isinstance(entry, Message):
        # for a subagent, the conversation that started it, which contains all that `more_in_conversation` counts
        result["conversation_id"] = preview.hit.conversation or entry.conversation
        result["role"] = entry.role
    if not preview.is_whole:
        result["content_size"] = len(entry.text)
    if preview.hit.other_places:
        result["more_in_conversation"] = len(preview.hit.other_places)
    if files:
        result["files"] = preview.files
    if preview.later is not None:
        result["superseded_by"] = preview.later.id
    return result
