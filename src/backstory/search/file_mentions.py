"""Entries that touched or mention a file, each with the probability that this very file is meant."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import NamedTuple

from ..domain.entries import Outline, TextFields, numbers_of
from ..domain.filters import Filter
from ..domain.lazy import lazy_pattern
from ..domain.metadata import FILES, marks_of
from ..domain.numbers import are_among
from ..domain.paths import PathMatch, match_in_text, match_path, path_parts
from ..domain.words import MOST_TOGETHER, Unit
from ..store import Store
from .engine import Hit
from .families import family_heads

TOUCHED = 1.0
TOUCHED_BELOW = 0.95  # a path of which one is the end of the other
NAMED = 0.9
NAMED_SHORTER = 0.75  # its last part alone, which other files may have too
MOST_READ = 500
"""Maximum number of texts to read for mentions, newest first: every other text mentions `index.ts`."""

_WORD = lazy_pattern(r"[^\W_]+")


class FileMention(NamedTuple):
    outline: Outline
    score: float


def file_hits(store: Store, path: str, where: Filter) -> list[Hit]:
    """The surest first, then the newest; of a conversation its surest place."""
    mentioned = mentions(store, path, where)
    mentioned.sort(key=lambda each: (-each.score, -each.outline.created_ms, -each.outline.entry))
    heads = family_heads(
        store, {each.outline.thread for each in mentioned if each.outline.role and each.outline.thread}
    )
    hits: dict[object, Hit] = {}
    for outline, score in mentioned:
        head = heads.get(outline.thread or "") if outline.role else None
        known = hits.get(head or outline.entry)
        if known is None:
            hits[head or outline.entry] = Hit(outline.entry, score, score, outline.project, conversation=head)
        else:
            hits[head or outline.entry] = known._replace(other_places=(*known.other_places, outline.entry))
    return list(hits.values())


def mentions(store: Store, path: str, where: Filter) -> list[FileMention]:
    """The entries that touched or mention a file, unordered."""
    sure = {
        did.entry: TOUCHED if match_path(did.value, path) is PathMatch.SAME else TOUCHED_BELOW
        for did in store.traces.touching(path, where)
    }
    sure |= _marked(store, path)
    touching = [FileMention(o, sure[o.entry]) for o in store.entries.outlines(sure, where)]
    return [*touching, *_named(store, path, where, sure)]


def _marked(store: Store, path: str) -> dict[int, float]:
    """Memories that were saved as being about it, and how sure that is: a bare name may be a file of another folder."""
    scores = {PathMatch.SAME: TOUCHED, PathMatch.ENDS_ALIKE: TOUCHED, PathMatch.NAME: NAMED_SHORTER}
    marked = {}
    for entry, metadata in store.memories.with_metadata(FILES).items():
        best = max(
            (match_path(mark.path, path) for mark in marks_of(json.loads(metadata))), default=PathMatch.OTHER
        )
        if best in scores:
            marked[entry] = scores[best]
    return marked


def _named(store: Store, path: str, where: Filter, known: Collection[int]) -> list[FileMention]:
    """Further texts that mention the file: arguments of a tool name the file that it touched."""
    words = tuple(_WORD.findall("".join(path_parts(path)[-1:]).casefold()))[:MOST_TOGETHER]
    if not words:
        return []
    holding = store.text.match(Unit(words), TextFields.BOTH)
    others = holding[~are_among(holding, numbers_of(sorted(known)))].tolist()
    visible = store.entries.outlines(others, where)
    newest = sorted(visible, key=lambda o: -o.created_ms)[:MOST_READ]
    texts = store.entries.load(o.entry for o in newest)
    scores = {PathMatch.SAME: NAMED, PathMatch.ENDS_ALIKE: NAMED, PathMatch.NAME: NAMED_SHORTER}
    matches = (
        (outline, match_in_text(texts[outline.entry].text, path))
        for outline in newest
        if outline.entry in texts
    )
    return [FileMention(outline, scores[match]) for outline, match in matches if match in scores]
