"""`backstory delete ID`: `forget` for records that are named individually."""

from __future__ import annotations

import argparse

from ..settings import Settings
from . import forget
from .report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids", nargs="+", metavar="ID", help="ids of memories and conversations, or their beginnings"
    )
    forget.add_reach(parser)
    parser.set_defaults(project=None, assistant=None, before=None)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    return forget.run(options, settings)
