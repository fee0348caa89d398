"""Homes of assistants that keep their histories in SQLite, made by code: the words in them are invented."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backstory.domain import zstd

Stored = str | bytes | None


def database(path: Path, script: str, rows: Mapping[str, list[tuple[Any, ...]]]) -> Path:
    """A database with these tables; rows are given by table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    db.executescript(script)
    for table, values in rows.items():
        for row in values:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    db.commit()
    db.close()
    return path


def editor_state(
    path: Path, items: Mapping[str, object], disk: Mapping[str, object] | None = None, extra: str = ""
) -> Path:
    """An editor's state.vscdb: objects become JSON, the rest is stored as it is."""
    tables = "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);"
    rows = {"ItemTable": [(key, stored(value)) for key, value in items.items()]}
    if disk is not None:
        tables += "CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);"
        rows["cursorDiskKV"] = [(key, stored(value)) for key, value in disk.items()]
    return database(path, tables + extra, rows)


def stored(value: object) -> Stored:
    return (
        json.dumps(value)
        if isinstance(value, dict | list)
        else value
        if isinstance(value, bytes)
        else _text(value)
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def write(path: Path, text: str, modified_s: int = 1_760_000_900) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    os.utime(path, (modified_s, modified_s))
    return path


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def workspace(user: Path, name: str, folder: str) -> Path:
    """The directory of a workspace in an editor."""
    return write(user / "workspaceStorage" / name / "workspace.json", json.dumps({"folder": folder})).parent


def field(number: int, value: int | str | bytes) -> bytes:
    """A field in protobuf's wire format."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    raw = bytearray()
    while value > 0x7F:
        raw.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*raw, value))


def cached(*fields: bytes) -> str:
    """As Windsurf keeps a message in its state."""
    return base64.b64encode(b"".join(fields)).decode()


def step(kind: int, at_s: int, *fields: bytes) -> bytes:
    """A step of a trajectory of Windsurf."""
    when = field(5, field(1, field(1, at_s) + field(2, 250_000_000)))
    return field(2, field(1, kind) + field(4, 3) + when + b"".join(fields))


def compressed(document: object) -> bytes:
    return zstd.compress(json.dumps(document).encode())
