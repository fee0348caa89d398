"""Cursor's composers: conversations in the editor's single database for all projects, from 0.43 on.

Keys are looked up by name or range, never by LIKE, which would read everything. Only composers, their bubbles and their
headers are read: the same tables contain secrets and gigabytes of checkpoints."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from .. import ConversationHeader, ConversationKind, Piece, Role
from ..formats.bubbles import NO_SPEAKER, Bubble, bubble_of, turns_of
from ..formats.databases import NOT_JSON, DatabaseProgress, document, tables
from ..formats.pieces import whole
from ..formats.values import Value, fields_of, fingerprint, items_of, records_of, text_of, time_ms
from .ties import ComposerHeader, Ties

NO_ROW = "header without a bubble"


class Composer(NamedTuple):
    id: str
    source: str
    told: Mapping[str, Any]
    header: ComposerHeader = ComposerHeader()


def read_composers(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    if "cursorDiskKV" not in tables(connection):
        return
    ties = Ties(connection, path)
    listed = _list(connection, ties)
    progress.is_complete = bool(listed)  # otherwise the format is unknown
    for id, version, header in listed:
        if not progress.is_new(id, version):
            continue
        data = fields_of(document(_value(connection, f"composerData:{id}")))
        if not data:
            progress.skipped[NOT_JSON] += 1
            continue
        composer = Composer(id, f"{path}#composerData:{id}", data, header)
        if piece := composer_piece(composer, ties, progress, connection):
            yield piece


def _list(connection: sqlite3.Connection, ties: Ties) -> list[tuple[str, str, ComposerHeader]]:
    """Each composer with its version, which shows whether to read it again, and its header."""
    versions: dict[str, str] = {}
    parents: dict[str, str] = {}
    for key in _keys(connection, "composerData:"):
        id = key.partition(":")[2]
        value = _value(connection, key)
        glance = _glance(value)
        parents |= dict.fromkeys(map(text_of, items_of(glance.subComposerIds)), id)
        bubbles = list(records_of(glance.fullConversationHeadersOnly))
        last = text_of(bubbles[-1].get("bubbleId")) if bubbles else ""
        # The last bubble may grow while its composer does not change.
        versions[id] = fingerprint(value, last and _value(connection, f"bubbleId:{id}:{last}"))
    listed = []
    for id, version in versions.items():
        header = ties.headers.get(id, ComposerHeader())
        if parent := parents.get(id):
            header = header._replace(is_subagent=True, parent=parent)
        listed.append((id, fingerprint(version, *header), header))
    return listed


class Glance(msgspec.Struct):
    """The fields that decide whether to read a composer. The rest, which can be megabytes, is not decoded."""

    fullConversationHeadersOnly: Any = None
    subComposerIds: Any = None


def _glance(value: Value) -> Glance:
    try:
        return msgspec.json.decode(value, type=Glance) if isinstance(value, str | bytes) else Glance()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return Glance()  # reading the composer reports the problem


def _keys(connection: sqlite3.Connection, prefix: str) -> list[str]:
    after = prefix[:-1] + ";"  # the character that follows ":"
    rows = connection.execute(
        "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key", (prefix, after)
    )
    return [key for (key,) in rows]


def _value(connection: sqlite3.Connection, key: str) -> Any:
    row = connection.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
    return row and row[0]


def composers_in(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, bool]:
    """Return the composers that are in this database, each with whether it contains messages."""
    if "cursorDiskKV" not in tables(connection):
        return {}
    data = {id: fields_of(document(_value(connection, f"composerData:{id}"))) for id in ids}
    return {
        id: bool(composer.get("fullConversationHeadersOnly") or composer.get("conversation"))
        for id, composer in data.items()
        if composer
    }


def prompts_in(connection: sqlite3.Connection, ids: Iterable[str]) -> Iterator[str]:
    """Yield the people's messages in these composers."""
    for id in ids:
        composer = fields_of(document(_value(connection, f"composerData:{id}")))
        bubbles = _bubbles(connection, id, composer, Counter())
        yield from (bubble.text for bubble in bubbles if bubble.role is Role.USER)


def composer_piece(
    composer: Composer, ties: Ties, progress: DatabaseProgress, connection: sqlite3.Connection | None = None
) -> Piece | None:
    """Return a composer's conversation, or None for a draft, and for one without remaining bubbles.

    Without a connection, only the data inside the composer is used."""
    id, source, data, listed = composer
    skipped: Counter[str] = Counter()
    bubbles = list(_bubbles(connection, id, data, skipped))
    model = text_of(fields_of(data.get("modelConfig")).get("modelName"))
    turns = turns_of(bubbles, "" if model == "default" else model)
    if not turns:
        progress.skipped.update(skipped)
        return None
    header = ConversationHeader(
        id,
        source,
        title=text_of(data.get("name")) or listed.name,
        directory=ties.directory(id, data, bubbles),
        kind=ConversationKind.SUBAGENT if listed.is_subagent else ConversationKind.MAIN,
        parent=listed.parent or None,
        branch=text_of(fields_of(data.get("gitWorktree")).get("branchName")),
        started_ms=time_ms(data.get("createdAt")),
        ended_ms=time_ms(data.get("lastUpdatedAt")),
        completeness="partial" if skipped[NO_ROW] else "full",
    )
    # Cursor deletes rows of old conversations; turns that were stored before remain.
    return whole(header, turns, skipped, cursor=None)._replace(is_whole=not skipped[NO_ROW])


def _bubbles(
    connection: sqlite3.Connection | None, id: str, composer: Mapping[str, Any], skipped: Counter[str]
) -> Iterator[Bubble]:
    """Yield bubbles in the order of the headers, if there are any; otherwise those inside the composer, completed from
    rows."""
    tools = _old_tools(composer)
    rows = _rows(connection, id, skipped) if connection else iter(())
    headers = list(records_of(composer.get("fullConversationHeadersOnly")))
    if headers:
        kinds = {text_of(header.get("bubbleId")): header.get("type") for header in headers}
        yield from _in_order(kinds, rows, tools, skipped)
        return
    by_name = dict(rows)
    for number, inline in enumerate(records_of(composer.get("conversation"))):
        name = text_of(inline.get("bubbleId"))
        merged = by_name.get(name, {}) | {key: value for key, value in inline.items() if value}
        if bubble := bubble_of(name or str(number), merged, tool=tools.get(name)):
            yield bubble
        else:
            skipped[NO_SPEAKER] += 1


def _in_order(
    kinds: Mapping[str, object],
    rows: Iterable[tuple[str, dict[str, Any]]],
    tools: Mapping[str, Any],
    skipped: Counter[str],
) -> Iterator[Bubble]:
    bubbles: dict[str, Bubble | None] = {}
    for key, bubble_data in rows:
        name = key if key in kinds else text_of(bubble_data.get("bubbleId"))
        if name in kinds and (name == key or name not in bubbles):
            bubbles[name] = bubble_of(name, bubble_data, kinds[name], tools.get(name))
    for name in kinds:
        bubble = bubbles.get(name)
        if bubble:
            yield bubble
        else:
            skipped[NO_SPEAKER if name in bubbles else NO_ROW] += 1


def _rows(
    connection: sqlite3.Connection, id: str, skipped: Counter[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the bubbles of a composer with the names from their keys.

    Bubbles can be large, and none is retained here."""
    prefix = f"bubbleId:{id}:"
    rows = connection.execute(
        "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ?", (prefix, prefix[:-1] + ";")
    )
    for key, value in rows:
        bubble = document(value)
        if isinstance(bubble, dict):
            yield key.removeprefix(prefix), bubble
        elif value:
            skipped[NOT_JSON] += 1


def _old_tools(composer: Mapping[str, Any]) -> dict[str, Any]:
    """Return tool calls by bubble, from versions in which a bubble did not contain its own."""
    for capability in records_of(composer.get("capabilities")):
        if capability.get("type") == 15:
            by_bubble = fields_of(capability.get("data")).get("bubbleDataMap")
            return fields_of(document(by_bubble) if isinstance(by_bubble, str) else by_bubble)
    return {}
