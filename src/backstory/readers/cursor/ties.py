"""Find the folder of a Cursor composer. Each generation of Cursor records it in a different place."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ...domain.errors import Unreadable
from ..formats.bubbles import Bubble
from ..formats.databases import columns, document, item, open_database, tables
from ..formats.paths import path_of, workspace_folder
from ..formats.values import fields_of, items_of, records_of, text_of

PANE = "workbench.panel.composerChatViewPane"
VIEW = "workbench.panel.aichat.view."


class ComposerHeader(NamedTuple):
    """The entry of a composer in a list of composers."""

    name: str = ""
    folder: str = ""
    is_subagent: bool = False
    parent: str = ""


class Ties:
    """Folders of composers, from the database of all composers and the databases of the workspaces."""

    def __init__(self, connection: sqlite3.Connection | None, path: Path) -> None:
        self._connection = connection
        self._workspaces = path.parent.parent / "workspaceStorage"

    def directory(self, id: str, composer: Mapping[str, Any], bubbles: Iterable[Bubble]) -> str:
        """Return the folder from the first place that contains it."""
        return (
            self._folder(composer)
            or self.headers.get(id, ComposerHeader()).folder
            or self._listing.get(id, "")
            or path_of(fields_of(composer.get("gitWorktree")).get("worktreePath"))
            or next((bubble.folder for bubble in bubbles if bubble.folder), "")
        )

    def _folder(self, data: Mapping[str, Any]) -> str:
        workspace = fields_of(data.get("workspaceIdentifier"))
        if path := path_of(workspace.get("uri")):
            return path
        name = text_of(workspace.get("id"))
        is_name = name and "/" not in name and "\\" not in name and not name.startswith(".")
        return workspace_folder(self._workspaces / name).path if is_name else ""

    @cached_property
    def headers(self) -> dict[str, ComposerHeader]:
        """Return headers from the list of version 3, and from the table that replaced it in 3.12."""
        if self._connection is None:
            return {}
        stored = fields_of(document(item(self._connection, "composer.composerHeaders")))
        by_id = {
            text_of(each.get("composerId")): self._header(each)
            for each in records_of(stored.get("allComposers"))
        }
        return by_id | dict(self._table(self._connection))

    def _table(self, connection: sqlite3.Connection) -> Iterator[tuple[str, ComposerHeader]]:
        has = columns(connection, "composerHeaders")
        if not {"composerId", "value"} <= has:
            return
        subagent, workspace = (name if name in has else "NULL" for name in ("isSubagent", "workspaceId"))
        rows = connection.execute(f"SELECT composerId, value, {subagent}, {workspace} FROM composerHeaders")
        for id, value, is_subagent, workspace_id in rows:
            data = fields_of(document(value))
            data.setdefault("workspaceIdentifier", {"id": workspace_id})
            yield str(id), self._header(data | {"isSubagent": is_subagent or data.get("isSubagent")})

    def _header(self, data: Mapping[str, Any]) -> ComposerHeader:
        return ComposerHeader(text_of(data.get("name")), self._folder(data), bool(data.get("isSubagent")))

    @cached_property
    def _listing(self) -> dict[str, str]:
        """Map composers to folders, from the databases of workspaces."""
        folders: dict[str, str] = {}
        for database in sorted(self._workspaces.glob("*/state.vscdb")):
            folder = workspace_folder(database.parent).path
            if not folder:
                continue
            try:
                with open_database(database) as connection:
                    folders |= dict.fromkeys(listed_composers(connection), folder)
            except (OSError, Unreadable):
                continue  # the database is a separate source, which reports the problem
        return folders


def listed_composers(connection: sqlite3.Connection) -> list[str]:
    """Return the composers in a workspace's database: all it lists, the open tabs, and the panes of its window."""
    listing = fields_of(document(item(connection, "composer.composerData")))
    ids = [text_of(each.get("composerId")) for each in records_of(listing.get("allComposers"))]
    for key in ("selectedComposerIds", "lastFocusedComposerIds"):
        ids += map(text_of, items_of(listing.get(key)))
    if "ItemTable" in tables(connection):
        panes = connection.execute(
            "SELECT value FROM ItemTable WHERE key >= ? AND key < ?", (PANE, PANE + "/")
        )
        for (value,) in panes:
            ids += (key.removeprefix(VIEW) for key in fields_of(document(value)) if key.startswith(VIEW))
    return [id for id in dict.fromkeys(ids) if id]
