"""`backstory unarchive`: make a memory or a conversation live again that is in the archive, or list what is there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import closing

from ..app import open_core
from ..core import Core
from ..core.forgetting.retention import Retention
from ..core.imports import load_importers
from ..domain.errors import NotFound
from ..domain.filters import ConversationFilter
from ..domain.lines import counted
from ..domain.records import Memory
from ..domain.when import iso
from ..settings import Settings
from ..surfaces import load_surfaces
from .report import Report, table, terminal_line

SHOWN = 50  # the JSON has all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="KEY|ID",
        help="a memory's key or id, or a conversation's id; private memories stay with their session. "
        "Without it, what is in the archive is listed",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        # also of families that are not served, and of programs that are imported from
        surfaces = dict.fromkeys([*load_surfaces(), *load_importers()])
        return _listed(core, surfaces) if options.name is None else _restored(core, surfaces, options.name)


def _restored(core: Core, surfaces: Iterable[str], name: str) -> Report:
    found: list[Memory] = []
    restored: list[Memory] = []
    for surface in surfaces:
        archive = core.through(surface).archive
        archived = archive.find_named(name)
        found += archived
        restored += archive.restore(tuple(memory.id for memory in archived))
    if not found:
        found = restored = core.forgetting.restore(name)
    conversations = Retention(core.engine).restore(name)
    if not found and not conversations:
        raise NotFound("archived memory or conversation", name)
    kept = len(found) - len(restored)
    ids = [memory.id for memory in restored] + [conversation.id for conversation in conversations]
    told = [counted(len(restored), "memory", "memories")] if found else []
    told += [counted(len(conversations), "conversation")] if conversations else []
    text = f"Restored {' and '.join(told)} under {name!r}."
    if kept:
        text += f" {counted(kept, 'memory', 'memories')} stayed: the key was saved anew in the same session."
    return Report({"name": name, "restored": ids, "kept": kept}, text)


def _listed(core: Core, surfaces: Iterable[str]) -> Report:
    """The last changed first."""
    memories = [memory for surface in surfaces for memory in core.through(surface).archive.all()]
    conversations = [
        conversation.conversation
        for conversation in core.engine.store.archive.find_conversations(ConversationFilter())
    ]
    entries = [(memory.updated_at, memory.key or memory.id, memory.text) for memory in memories]
    entries += [
        (conversation.updated_at, conversation.id, conversation.name) for conversation in conversations
    ]
    entries.sort(key=lambda entry: (entry[0], entry[1]), reverse=True)
    body = [{"name": name, "updated_at": iso(at), "text": text} for at, name, text in entries]
    rows = [
        (f"{at:%Y-%m-%d}", terminal_line(name, 60), terminal_line(text, 80))
        for at, name, text in entries[:SHOWN]
    ]
    if len(entries) > SHOWN:
        rows.append(("", "", f"and {len(entries) - SHOWN:,} more"))
    return Report({"archived": body}, table(rows) or "The archive is empty.")
