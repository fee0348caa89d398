"""`backstory blame FILE[:LINE]`: from a line to the commit, the session and the message in which an assistant wrote it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ..app import history_places, open_core
from ..core.blame import BlamedLine, LineOrigin, Sureness
from ..core.changes import prompts_before
from ..core.names import ConversationNames
from ..domain.lazy import lazy_pattern
from ..domain.lines import counted
from ..domain.when import iso
from ..settings import Settings
from .report import Block, Json, Paragraph, Report, Span, Style, Table, Text, Verbatim, legible, terminal_line

SHORT_HASH = 9
PROMPT_CHARS = 160
_LINES = lazy_pattern(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE[:LINE[-LINE]]", help="a file, optionally with a line or a range of lines"
    )


class _Findings(NamedTuple):
    path: str
    lines: Sequence[BlamedLine]
    names: ConversationNames
    prompts: Mapping[tuple[str, int], str]
    """The user's requests, by conversation and number of the message."""


def run(options: argparse.Namespace, settings: Settings) -> Report:
    path, first, last = _place(options.file)
    with closing(open_core(settings)) as core:
        places = history_places(core.engine)
        start = 1 if first is None else first
        lines = core.blame.lines(str(Path(path).absolute()), places, start, last or first)
        findings = _Findings(
            path,
            lines,
            core.browsing.names(),
            prompts_before(core, [line.origin for line in lines if line.origin]),
        )
    return Report(_body(findings), _one(findings) if len(lines) == 1 else _many(findings))


def _place(text: str) -> tuple[str, int | None, int | None]:
    match = _LINES.fullmatch(text)
    if match is None or Path(text).exists():
        return text, None, None
    last = match["last"]
    return match["path"], int(match["first"]), int(last) if last else None


def _body(findings: _Findings) -> Json:
    return {"path": findings.path, "lines": [_line_body(findings, each) for each in findings.lines]}


def _line_body(findings: _Findings, line: BlamedLine) -> Json:
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
            "name": findings.names.short(origin.conversation.id),
            "title": origin.conversation.title,
            "assistant": origin.conversation.surface,
            "number": origin.number,
            "at": iso(origin.at),
            "prompt": findings.prompts.get((origin.conversation.id, origin.number), ""),
        },
        "sureness": origin and origin.sureness.value,
    }


def _name(findings: _Findings, origin: LineOrigin) -> str:
    return f"{findings.names.short(origin.conversation.id)}#{origin.number}"


def _one(findings: _Findings) -> list[Block]:
    (line,) = findings.lines
    blocks: list[Block] = [
        Verbatim([Span(f"{findings.path}:{line.number}", Style.HEADING)]),
        Verbatim(f"  {legible(line.text)}"),
        "",
    ]
    rows: list[list[Text]] = []
    if line.origin is None:
        blocks.append("No assistant is known to have written this line.")
    else:
        origin = line.origin
        rows.append([origin.sureness.value, [Span(_name(findings, origin), Style.ID), " ", *_who(origin)]])
        title = terminal_line(origin.conversation.name, PROMPT_CHARS)
        prompt = terminal_line(
            findings.prompts.get((origin.conversation.id, origin.number), ""), PROMPT_CHARS
        )
        rows += [["session", title]] if title and title != prompt else []
        rows += [["asked", prompt]] if prompt else []
    rows.append(["commit", _commit(line)])
    blocks.append(Table((), rows))
    if line.origin is not None:
        name = findings.names.short(line.origin.conversation.id)
        blocks += [
            "",
            Paragraph(
                f"`backstory show {_name(findings, line.origin)}` shows it, `backstory resume {name}` continues it."
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


def _many(findings: _Findings) -> list[Block]:
    if not findings.lines:
        return ["The file is empty."]
    rows = [_row(findings, list(some)) for _, some in groupby(findings.lines, key=_key)]
    origins = [line.origin for line in findings.lines if line.origin]
    exact = sum(origin.sureness is Sureness.EXACT for origin in origins)
    share = f"{exact:,} of {len(findings.lines):,} lines were written by an assistant."
    if rest := len(origins) - exact:
        share += f" {counted(rest, 'more line is', 'more lines are')} likely an assistant's, and not counted."
    return [Table(("LINES", "ID", "ASSISTANT", "WHEN", "SURE", "WHY"), rows), "", share]


def _key(line: BlamedLine) -> tuple[str | None, ...]:
    if line.origin is None:
        return (None, line.commit and line.commit.hash)
    return (line.origin.conversation.id, str(line.origin.number), line.origin.sureness.value)


def _row(findings: _Findings, lines: Sequence[BlamedLine]) -> list[Text]:
    first, origin, commit = lines[0], lines[0].origin, lines[0].commit
    span = str(first.number) if len(lines) == 1 else f"{first.number}-{lines[-1].number}"
    if origin is None:
        when = f"{commit.written_at:%Y-%m-%d}" if commit else ""
        why = f"{commit.author}: {commit.subject}" if commit else "not committed"
        return [span, "-", "-", when, "-", [Span(terminal_line(why, 80), Style.QUIET)]]
    why = findings.prompts.get((origin.conversation.id, origin.number)) or origin.conversation.name
    return [
        span,
        [Span(_name(findings, origin), Style.ID)],
        [Span(origin.conversation.surface, Style.ASSISTANT)],
        f"{origin.at:%Y-%m-%d}",
        origin.sureness.value,
        terminal_line(why, 80),
    ]
