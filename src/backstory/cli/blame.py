"""`backstory blame FILE[:LINE]`: from a line to the commit, the session and the message in which an assistant wrote it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ..app import history_places, open_core
from ..core import Core
from ..core.blame import BlamedLine, LineOrigin
from ..core.names import ConversationNames
from ..domain.when import iso
from ..settings import Settings
from .report import Block, Json, Paragraph, Report, Span, Style, Table, Text, Verbatim, legible, terminal_line

SHORT_HASH = 9
SAID = 160  # characters of a prompt
_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE[:LINE[-LINE]]", help="a file, and the line or lines in question"
    )


class _Findings(NamedTuple):
    path: str
    lines: Sequence[BlamedLine]
    names: ConversationNames
    prompts: dict[tuple[str, int], str]
    """What the user asked for, by conversation and number of the message."""


def run(options: argparse.Namespace, settings: Settings) -> Report:
    path, first, last = _place(options.file)
    with closing(open_core(settings)) as core:
        places = history_places(settings, core.engine.store)
        start = 1 if first is None else first
        lines = core.blame.lines(str(Path(path).absolute()), places, start, last or first)
        found = _Findings(path, lines, core.browsing.names(), _prompts(core, lines))
    return Report(_body(found), _one(found) if len(lines) == 1 else _many(found))


def _place(text: str) -> tuple[str, int | None, int | None]:
    found = _LINES.fullmatch(text)
    if found is None or Path(text).exists():
        return text, None, None
    last = found["last"]
    return found["path"], int(found["first"]), int(last) if last else None


def _prompts(core: Core, lines: Sequence[BlamedLine]) -> dict[tuple[str, int], str]:
    origins = {(each.origin.conversation.id, each.origin.number) for each in lines if each.origin}
    store = core.engine.store
    # what tools did right after a prompt has the number of the prompt, so that is one that stands before the next
    before = store.entries.prompts(sorted(origins)) if origins else {}
    entries = core.search.loaded(before.values())
    return {place: entries[entry].text for place, entry in before.items() if entry in entries}


def _body(found: _Findings) -> Json:
    return {"path": found.path, "lines": [_line_body(found, each) for each in found.lines]}


def _line_body(found: _Findings, line: BlamedLine) -> Json:
    commit, origin = line.commit, line.origin
    return {
        "line": line.number,
        "text": line.text,
        "commit": commit
        and {
            "hash": commit.hash,
            "author": commit.author,
            "committed_at": iso(commit.committed_at),
            "subject": commit.subject,
        },
        "session": origin
        and {
            "id": origin.conversation.id,
            "name": found.names.short(origin.conversation.id),
            "title": origin.conversation.title,
            "assistant": origin.conversation.surface,
            "number": origin.number,
            "at": iso(origin.at),
            "prompt": found.prompts.get((origin.conversation.id, origin.number), ""),
        },
        "sureness": origin and origin.sureness.value,
    }


def _name(found: _Findings, origin: LineOrigin) -> str:
    return f"{found.names.short(origin.conversation.id)}#{origin.number}"


def _one(found: _Findings) -> list[Block]:
    (line,) = found.lines
    blocks: list[Block] = [
        Verbatim([Span(f"{found.path}:{line.number}", Style.HEADING)]),
        Verbatim(f"  {legible(line.text)}"),
        "",
    ]
    rows: list[list[Text]] = []
    if line.origin is None:
        blocks.append("No assistant is known to have written this line.")
    else:
        origin = line.origin
        rows.append([origin.sureness.value, [Span(_name(found, origin), Style.ID), " ", *_who(origin)]])
        title = terminal_line(origin.conversation.name, SAID)
        prompt = terminal_line(found.prompts.get((origin.conversation.id, origin.number), ""), SAID)
        rows += [["session", title]] if title and title != prompt else []
        rows += [["asked", prompt]] if prompt else []
    rows.append(["commit", _commit(line)])
    blocks.append(Table((), rows))
    if line.origin is not None:
        name = found.names.short(line.origin.conversation.id)
        blocks += [
            "",
            Paragraph(
                f"`backstory show {_name(found, line.origin)}` shows it, `backstory resume {name}` goes on."
            ),
        ]
    return blocks


def _who(origin: LineOrigin) -> list[str | Span]:
    return [Span(origin.conversation.surface, Style.ASSISTANT), f", {origin.at:%Y-%m-%d %H:%M}"]


def _commit(line: BlamedLine) -> Text:
    commit = line.commit
    if commit is None:
        return "not committed"
    return [
        Span(commit.hash[:SHORT_HASH], Style.ID),
        f" {commit.written_at:%Y-%m-%d} {terminal_line(commit.author, 30)}: {terminal_line(commit.subject, 80)}",
    ]


def _many(found: _Findings) -> list[Block]:
    if not found.lines:
        return ["The file is empty."]
    rows = [_row(found, list(some)) for _, some in groupby(found.lines, key=_key)]
    traced = sum(line.origin is not None for line in found.lines)
    share = f"{traced:,} of {len(found.lines):,} lines were written by an assistant."
    return [Table(("LINES", "ID", "ASSISTANT", "WHEN", "SURE", "WHY"), rows), "", share]


def _key(line: BlamedLine) -> tuple[str | None, ...]:
    if line.origin is None:
        return (None, line.commit and line.commit.hash)
    return (line.origin.conversation.id, str(line.origin.number), line.origin.sureness.value)


def _row(found: _Findings, lines: Sequence[BlamedLine]) -> list[Text]:
    first, origin, commit = lines[0], lines[0].origin, lines[0].commit
    span = str(first.number) if len(lines) == 1 else f"{first.number}-{lines[-1].number}"
    if origin is None:
        when = f"{commit.written_at:%Y-%m-%d}" if commit else ""
        why = f"{commit.author}: {commit.subject}" if commit else "not committed"
        return [span, "-", "-", when, "-", [Span(terminal_line(why, 80), Style.QUIET)]]
    why = found.prompts.get((origin.conversation.id, origin.number)) or origin.conversation.name
    return [
        span,
        [Span(_name(found, origin), Style.ID)],
        [Span(origin.conversation.surface, Style.ASSISTANT)],
        f"{origin.at:%Y-%m-%d}",
        origin.sureness.value,
        terminal_line(why, 80),
    ]
