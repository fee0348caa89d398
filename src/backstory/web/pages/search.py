"""Search: results by conversation, with the reasons for their rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core import Core
from ...core.ask import Inquiry, Ranking, ResultOrder
from ...core.previews import Preview
from ...domain.entries import Outline
from ...domain.filters import Kind
from ...domain.kinds import kind_name
from ...domain.records import Conversation, Entry, Message
from ...domain.when import iso, parse_when, to_ms
from ...search.engine import Hit
from ..page_query import PageQuery
from ..view import Json, View
from .cards import conversation_card

PAGE_RESULTS = 20
MOST_PLACES = 2  # further ones of a conversation that are shown
MOST_OF_A_FACET = 10
KINDS = {"memory": Kind.MEMORY, "conversation": Kind.MESSAGE}
TIMES = {"-1d": "Past day", "-7d": "Past week", "-1mo": "Past month", "-12mo": "Past year"}
ORDERS = {ResultOrder.NEWEST: "Newest first", ResultOrder.OLDEST: "Oldest first"}
MEANINGS = {
    "words": "its words, weighted by rarity, relative to the best hit",
    "meaning": "nearness in meaning, relative to the nearest hit",
    "prompt": "bonus for the question that it answers",
    "coverage": "share of the query's weight that it contains",
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
    ranking = core.ask.find(_inquiry(asked, query))
    hits = ranking.hits[PAGE_RESULTS * (number - 1) : PAGE_RESULTS * number]
    results = _results(core, core.previews.show(hits, ranking), ranking)
    body = _body(query, number, ranking, results, _facets(core, ranking.hits))
    if not ranking.hits:
        body["suggestions"] = core.previews.suggestions(ranking).subjects
    return View("search.html", body, query, "results.html")


def _inquiry(asked: PageQuery, query: str) -> Inquiry:
    """The inquiry, equal for every page of results, so that no hit is repeated or missing."""
    kind = asked.choice("kind", tuple(KINDS))
    order = ResultOrder(asked.choice("order", tuple(ResultOrder)) or ResultOrder.RELEVANCE)
    where = asked.bounds().filter()._replace(kinds=(KINDS[kind],) if kind else ())
    return Inquiry(query, where=where, file=asked.text("file") or None, order=order, limit=PAGE_RESULTS)


def _body(query: str, number: int, ranking: Ranking, results: list[Json], facets: Json) -> Json:
    return {
        "question": query,
        "strategy": ranking.strategy,
        "notices": list(ranking.notices),
        "total": len(ranking.hits),
        "is_sure": ranking.is_sure,
        "page": number,
        "pages_count": -(-len(ranking.hits) // PAGE_RESULTS),
        "first": PAGE_RESULTS * (number - 1) + 1,
        "words": list(ranking.words),
        "results": results,
        "facets": facets,
        "meanings": MEANINGS,
    }


def _results(core: Core, previews: Sequence[Preview], ranking: Ranking) -> list[Json]:
    threads = {each.entry.conversation for each in previews if isinstance(each.entry, Message)}
    conversations = core.browsing.by_id(threads)
    places = _other_places(core, previews, ranking)
    return [_result(each, conversations, places) for each in previews]


def _other_places(core: Core, previews: Sequence[Preview], ranking: Ranking) -> dict[int, Preview]:
    others = [
        each.hit._replace(entry=entry) for each in previews for entry in each.hit.other_places[:MOST_PLACES]
    ]
    return {each.hit.entry: each for each in core.previews.show(others, ranking)}


def _result(preview: Preview, conversations: dict[str, Conversation], places: dict[int, Preview]) -> Json:
    entry, hit = preview.entry, preview.hit
    result: Json = {
        "id": entry.id,
        "kind": "conversation" if isinstance(entry, Message) else "memory",
        "passage": _without_gaps(preview.content),
        "project": entry.project,
        "assistant": entry.surface,
        "created_at": iso(entry.created_at),
        "trust": entry.trust.value,
        "certainty": hit.certainty,
        "why": why(hit),
        "superseded_by": None if preview.later is None else _later(preview.later),
    }
    if not isinstance(entry, Message):
        return result | {"category": kind_name(entry), "key": entry.key}
    conversation = conversations.get(entry.conversation)
    return result | {
        "conversation": None if conversation is None else conversation_card(conversation),
        **_place(preview),
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


def _place(preview: Preview) -> Json:
    assert isinstance(preview.entry, Message)
    return {
        "conversation_id": preview.entry.conversation,
        "number": preview.entry.seq + 1,
        "role": preview.entry.role,
    }


def why(hit: Hit) -> Json:
    parts = {name: round(part, 4) for name, part in hit.known_parts.items()}
    return {"score": round(hit.score, 4), "parts": parts}


def _facets(core: Core, hits: Sequence[Hit]) -> Json:
    """The number of hits that each further filter would leave."""
    outlines = core.ask.outlines(hits)
    return {
        "kind": _counted("conversation" if each.role else "memory" for each in outlines),
        "assistant": _counted(each.surface for each in outlines),
        "project": _counted(each.project for each in outlines),
        "since": _times(core.engine.now(), outlines),
        "order": [{"value": order.value, "name": name} for order, name in ORDERS.items()],
    }


def _counted(values: Iterable[str]) -> list[Json]:
    common = Counter(values).most_common(MOST_OF_A_FACET)
    return [{"value": value, "count": count} for value, count in common if value]


def _times(now: datetime, outlines: Sequence[Outline]) -> list[Json]:
    times = []
    for value, name in TIMES.items():
        since = to_ms(parse_when(value, now))
        if count := sum(each.created_ms >= since for each in outlines):
            times.append({"value": value, "name": name, "count": count})
    return times
