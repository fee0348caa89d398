"""A workspace's own database in Cursor: chats and composers of 2024, and all prompts that were typed in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ...domain.errors import Unreadable
from .. import ConversationHeader, ConversationKind, Piece, Role, Turn, WitnessRank
from ..formats.chat_tabs import CHAT_KEY, read_tabs
from ..formats.databases import DatabaseProgress, document, item, open_database
from ..formats.paths import workspace_folder
from ..formats.pieces import whole
from ..formats.values import fields_of, fingerprint, records_of, text_of
from .composers import Composer, composer_piece, composers_in, prompts_in
from .ties import Ties, listed_composers

PROMPTS_KEY = "aiService.prompts"


def read_workspace(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    folder = workspace_folder(path.parent).path
    listed = listed_composers(connection)
    moved, said = _elsewhere(path.parents[2] / "globalStorage" / path.name, listed)
    spoken = {id for id, is_spoken in moved.items() if is_spoken}
    yield from read_tabs(item(connection, CHAT_KEY), f"{path}#{CHAT_KEY}", folder, progress)
    yield from _composers(connection, path, folder, spoken, progress)
    if not listed or len(moved) < len(listed):
        yield from _prompts(connection, path, folder, said, progress)


def _elsewhere(everything: Path, listed: list[str]) -> tuple[dict[str, bool], set[str]]:
    """The composers that are in the database of all workspaces, and whether anything was said in them; and, if others
    are missing, what people said in these."""
    try:
        with open_database(everything) as connection:
            moved = composers_in(connection, listed)
            said = set(prompts_in(connection, moved)) if len(moved) < len(listed) else set()
            return moved, said
    except (OSError, Unreadable):
        return {}, set()


def _composers(
    connection: sqlite3.Connection, path: Path, folder: str, spoken: set[str], progress: DatabaseProgress
) -> Iterator[Piece]:
    """Those that were never moved; the others are told better where they are now."""
    told = fields_of(document(item(connection, "composer.composerData")))
    for composer in records_of(told.get("allComposers")):
        id = text_of(composer.get("composerId"))
        if not id or id in spoken or not progress.is_new(id, fingerprint(repr(composer))):
            continue
        kept = Composer(id, f"{path}#composer.composerData/{id}", composer)
        if piece := composer_piece(kept, Ties(None, path), progress):
            yield piece._replace(header=piece.header._replace(directory=folder))


def _prompts(
    connection: sqlite3.Connection, path: Path, folder: str, said: set[str], progress: DatabaseProgress
) -> Iterator[Piece]:
    """The log of what was typed, without what is in a conversation that is still there."""
    typed = (text_of(each.get("text")) for each in records_of(document(item(connection, PROMPTS_KEY))))
    known = said | set(_texts_of_people(connection))
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
        # Old prompts drop out of the list; those that were kept stay.
        yield whole(header, turns, cursor=None)._replace(is_whole=False)


def _texts_of_people(connection: sqlite3.Connection) -> Iterator[str]:
    """By people, in the conversations that this database holds."""
    chats = records_of(fields_of(document(item(connection, CHAT_KEY))).get("tabs"))
    composers = records_of(fields_of(document(item(connection, "composer.composerData"))).get("allComposers"))
    for bubbles in (
        *(chat.get("bubbles") for chat in chats),
        *(each.get("conversation") for each in composers),
    ):
        for bubble in records_of(bubbles):
            if bubble.get("type") in (1, "user"):
                yield text_of(bubble.get("text")).strip()
