"""`backstory integrity`: check every page and index of the stores, those of a team server too."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from ..app import find_spaces, in_postgres, open_pool, open_store, store_place
from ..domain.errors import BackstoryError
from ..settings import Settings
from .report import FAILED, Report, show_progress

if TYPE_CHECKING:
    from ..store.postgres.pool import PostgresPool


def run(options: argparse.Namespace, settings: Settings) -> Report:
    problems = problems_of(settings, find_spaces(settings) or [""])
    body = {
        "ok": not any(problems.values()),
        "stores": [
            {"store": store_place(settings, space), "ok": not faults, "problems": faults}
            for space, faults in problems.items()
        ],
    }
    lines = []
    for space, faults in problems.items():
        place = store_place(settings, space)
        lines += (
            [f"{place} is damaged:", *faults, advice(settings, space)] if faults else [f"{place} is sound."]
        )
    return Report(body, "\n".join(lines), 0 if body["ok"] else FAILED)


def problems_of(settings: Settings, spaces: Sequence[str]) -> dict[str, list[str]]:
    """The problems of each store."""
    with ExitStack() as stack:
        pool = open_pool(settings)
        if pool is not None:
            stack.enter_context(closing(pool))
        problems = {}
        for number, space in enumerate(spaces):
            show_progress(number, len(spaces), f"Checking {store_place(settings, space)}")
            problems[space] = _problems(settings, space, pool)
        return problems


def _problems(settings: Settings, space: str, pool: PostgresPool | None) -> list[str]:
    """A tenant's store that cannot be opened does not hide the state of the others."""
    try:
        with closing(open_store(settings, space, pool=pool)) as store:
            return store.problems()
    except BackstoryError as error:
        if not space:
            raise
        return [error.message]


def advice(settings: Settings, space: str = "") -> str:
    if in_postgres(settings):
        return "REINDEX may help; else restore a dump of the database."
    return f"`backstory restore FILE{f' --space {space}' if space else ''}` brings back a backup."
