"""TRAE CLI, which writes rollouts like Codex."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import Places, Reader, Source
from .formats.paths import homes
from .formats.rollouts import find_rollouts, read


def find(places: Places) -> Iterator[Source]:
    named = places.roots.get("trae-cli", ())
    chosen = places.environment.get("TRAECLI_HOME", "")
    usual = [*([Path(chosen)] if chosen else []), *(home / ".trae" / "cli" for home in homes(places))]
    yield from find_rollouts([*named, *usual], named)


reader = Reader("trae-cli", "TRAE CLI", find, read)
