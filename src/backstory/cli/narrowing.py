"""Filter flags that all lists share, and their meaning."""

from __future__ import annotations

import argparse
import os

from ..core import Core
from ..core.projects.related import EVERY_PROJECT
from ..domain.errors import InvalidInput
from ..domain.filters import Bounds, Kind
from ..domain.kinds import NOTE, MemoryKind, categories_of
from ..domain.when import parse_bounds
from ..readers import reader_names
from ..surfaces import load_surfaces
from .numbers import whole_number

KINDS = {"memory": Kind.MEMORY, "conversation": Kind.MESSAGE}


def path_from_shell(file: str) -> str:
    """Resolve a path like the shell does, if the file exists: relative to the current directory, not to the project's
    root."""
    return os.path.abspath(file) if os.path.lexists(file) else file


def add_narrowing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project", metavar="NAME|DIR", help="only this project; `.` is the current one, `*` is all"
    )
    parser.add_argument("--assistant", metavar="NAME", help="only this assistant, for example codex")
    parser.add_argument(
        "--since", metavar="TIME", help='only since this time, for example 2026-03-01, 7d, "last friday"'
    )
    parser.add_argument(
        "--until", metavar="TIME", help="only until this time; a day, week or month is included as a whole"
    )


def add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="PROJECT",
        help="name or directory of the project (default: the current one)",
    )


def add_paging(parser: argparse.ArgumentParser, limit: int) -> None:
    add_limit(parser, limit)
    parser.add_argument(
        "--offset",
        type=whole_number(0),
        default=0,
        metavar="N",
        help="number of results to skip (default: 0)",
    )


def add_limit(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--limit",
        type=whole_number(1),
        default=default,
        metavar="N",
        help=f"maximum number of results (default: {default})",
    )


def nothing(options: argparse.Namespace, what: str, otherwise: str) -> str:
    """The message of an empty list: no match for the flags, or no records at all."""
    narrows = ("project", "assistant", "since", "until", "kind", "file")
    flags = [f"--{name}" for name in narrows if getattr(options, name, None) not in (None, "", EVERY_PROJECT)]
    if flags:
        known = [*MemoryKind, *KINDS]
        is_odd = getattr(options, "kind", None) not in (None, *known)
        kinds = f" Kinds are {', '.join(known)}, and what a tool calls its own." if is_odd else ""
        return f"No {what} matches {' and '.join(flags)}.{kinds}"
    return f"There are no more than {options.offset:,}." if getattr(options, "offset", 0) else otherwise


def categories(kind: str | None) -> tuple[str, ...]:
    """The categories of a kind, by its name or by the name that tools use."""
    if kind is None:
        return ()
    if kind == MemoryKind.FACT:
        return (NOTE, kind)
    return categories_of(MemoryKind(kind)) if kind in list(MemoryKind) else (kind,)


def read_bounds(options: argparse.Namespace, core: Core) -> Bounds:
    return Bounds(
        read_projects(options.project, core) if options.project else (),
        _surfaces(options.assistant) if options.assistant else (),
        *parse_bounds(options.since, options.until, core.engine.now(), prefix="--"),
    )


def read_projects(wanted: str, core: Core) -> tuple[str, ...]:
    """The projects that a name or a directory means; empty for all of them."""
    return () if wanted == EVERY_PROJECT else core.browsing.projects(wanted)


def _surfaces(name: str) -> tuple[str, ...]:
    """An assistant by its name or the beginning of it, or a family of tools that memories are saved through."""
    known = [*reader_names(), *load_surfaces()]
    names = [each for each in known if each == name] or [each for each in known if each.startswith(name)]
    if not names:
        raise InvalidInput(
            f"There is no assistant {name!r}.", hint=f"Known: {', '.join(known)}.", field="assistant"
        )
    return tuple(names)
