"""The database of a workspace in Cursor: chats and composers of 2024, and all prompts typed in it.

Also, the directory that a project's slug means."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from .. import ConversationHeader, ConversationKind, Piece, Role, Turn, WitnessRank
from ..formats.bubbles import CHAT_KEY, read_tabs
from ..formats.databases import DatabaseProgress, document, item, open_database
from ..formats.paths import mounted, workspace_folder
from ..formats.pieces import whole
from ..formats.values import fields_of, fingerprint, records_of, text_of
from .composers import Composer, composer_piece, composers_in, prompts_in
from .ties import Ties, listed_composers

PROMPTS_KEY = "aiService.prompts"
_OTHERS = lazy_pattern(r"[^A-Za-z0-9]+")


def read_workspace(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    """Read a workspace. The result is never complete: conversations are moved to the database of all workspaces."""
    folder = workspace_folder(path.parent).path
    listed = listed_composers(connection)
    moved, prompts = _elsewhere(path.parents[2] / "globalStorage" / path.name, listed)
    spoken = {id for id, is_spoken in moved.items() if is_spoken}
    yield from read_tabs(item(connection, CHAT_KEY), f"{path}#{CHAT_KEY}", folder, progress)
    yield from _composers(connection, path, folder, spoken, progress)
    if not listed or len(moved) < len(listed):
        yield from _prompts(connection, path, folder, prompts, progress)


def _elsewhere(everything: Path, listed: list[str]) -> tuple[dict[str, bool], set[str]]:
    """Return the composers in the database of all workspaces, each with whether it contains messages.

    If some are missing there, also return the people's messages in the others."""
    try:
        with open_database(everything) as connection:
            moved = composers_in(connection, listed)
            prompts = set(prompts_in(connection, moved)) if len(moved) < len(listed) else set()
            return moved, prompts
    except (OSError, Unreadable):
        return {}, set()


def _composers(
    connection: sqlite3.Connection, path: Path, folder: str, spoken: set[str], progress: DatabaseProgress
) -> Iterator[Piece]:
    """Yield the composers that were never moved. For the others, the database of all workspaces has better data."""
    data = fields_of(document(item(connection, "composer.composerData")))
    for composer in records_of(data.get("allComposers")):
        id = text_of(composer.get("composerId"))
        if not id or id in spoken or not progress.is_new(id, fingerprint(repr(composer))):
            continue
        stored = Composer(id, f"{path}#composer.composerData/{id}", composer)
        if piece := composer_piece(stored, Ties(None, path), progress):
            yield piece._replace(header=piece.header._replace(directory=folder))


def _prompts(
    connection: sqlite3.Connection,
    path: Path,
    folder: str,
    known_prompts: set[str],
    progress: DatabaseProgress,
) -> Iterator[Piece]:
    """Yield the log of typed prompts, without those in a conversation that still exists."""
    typed = (text_of(each.get("text")) for each in records_of(document(item(connection, PROMPTS_KEY))))
    known = known_prompts | set(_texts_of_people(connection))
    lost = [text for text in typed if text.strip() and text.strip() not in known]
    id = f"prompts-{path.parent.name}"
    if lost and progress.is_new(id, fingerprint(*lost)):
        turns = [Turn(fingerprint(text), Role.USER, text) for text in dict.fromkeys(lost)]
        header = ConversationHeader(
            id,
            f"{path}#{PROMPTS_KEY}",
            directory=folder,
            kind=ConversationKind.PROMPT_LOG,
            completeness="prompts only",
            standing=WitnessRank.PROMPTS,
        )
        # Old prompts drop out of the list; prompts that were stored before remain.
        yield whole(header, turns, cursor=None)._replace(is_whole=False)


def _texts_of_people(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the people's messages in the conversations of this database."""
    chats = records_of(fields_of(document(item(connection, CHAT_KEY))).get("tabs"))
    composers = records_of(fields_of(document(item(connection, "composer.composerData"))).get("allComposers"))
    for bubbles in (
        *(chat.get("bubbles") for chat in chats),
        *(each.get("conversation") for each in composers),
    ):
        for bubble in records_of(bubbles):
            if bubble.get("type") in (1, "user"):
                yield text_of(bubble.get("text")).strip()


def slug_of(path: str) -> str:
    return _OTHERS.sub("-", path).strip("-")


class Slugs:
    """A cache of directories by slug, for one search."""

    def __init__(self, projects: Iterable[Path]) -> None:
        self._directories: dict[str, str] = {slug_of(str(path)): str(path) for path in projects}

    def directory(self, slug: str) -> str:
        if slug not in self._directories:
            existing = list(dict.fromkeys(_existing(slug)))
            self._directories[slug] = str(existing[0]) if len(existing) == 1 else ""
        return self._directories[slug]


def _existing(slug: str) -> Iterator[Path]:
    first, _, rest = slug.partition("-")
    if len(first) == 1 and rest:  # a Windows drive, local or mounted in WSL
        yield from _below(Path(f"{first}:\\" if os.name == "nt" else mounted(f"{first}:\\")), rest)
    if os.name != "nt":
        yield from _below(Path("/"), slug)


def _below(directory: Path, slug: str) -> Iterator[Path]:
    """Yield the directories below this one whose relative path has the slug."""
    try:
        names = [entry.name for entry in os.scandir(directory) if entry.is_dir()]
    except OSError:
        return  # deleted, or not readable
    for name in sorted(names):
        own = slug_of(name)
        if own and own == slug:
            yield directory / name
        elif own and slug.startswith(f"{own}-"):
            yield from _below(directory / name, slug[len(own) + 1 :])
