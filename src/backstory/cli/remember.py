"""`backstory remember TEXT`: save a memory, as an assistant would."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from ..app import open_core
from ..domain.kinds import MemoryKind, kind_of
from ..domain.lines import one_line
from ..settings import Settings
from .list import memory_body
from .narrowing import path_from_shell
from .report import Report, project_name, terminal_line

SIMILAR_CHARS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", nargs="+", metavar="TEXT", help="what to remember; `-` reads it from standard input"
    )
    parser.add_argument(
        "--kind",
        choices=list(MemoryKind),
        metavar="KIND",
        help=f"{', '.join(MemoryKind)} (default: {MemoryKind.FACT})",
    )
    parser.add_argument(
        "--project", metavar="NAME|DIR", help="project of the memory (default: the current one)"
    )
    parser.add_argument(
        "--file", action="append", metavar="PATH", help="a file that it is about; may be repeated"
    )
    parser.add_argument("--replaces", metavar="ID", help="the memory that this corrects; its history is kept")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    text = sys.stdin.read().strip() if options.text == ["-"] else " ".join(options.text)
    kind = MemoryKind(options.kind) if options.kind else None
    project = _project(options.project)
    with closing(open_core(settings)) as core:
        result = core.remembering.remember(
            text,
            kind,
            replaces=options.replaces,
            files=[path_from_shell(each) if project is None else each for each in options.file or ()],
            project=project,
        )
    memory = result.memory
    body = memory_body(memory) | {
        "changed": result.is_new,
        "similar": [memory_body(each) for each in result.similar],
    }
    verb = "Remembered" if result.is_new else "Known already"
    lines = [f"{verb}: {kind_of(memory)} {memory.id} of {project_name(memory.project)}."]
    lines += [
        f"Similar: {each.id} {terminal_line(one_line(each.text, SIMILAR_CHARS), SIMILAR_CHARS)}"
        for each in result.similar
    ]
    return Report(body, "\n".join(lines))


def _project(name: str | None) -> str | None:
    return None if name == "." else name
