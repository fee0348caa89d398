"""Which records: the flags that every list has, and what they mean."""

from __future__ import annotations

import argparse

from ..core import Core
from ..domain.errors import InvalidInput
from ..domain.filters import Bounds
from ..domain.kinds import NOTE, MemoryKind, categories_of
from ..domain.when import parse_until, parse_when
from ..readers import reader_names
from ..surfaces import load_surfaces


def add_narrowing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project", metavar="NAME|DIR", help="only of this project; `.` is the one you are in"
    )
    parser.add_argument("--assistant", metavar="NAME", help="only of this assistant, such as codex")
    parser.add_argument("--since", metavar="TIME", help="only from then on: 2026-03-01, 7d, yesterday")
    parser.add_argument("--until", metavar="TIME", help="only from before then")


def add_limit(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--limit", type=int, default=default, metavar="N", help=f"at most so many (default: {default})"
    )


def categories(kind: str | None) -> tuple[str, ...]:
    """Those that memories of a kind have, by the kind's name or as the tools that saved them call it."""
    if kind is None:
        return ()
    if kind == MemoryKind.FACT:
        return (NOTE, kind)
    return categories_of(MemoryKind(kind)) if kind in list(MemoryKind) else (kind,)


def read_bounds(options: argparse.Namespace, core: Core) -> Bounds:
    if "limit" in options and options.limit < 1:
        raise InvalidInput("--limit must be at least 1.")
    return Bounds(
        core.browsing.projects(options.project) if options.project else (),
        _surfaces(options.assistant) if options.assistant else (),
        None if options.since is None else parse_when(options.since, core.engine.now(), field="--since"),
        None if options.until is None else parse_until(options.until, core.engine.now(), field="--until"),
    )


def _surfaces(name: str) -> tuple[str, ...]:
    """An assistant by its name or the beginning of it, or a family of tools that memories are saved through."""
    known = [*reader_names(), *load_surfaces()]
    found = [each for each in known if each == name] or [each for each in known if each.startswith(name)]
    if not found:
        raise InvalidInput(
            f"There is no assistant {name!r}.", hint=f"Known: {', '.join(known)}.", field="assistant"
        )
    return tuple(found)
