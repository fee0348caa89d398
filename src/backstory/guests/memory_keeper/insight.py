"""Summaries of a session."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from ...core import Core
from ...core.insight.digest import DigestForm
from ...tools import READS
from ...tools.params import Range
from .analysis import Insight
from .analysis.periods import duration
from .fitting import LONGEST_SUMMARY
from .vocabulary import surface


class SessionStats(TypedDict):
    totalItems: int
    byCategory: dict[str, int]
    byPriority: dict[str, int]


class SessionInfo(TypedDict):
    id: str
    name: str
    duration: str


class SummaryAnswer(TypedDict):
    summary: str
    stats: SessionStats
    sessionInfo: SessionInfo
    leftOut: int


@surface.tool("Summarize context", READS)
def context_summarize(
    core: Core,
    categories: Annotated[list[str] | None, "Categories to include; all when absent"] = None,
    session_id: Annotated[str | None, "The session to summarize (default: the current one)"] = None,
    max_length: Annotated[int, "Maximum length of the summary in characters", Range(low=1)] = 4_000,
    format: Annotated[Literal["markdown", "json", "text"], "How the summary is written"] = "markdown",
) -> SummaryAnswer:
    """Summarize a session as an index: decisions, open tasks, errors, warnings, progress and notes, the most important
    and most recent first. leftOut counts the items that did not fit into maxLength."""
    session = core.sessions.view() if session_id is None else core.sessions.get(session_id)
    result = Insight(core).summarize(
        session, tuple(categories or ()), DigestForm(format), min(max_length, LONGEST_SUMMARY)
    )
    return {
        "summary": result.digest.text,
        "stats": {
            "totalItems": sum(result.by_category.values()),
            "byCategory": result.by_category,
            "byPriority": result.by_priority,
        },
        "sessionInfo": {"id": session.id, "name": session.name, "duration": duration(result.last - result.first)},
        "leftOut": result.digest.left_out,
    }  # fmt: skip
