"""`backstory integrity`: check every page and index of the store."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import in_postgres, open_store, store_place
from ..settings import Settings
from .report import FAILED, Report


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_store(settings)) as store:
        problems = store.problems()
    place = store_place(settings)
    body = {"store": place, "ok": not problems, "problems": problems}
    if not problems:
        return Report(body, f"{place} is sound.")
    return Report(body, "\n".join([f"{place} is damaged:", *problems, advice(settings)]), FAILED)


def advice(settings: Settings) -> str:
    if in_postgres(settings):
        return "REINDEX may help; else restore a dump of the database."
    return "`backstory restore FILE` brings back a backup."
