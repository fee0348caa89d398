"""`backstory sessions`: the conversations of every assistant, the latest first."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core.browsing import HEADS, ConversationList, ListedConversation
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import origin
from .narrowing import add_narrowing, add_paging, nothing, read_bounds
from .report import Block, Hint, Json, Report, Span, Style, Table, project_name, terminal_line

LIMIT = 20
LONGEST_TITLE = 100
NONE = "No conversations. `backstory sync` reads those of your assistants."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_narrowing(parser)
    parser.add_argument("--file", metavar="PATH", help="only conversations that read or wrote this file")
    parser.add_argument("--subagents", action="store_true", help="include subagents")
    add_paging(parser, LIMIT)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        which = read_bounds(options, core).conversation_filter()
        which = which._replace(kinds=(*HEADS, "subagent") if options.subagents else ())
        page = core.browsing.conversations(
            which, limit=options.limit, offset=options.offset, file=options.file or ""
        )
    if not page.conversations:
        return Report(_body(page), nothing(options, "conversation", NONE))
    return Report(_body(page), _blocks(page))


def _body(page: ConversationList) -> Json:
    return {
        "total": page.total,
        "sessions": [
            {
                "id": each.conversation.id,
                "name": each.name,
                "title": each.conversation.title,
                "kind": each.conversation.kind,
                "project": each.conversation.project,
                "directory": each.conversation.directory,
                "branch": each.conversation.branch,
                "model": each.conversation.model,
                **origin(each.conversation),
                "created_at": iso(each.conversation.created_at),
                "updated_at": iso(each.conversation.updated_at),
                "messages": each.messages,
            }
            for each in page.conversations
        ],
    }


def _blocks(page: ConversationList) -> list[Block]:
    heads = ("ID", "LAST", "ASSISTANT", "PROJECT", "MSGS", "TITLE")
    blocks: list[Block] = [Table(heads, [_row(each) for each in page.conversations])]
    if (left := page.total - len(page.conversations)) > 0:
        blocks.append(
            Hint(f"{left:,} more; narrow with --project, --assistant or --since, or raise --limit.")
        )
    return blocks


def _row(each: ListedConversation) -> list[str | list[Span]]:
    conversation = each.conversation
    return [
        [Span(each.name, Style.ID)],
        f"{conversation.updated_at:%Y-%m-%d}",
        [Span(conversation.surface, Style.ASSISTANT)],
        project_name(conversation.project),
        str(each.messages),
        terminal_line(conversation.name, LONGEST_TITLE),
    ]
