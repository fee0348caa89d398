"""Codex: its command line, its desktop program and its editor extension write the same rollouts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import Places, Reader, Resume, Source
from .formats.paths import homes
from .formats.rollout_writing import write_session
from .formats.rollouts import find_rollouts, read


def find(places: Places) -> Iterator[Source]:
    named = places.roots.get("codex", ())
    chosen = places.environment.get("CODEX_HOME", "")
    usual = [*([Path(chosen)] if chosen else []), *(home / ".codex" for home in homes(places))]
    yield from find_rollouts([*named, *usual], named)


reader = Reader(
    "codex",
    "Codex",
    find,
    read,
    resume=Resume(("codex", "resume", "{id}")),
    write=write_session,
    prompt_words=("codex", "{prompt}"),
)
