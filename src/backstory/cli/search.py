"""`backstory search`: what an assistant would find, and why."""

from __future__ import annotations

import argparse
from pathlib import PurePath

from ..app import open_core
from ..core import Core
from ..domain.errors import InvalidInput
from ..domain.filters import Filter
from ..domain.records import Memory, Trust
from ..domain.when import iso
from ..search.hybrid import Found, Hit
from ..settings import Settings
from ..tools.origin import origin, safe_text
from .report import Json, Report, shortened, wrapped

SHOWN = 400  # characters of a text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORDS", help="what to look for, in any words")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="most results (default: 10)")
    parser.add_argument(
        "--explain", action="store_true", help="show the rank each arm gave, and the score's parts"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    query = " ".join(options.words).strip()
    if not query:
        raise InvalidInput("There is nothing to search for.", hint="Say what to look for, in any words.")
    if options.limit < 1:
        raise InvalidInput("--limit must be at least 1.")
    core = open_core(settings)
    try:
        found = _find(core, query, options.limit)
    finally:
        core.engine.close()
    return Report(_body(query, found, options.explain), _text(found, options.explain))


def _find(core: Core, query: str, limit: int) -> Found:
    """Memories and messages in one ranking. Private ones belong to their session, and stay there."""
    return core.engine.search.find(query, core.caller.visible(Filter()), limit, project=core.caller.project)


def _body(query: str, found: Found, explain: bool) -> Json:
    return {
        "query": query,
        "search_strategy": found.strategy,
        "notices": list(found.notices),
        "results": [_result(hit, explain) for hit in found.hits],
    }


def _result(hit: Hit, explain: bool) -> Json:
    entry = hit.entry
    result: Json = {
        "id": entry.id,
        "kind": _kind(hit),
        "text": safe_text(entry.text, entry.trust),
        "project": entry.project,
        "surface": entry.surface,
        **origin(entry),
        "created_at": iso(entry.created_at),
        "score": round(hit.score, 4),
    }
    if explain:
        result |= {
            "ranks": dict(hit.ranks),
            "parts": {name: round(part, 4) for name, part in hit.parts.items()},
        }
    return result


def _text(found: Found, explain: bool) -> str:
    blocks = [_block(place, hit, explain) for place, hit in enumerate(found.hits, 1)]
    if not blocks:
        blocks.append("Nothing found.")
    how = {"hybrid": "by words and by meaning", "text": "by words alone"}[found.strategy]
    closing = [f"Searched {how}."] if explain else []
    return "\n\n".join([*blocks, *closing, *found.notices])


def _block(place: int, hit: Hit, explain: bool) -> str:
    entry = hit.entry
    project = PurePath(entry.project).name or entry.project
    whose = "" if entry.trust is Trust.OWN else f", {entry.trust.value}"
    head = f"{place}. {_kind(hit)} of {entry.created_at:%Y-%m-%d %H:%M} in {project}, score {hit.score:.2f}{whose}"
    lines = [head, wrapped(shortened(safe_text(entry.text, entry.trust), SHOWN), "   ", "   ")]
    if explain:
        ranks = [f"{arm} #{rank}" for arm, rank in hit.ranks.items()]
        parts = [f"{name} {part:.2f}" for name, part in hit.parts.items()]
        lines.append(f"   {' · '.join([*ranks, *parts])}")
    return "\n".join(lines)


def _kind(hit: Hit) -> str:
    return "memory" if isinstance(hit.entry, Memory) else "message"
