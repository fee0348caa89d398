"""Who touched a file, and who speaks of it: entries, each with how sure it is that the very file is meant."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import NamedTuple

from ..domain.entries import Outline, TextFields, numbers_of
from ..domain.filters import Filter
from ..domain.metadata import FILES, marks_of
from ..domain.numbers import are_among
from ..domain.words import MOST_TOGETHER, Unit
from ..store import Store
from .engine import Hit
from .families import family_heads

TOUCHED = 1.0
TOUCHED_BELOW = 0.95  # a path that ends in the one asked for
NAMED = 0.9
NAMED_SHORTER = 0.75  # its last part alone, which other files may have too
MOST_READ = 500
"""Texts that are read for mentions, the newest: `index.ts` stands in every other one."""

_WORD = re.compile(r"[^\W_]+")
_PART = r"[\w@.+-]"


class FileMention(NamedTuple):
    outline: Outline
    score: float


def file_hits(store: Store, path: str, where: Filter) -> list[Hit]:
    """The surest first, then the newest; of a conversation its surest place."""
    found = mentions(store, path, where)
    found.sort(key=lambda each: (-each.score, -each.outline.created_ms, -each.outline.entry))
    heads = family_heads(
        store, {each.outline.thread for each in found if each.outline.role and each.outline.thread}
    )
    hits: dict[object, Hit] = {}
    for outline, score in found:
        head = heads.get(outline.thread or "") if outline.role else None
        known = hits.get(head or outline.entry)
        if known is None:
            hits[head or outline.entry] = Hit(outline.entry, score, score, outline.project, conversation=head)
        else:
            hits[head or outline.entry] = known._replace(other_places=(*known.other_places, outline.entry))
    return list(hits.values())


def mentions(store: Store, path: str, where: Filter) -> list[FileMention]:
    """In no particular order."""
    path = _plain(path)
    sure = {
        did.entry: TOUCHED if _plain(did.value) == path else TOUCHED_BELOW
        for did in store.traces.touching(path, where)
    }
    sure |= dict.fromkeys(_marked(store, path), TOUCHED)
    touching = [FileMention(o, sure[o.entry]) for o in store.entries.outlines(sure, where)]
    return [*touching, *_named(store, path, where, sure)]


def _marked(store: Store, path: str) -> list[int]:
    """Memories that were saved as being about it, by a path that ends so."""
    about = (
        (entry, _plain(mark.path))
        for entry, metadata in store.memories.with_metadata(FILES).items()
        for mark in marks_of(json.loads(metadata))
    )
    return [
        entry
        for entry, name in about
        if name == path or f"/{name}".endswith(f"/{path}") or path.endswith(f"/{name}")
    ]


def _named(store: Store, path: str, where: Filter, known: Collection[int]) -> list[FileMention]:
    """Texts besides those that are known: what a tool was given says the file that it touched."""
    last = path.rpartition("/")[2]
    words = tuple(_WORD.findall(last.casefold()))[:MOST_TOGETHER]
    if not words:
        return []
    holding = store.text.match(Unit(words), TextFields.BOTH)
    others = holding[~are_among(holding, numbers_of(sorted(known)))].tolist()
    visible = store.entries.outlines(others, where)
    newest = sorted(visible, key=lambda o: -o.created_ms)[:MOST_READ]
    texts = store.entries.load(o.entry for o in newest)
    whole, alone = _spelled(path), _spelled(last)
    found = []
    for outline in newest:
        text = texts[outline.entry].text.replace("\\", "/") if outline.entry in texts else ""
        if whole.search(text):
            found.append(FileMention(outline, NAMED))
        elif alone.search(text):
            found.append(FileMention(outline, NAMED_SHORTER))
    return found


def _spelled(path: str) -> re.Pattern[str]:
    """The path with nothing before it but other folders, and nothing after it; a full stop may end a sentence."""
    return re.compile(rf"(?<!{_PART}){re.escape(path)}(?!{_PART}*[\w@+-])", re.IGNORECASE)


def _plain(path: str) -> str:
    return path.strip().replace("\\", "/").removeprefix("./")
