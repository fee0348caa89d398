"""`backstory why FILE`: the story of a file in the order of time."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby

from ..app import open_core
from ..core import Core
from ..core.projects.related import EVERY_PROJECT
from ..core.team import refresh_trusted
from ..domain.lines import counted
from ..domain.story import FileStory, StoryEvent, label, notes
from ..settings import Settings
from ..tools.story import story_body
from .narrowing import add_limit, path_from_shell
from .report import Block, Hint, Paragraph, Report, Span, Style, Table, Text, terminal_line

LIMIT = 30
MAX_TEXT_CHARS = 300
MAX_LISTED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file, which may have been deleted")
    parser.add_argument(
        "--project",
        metavar="NAME|DIR",
        help="project to search (default: the current one; `*` for all)",
    )
    add_limit(parser, LIMIT)
    parser.add_argument("--all", action="store_true", help="all events, whatever --limit says")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        refresh_trusted(core.engine, {})
        projects = _projects(core, options.project)
        path = path_from_shell(options.file) if projects is None else options.file
        story = core.stories.of(path, projects, limit=None if options.all else options.limit)
    return Report(story_body(story), list(_blocks(story)))


def _projects(core: Core, name: str | None) -> tuple[str, ...] | None:
    if name is None:
        return None
    return () if name == EVERY_PROJECT else core.browsing.projects(name)


def _blocks(story: FileStory) -> Iterator[Block]:
    if not story.events:
        yield from _nothing(story)
        return
    yield Paragraph([Span(terminal_line(story.path, MAX_TEXT_CHARS), Style.HEADING)])
    if len(story.paths) > 1:
        yield Paragraph(f"Several files have this name: {_listed(story.paths)}.")
    rows = {event: _row(event) for event in story.events}
    for day, events in groupby(story.events, key=lambda event: event.at.date()):
        own = [rows[event] for event in events]
        yield Table((), own, list(rows.values()), f"{day:%A, %Y-%m-%d}", f"{day}", wraps=True)
    if story.readers:
        yield from ("", Paragraph(f"Also read in {_listed(story.readers)}."))
    if left_out := story.total - len(story.events):
        yield Hint(f"{counted(left_out, 'more event')}; --all shows all.")
    yield Hint("`backstory show ID` opens one.")


def _nothing(story: FileStory) -> Iterator[Block]:
    path = terminal_line(story.path, MAX_TEXT_CHARS)
    if story.readers:
        yield f"The story of {path} is unknown. It was read in {_listed(story.readers)}."
    else:
        yield f"Nothing is known of {path}."
        yield Hint(
            "`backstory sync` reads new conversations; `backstory search --file` finds texts that name it."
        )


def _row(event: StoryEvent) -> list[Text]:
    marks = terminal_line("; ".join(notes(event)), MAX_TEXT_CHARS)
    text: list[str | Span] = [terminal_line(event.text, MAX_TEXT_CHARS)]
    return [
        [Span(event.name, Style.ID)],
        [Span(label(event), Style.ASSISTANT)],
        [*text, Span(f" ({marks})", Style.QUIET)] if marks else text,
    ]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return terminal_line(", ".join(names[:MAX_LISTED]), MAX_TEXT_CHARS) + more
