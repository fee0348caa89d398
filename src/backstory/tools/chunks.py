"""Send answers that are too large for one message in chunks.

Each chunk is a complete answer with a part of the lists."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, cast

from ..core import Core
from ..domain.errors import InvalidInput
from .budget import size
from .params import Json, output_schema
from .parts import Part, split

MOST_TOKENS = 4_000
BYTES_PER_TOKEN = 4
MOST_BYTES = MOST_TOKENS * BYTES_PER_TOKEN

_KIND = "chunks"


class Chunk(Part):
    chunked: Annotated[bool, "Present when the answer is too large for one message"]
    current_chunk: Annotated[int, "From 1"]
    total_chunks: int
    cache_key: Annotated[str, "For get_cached_chunk"]


def in_chunks(core: Core, body: Json, entries: Collection[int] | None = None) -> Json:
    """Return the answer itself, or its first chunk with the key to the others.

    The key works for callers that may see all of `entries`; None means everything that this caller may see."""
    if size(body) <= MOST_BYTES:
        return body
    parts, answers = split(body), core.answers
    if entries is None:
        key = answers.keep(_KIND, parts, owner=answers.owner_of_anything())
    else:
        key = answers.keep_of(_KIND, parts, entries)
    return {**_chunk(parts, key, 1)}


def cached_chunk(core: Core, key: str, number: int) -> Chunk:
    parts = core.answers.fetch(_KIND, key)
    if number > len(parts):
        raise InvalidInput(
            f"chunk_index must be at most {len(parts)}: the answer has {len(parts)} chunks.",
            field="chunk_index",
        )
    return _chunk(parts, key, number)


def chunked_schema(schema: Json) -> Json:
    """Return the schema of an answer that may arrive in chunks. Each chunk is a complete answer."""
    return schema | {"properties": output_schema(cached_chunk, {})["properties"] | schema["properties"]}


def _chunk(parts: list[Json], key: str, number: int) -> Chunk:
    chunk = {
        **parts[number - 1],
        "chunked": True,
        "current_chunk": number,
        "total_chunks": len(parts),
        "cache_key": key,
    }
    return cast(Chunk, chunk)
