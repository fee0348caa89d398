"""`backstory unarchive`: make a memory live again that was compressed into the archive."""

from __future__ import annotations

import argparse

from ..app import open_core
from ..domain.errors import NotFound
from ..settings import Settings
from ..surfaces import load_surfaces
from .report import Report, counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", help="the key it was saved under; private memories stay with their session")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    core = open_core(settings)
    found, restored = [], []
    try:
        for surface in load_surfaces(settings.surfaces):
            archive = core.through(surface).archive
            archived = archive.find(options.key, None)
            found += archived
            restored += archive.restore(tuple(memory.id for memory in archived))
    finally:
        core.engine.close()
    if not found:
        raise NotFound("archived memory", options.key)
    kept = len(found) - len(restored)
    body = {"key": options.key, "restored": [memory.id for memory in restored], "kept": kept}
    text = f"Restored {counted(len(restored), 'memory', 'memories')} under {options.key!r}."
    if kept:
        text += f" {counted(kept, 'memory', 'memories')} stayed: the key was saved anew in the same session."
    return Report(body, text)
