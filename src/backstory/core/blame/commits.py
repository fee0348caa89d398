"""The commit of each line of a file, as git blame tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..projects.git import ask, printable, without_filters

TIMEOUT_S = 60
_HEADER = re.compile(r"([0-9a-f]{40,64}) \d+ \d+(?: \d+)?")


class Commit(NamedTuple):
    hash: str
    author: str
    written_at: datetime
    committed_at: datetime
    """Later than it was written when the commit was amended or moved."""
    subject: str
    path: str
    """What the file was called then."""


def commits_of_lines(tree: Path, path: str) -> list[Commit | None]:
    """For each line of the file as it is on disk; None where it is not committed. Empty without a repository, or for a
    file that it does not know."""
    words = ("blame", "--porcelain", "--no-textconv", "--", path)
    told = ask(tree, *without_filters(tree), *words, timeout_s=TIMEOUT_S)
    return list(_read(printable(told.text))) if told.is_ok else []


def _read(text: str) -> Iterator[Commit | None]:
    known: dict[str, dict[str, str]] = {}
    facts: dict[str, str] = {}
    hash = ""
    for line in text.split("\n"):
        if header := _HEADER.fullmatch(line):
            hash = header[1]
            facts = known.setdefault(hash, {})
        elif line.startswith("\t"):
            yield _commit(hash, facts) if hash.strip("0") else None
        else:
            name, _, value = line.partition(" ")
            facts[name] = value


def _commit(hash: str, facts: dict[str, str]) -> Commit:
    return Commit(
        hash,
        facts.get("author", ""),
        _time(facts.get("author-time", "")),
        _time(facts.get("committer-time", "")),
        facts.get("summary", ""),
        facts.get("filename", ""),
    )


def _time(seconds: str) -> datetime:
    return datetime.fromtimestamp(int(seconds) if seconds.isdigit() else 0, UTC)
