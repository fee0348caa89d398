"""ProjectMemory's five tools: individual texts, `{"status": ...}` replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from ...core import Core
from ...core.ask import Inquiry
from ...domain.errors import BackstoryError, InvalidInput
from ...domain.filters import Filter, Kind
from ...tools import ADDS, CLEARS, READS, REMOVES, REPLACES, Surface, dump
from ...tools.budget import fitting, size
from ...tools.origin import Origin, cautions, origin, safe_text
from ...tools.params import CoreName, Range

if TYPE_CHECKING:
    from ...domain.records import Memory

CONFIRMATION = "confirm"


def _word_error(error: BackstoryError) -> str:
    return dump({"status": "error", "error": str(error)})


surface = Surface(
    "projectmemory",
    about="Save texts worth remembering and find them again by words or by meaning.",
    success={"status": "success"},
    word_error=_word_error,
)


class SavedText(TypedDict):
    id: str


class RetrievalAnswer(TypedDict):
    results: list[str]
    origins: list[Origin]
    search_strategy: str
    notices: NotRequired[list[str]]


class DeletedText(TypedDict):
    notices: NotRequired[list[str]]


class ClearAnswer(DeletedText):
    deleted_count: int


class Done(TypedDict):
    pass


@surface.tool("Save context", ADDS)
def save_context(core: Core, context_text: Annotated[str, "The text to save", CoreName("text")]) -> SavedText:
    """Save a text to the context store: a decision, a finding, a preference, anything worth knowing later.
    It is kept whole and found again by its words or its meaning, in this and in later sessions."""
    return {"id": core.memories.save(context_text).id}


@surface.tool("Retrieve context", READS)
def retrieve_context(
    core: Core,
    query: Annotated[str, "What to look for, in any words"],
    limit: Annotated[int, "Maximum number of results", Range(low=1)] = 5,
    offset: Annotated[int, "How many results to pass over", Range(low=0)] = 0,
) -> RetrievalAnswer:
    """Find the saved texts that answer a query best, by words and by meaning, best first. Texts that have nothing to do
    with it are left out."""
    ranking = core.ask.find(Inquiry(query, where=Filter(kinds=(Kind.MEMORY,)), limit=offset + limit))
    hits = core.ask.memories(ranking, offset + limit)
    memories, notices = _fitted([memory for memory, _ in hits[offset:]], offset)
    notices = [*ranking.notices, *notices, *core.ask.conversation_notice(query, hits)]
    reply: RetrievalAnswer = {
        "results": [safe_text(memory.text, memory.trust) for memory in memories],
        "origins": [origin(memory) for memory in memories],
        "search_strategy": ranking.strategy,
    }
    return {**reply, "notices": notices} if notices else reply


@surface.tool("Delete context", REMOVES)
def delete_context(core: Core, id: Annotated[str, "The id that save_context returned"]) -> DeletedText:
    """Delete one saved text for good."""
    receipt = core.deletion.by_id(id)
    return {"notices": receipt.notices} if receipt.notices else {}


@surface.tool("Clear all context", CLEARS)
def clear_all_context(
    core: Core, confirmation: Annotated[str, f'Must be exactly "{CONFIRMATION}"']
) -> ClearAnswer:
    """Delete every text that was saved with save_context, in all projects, for good."""
    if confirmation != CONFIRMATION:
        raise InvalidInput(
            f'confirmation must be exactly "{CONFIRMATION}".',
            hint="Nothing was deleted.",
            field="confirmation",
        )
    receipt = core.deletion.all()
    reply: ClearAnswer = {"deleted_count": receipt.memories}
    return {**reply, "notices": receipt.notices} if receipt.notices else reply


@surface.tool("Replace context", REPLACES)
def replace_context(
    core: Core,
    id: Annotated[str, "The id that save_context returned"],
    context_text: Annotated[str, "The new text", CoreName("text")],
) -> Done:
    """Replace a saved text with a new one; its id stays."""
    core.memories.replace(id, context_text)
    return {}


def _fitted(memories: Sequence[Memory], offset: int) -> tuple[list[Memory], list[str]]:
    """Return whole texts that fit into an answer, but at least the best one.

    A notice reports how many were left out."""
    page = fitting(memories, cost=lambda memory: size(memory.text))
    notices = [*cautions(memory.trust for memory in page)]
    if len(page) < len(memories):
        notices.append(
            f"{len(memories) - len(page)} more results do not fit into this answer: offset {offset + len(page)} goes on."
        )
    return page, notices
