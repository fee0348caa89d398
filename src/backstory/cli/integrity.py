"""`backstory integrity`: check every page and index of the stores, those of a team server too."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import find_spaces, in_postgres, open_store, store_place
from ..domain.errors import BackstoryError
from ..settings import Settings
from .report import FAILED, Report, show_progress


def run(options: argparse.Namespace, settings: Settings) -> Report:
    problems = {space: problems_of(settings, space) for space in find_spaces(settings) or [""]}
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


def problems_of(settings: Settings, space: str) -> list[str]:
    """One store that cannot be opened does not hide the state of the others."""
    show_progress(0, None, f"Checking {store_place(settings, space)}")
    try:
        with closing(open_store(settings, space)) as store:
            return store.problems()
    except BackstoryError as error:
        if not space:
            raise
        return [error.message]


def advice(settings: Settings, space: str = "") -> str:
    if in_postgres(settings):
        return "REINDEX may help; else restore a dump of the database."
    return f"`backstory restore FILE{f' --space {space}' if space else ''}` brings back a backup."
