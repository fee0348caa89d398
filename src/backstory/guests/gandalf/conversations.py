"""Recall conversations with every assistant on this machine, and explain their ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, cast

from ...core import Core
from ...domain.lines import one_line
from ...domain.when import iso
from ...readers import reader_names
from ...tools import READS
from ...tools.budget import fitting
from ...tools.origin import cautions, safe_excerpt, safe_text
from ...tools.params import CoreName, Json, OneOf, Range, Shaped
from .recall import Recall, RecallQuery
from .vocabulary import Stopwatch, surface

if TYPE_CHECKING:
    from .recall import ConversationHit, ReaderState, RecallPage, RecallQuery
    from .scores import RecallParts

SHOWN_FILES = 2
FILES_CHARS = 30
LONGEST_TITLE = 50
MOST_DAYS = 60
NOTHING_FOUND = "No history of another assistant was found on this machine."
LOOK_AGAIN = " fast_mode false looks again."

TypeName = Literal["architecture", "debugging", "problem_solving", "technical", "code_discussion", "general"]
ToolName = Annotated[str, OneOf(tuple(reader_names()))]


class ScoreParts(TypedDict):
    """The parts of the score that are not 0."""

    answer: NotRequired[float]
    keywords: NotRequired[float]
    recency: float
    files: NotRequired[float]
    type: NotRequired[float]


class RecalledConversation(TypedDict):
    id: str
    title: str
    tool: str
    trust: str
    project: str
    created_at: str
    updated_at: str
    message_count: int
    conversation_type: str
    relevance_score: float
    score_parts: ScoreParts
    snippet: str
    files: list[str]
    file_count: NotRequired[int]
    subagents: NotRequired[int]
    kind: NotRequired[str]
    parent: NotRequired[str]
    completeness: NotRequired[str]
    source_gone: NotRequired[bool]


class RecallSummary(TypedDict):
    total_conversations: int
    available_tools: list[str]
    processing_time: float
    next_offset: NotRequired[int]


class RecallFilters(TypedDict):
    conversation_types: NotRequired[list[str]]
    tools: NotRequired[list[str]]
    search_query: NotRequired[str]
    tags: NotRequired[list[str]]
    include_subagents: NotRequired[bool]
    offset: NotRequired[int]


class FiltersApplied(RecallFilters):
    fast_mode: bool
    days_lookback: int
    min_score: float
    limit: int


class ReaderProblem(TypedDict):
    problem: str
    files: int


class ToolResult(TypedDict):
    total_conversations: int
    problems: NotRequired[list[ReaderProblem]]
    unread: NotRequired[dict[str, Any]]
    note: NotRequired[str]


class Context(TypedDict):
    keywords: list[str]
    filters_applied: FiltersApplied


class RecallAnswer(TypedDict):
    summary: RecallSummary
    conversations: list[RecalledConversation]
    context: Context
    tool_results: dict[str, Any]
    notices: NotRequired[list[str]]


@surface.tool("Recall conversations", READS)
def recall_conversations(
    core: Core,
    fast_mode: Annotated[bool, "Answer from the index as it stands; false first brings it up to date"] = True,
    days_lookback: Annotated[int, "Days to look back", Range(1, MOST_DAYS)] = 30,
    limit: Annotated[int, "Maximum number of conversations", Range(1, 100)] = 60,
    min_score: Annotated[float, "Least relevance score", Range(0, 5)] = 1.0,
    conversation_types: Annotated[list[TypeName] | None, "Only conversations of these types"] = None,
    tools: Annotated[list[ToolName] | None, "Only conversations with these assistants"] = None,
    search_query: Annotated[
        str | None,
        'Only conversations found for this, in any words; "phrases", a OR b and -not work',
        CoreName("query"),
    ] = None,
    user_prompt: Annotated[
        str | None, "Text to take keywords for the scores from; leaves nothing out"
    ] = None,
    tags: Annotated[list[str] | None, "Only conversations that hold one of these words"] = None,
    offset: Annotated[int, "Skip so many conversations: how to read on", Range(low=0)] = 0,
    include_subagents: Annotated[
        bool, "List subagents and forks as conversations of their own, not as a part of what started them"
    ] = False,
) -> Shaped[RecallAnswer]:
    """Recall earlier conversations with any assistant on this machine, in all projects, the most relevant first.
    Start here: what is asked now may have been solved before. A relevance score (0 to 5) is the sum of its
    `score_parts`: answer (up to 1.5: how near it comes to the best answer), keywords (the share of the asked words that it holds), recency (1.0 within a day, 0.8 a
    week, 0.5 a month), files (0.5 for working on files, 1.0 when they are this project's or those that were named)
    and type (up to 0.5); what is 0 is left out. `total_conversations` are all that match; `tool_results` tells of each assistant what was
    found and what could not be read; `unread` counts conversations whose words are encrypted or not there."""
    clock = Stopwatch()
    notices = core.engine.sync_first(core.call) if fast_mode else core.engine.sync_now(core.call)
    wanted = RecallQuery(
        days=days_lookback,
        least_score=min_score,
        surfaces=tuple(tools or ()),
        subjects=tuple(conversation_types or ()),
        query=search_query or "",
        tags=tuple(tags or ()),
        prompt=user_prompt or "",
        with_subagents=include_subagents,
    )
    page = Recall(core).find(wanted, limit=limit, offset=offset)
    filters: FiltersApplied = {
        "fast_mode": fast_mode,
        "days_lookback": days_lookback,
        "min_score": min_score,
        "limit": limit,
    }
    return _arranged(core, page, {**filters, **_narrowing(wanted, offset)}, notices, clock)


def _narrowing(wanted: RecallQuery, offset: int) -> RecallFilters:
    """Return the filters that differ from the defaults."""
    narrowing: RecallFilters = {}
    if wanted.subjects:
        narrowing["conversation_types"] = list(wanted.subjects)
    if wanted.surfaces:
        narrowing["tools"] = list(wanted.surfaces)
    if wanted.query:
        narrowing["search_query"] = wanted.query
    if wanted.tags:
        narrowing["tags"] = list(wanted.tags)
    if wanted.with_subagents:
        narrowing["include_subagents"] = True
    if offset:
        narrowing["offset"] = offset
    return narrowing


def _arranged(
    core: Core, page: RecallPage, filters: FiltersApplied, notices: tuple[str, ...], clock: Stopwatch
) -> Shaped[RecallAnswer]:
    answers = fitting(map(_result, page.found))
    readers = Recall(core).readers()
    results = _tool_results(readers, page.by_surface, filters.get("tools"))
    after = filters.get("offset", 0) + len(answers)
    summary: RecallSummary = {
        "total_conversations": page.total,
        "available_tools": sorted(name for name in results if "note" not in results[name]),
        "processing_time": clock.seconds(),
    }
    if answers and after < page.total:
        summary["next_offset"] = after
    context: Context = {"keywords": list(page.keywords), "filters_applied": filters}
    structured: RecallAnswer = {
        "summary": summary,
        "conversations": answers,
        "context": context,
        "tool_results": results,
    }
    # the text is for a model: it knows its own arguments, and needs only the tool_results with content
    nonempty = {name: each for name, each in results.items() if each != {"total_conversations": 0}}
    text: Json = {
        "conversations": answers,
        **summary,
        "keywords": context["keywords"],
        "tool_results": nonempty,
    }
    del text["available_tools"]
    if not readers and not page.total and not page.older and not notices:
        notices = (NOTHING_FOUND + (LOOK_AGAIN if filters["fast_mode"] else ""),)
    notices = (*notices, *page.notices)
    if page.older:
        notices = (*notices, _older(page.older, filters["days_lookback"]))
    notices = (*notices, *cautions(each.conversation.trust for each in page.found[: len(answers)]))
    if notices:
        structured["notices"] = text["notices"] = list(notices)
    return Shaped(text, structured)


def _older(count: int, days: int) -> str:
    match = "1 older conversation matches" if count == 1 else f"{count} older conversations match"
    wider = "" if days == MOST_DAYS else f"ask again with days_lookback {MOST_DAYS}, or "
    return (
        f"{match}: {wider}search without a limit of time (reflect_on_past, or the command backstory search)."
    )


def _result(recalled: ConversationHit) -> RecalledConversation:
    conversation = recalled.conversation
    files = _shown_files(recalled.files, conversation.project)
    answer: RecalledConversation = {
        "id": conversation.id,
        "title": one_line(safe_text(conversation.name, conversation.trust), LONGEST_TITLE),
        "tool": conversation.surface,
        "trust": conversation.trust.value,
        "project": conversation.project,
        "created_at": iso(conversation.created_at),
        "updated_at": iso(conversation.updated_at),
        "message_count": recalled.messages,
        "conversation_type": conversation.subject,
        "relevance_score": round(recalled.parts.score, 2),
        "score_parts": _score_parts(recalled.parts),
        "snippet": safe_excerpt(recalled.excerpt),
        "files": files,
    }
    if len(recalled.files) > len(files):
        answer["file_count"] = len(recalled.files)
    if recalled.subagents:
        answer["subagents"] = recalled.subagents
    if conversation.kind != "main":
        answer["kind"] = conversation.kind
    if conversation.parent is not None:
        answer["parent"] = conversation.parent
    if conversation.completeness != "full":
        answer["completeness"] = conversation.completeness
    if conversation.is_gone:
        answer["source_gone"] = True
    return answer


def _score_parts(parts: RecallParts) -> ScoreParts:
    """Return the parts that are not 0, and recency."""
    return cast(
        ScoreParts, {name: part for name, part in parts._asdict().items() if part or name == "recency"}
    )


def _shown_files(paths: Sequence[str], project: str) -> list[str]:
    """Return the first file, and the second if both are short."""
    names = [_in_project(path, project) for path in paths[:SHOWN_FILES]]
    return names if sum(map(len, names)) <= FILES_CHARS else names[:1]


def _in_project(path: str, project: str) -> str:
    """Return a path relative to the project's root, if it is inside the project."""
    is_inside = path.startswith((f"{project}/", f"{project}\\"))
    return path[len(project) + 1 :] if is_inside else path


def _tool_results(
    readers: Mapping[str, ReaderState], matching: Mapping[str, int], names: list[str] | None
) -> dict[str, ToolResult]:
    """Return, for each assistant, the number of matches, and the files that cannot be read."""
    results: dict[str, ToolResult] = {}
    for name in names or sorted({*readers, *matching}):
        result: ToolResult = {"total_conversations": matching.get(name, 0)}
        state = readers.get(name)
        if state is not None and state.problems:
            result["problems"] = [
                {"problem": problem, "files": files} for problem, files in state.problems.items()
            ]
        if state is not None and state.unread:
            result["unread"] = dict(state.unread)
        if state is None and not matching.get(name):
            result["note"] = "No history of it was found on this machine."
        results[name] = result
    return results
