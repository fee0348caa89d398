"""`backstory show ID`: a memory with its history, or a conversation page by page."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

from ..app import open_core
from ..core import Core
from ..core.browsing import MessagePlace
from ..core.browsing.replay import ReplayPart
from ..core.browsing.resumption import HandoffLinks, handoff_links, resume_line
from ..domain.errors import NotFound
from ..domain.kinds import kind_name
from ..domain.lazy import lazy_pattern
from ..domain.lines import counted
from ..domain.origins import ORIGINS
from ..domain.records import Conversation, Former, Memory, Message
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import origin, safe_text
from .list import memory_body
from .narrowing import add_limit
from .numbers import whole_number
from .report import Block, Json, Paragraph, Report, Span, Style, Verbatim, legible, terminal_line
from .stats import usage_line

LIMIT = 20
MESSAGES_AROUND = 4
"""Number of messages to show before and after the requested one."""
MAX_MESSAGE_LINES = 40
"""The maximum number of lines per message, unless all are requested."""
MOST_TRACES = 6
_DID = {"read": "read", "written": "wrote", "command": "ran", "error": "failed:"}
_LOST_BY_RICH = lazy_pattern(r"<[A-Za-z/!?]|!\[|^ {0,3}\[[^\]\n]+\]:", re.MULTILINE)
"""Tags, pictures and targets of links: what rich does not show of Markdown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id",
        metavar="ID",
        help="id of a memory, a conversation or a message, or the beginning of one. ID#N is message N",
    )
    parser.add_argument(
        "--around", type=whole_number(1), metavar="N", help="show the messages around message N"
    )
    parser.add_argument(
        "--from",
        type=whole_number(),
        dest="first",
        metavar="N",
        help="start at message N (default: 1); -20 shows the last 20",
    )
    add_limit(parser, LIMIT)
    parser.add_argument("--full", action="store_true", help="show whole messages, including thinking")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    window = _Window(options.first, options.limit, options.around, options.full)
    with closing(open_core(settings)) as core:
        return report(core, options.id, window)


class _Window(NamedTuple):
    """The range of messages to show, and how much of each."""

    first: int | None = None
    limit: int = LIMIT
    around: int | None = None
    is_full: bool = False


_FIRST_PAGE = _Window()


def report(core: Core, id: str, window: _Window = _FIRST_PAGE) -> Report:
    target = core.browsing.find(id)
    if isinstance(target, Memory):
        return _memory_report(target, core.memories.history(target))
    return _conversation_report(core, target, window)


def _memory_report(memory: Memory, history: Sequence[Former]) -> Report:
    origins = memory.metadata.get(ORIGINS, [])
    body = memory_body(memory) | {
        "origins": origins,
        "history": [{"text": each.text, "saved_at": iso(each.saved_at)} for each in history],
    }
    about = [
        kind_name(memory),
        f"of {memory.created_at:%Y-%m-%d %H:%M}",
        f"in {memory.project or '-'}",
    ]
    about += [f"through {memory.surface}"]
    about += [f"key {memory.key}"] if memory.key else []
    about += [f"tags {', '.join(memory.tags)}"] if memory.tags else []
    about += [f"about {', '.join(body['files'])}"] if body["files"] else []
    about += ["done"] if body["is_done"] else []
    about += [f"read from {each['path']}" for each in origins]
    blocks: list[Block] = [
        Verbatim([Span(memory.id, Style.ID)]),
        Paragraph([Span(terminal_line(", ".join(about), 200), Style.QUIET)]),
        "",
        Paragraph(legible(safe_text(memory.text, memory.trust))),
    ]
    for each in reversed(history):
        blocks += [
            "",
            Paragraph([Span(f"until it was changed, as of {each.saved_at:%Y-%m-%d %H:%M}:", Style.QUIET)]),
            Paragraph([Span(legible(each.text), Style.QUIET)], indent=2),
        ]
    return Report(body, blocks)


class _Shown(NamedTuple):
    conversation: Conversation
    part: ReplayPart
    resume: str
    usage: Json | None
    is_full: bool
    handoffs: HandoffLinks


def _conversation_report(core: Core, place: MessagePlace, window: _Window) -> Report:
    conversation = place.conversation
    middle = window.around if window.around is not None else place.number
    if middle is not None and window.first is None:
        first, limit = max(middle - MESSAGES_AROUND, 1), 2 * MESSAGES_AROUND + 1
    else:
        first, limit = window.first or 1, window.limit
    part = core.replay.part(conversation, first if first < 0 else first - 1, limit)
    if (wanted := middle if window.first is None else first) and wanted > part.end:
        raise NotFound("message", str(wanted), hint=f"{conversation.id} has {counted(part.end, 'message')}.")
    view = _Shown(
        conversation,
        part,
        resume_line(core.engine, conversation),
        core.usage.of(conversation),
        window.is_full,
        handoff_links(core.engine, conversation),
    )
    return Report(_body(view), _blocks(view, middle))


def _body(view: _Shown) -> Json:
    conversation, part = view.conversation, view.part
    return {
        "id": conversation.id,
        "title": conversation.title,
        "project": conversation.project,
        "directory": conversation.directory,
        "branch": conversation.branch,
        "model": conversation.model,
        **origin(conversation),
        "created_at": iso(conversation.created_at),
        "updated_at": iso(conversation.updated_at),
        "resume": view.resume,
        "continues": view.handoffs.source,
        "continued_in": view.handoffs.sessions,
        "usage": view.usage,
        "total": part.end,
        "messages": [
            {
                "number": message.seq + 1,
                "id": message.id,
                "role": message.role,
                "text": safe_text(message.text, message.trust),
                "created_at": iso(message.created_at),
                "traces": [{"kind": t.kind, "value": t.value} for t in view.part.traces.get(message.id, ())],
                "calls": part.call_bodies(message),
            }
            for message in part.messages
        ],
    }


def _blocks(view: _Shown, middle: int | None) -> list[Block]:
    part = view.part
    blocks: list[Block] = [*_heading(view)]
    last = 0
    for message in part.messages:
        if message.role == "thinking" and not view.is_full:
            continue
        if message.role != "tool" or message.seq != last:
            blocks += ["", _caption(message, is_wanted=message.seq + 1 == middle)]
        last = message.seq
        blocks += _did(view, message) if message.role == "tool" else _said(message, is_full=view.is_full)
    first, last = part.places.start + 1, part.places.stop
    if last < part.end:
        blocks += [
            "",
            f"{first} to {last} of {part.end:,} messages; `--from {last + 1}` shows the next.",
        ]
    return blocks


def _heading(view: _Shown) -> list[Block]:
    conversation = view.conversation
    span = f"{conversation.created_at:%Y-%m-%d %H:%M} to {conversation.updated_at:%Y-%m-%d %H:%M}"
    about = [conversation.surface, conversation.model, conversation.directory or conversation.project]
    about += [conversation.branch, span, counted(view.part.end, "message")]
    blocks: list[Block] = [
        Verbatim([Span(conversation.id, Style.ID)]),
        Paragraph([Span(terminal_line(conversation.name, 200), Style.HEADING)]),
        Paragraph([Span(terminal_line(", ".join(part for part in about if part), 400), Style.QUIET)]),
    ]
    if view.usage is not None:
        blocks.append(Paragraph([Span(usage_line(view.usage), Style.QUIET)]))
    if view.resume:
        blocks.append(Verbatim([Span(view.resume, Style.QUIET)]))
    links = [f"from {view.handoffs.source}"] if view.handoffs.source else []
    links += [f"continued in {id}" for id in view.handoffs.sessions]
    return [*blocks, *(Paragraph([Span(terminal_line(link, 200), Style.QUIET)]) for link in links)]


def _caption(message: Message, *, is_wanted: bool) -> Block:
    number = Span(f"#{message.seq + 1}", Style.MATCH if is_wanted else Style.ID)
    who = Span(message.role, Style.ASSISTANT)
    return Paragraph([number, " ", who, Span(f" {message.created_at:%Y-%m-%d %H:%M}", Style.QUIET)])


def _said(message: Message, *, is_full: bool) -> list[Block]:
    lines = legible(safe_text(message.text, message.trust)).split("\n")
    visible_lines = lines if is_full else lines[:MAX_MESSAGE_LINES]
    text = "\n".join(visible_lines)
    is_markdown = message.role == "assistant" and not _LOST_BY_RICH.search(text)
    blocks: list[Block] = [Paragraph(text, indent=2, is_markdown=is_markdown)]
    if len(lines) > len(visible_lines):
        blocks.append(
            Paragraph(f"… {len(lines) - len(visible_lines)} more lines; --full shows them", indent=2)
        )
    return blocks


def _whole_calls(view: _Shown, message: Message) -> list[Block]:
    calls = view.part.call_bodies(message)
    if not calls:
        return [Paragraph([Span(legible(safe_text(message.text, message.trust)), Style.QUIET)], indent=4)]
    blocks: list[Block] = []
    for call in calls:
        asked = " ".join(filter(None, (call["name"], call["command"] or call["arguments"])))
        blocks.append(Paragraph([Span(legible(asked), Style.QUIET)], indent=4))
        if (result := call["result"]) is not None:
            blocks += (
                [Paragraph([Span(legible(result["text"]), Style.QUIET)], indent=6)] if result["text"] else []
            )
            blocks.append(
                Paragraph(
                    [Span(_outcome(result), Style.BAD if result["is_error"] else Style.QUIET)], indent=6
                )
            )
    return blocks


def _outcome(result: Json) -> str:
    outcome = "failed" if result["is_error"] else "succeeded"
    code = "" if result["exit_code"] is None else f" with exit status {result['exit_code']}"
    lasted = "" if result["duration_ms"] is None else f" in {result['duration_ms'] / 1000:,.1f} s"
    return f"[{outcome}{code}{lasted}]"


def _did(view: _Shown, message: Message) -> list[Block]:
    if view.is_full:
        return _whole_calls(view, message)
    traces = view.part.traces.get(message.id, [])
    lines = [f"{_DID[trace.kind]} {trace.value}" for trace in traces[:MOST_TRACES]]
    lines += [f"and {len(traces) - MOST_TRACES} more"] if len(traces) > MOST_TRACES else []
    lines = lines or [f"called {message.text}"]
    return [Paragraph([Span(terminal_line(line, 72), Style.QUIET)], indent=4) for line in lines]
