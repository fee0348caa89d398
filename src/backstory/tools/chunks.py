"""Answers too large for one message go out in chunks, which joined are the whole answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Annotated, TypedDict

from ..core import Core
from ..domain.errors import InvalidInput
from .params import Json, output_schema

MOST_TOKENS = 4_000
BYTES_PER_TOKEN = 4
CHUNK_BYTES = 14_000
"""As a string inside the answer that carries it, with its escapes."""

_KIND = "chunks"
_SMALL = 100  # characters of a field that every chunk can repeat


class Chunk(TypedDict):
    """Besides these, fields of the answer that are small enough to be repeated."""

    chunked: Annotated[bool, "Present when the answer is too large for one message"]
    current_chunk: Annotated[int, "From 1"]
    total_chunks: int
    cache_key: Annotated[str, "For get_cached_chunk"]
    chunk: Annotated[str, "All chunks joined are the JSON text of the whole answer"]


def in_chunks(core: Core, body: Json, owner: Callable[[], str] | None = None) -> Json:
    """The answer itself, or its first chunk and the key to the others, which opens them for the owner."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    if _size(text) <= MOST_TOKENS * BYTES_PER_TOKEN:
        return body
    small = {name: value for name, value in body.items() if len(json.dumps(value)) <= _SMALL}
    kept: Json = {"small": small, "chunks": list(_pieces(text))}
    key = core.kept.keep(_KIND, kept, owner=(owner or core.kept.owner_of_anything)())
    return {**_chunk(kept, key, 1)}


def cached_chunk(core: Core, key: str, number: int) -> Chunk:
    kept = core.kept.fetch(_KIND, key)
    total = len(kept["chunks"])
    if number > total:
        raise InvalidInput(
            f"chunk_index must be at most {total}: the answer has {total} chunks.", field="chunk_index"
        )
    return _chunk(kept, key, number)


def chunked_schema(schema: Json) -> Json:
    """The shape of an answer that may come in chunks: all of it, or a chunk with what else fits."""
    chunk = output_schema(cached_chunk, {})
    return schema | {
        "properties": chunk["properties"] | schema["properties"],
        "required": ["success"],
        "anyOf": [{"required": schema["required"]}, {"required": chunk["required"]}],
    }


def _chunk(kept: Json, key: str, number: int) -> Chunk:
    chunks: list[str] = kept["chunks"]
    chunk: Chunk = {
        "chunked": True,
        "current_chunk": number,
        "total_chunks": len(chunks),
        "cache_key": key,
        "chunk": chunks[number - 1],
    }
    return {**kept["small"], **chunk}


def _pieces(text: str) -> Iterator[str]:
    """Cut between characters, so that no piece takes more than CHUNK_BYTES."""
    start = 0
    while start < len(text):
        piece = text[start : start + CHUNK_BYTES]
        while _size(json.dumps(piece, ensure_ascii=False)) > CHUNK_BYTES:
            piece = piece[: len(piece) * 3 // 4]
        yield piece
        start += len(piece)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
