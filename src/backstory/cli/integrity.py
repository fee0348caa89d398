"""`backstory integrity`: check every page and index of the store."""

from __future__ import annotations

import argparse

from ..app import open_store, store_path
from ..settings import Settings
from .report import Report

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace, settings: Settings) -> Report:
    store = open_store(settings)
    try:
        problems = store.problems()
    finally:
        store.close()
    path = store_path(settings)
    body = {"store": str(path), "ok": not problems, "problems": problems}
    if not problems:
        return Report(body, f"{path} is sound.")
    advice = "`backstory restore FILE` brings back a backup."
    return Report(body, "\n".join([f"{path} is damaged:", *problems, advice]), FAILED)
