"""`backstory why FILE`: what was decided about a file, what was dropped, which errors it met, and who changed it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..app import open_core
from ..core.names import ConversationNames, short_memory_id
from ..core.projects import work_tree
from ..core.reasons import Reasons
from ..core.team import refresh_trusted
from ..domain.records import Memory
from ..domain.shared_notes import source_of
from ..domain.statements import Statement, StatementState
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import safe_excerpt, safe_text
from .report import Block, Hint, Json, Paragraph, Report, Span, Style, terminal_line

MAX_TEXT_CHARS = 300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file; it need not be there any more")
    parser.add_argument(
        "--project",
        metavar="NAME|DIR",
        help="the project to look in (default: the one you are in; `*` for all)",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        refresh_trusted(core.engine, {})
        projects = core.browsing.projects(options.project) if options.project else None
        path = _inside(options.file, core.caller.directory)
        reasons = core.reasons.about(path, projects)
        names = core.browsing.names()
    return Report(_body(path, reasons), _blocks(path, reasons, names))


def _inside(file: str, directory: str) -> str:
    """As it is called within its checkout, which is how it is called in every other."""
    whole = os.path.abspath(os.path.join(directory, os.path.expanduser(file)))
    return os.path.relpath(whole, work_tree(Path(whole).parent)) if os.path.lexists(whole) else file


def _body(path: str, reasons: Reasons) -> Json:
    return {
        "path": path,
        "memories": [
            {
                "id": each.id,
                "kind": each.category,
                "text": safe_text(each.text, each.trust),
                "trust": each.trust.value,
                "by": source.author if (source := source_of(each)) else "",
            }
            for each in reasons.memories
        ],
        "decisions": list(map(_statement_body, reasons.decisions)),
        "dead_ends": list(map(_statement_body, reasons.dropped)),
        "errors": [
            {"text": safe_excerpt(each.value), "session": each.conversation, "at": iso(each.at)}
            for each in reasons.errors
        ],
        "sessions": [
            {
                "id": each.id,
                "title": each.title,
                "assistant": each.surface,
                "updated_at": iso(each.updated_at),
            }
            for each in reasons.conversations
        ],
    }


def _statement_body(each: Statement) -> Json:
    return {
        "text": safe_excerpt(each.text),
        "state": each.state.value,
        "session": each.conversation,
        "number": each.place + 1,
        "at": iso(each.at),
    }


def _blocks(path: str, reasons: Reasons, names: ConversationNames) -> list[Block]:
    if not any(reasons):
        return [
            f"Nothing is known of {path}.",
            Hint(
                "`backstory sync` reads new conversations; `backstory search --file` finds texts that name it."
            ),
        ]
    blocks: list[Block] = []
    notes = [
        (short_memory_id(each.id), _kind(each), safe_text(each.text, each.trust)) for each in reasons.memories
    ]
    _add(blocks, "Saved about it", notes)
    _add(blocks, "Decided", [_said(each, names) for each in reasons.decisions])
    _add(blocks, "Tried and dropped", [_said(each, names) for each in reasons.dropped])
    errors = [
        (names.short(each.conversation), f"{each.at:%Y-%m-%d}", safe_excerpt(each.value))
        for each in reasons.errors
    ]
    _add(blocks, "Errors it met", errors)
    sessions = [
        (names.short(each.id), f"{each.updated_at:%Y-%m-%d} {each.surface}", each.name)
        for each in reasons.conversations
    ]
    _add(blocks, "Sessions that touched or name it", sessions)
    return blocks


def _kind(memory: Memory) -> str:
    kind, source = memory.category or "memory", source_of(memory)
    return (
        kind if source is None else f"{kind} of the team, by {terminal_line(safe_excerpt(source.author), 40)}"
    )


def _said(each: Statement, names: ConversationNames) -> tuple[str, str, str]:
    superseded = " (superseded)" if each.state is StatementState.SUPERSEDED else ""
    return (
        f"{names.short(each.conversation)}#{each.place + 1}",
        f"{each.at:%Y-%m-%d}{superseded}",
        safe_excerpt(each.text),
    )


def _add(blocks: list[Block], heading: str, rows: Sequence[tuple[str, str, str]]) -> None:
    if not rows:
        return
    blocks += [""] if blocks else []
    blocks.append(Paragraph([Span(heading, Style.HEADING)]))
    for id, about, text in rows:
        line: list[str | Span] = [Span(id, Style.ID), " ", Span(about, Style.QUIET), " "]
        blocks.append(Paragraph([*line, terminal_line(text, MAX_TEXT_CHARS)], indent=2))
