"""`backstory web`: browse the memory in a browser on this machine."""

from __future__ import annotations

import argparse
from contextlib import closing, suppress

from ..app import history_places, open_core
from ..settings import Settings
from ..web.serving import WebAddress, serve
from . import doctor
from .first_look import stored_histories
from .numbers import whole_number
from .report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        type=whole_number(0, 65_535),
        default=0,
        metavar="N",
        help="port to use (default: a free one)",
    )
    parser.add_argument("--no-open", action="store_true", help="print the link without opening a browser")
    parser.add_argument("--read-only", action="store_true", help="disable all changes")
    parser.add_argument(
        "--public-url",
        default="",
        metavar="URL",
        help="address of the page for browsers, if ports are forwarded",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    # an interrupt is how one ends it
    with closing(open_core(settings)) as core, suppress(KeyboardInterrupt):
        serve(
            core,
            WebAddress(options.port, options.public_url),
            is_read_only=options.read_only,
            opens_browser=not options.no_open,
            checks=lambda: doctor.run(options, settings).body,
            places=lambda: history_places(core.engine),
            histories=lambda: stored_histories(core.engine),
        )
    return Report({"closed": True}, "Closed.")
