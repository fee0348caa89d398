"""`backstory list`: memories of every assistant, the last changed first."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core.names import short_memory_id
from ..core.tasks import is_open_task
from ..domain.filters import MemoryPage
from ..domain.kinds import MemoryKind, kind_name, kind_of
from ..domain.metadata import marks_of
from ..domain.records import Memory
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import origin, safe_text
from .narrowing import add_narrowing, add_paging, categories, nothing, read_bounds
from .report import Block, Hint, Json, Report, Span, Style, Table, project_name, terminal_line

LIMIT = 20
LONGEST_TEXT = 120
NONE = "No memories. Assistants save them; `backstory sessions` lists conversations."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_narrowing(parser)
    parser.add_argument("--kind", metavar="KIND", help="only this kind, for example decision or task")
    add_paging(parser, LIMIT)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        where = read_bounds(options, core).filter()._replace(categories=categories(options.kind))
        page = core.browsing.memories(where, limit=options.limit, offset=options.offset)
    if not page.memories:
        return Report(_body(page), nothing(options, "memory", NONE))
    return Report(_body(page), _blocks(page))


def _body(page: MemoryPage) -> Json:
    return {"total": page.total, "memories": [memory_body(memory) for memory in page.memories]}


def memory_body(memory: Memory) -> Json:
    return {
        "id": memory.id,
        "text": safe_text(memory.text, memory.trust),
        "kind": memory.category,
        "key": memory.key,
        "priority": memory.priority.value,
        "tags": list(memory.tags),
        "files": [mark.path for mark in marks_of(memory.metadata)],
        "is_done": is_done(memory),
        "project": memory.project,
        **origin(memory),
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
    }


def is_done(memory: Memory) -> bool:
    return kind_of(memory) is MemoryKind.TASK and not is_open_task(memory)


def _blocks(page: MemoryPage) -> list[Block]:
    rows = [_row(memory) for memory in page.memories]
    blocks: list[Block] = [Table(("ID", "CHANGED", "KIND", "PROJECT", "TEXT"), rows)]
    if (left := page.total - len(page.memories)) > 0:
        blocks.append(Hint(f"{left:,} more; narrow with --project, --kind or --since, or raise --limit."))
    return blocks


def _row(memory: Memory) -> list[str | list[Span]]:
    text = safe_text(memory.text, memory.trust)
    return [
        [Span(short_memory_id(memory.id), Style.ID)],
        f"{memory.updated_at:%Y-%m-%d}",
        f"{kind_name(memory)}{' (done)' if is_done(memory) else ''}",
        project_name(memory.project),
        terminal_line(f"{memory.key}: {text}" if memory.key else text, LONGEST_TEXT),
    ]
