"""session-mgmt's memory and search tools: calibrated scores, frozen rankings, the same result everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, TypedDict, cast

from ...core import Core
from ...domain.errors import InvalidInput
from ...domain.records import Message
from ...domain.when import iso
from ...tools import READS
from ...tools.chunks import in_chunks
from ...tools.origin import cautions, safe_text
from ...tools.params import Json, PathName, Range
from ...tools.parts import cut_to
from .vocabulary import surface

if TYPE_CHECKING:
    from ...core.reflecting import Ranking, Recollection, Scored

DEFAULT_SCORE = 0.7
CONCEPT_SCORE = 0.5  # a concept is a word or two, about which nobody can be as sure as about a question
FEW = 3
TOP_BYTES = 12_000
TOP_NOTE = "get_more_results with this cache_key, offset 0 and limit 1 gives them"
_RANKING = "ranking"

Strategy = Literal["semantic", "text_fallback"]
Score = Annotated[float, "Least similarity, 0 to 1; how it is calibrated is in docs/scores.md", Range(0, 1)]
Project = Annotated[
    str | None, "Only this project: its directory or its name. Without it all, your own first", PathName()
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
    files: NotRequired[list[str]]


class Reflected(TypedDict):
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
) -> Reflected:
    """Search past conversations, reflections and saved items by meaning and by words. Each result has a similarity
    from 0 to 1 that means the same for every query, and what was said around it."""
    ranking = core.reflecting.search(
        query, least=min_score, project=project, with_related=include_related_projects
    )
    return _reflected(core, ranking, limit, least=min_score)


@surface.tool("Quick search", READS)
def quick_search(
    core: Core,
    query: Annotated[str, "What to look for, in any words"],
    project: Project = None,
    min_score: Score = DEFAULT_SCORE,
) -> QuickSearch:
    """Count what past conversations, reflections and items have on a subject and show the best. `get_more_results`
    with the cache_key pages the rest of the very same ranking."""
    ranking = core.reflecting.search(query, least=min_score, project=project)
    told = core.reflecting.tell(ranking.found[:1])
    top = _result(told[0]) if told else None
    reply: QuickSearch = {
        "total_count": len(ranking.found),
        "top_result": cut_to(top, TOP_BYTES, TOP_NOTE),
        "has_more": len(ranking.found) > 1,
        "search_strategy": _strategy(ranking),
    }
    if reply["has_more"] or reply["top_result"] != top:
        reply["cache_key"] = core.kept.keep(
            _RANKING, {"query": query, "found": ranking.found}, owner=core.caller.id
        )
    if ranking.notices:
        reply["notices"] = list(ranking.notices)
    return reply


@surface.tool("Get more results", READS)
def get_more_results(
    core: Core,
    query: Annotated[str, "The query of the search before"],
    offset: Annotated[int, "How many results to pass over", Range(low=0)] = 3,
    limit: Annotated[int, "Most results", Range(1, 50)] = 3,
    project: Project = None,
    cache_key: Annotated[
        str | None, "From quick_search: pages the same ranking, whatever was saved meanwhile"
    ] = None,
) -> MoreResults:
    """Get the next results of a search."""
    if cache_key is None:
        found = core.reflecting.search(query, least=DEFAULT_SCORE, project=project).found
    else:
        found = _thawed(core, cache_key, query)
    page = core.reflecting.tell(found[offset : offset + limit])
    reply: MoreResults = {
        "results": [_result(each) for each in page],
        "has_more": offset + limit < len(found),
        "total_available": len(found),
    }
    return cast(MoreResults, _fitted(core, {**reply}, found))


@surface.tool("Search by file", READS)
def search_by_file(
    core: Core,
    file_path: Annotated[str, "A file, by its path or the end of it: whole parts are compared", PathName()],
    limit: Annotated[int, "Most results", Range(1, 50)] = 10,
    project: Project = None,
) -> Reflected:
    """Find conversations that read or changed a file, and everything that speaks of it, newest first."""
    return _reflected(core, core.reflecting.by_file(file_path, project=project), limit, files=True)


@surface.tool("Search by concept", READS)
def search_by_concept(
    core: Core,
    concept: Annotated[str, 'A concept such as "error handling" or "authentication"'],
    include_files: Annotated[bool, "Name the files of each result"] = True,
    limit: Annotated[int, "Most results", Range(1, 50)] = 10,
    project: Project = None,
) -> Reflected:
    """Find past conversations, reflections and items about a development concept, with the files they dealt with."""
    if not concept.strip():
        raise InvalidInput("concept is empty.", hint="Name a concept.", field="concept")
    ranking = core.reflecting.search(concept, least=CONCEPT_SCORE, project=project)
    return _reflected(core, ranking, limit, least=CONCEPT_SCORE, files=include_files)


def _reflected(
    core: Core, ranking: Ranking, limit: int, *, least: float = 0.0, files: bool = False
) -> Reflected:
    told = core.reflecting.tell(ranking.found[:limit], files=files)
    reply: Reflected = {
        "results": [_result(each, files=files) for each in told],
        "total_found": len(ranking.found),
        "search_strategy": _strategy(ranking),
    }
    if len(ranking.found) < FEW and (suggestions := core.reflecting.suggestions(ranking, least)):
        reply["suggestions"] = suggestions
    if notices := [*ranking.notices, *cautions(each.entry.trust for each in told)]:
        reply["notices"] = notices
    return cast(Reflected, _fitted(core, {**reply}, (*ranking.found, *ranking.missed)))


def _fitted(core: Core, reply: Json, told: Sequence[Scored]) -> Json:
    """An answer of any size, of which all chunks tell of these entries, if only by their number."""
    return in_chunks(core, reply, lambda: core.kept.owner_of({each.entry for each in told}))


def _thawed(core: Core, key: str, query: str) -> list[Scored]:
    from ...core.reflecting import Scored  # reads search, which is not for start-up

    kept = core.kept.fetch(_RANKING, key)
    if kept["query"] != query:
        raise InvalidInput(
            "cache_key belongs to another query.",
            hint=f"It was made for {kept['query']!r}.",
            field="cache_key",
        )
    found = [Scored(*each) for each in kept["found"]]
    visible = core.kept.visible([each.entry for each in found])
    return [each for each in found if each.entry in visible]


def _strategy(ranking: Ranking) -> Strategy:
    return "semantic" if ranking.strategy == "hybrid" else "text_fallback"


def _result(told: Recollection, *, files: bool = False) -> ConversationResult:
    entry = told.entry
    result: ConversationResult = {
        "content": safe_text(entry.text, entry.trust),
        "project": entry.project,
        "timestamp": iso(entry.created_at),
        "similarity_score": told.score,
        "context": safe_text(told.context, entry.trust),
        "id": entry.id,
        "source": entry.surface,
        "trust": entry.trust.value,
    }
    if isinstance(entry, Message):
        result["conversation_id"] = entry.conversation
        result["role"] = entry.role
    if files:
        result["files"] = told.files
    return result
