"""`backstory forget`: remove conversations and memories for good. A sync does not bring them back."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from contextlib import closing

from .. import console
from ..app import open_core
from ..core import Core
from ..core.forgetting.erasure import Erasure
from ..core.forgetting.selection import Selection, projects_of_conversations, select
from ..core.projects.related import project_named
from ..domain.erasure import Receipt
from ..domain.errors import InvalidInput, NotFound
from ..domain.filters import ConversationFilter
from ..domain.lines import counted
from ..domain.records import Memory
from ..domain.when import iso, parse_when
from ..importers import load_importers
from ..readers import reader_names
from ..settings import Settings
from ..surfaces import load_surfaces
from .report import Json, Report, table, terminal_line

MAX_LISTED = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="ids of memories and conversations; the id of a message selects its conversation",
    )
    parser.add_argument("--project", metavar="NAME|DIR", help="all conversations of this project")
    parser.add_argument(
        "--assistant", metavar="NAME", help="all conversations with this assistant, for example claude-code"
    )
    parser.add_argument(
        "--before",
        metavar="DATE",
        help="all conversations that ended before this time; a date, or `3 months ago`",
    )
    add_reach(parser)


def add_reach(parser: argparse.ArgumentParser) -> None:
    """Add flags for the extent of forgetting, and for confirmation."""
    parser.add_argument("--checkpoints", action="store_true", help="remove memories from checkpoints too")
    parser.add_argument("--backups", action="store_true", help="remove records from backups of the store too")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        engine = core.engine
        options.ids = list(dict.fromkeys(_whole_id(core, id) for id in options.ids))
        chosen = _chosen(options, core)
        if not chosen:
            return Report(
                selection_body(chosen, Receipt({})), f"Nothing matches; nothing was forgotten.{_kept(chosen)}"
            )
        summary = announcement(chosen)
        if not options.yes and not is_confirmed(summary):
            return Report(selection_body(chosen, Receipt({})), "Nothing was forgotten.")
        receipt = Erasure(engine).forget(
            chosen.request(with_checkpoints=options.checkpoints), with_backups=options.backups
        )
    return Report(selection_body(chosen, receipt), f"{summary}\n\n{shown_receipt(receipt)}{_kept(chosen)}")


def _kept(chosen: Selection) -> str:
    if not chosen.stored:
        return ""
    return f"\n{counted(chosen.stored, 'stored session')} stayed: tools stored them on purpose. Forget each by its id."


def _whole_id(core: Core, id: str) -> str:
    """The full id for an abbreviated one; for a message, that of its conversation. Unknown ids are returned unchanged."""
    try:
        target = core.browsing.find(id)
    except NotFound:
        return id
    return target.id if isinstance(target, Memory) else target.conversation.id


def _chosen(options: argparse.Namespace, core: Core) -> Selection:
    """The selection of all flags together. Only conversations of other assistants can be forgotten here."""
    is_by_ids = options.ids and not (options.project or options.assistant or options.before)
    own_surfaces = () if options.ids or options.assistant else tuple(load_surfaces())
    chosen = select(core.engine, _which(options, core), options.ids if is_by_ids else (), own_surfaces)
    if chosen.elsewhere and not (options.backups or options.checkpoints):
        raise NotFound("conversation or memory", chosen.elsewhere[0], hint="Nothing was forgotten.")
    return chosen


def _which(options: argparse.Namespace, core: Core) -> ConversationFilter:
    if not (options.ids or options.project or options.assistant or options.before):
        raise InvalidInput(
            "Nothing was selected.",
            hint="An ID, --project DIR, --assistant NAME or --before DATE; several are combined.",
        )
    before = parse_when(options.before, core.engine.now(), field="--before") if options.before else None
    projects = (_project(options.project, core),) if options.project else ()
    return ConversationFilter(
        ids=tuple(options.ids), surfaces=_surfaces(options), projects=projects, updated_before=before
    )


def _project(wanted: str, core: Core) -> str:
    """The project with this directory or name, including projects that only the archive contains."""
    known = projects_of_conversations(core.engine)
    named = project_named(os.path.abspath(os.path.expanduser(wanted)), known) or project_named(wanted, known)
    if named is None:
        hint = "Nothing was forgotten; `backstory sessions` names the projects that are known."
        raise NotFound("project", wanted, hint=hint)
    return named


def _surfaces(options: argparse.Namespace) -> tuple[str, ...]:
    """The surfaces whose conversations may be selected: imported ones; those of our own tools only by name."""
    known = {*reader_names(), *load_importers()}
    if options.assistant:
        if options.assistant not in known:
            raise InvalidInput(
                f"There is no assistant {options.assistant!r}.", hint=f"Known: {', '.join(sorted(known))}."
            )
        return (options.assistant,)
    return tuple(sorted(known if options.ids else known - set(load_surfaces())))


def announcement(chosen: Selection) -> str:
    conversations = chosen.conversations
    by_assistant = Counter(conversation.surface for conversation in conversations)
    rows = [(name, counted(count, "conversation")) for name, count in sorted(by_assistant.items())]
    if conversations:
        total = f"{counted(len(conversations), 'conversation')}, {counted(chosen.messages, 'message')}"
        rows.append(("in all", total))
    rows += [
        (each.updated_at.strftime("%Y-%m-%d"), terminal_line(each.name, 80))
        for each in conversations[:MAX_LISTED]
    ]
    if len(conversations) > MAX_LISTED:
        rows.append(("", f"and {len(conversations) - MAX_LISTED:,} more"))
    rows += [("memory", terminal_line(memory.text, 80)) for memory in chosen.memories]
    rows += [("no longer here", id) for id in chosen.elsewhere]
    return table(rows)


def is_confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("Forgetting cannot be undone.", hint=f"Add --yes to forget:\n{question}")
    console.notify(question)
    console.notify("Forget these for good? [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def shown_receipt(receipt: Receipt) -> str:
    rows = [(place, f"{count:,}") for place, count in receipt.removed.items()]
    rows += [("rewritten", path) for path in receipt.files]
    closing = receipt.notices or ["Forgotten; a sync does not bring it back."]
    return "\n\n".join([f"Removed:\n{table(rows, '  ')}", *closing])


def selection_body(chosen: Selection, receipt: Receipt) -> Json:
    conversations = [
        {"id": each.id, "title": each.title, "updated_at": iso(each.updated_at)}
        for each in chosen.conversations
    ]
    return {
        "forgotten": receipt.removed.get("conversations", 0) + receipt.memories,
        "conversations": conversations,
        "memories": [{"id": memory.id, "key": memory.key} for memory in chosen.memories],
        "removed": dict(receipt.removed),
        "rewritten": list(receipt.files),
        "notices": [*receipt.notices, *_kept(chosen).splitlines()[1:]],
    }
