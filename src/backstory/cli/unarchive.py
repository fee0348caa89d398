"""`backstory unarchive`: restore an archived memory or conversation, or list the archive."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import closing

from ..app import open_core
from ..core import Core
from ..core.browsing import FEWEST_LETTERS, MOST_NAMED
from ..core.forgetting.retention import Retention
from ..core.names import ConversationNames
from ..domain.errors import InvalidInput, NotFound
from ..domain.lines import counted
from ..domain.records import Memory
from ..domain.when import iso
from ..importers import load_importers
from ..settings import Settings
from ..surfaces import load_surfaces
from .report import Report, table, terminal_line

MAX_LISTED = 50  # the JSON has all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="KEY|ID",
        help="key or id of a memory, or id of a conversation, or the beginning of an id. Private memories stay with their session. "
        "Without it, list the archive",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        # also of families that are not served, and of programs that are imported from
        surfaces = dict.fromkeys([*load_surfaces(), *load_importers()])
        return _listed(core, surfaces) if options.name is None else _restored(core, surfaces, options.name)


def _restored(core: Core, surfaces: Iterable[str], name: str) -> Report:
    memories: list[Memory] = []
    restored: list[Memory] = []
    for surface in surfaces:
        archive = core.through(surface).archive
        archived = archive.find_named(name)
        memories += archived
        restored += archive.restore(tuple(memory.id for memory in archived))
    if not memories:
        memories = restored = core.forgetting.restore(name)
    conversations = Retention(core.engine).restore(name)
    if not memories and not conversations:
        return _restored(core, surfaces, _whole_id(core, surfaces, name))
    remaining = len(memories) - len(restored)
    ids = [memory.id for memory in restored] + [conversation.id for conversation in conversations]
    parts = [counted(len(restored), "memory", "memories")] if memories else []
    parts += [counted(len(conversations), "conversation")] if conversations else []
    text = f"Restored {' and '.join(parts)} under {name!r}."
    if remaining:
        text += (
            f" {counted(remaining, 'memory', 'memories')} stayed: the key was saved anew in the same session."
        )
    return Report({"name": name, "restored": ids, "kept": remaining}, text)


def _whole_id(core: Core, surfaces: Iterable[str], beginning: str) -> str:
    """The full id for an abbreviated one. Raises NotFound, and InvalidInput if it is ambiguous."""
    ids = [memory.id for memory in _memories(core, surfaces)]
    names = ConversationNames(each.id for each in core.archive.conversations())
    begun = [id for id in ids if id.startswith(beginning)] + names.find(beginning)
    if len(beginning) < FEWEST_LETTERS or begun in ([], [beginning]):
        raise NotFound("archived memory or conversation", beginning, hint="`backstory unarchive` lists them.")
    if len(begun) > 1:
        hint = "Use a longer id:\n" + "\n".join(begun[:MOST_NAMED])
        raise InvalidInput(f"Several in the archive begin with {beginning!r}.", hint=hint)
    return begun[0]


def _memories(core: Core, surfaces: Iterable[str]) -> list[Memory]:
    return [memory for surface in surfaces for memory in core.through(surface).archive.all()]


def _listed(core: Core, surfaces: Iterable[str]) -> Report:
    """The contents of the archive, last changed first."""
    memories, conversations = _memories(core, surfaces), core.archive.conversations()
    entries = [(memory.updated_at, memory.key or memory.id, memory.text) for memory in memories]
    entries += [
        (conversation.updated_at, conversation.id, conversation.name) for conversation in conversations
    ]
    entries.sort(key=lambda entry: (entry[0], entry[1]), reverse=True)
    body = [{"name": name, "updated_at": iso(at), "text": text} for at, name, text in entries]
    rows = [
        (f"{at:%Y-%m-%d}", terminal_line(name, 60), terminal_line(text, 80))
        for at, name, text in entries[:MAX_LISTED]
    ]
    if len(entries) > MAX_LISTED:
        rows.append(("", "", f"and {len(entries) - MAX_LISTED:,} more"))
    return Report({"archived": body}, table(rows) or "The archive is empty.")
