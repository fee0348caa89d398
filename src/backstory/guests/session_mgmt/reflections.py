"""session-mgmt's reflections: store an insight, count the stored data, fetch the rest of a large answer."""

from __future__ import annotations

from typing import Annotated, TypedDict

from ...core import Core
from ...domain.when import iso
from ...tools import ADDS, READS, chunks
from ...tools.params import CoreName, Range
from .vocabulary import surface
from .work.reflections import Reflections


class StoredReflection(TypedDict):
    reflection_id: str
    stored_at: str
    embedding_generated: bool
    tags_applied: list[str]


class ReflectionStats(TypedDict):
    total_conversations: int
    total_reflections: int
    projects_tracked: int
    embedding_coverage: float
    storage_size_mb: float
    oldest_conversation: str
    most_recent: str


@surface.tool("Store a reflection", ADDS)
def store_reflection(
    core: Core,
    content: Annotated[str, "The insight, in words that will make sense later", CoreName("text")],
    tags: Annotated[
        list[str] | None,
        "Words to find it by; todo, decision and error also tell end and the next init what it is",
    ] = None,
) -> StoredReflection:
    """Store an insight for later sessions: how a hard problem was solved, why a decision was taken."""
    memory, is_embedded = Reflections(core).keep(content, tags or ())
    return {
        "reflection_id": memory.id,
        "stored_at": iso(memory.created_at),
        "embedding_generated": is_embedded,
        "tags_applied": list(memory.tags),
    }


@surface.tool("Reflection statistics", READS)
def reflection_stats(core: Core) -> ReflectionStats:
    """Count what is stored: conversations, reflections, projects, how much of it has vectors, and since when.
    Times are empty while there is no conversation."""
    stats = Reflections(core).stats()
    return {
        "total_conversations": stats.conversations,
        "total_reflections": stats.reflections,
        "projects_tracked": stats.projects,
        "embedding_coverage": stats.embedded_percent,
        "storage_size_mb": round(stats.bytes / 1_000_000, 3),
        "oldest_conversation": iso(stats.oldest) if stats.oldest else "",
        "most_recent": iso(stats.newest) if stats.newest else "",
    }


@surface.tool("Get a cached chunk", READS)
def get_cached_chunk(
    core: Core,
    cache_key: Annotated[str, "From a chunked answer"],
    chunk_index: Annotated[int, "Which chunk, from 1", Range(low=1)],
) -> chunks.Chunk:
    """Get another chunk of an answer that was too large for one message. Each has all fields of the answer; `results`
    and other lists of all chunks, joined in order, are the whole ones. What is too large even for a chunk goes on in `rest`."""
    return chunks.cached_chunk(core, cache_key, chunk_index)
