"""Search: what was found, in which conversation, and why it stands where it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core import Core
from ...core.search import SURE, Ranking
from ...core.search.previews import Preview
from ...domain.entries import Outline
from ...domain.filters import Filter, Kind
from ...domain.kinds import kind_name
from ...domain.records import Conversation, Entry, Message
from ...domain.when import iso, parse_when, to_ms
from ...search.engine import Hit
from ..page_query import PageQuery
from ..view import Json, View
from .cards import conversation_card

SIZE = 20
MOST_PLACES = 2  # further ones of a conversation that are shown
MOST_OF_A_FACET = 10
KINDS = {"memory": Kind.MEMORY, "conversation": Kind.MESSAGE}
TIMES = {"-1d": "Past day", "-7d": "Past week", "-1mo": "Past month", "-12mo": "Past year"}
MEANINGS = {
    "words": "its words, weighed by how rare they are, beside the best hit's",
    "meaning": "how near it is in meaning, beside the nearest",
    "prompt": "what it gains by the question that it answers",
    "coverage": "share of the query's weight that stands in it",
    "cosine": "cosine of its vector and the query's",
}
"""The parts of a score, as `backstory search --explain` prints them."""


def page(core: Core, asked: PageQuery) -> View:
    query = asked.text("q")
    number = asked.number("page", 1, least=1, most=1_000)
    if not query:
        return View(
            "search.html", _body(query, number, Ranking([], [], "text"), [], {}), "Search", "results.html"
        )
    narrow = _narrow(core, asked)
    nothing = Ranking([], [], "text", ("No conversation touched that file.",))
    ranking = (
        nothing
        if narrow is None
        else core.search.everywhere(query, narrow=narrow, own_first=False, largest_pool=1)
    )
    shown = core.previews.show(ranking.hits[SIZE * (number - 1) : SIZE * number], ranking.words)
    results = _results(core, shown, ranking.words)
    body = _body(query, number, ranking, results, _facets(core, ranking.hits))
    if not ranking.hits:
        body["suggestions"] = core.previews.suggestions(ranking).subjects
    return View("search.html", body, query, "results.html")


def _narrow(core: Core, asked: PageQuery) -> Filter | None:
    """None when nothing can match."""
    kind = asked.choice("kind", tuple(KINDS))
    narrow = asked.bounds().filter()._replace(kinds=(KINDS[kind],) if kind else ())
    if not (file := asked.text("file")):
        return narrow
    touched = core.engine.store.traces.touching(file, core.caller.visible(Filter()))
    threads = tuple(dict.fromkeys(hit.conversation for hit in touched))
    return narrow._replace(threads=threads, kinds=(Kind.MESSAGE,)) if threads else None


def _body(query: str, number: int, ranking: Ranking, results: list[Json], facets: Json) -> Json:
    return {
        "question": query,
        "strategy": ranking.strategy,
        "notices": list(ranking.notices),
        "total": len(ranking.hits),
        "is_sure": any(hit.certainty >= SURE for hit in ranking.hits),
        "page": number,
        "pages_count": -(-len(ranking.hits) // SIZE),
        "first": SIZE * (number - 1) + 1,
        "words": list(ranking.words),
        "results": results,
        "facets": facets,
        "meanings": MEANINGS,
    }


def _results(core: Core, shown: Sequence[Preview], words: Sequence[str]) -> list[Json]:
    threads = {each.entry.conversation for each in shown if isinstance(each.entry, Message)}
    conversations = {each.id: each for each in core.engine.store.conversations.get(sorted(threads))}
    places = _other_places(core, shown, words)
    return [_result(each, conversations, places) for each in shown]


def _other_places(core: Core, shown: Sequence[Preview], words: Sequence[str]) -> dict[int, Preview]:
    others = [
        each.hit._replace(entry=entry) for each in shown for entry in each.hit.other_places[:MOST_PLACES]
    ]
    return {each.hit.entry: each for each in core.previews.show(others, words)}


def _result(shown: Preview, conversations: dict[str, Conversation], places: dict[int, Preview]) -> Json:
    entry, hit = shown.entry, shown.hit
    result: Json = {
        "id": entry.id,
        "kind": "conversation" if isinstance(entry, Message) else "memory",
        "passage": _without_gaps(shown.content),
        "project": entry.project,
        "assistant": entry.surface,
        "created_at": iso(entry.created_at),
        "trust": entry.trust.value,
        "certainty": hit.certainty,
        "why": why(hit),
        "superseded_by": None if shown.later is None else _later(shown.later),
    }
    if not isinstance(entry, Message):
        return result | {"category": kind_name(entry), "key": entry.key}
    conversation = conversations.get(entry.conversation)
    return result | {
        "conversation": None if conversation is None else conversation_card(conversation),
        **_place(shown),
        "more": len(hit.other_places),
        "places": [
            {**_place(places[other]), "passage": places[other].content}
            for other in hit.other_places[:MOST_PLACES]
            if other in places
        ],
    }


def _later(entry: Entry) -> Json:
    """A decision that came after, on the same matter, and where it is."""
    place: Json = {"id": entry.id}
    if isinstance(entry, Message):
        place = {"conversation_id": entry.conversation, "number": entry.seq + 1}
    return {"at": iso(entry.created_at), **place}


def _without_gaps(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())


def _place(shown: Preview) -> Json:
    assert isinstance(shown.entry, Message)
    return {
        "conversation_id": shown.entry.conversation,
        "number": shown.entry.seq + 1,
        "role": shown.entry.role,
    }


def why(hit: Hit) -> Json:
    parts = {name: round(part, 4) for name, part in hit.known_parts.items()}
    return {"score": round(hit.score, 4), "parts": parts}


def _facets(core: Core, hits: Sequence[Hit]) -> Json:
    """How many hits each further filter would leave."""
    outlines = core.engine.store.entries.outlines((hit.entry for hit in hits), Filter())
    return {
        "kind": _counted("conversation" if each.role else "memory" for each in outlines),
        "assistant": _counted(each.surface for each in outlines),
        "project": _counted(each.project for each in outlines),
        "since": _times(core.engine.now(), outlines),
    }


def _counted(values: Iterable[str]) -> list[Json]:
    common = Counter(values).most_common(MOST_OF_A_FACET)
    return [{"value": value, "count": count} for value, count in common if value]


def _times(now: datetime, outlines: Sequence[Outline]) -> list[Json]:
    found = []
    for value, name in TIMES.items():
        since = to_ms(parse_when(value, now))
        if count := sum(each.created_ms >= since for each in outlines):
            found.append({"value": value, "name": name, "count": count})
    return found
