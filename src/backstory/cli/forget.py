"""`backstory forget`: remove conversations for good. A sync does not bring them back."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from ..app import open_engine
from ..core.engine import Engine
from ..core.projects import project_root
from ..domain.errors import InvalidInput
from ..domain.filters import ConversationFilter
from ..domain.records import Conversation
from ..domain.when import iso, parse_when
from ..readers import load_readers
from ..settings import Settings
from .report import Json, Report, counted, shortened, table

SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="conversations, as `search` and `sync` name them"
    )
    parser.add_argument("--project", type=Path, metavar="DIR", help="all of this project")
    parser.add_argument("--assistant", metavar="NAME", help="all of this assistant, such as claude-code")
    parser.add_argument("--before", metavar="DATE", help="all that ended before; a date, or `3 months ago`")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    engine = open_engine(settings)
    try:
        which = _which(options, engine)
        archived = engine.store.archive.find_conversations(which)
        found = [*engine.store.conversations.find(which), *(talk.conversation for talk in archived)]
        if options.ids and (unknown := set(options.ids) - {talk.id for talk in found}):
            raise InvalidInput(
                f"There is no conversation {sorted(unknown)[0]!r}.", hint="Nothing was forgotten."
            )
        messages = sum(engine.store.conversations.count_messages([talk.id for talk in found]).values())
        told = _announcement(found, messages + sum(talk.said for talk in archived))
        if not found:
            return Report(_body(found, 0), "No conversation matches; nothing was forgotten.")
        if not options.yes and not _is_confirmed(told):
            return Report(_body(found, 0), "Nothing was forgotten.")
        gone = engine.store.sync.forget([talk.id for talk in found], engine.now())
    finally:
        engine.close()
    return Report(_body(found, gone), f"{told}\n\nForgotten; a sync does not bring them back.")


def _which(options: argparse.Namespace, engine: Engine) -> ConversationFilter:
    """What the flags say together. Only conversations of other assistants are forgotten here."""
    if not (options.ids or options.project or options.assistant or options.before):
        raise InvalidInput(
            "Say what to forget.",
            hint="An ID, --project DIR, --assistant NAME or --before DATE; they narrow together.",
        )
    known = tuple(load_readers([options.assistant] if options.assistant else ()))
    before = parse_when(options.before, engine.now(), field="--before") if options.before else None
    projects: tuple[str, ...] = ()
    if options.project:
        projects = tuple({str(options.project), str(project_root(options.project))})
    return ConversationFilter(
        ids=tuple(options.ids), surfaces=known, projects=projects, updated_before=before
    )


def _announcement(found: list[Conversation], messages: int) -> str:
    by_assistant = Counter(talk.surface for talk in found)
    rows = [(name, counted(count, "conversation")) for name, count in sorted(by_assistant.items())]
    rows.append(("in all", f"{counted(len(found), 'conversation')}, {counted(messages, 'message')}"))
    rows += [
        (talk.updated_at.strftime("%Y-%m-%d"), shortened(talk.title or talk.id, 80)) for talk in found[:SHOWN]
    ]
    if len(found) > SHOWN:
        rows.append(("", f"and {len(found) - SHOWN:,} more"))
    return table(rows)


def _is_confirmed(told: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("Forgetting cannot be undone.", hint=f"Add --yes to forget:\n{told}")
    print(told, file=sys.stderr)
    print("Forget these for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _body(found: list[Conversation], forgotten: int) -> Json:
    talks = [{"id": talk.id, "title": talk.title, "updated_at": iso(talk.updated_at)} for talk in found]
    return {"forgotten": forgotten, "conversations": talks}
