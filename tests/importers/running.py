"""Run an import over a core of a test, and look at what came."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from backstory.core import Core
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory
from backstory.importers import Choices, Outcome, run_import
from backstory.importers.counts import Count, Fate
from backstory.readers import Places


class Counts(NamedTuple):
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: int = 0


def places(home: Path, *projects: Path, **environment: str) -> Places:
    return Places(home, environment, "linux", projects=projects)


def run(core: Core, name: str, path: Path, *, dry_run: bool = False, with_deleted: bool = False) -> Outcome:
    choices = Choices(dry_run, with_deleted)
    return run_import(core.engine, name, path, places(path.parent), choices)[1]


def counts(outcome: Outcome) -> dict[str, Counts]:
    return {kind: _counts(count) for kind, count in outcome.kinds.items()}


def _counts(count: Count) -> Counts:
    new, updated, unchanged = (count.fates[fate] for fate in Fate)
    return Counts(new, updated, unchanged, count.skipped.total())


def total(outcome: Outcome) -> Counts:
    return Counts(*map(sum, zip(*counts(outcome).values(), strict=True)))


def memories(core: Core, *keys: str) -> list[Memory]:
    """Live ones, by their texts."""
    found = core.engine.store.memories.find(Filter(keys=keys), Page())
    return sorted(found, key=lambda memory: memory.text)


def memory(core: Core, text: str) -> Memory:
    (found,) = [each for each in memories(core) if text in each.text]
    return found
