"""`backstory search`: the results an assistant would get, each conversation once, and the reasons for their rank."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from ..app import open_core
from ..core import Core
from ..core.ask import Inquiry, Ranking, ResultOrder
from ..core.contents import is_empty
from ..core.names import ConversationNames, short_memory_id
from ..core.previews import Preview
from ..domain.errors import InvalidInput, NotFound
from ..domain.filters import Kind
from ..domain.kinds import MemoryKind, kind_name
from ..domain.lazy import lazy_pattern
from ..domain.lines import one_line
from ..domain.records import Conversation, Memory, Message, Trust
from ..domain.when import iso
from ..search.passage import best_passage
from ..search.terms import stem
from ..settings import Settings
from ..tools.origin import origin, safe_text
from . import show
from .narrowing import KINDS, add_limit, add_narrowing, nothing, read_bounds
from .numbers import whole_number
from .report import Block, Hint, Json, Paragraph, Report, Span, Style, Verbatim, project_name, terminal_line

LIMIT = 5
MAX_PASSAGE_CHARS = 400  # characters of a memory
LONGEST_TITLE = 50
OTHER_PLACES, OTHER_SHOWN = 2, 68
"""Further messages of a conversation that are shown, and characters of each."""
_WORD = lazy_pattern(r"[^\W_]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="WORDS", help="search terms, or a question in plain words"
    )
    add_narrowing(parser)
    parser.add_argument(
        "--kind",
        metavar="KIND",
        help="only this kind: conversation, memory, or a kind of memory such as decision",
    )
    parser.add_argument(
        "--file",
        metavar="PATH",
        help="only results that touched or mention this file; search terms are then optional",
    )
    add_limit(parser, LIMIT)
    parser.add_argument(
        "--order",
        choices=[*ResultOrder],
        default=ResultOrder.RELEVANCE,
        help="order of results: most relevant (default), newest or oldest first",
    )
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")
    parser.add_argument(
        "--open",
        type=whole_number(1),
        nargs="?",
        const=1,
        metavar="N",
        help="show result N (default: 1) with its context",
    )


class Findings(NamedTuple):
    """The results with their previews."""

    query: str
    ranking: Ranking
    shown: Sequence[Preview]
    conversations: dict[str, Conversation]
    names: ConversationNames
    others: dict[int, Message]
    """Further places, by entry."""


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        return report(core, options)


def report(core: Core, options: argparse.Namespace) -> Report:
    query = " ".join(options.words).strip()
    if not query and not options.file:
        raise InvalidInput("The query is empty.", hint="Pass words or a question to search for.")
    ranking = _ranking(core, query, options)
    if options.open is not None:
        return _opened(core, ranking, options.open)
    findings = _findings(core, query, ranking, options.limit)
    if findings.shown:
        return Report(_body(findings, options.explain), _blocks(findings, options))
    subjects = core.previews.suggestions(ranking).subjects
    body = {**_body(findings, options.explain), "suggestions": subjects}
    none = _nothing(options, query, subjects, is_empty=is_empty(core.engine))
    lines = [*none, *_remarks(ranking, options.explain)]
    return Report(body, lines, exit_code=1)


def _ranking(core: Core, query: str, options: argparse.Namespace) -> Ranking:
    """Memories and conversations in one ranking. Private ones belong to their session, and stay there."""
    where = read_bounds(options, core).filter()
    kind = options.kind if options.kind in list(MemoryKind) else None
    if options.kind in KINDS:
        where = where._replace(kinds=(KINDS[options.kind],))
    elif options.kind and kind is None:
        where = where._replace(kinds=(Kind.MEMORY,), categories=(options.kind,))
    limit = max(options.limit, options.open or 1)
    order = ResultOrder(options.order)
    inquiry = Inquiry(query, kind=kind, file=options.file or None, where=where, order=order, limit=limit)
    return core.ask.find(inquiry._replace(shows_nearest_memories=True))


def _opened(core: Core, ranking: Ranking, number: int) -> Report:
    previews = core.previews.show(ranking.hits[number - 1 : number], ranking)
    if not previews:
        raise NotFound("result", str(number), hint="Search without --open to list the results.")
    return show.report(core, previews[0].entry.id)


def _findings(core: Core, query: str, ranking: Ranking, limit: int) -> Findings:
    previews = core.previews.show(ranking.hits[:limit], ranking)
    places = [place for each in previews for place in each.hit.other_places[:OTHER_PLACES]]
    others = {n: entry for n, entry in core.ask.load(places).items() if isinstance(entry, Message)}
    threads = {each.entry.conversation for each in previews if isinstance(each.entry, Message)}
    conversations = core.browsing.by_id(threads)
    return Findings(query, ranking, previews, conversations, core.browsing.names(), others)


def _body(findings: Findings, explain: bool) -> Json:
    return {
        "query": findings.query,
        "search_strategy": findings.ranking.strategy,
        "notices": list(findings.ranking.notices),
        "results": [_result(findings, each, explain) for each in findings.shown],
    }


def _result(findings: Findings, preview: Preview, explain: bool) -> Json:
    entry, hit = preview.entry, preview.hit
    result: Json = {
        "id": entry.id,
        "kind": "memory" if isinstance(entry, Memory) else "conversation",
        "text": safe_text(preview.content, entry.trust),
        "project": entry.project,
        **origin(entry),
        "created_at": iso(entry.created_at),
        "score": hit.certainty,
    }
    if isinstance(entry, Message):
        conversation = findings.conversations.get(entry.conversation)
        result["conversation_id"] = entry.conversation
        result["title"] = one_line(conversation.title, LONGEST_TITLE) if conversation else ""
        result["number"] = entry.seq + 1
        result["size"] = len(entry.text)
        result["more_in_conversation"] = len(hit.other_places)
    if preview.later is not None:
        result["superseded_by"] = preview.later.id
    if explain:
        result["parts"] = {name: round(part, 4) for name, part in preview.hit.known_parts.items()}
    return result


def _blocks(findings: Findings, options: argparse.Namespace) -> list[Block]:
    ranking = findings.ranking
    blocks: list[Block] = []
    if findings.shown and not ranking.is_sure:
        blocks.append(Hint("Nothing sure; the nearest:"))
    for place, each in enumerate(findings.shown, 1):
        blocks += [*([""] if place > 1 else []), *_block(findings, place, each, options.explain)]
    return [*blocks, *_remarks(ranking, options.explain)]


def _nothing(
    options: argparse.Namespace, query: str, subjects: Sequence[str], *, is_empty: bool
) -> Iterator[Block]:
    yield nothing(
        options, "memory or conversation", f"No results for {terminal_line(query, MAX_PASSAGE_CHARS)!r}."
    )
    recent = (
        f" The latest subjects are: {terminal_line(', '.join(subjects), MAX_PASSAGE_CHARS)}."
        if subjects
        else ""
    )
    if is_empty:
        yield Hint(
            "Nothing is stored yet, and no conversations were found on this machine. `backstory install` adds Backstory to your assistants."
        )
    else:
        yield Hint(f"Try fewer or other words.{recent}")


def _remarks(ranking: Ranking, explain: bool) -> Iterator[Block]:
    if explain:
        how = {"hybrid": "by words and by meaning", "text": "by words alone"}[ranking.strategy]
        yield from ("", f"Searched {how}.")
    for notice in ranking.notices:
        yield from ("", Paragraph(notice))


def _block(findings: Findings, place: int, preview: Preview, explain: bool) -> Iterator[Block]:
    entry, hit = preview.entry, preview.hit
    yield Verbatim(
        [f"{place}. ", *_name(findings, preview), Span(f"  score {hit.certainty:.2f}", Style.QUIET)]
    )
    yield Paragraph([Span(", ".join(_about(preview)), Style.QUIET)], indent=3)
    text = terminal_line(safe_text(preview.content, entry.trust), MAX_PASSAGE_CHARS)
    yield Paragraph(list(_highlighted(text, findings.ranking.words)), indent=3)
    for number in hit.other_places[:OTHER_PLACES]:
        if other := findings.others.get(number):
            passage = best_passage(other.text, findings.ranking.words, OTHER_SHOWN).text
            excerpt = terminal_line(safe_text(passage, other.trust), OTHER_SHOWN)
            caption = Span(f"#{other.seq + 1} ", Style.ID)
            yield Paragraph([caption, *_highlighted(excerpt, findings.ranking.words)], indent=3)
    if explain:
        yield Verbatim(
            "   " + " · ".join(f"{name} {part:.2f}" for name, part in preview.hit.known_parts.items())
        )


def _name(findings: Findings, preview: Preview) -> list[str | Span]:
    """The id to copy, and the kind of record."""
    entry = preview.entry
    if isinstance(entry, Memory):
        return [
            Span(short_memory_id(entry.id), Style.ID),
            " ",
            Span(kind_name(entry), Style.HEADING),
        ]
    conversation = findings.conversations.get(entry.conversation)
    name = (
        findings.names.short(entry.conversation)
        if entry.conversation in findings.names
        else entry.conversation
    )
    title = terminal_line(conversation.name, LONGEST_TITLE) if conversation else ""
    return [Span(f"{name}#{entry.seq + 1}", Style.ID), " ", Span(title or "conversation", Style.HEADING)]


def _about(preview: Preview) -> Iterator[str]:
    entry, hit = preview.entry, preview.hit
    yield f"{entry.created_at:%Y-%m-%d %H:%M}"
    yield entry.surface if isinstance(entry, Memory) else f"{entry.role} in {entry.surface}"
    yield project_name(entry.project)
    if entry.trust is not Trust.OWN:
        yield f"words of a {entry.trust.value}" if entry.trust is not Trust.IMPORTED else "imported"
    if preview.later is not None:
        yield f"superseded on {preview.later.created_at:%Y-%m-%d}"
    if len(hit.other_places) > OTHER_PLACES:
        yield f"{len(hit.other_places)} more places"


def _highlighted(text: str, words: Sequence[str]) -> Iterator[str | Span]:
    """The words that were looked for, in any of their forms."""
    stems = set(map(stem, words))
    end = 0
    for match in _WORD.finditer(text):
        if stem(match.group().lower()) in stems:
            yield text[end : match.start()]
            yield Span(match.group(), Style.MATCH)
            end = match.end()
    yield text[end:]
