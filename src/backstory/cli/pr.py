"""`backstory pr [RANGE]`: the sessions, prompts and decisions behind each hunk of a change, as Markdown for a pull request."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby

from ..app import history_places, open_core
from ..core.changes import ExplainedChange, ExplainedHunk, explain
from ..core.handoff import assistant_title
from ..core.names import ConversationNames
from ..domain.lines import counted, one_line
from ..domain.statements import Statement, StatementState
from ..domain.when import iso
from ..settings import Settings
from .report import Json, Report, legible

PROMPT_CHARS = 160
STATEMENT_CHARS = 240


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "range",
        nargs="?",
        default="",
        metavar="RANGE",
        help="commits in git syntax, for example main..HEAD (default: the commits of this branch)",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        change = explain(core, options.range, history_places(core.engine))
        names = core.browsing.names()
    return Report(_body(change), legible("\n".join(_markdown(change, names))))


def _body(change: ExplainedChange) -> Json:
    return {
        "first": change.commits.first,
        "last": change.commits.last,
        "hunks": [_hunk_body(each) for each in change.hunks],
        "sessions": [
            {"id": each.id, "assistant": each.surface, "title": each.title} for each in change.sessions
        ],
        "decisions": list(map(_statement_body, change.decisions)),
        "dropped": list(map(_statement_body, change.dropped)),
    }


def _hunk_body(each: ExplainedHunk) -> Json:
    origin = each.origin
    return {
        "file": each.hunk.path,
        "line": each.hunk.first,
        "added": each.hunk.added,
        "removed": len(each.hunk.removed),
        "session": origin and origin.conversation.id,
        "message": origin and origin.number,
        "at": origin and iso(origin.at),
        "sureness": origin and origin.sureness.value,
        "prompt": each.prompt,
    }


def _statement_body(each: Statement) -> Json:
    return {
        "text": each.text,
        "state": each.state.value,
        "session": each.conversation,
        "message": each.place + 1,
    }


def _markdown(change: ExplainedChange, names: ConversationNames) -> Iterator[str]:
    yield "## Why this change"
    yield ""
    if not change.hunks:
        yield "No line of text differs."
        return
    known = sum(each.origin is not None for each in change.hunks)
    yield (
        f"{counted(len(change.hunks), 'hunk')}: {known} written in {counted(len(change.sessions), 'session')},"
        f" {len(change.hunks) - known} explained by no session."
    )
    for path, hunks in groupby(change.hunks, key=lambda each: each.hunk.path):
        yield ""
        yield f"### `{one_line(path, 200).replace('`', '')}`"
        yield ""
        yield from _file_lines(list(hunks), names)
    yield from _listed("Decided on the way", change.decisions, names)
    yield from _listed("Tried and dropped", change.dropped, names)
    if change.sessions:
        yield from ("", "### Sessions", "")
        for each in change.sessions:
            about = f"{assistant_title(each.surface)}, {each.created_at:%Y-%m-%d}"
            yield f"- `{names.short(each.id)}` {about}: {_quoted(each.name, PROMPT_CHARS)}"


def _file_lines(hunks: Sequence[ExplainedHunk], names: ConversationNames) -> Iterator[str]:
    """Hunks that the same message wrote share a line."""
    for (session, number), some in groupby(hunks, key=_message_of):
        together = list(some)
        where = ", ".join(_place(each) for each in together)
        origin = together[0].origin
        if origin is None:
            yield f"- {where}: no session explains this."
            continue
        unsure = "" if origin.sureness.value == "exact" else f", {origin.sureness.value}"
        prompt = f": “{_quoted(together[0].prompt, PROMPT_CHARS)}”" if together[0].prompt else ""
        yield f"- {where}: `{names.short(session)}#{number}` ({origin.at:%Y-%m-%d}{unsure}){prompt}"


def _message_of(each: ExplainedHunk) -> tuple[str, int]:
    return (each.origin.conversation.id, each.origin.number) if each.origin else ("", 0)


def _place(each: ExplainedHunk) -> str:
    first, count = each.hunk.first, each.hunk.added
    if count == 0:
        return f"{counted(len(each.hunk.removed), 'line')} removed after {first}"
    return f"line {first}" if count == 1 else f"lines {first}–{first + count - 1}"


def _listed(heading: str, statements: Sequence[Statement], names: ConversationNames) -> Iterator[str]:
    if statements:
        yield from ("", f"### {heading}", "")
        for each in statements:
            superseded = " (superseded since)" if each.state is StatementState.SUPERSEDED else ""
            text = _quoted(each.text, STATEMENT_CHARS)
            yield f"- {text}{superseded} (`{names.short(each.conversation)}#{each.place + 1}`)"


def _quoted(text: str, longest: int) -> str:
    """On one line of Markdown: no mention of a person, no link to an issue and no tag comes of it on a forge."""
    line = one_line(text, longest).replace("<", "‹").replace(">", "›").replace("`", "'")
    return line.replace("@", "@\u2060").replace("#", "#\u2060")
