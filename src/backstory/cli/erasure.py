"""`backstory admin erasure`: bytes of deleted texts that are still to be overwritten."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import find_spaces, in_postgres, open_store
from ..domain.hours import ALWAYS, DailyHours
from ..domain.lines import counted
from ..domain.when import iso, utc_now
from ..settings import Settings
from .report import FAILED, Json, Report

NOTHING = "No tenant has bytes to overwrite."


def list_erasures(words: list[str], options: argparse.Namespace, settings: Settings) -> Report:
    del words, options
    names = _pending(settings)
    start, end = DailyHours.parse(settings.erasure_window).around(utc_now())
    body: Json = {"tenants": names, "window": settings.erasure_window, "from": iso(start), "to": iso(end)}
    if not names:
        return Report(body, NOTHING)
    lines = [*names, "", f"A running server overwrites them {_described(settings)}."]
    return Report(
        body,
        "\n".join([*lines, "`backstory admin erasure now` does it at once; other calls wait meanwhile."]),
    )


def _described(settings: Settings) -> str:
    if settings.erasure_window == ALWAYS or not in_postgres(settings):
        return "within the hour"
    start, end = DailyHours.parse(settings.erasure_window).around(utc_now())
    return f"between {start:%Y-%m-%d %H:%M} and {end:%H:%M} UTC"


def erase_now(words: list[str], options: argparse.Namespace, settings: Settings) -> Report:
    del words, options
    pending = _pending(settings)
    if in_postgres(settings):
        for name in find_spaces(settings)[:1]:  # any of them reaches all
            with closing(open_store(settings, name)) as store:
                store.residue.overwrite_everywhere()
    else:
        for name in pending:
            with closing(open_store(settings, name)) as store:
                store.residue.overwrite()
    left = [name for name in _pending(settings) if name in pending]
    overwritten = [name for name in pending if name not in left]
    body: Json = {"overwritten": overwritten, "left": left}
    if left:
        text = (
            f"Another server is overwriting the bytes of {', '.join(left)}, or they deleted more meanwhile."
        )
        return Report(body, text, FAILED)
    if not pending:
        return Report(body, NOTHING)
    return Report(body, f"Overwrote the bytes of deleted texts in {counted(len(overwritten), 'tenant')}.")


def _pending(settings: Settings) -> list[str]:
    """The names of the tenants with bytes to overwrite; a look makes no store."""
    spaces = find_spaces(settings)
    if in_postgres(settings):
        for name in spaces[:1]:
            with closing(open_store(settings, name)) as store:
                return store.residue.pending()
        return []
    names = []
    for name in spaces:
        with closing(open_store(settings, name)) as store:
            if store.residue.get() is not None:
                names.append(name)
    return names
