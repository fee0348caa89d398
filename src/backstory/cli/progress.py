"""A line on standard error that shows how far long work has come; silent unless a person is looking."""

from __future__ import annotations

import sys


def show_progress(done: float, total: float | None, message: str) -> None:
    if not sys.stderr.isatty():
        return
    share = f" {done:,.0f} of {total:,.0f}" if total else ""
    print(f"\r\x1b[K{message}{share}", end="", file=sys.stderr, flush=True)


def clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
