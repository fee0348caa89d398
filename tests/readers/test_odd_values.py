"""Formats change without notice: no value of any type, at any place of a record, may make a file unreadable."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, load_readers

from .golden import sources

HERE = Path(__file__).parent
JUNK: list[Any] = [None, 7, "x", [[]], {"a": [1]}]
READERS = [
    "gemini-cli", "copilot", "cline", "amp", "continue", "factory-droid", "qwen-code", "kiro", "antigravity",
]  # fmt: skip
FILES = [
    (name, path.relative_to(HERE / name / "home"))
    for name in READERS
    for path in sorted((HERE / name / "home").rglob("*.json*"))
]


def changed(value: Any) -> Iterator[Any]:
    """The value with junk in the place of each of its parts, one after the other."""
    yield from JUNK
    keys: Any = (
        range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ()
    )
    for key in keys:
        for part in changed(value[key]):
            copied = copy.copy(value)
            copied[key] = part
            yield copied


def contents(path: Path) -> Iterator[str]:
    if path.suffix == ".json":
        yield from map(json.dumps, changed(json.loads(path.read_text("utf-8"))))
        return
    lines = path.read_text("utf-8").splitlines()
    for n, line in enumerate(lines):
        for record in changed(json.loads(line)):
            yield "\n".join([*lines[:n], json.dumps(record), *lines[n + 1 :]])


@pytest.mark.parametrize(("name", "file"), FILES, ids=lambda value: str(value)[-60:])
def test_a_value_of_another_type_fails_no_file(tmp_path: Path, name: str, file: Path) -> None:
    reader = load_readers([name])[name]
    home = Path(shutil.copytree(HERE / name / "home", tmp_path / "home"))
    for content in contents(HERE / name / "home" / file):
        (home / file).write_text(content, "utf-8")
        found = sources(reader, home)
        # a file that is no source itself tells something of those that are
        concerned = [source for source in found if source.path == home / file] or found
        turns = [
            turn for source in concerned for piece in reader.read(source, Cursor()) for turn in piece.turns
        ]
        assert all(isinstance(turn.text, str) and turn.id for turn in turns)
