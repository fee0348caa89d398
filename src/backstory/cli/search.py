"""`backstory search`: what an assistant would find, and why."""

from __future__ import annotations

import argparse
from pathlib import PurePath

from ..app import open_core
from ..core import Core
from ..core.recollection import Recollection
from ..core.searching import Ranking
from ..domain.errors import InvalidInput
from ..domain.records import Memory, Trust
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import origin, safe_text
from .report import Json, Report, shortened, wrapped

LIMIT = 5
SHOWN = 400  # characters of a memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORDS", help="what to look for, in any words")
    parser.add_argument(
        "--limit", type=int, default=LIMIT, metavar="N", help=f"most results (default: {LIMIT})"
    )
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    query = " ".join(options.words).strip()
    if not query:
        raise InvalidInput("There is nothing to search for.", hint="Say what to look for, in any words.")
    if options.limit < 1:
        raise InvalidInput("--limit must be at least 1.")
    core = open_core(settings)
    try:
        ranking, shown = _find(core, query, options.limit)
    finally:
        core.engine.close()
    return Report(_body(query, ranking, shown, options.explain), _text(ranking, shown, options.explain))


def _find(core: Core, query: str, limit: int) -> tuple[Ranking, list[Recollection]]:
    """Memories and conversations in one ranking. Private ones belong to their session, and stay there."""
    ranking = core.searching.everywhere(query)
    return ranking, core.recollecting.show(ranking.hits[:limit], ranking.words)


def _body(query: str, ranking: Ranking, shown: list[Recollection], explain: bool) -> Json:
    return {
        "query": query,
        "search_strategy": ranking.strategy,
        "notices": list(ranking.notices),
        "results": [_result(each, explain) for each in shown],
    }


def _result(shown: Recollection, explain: bool) -> Json:
    entry, hit = shown.entry, shown.hit
    result: Json = {
        "id": entry.id,
        "kind": _kind(shown),
        "text": safe_text(shown.content, entry.trust),
        "project": entry.project,
        "surface": entry.surface,
        **origin(entry),
        "created_at": iso(entry.created_at),
        "score": hit.certainty,
    }
    if not isinstance(entry, Memory):
        result["conversation_id"] = entry.conversation
        result["size"] = len(entry.text)
        result["more_in_conversation"] = len(hit.other_places)
    if explain:
        result["parts"] = {name: round(part, 4) for name, part in _parts(shown).items()}
    return result


def _text(ranking: Ranking, shown: list[Recollection], explain: bool) -> str:
    blocks = [_block(place, each, explain) for place, each in enumerate(shown, 1)]
    if not blocks:
        blocks.append("Nothing found.")
    how = {"hybrid": "by words and by meaning", "text": "by words alone"}[ranking.strategy]
    closing = [f"Searched {how}."] if explain else []
    return "\n\n".join([*blocks, *closing, *ranking.notices])


def _block(place: int, shown: Recollection, explain: bool) -> str:
    entry, hit = shown.entry, shown.hit
    project = PurePath(entry.project).name or entry.project
    head = f"{place}. {_kind(shown)} of {entry.created_at:%Y-%m-%d %H:%M} in {project}, score {hit.certainty:.2f}"
    if entry.trust is not Trust.OWN:
        head += f", {entry.trust.value}"
    if hit.other_places:
        head += f", {len(hit.other_places)} more places"
    lines = [head, wrapped(shortened(safe_text(shown.content, entry.trust), SHOWN), "   ", "   ")]
    if explain:
        lines.append("   " + " · ".join(f"{name} {part:.2f}" for name, part in _parts(shown).items()))
    return "\n".join(lines)


def _parts(shown: Recollection) -> dict[str, float]:
    """What is not known of a hit, such as the cosine of a text without a vector, is left out."""
    return {name: part for name, part in shown.hit.parts.items() if part == part}


def _kind(shown: Recollection) -> str:
    return "memory" if isinstance(shown.entry, Memory) else "conversation"
