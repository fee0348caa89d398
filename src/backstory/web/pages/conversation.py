"""Conversation: any assistant's session replayed, part by part, and taken away as one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from ...core import Core
from ...core.brief.files import injected_into
from ...core.browsing.export import ConversationTree, as_markdown, file_stem
from ...core.browsing.replay import ReplayPart
from ...core.browsing.resumption import resume_line
from ...core.forgetting.erasure import Erasure
from ...core.forgetting.removal import ForgetRequest
from ...domain.errors import NotFound
from ...domain.records import Conversation, Message, Trace
from ...domain.tokens import count_tokens
from ...domain.when import iso
from ..figures import figure
from ..page_query import PageQuery
from ..rendering import STATIC, templates
from ..view import Download, Json, View
from .cards import conversation_card

SIZE = 60  # places that one part holds
BEFORE = 4  # places before the one that is asked for
MOST_PROMPTS = 200
MOST_FILES = 40
LONGEST_SHOWN = 6_000  # characters of a message that is not folded
MOST_LINES = 400
LONGEST_ABOUT = 160
_FIELD = re.compile(r"(old_string|old_str|new_string|new_str|content|file_text): ?(.*)", re.DOTALL)
_SIDES = {
    "old_string": "gone",
    "old_str": "gone",
    "new_string": "new",
    "new_str": "new",
    "content": "new",
    "file_text": "new",
}
_ANY_FIELD = re.compile(r"[a-z_]+: ")


def page(core: Core, asked: PageQuery) -> View:
    conversation = _named(core, asked.text("id"))
    at = asked.number("at", 0)
    first = asked.number("from", max(at - BEFORE, 1), least=1)
    size = asked.number("size", SIZE, least=1, most=SIZE)
    part = core.replay.part(conversation, first - 1, size)
    body = {
        "conversation": {
            **conversation_card(conversation, part.end),
            "native_id": conversation.native_id,
            "directory": conversation.directory,
            "branch": conversation.branch,
            "model": conversation.model,
            "completeness": conversation.completeness,
            "is_gone": conversation.is_gone,
            "source": conversation.source,
        },
        **_part(part),
        "at": at,
        "resume": resume_line(core.engine.store, conversation),
    }
    if asked.text("part"):
        return View("conversation.html", body, conversation.name, "messages.html")
    return View(
        "conversation.html", body | _around(core, conversation, first - 1, part.end), conversation.name
    )


def _named(core: Core, id: str) -> Conversation:
    """By its id, or by a beginning of it, as lists of the command line write it."""
    try:
        return core.replay.conversation(id)
    except NotFound:
        return core.browsing.conversation(id)


def _part(part: ReplayPart) -> Json:
    """Messages are numbered from 1."""
    before, last = part.places.start, min(part.places.stop, part.end)
    return {
        "first": before + 1,
        "last": last,
        "earlier": {"from": max(before - SIZE, 0) + 1, "size": min(before, SIZE)} if before > 0 else None,
        "later": {"from": last + 1} if last < part.end else None,
        "messages": [_message(each, part.traces.get(each.id, ())) for each in part.messages],
    }


def _message(message: Message, traces: Sequence[Trace]) -> Json:
    shown: Json = {
        "number": message.seq + 1,
        "role": message.role,
        "speaker": message.speaker,
        "created_at": iso(message.created_at),
        "text": message.text,
        "trust": message.trust.value,
        "is_long": len(message.text) > LONGEST_SHOWN,
    }
    if message.role != "tool":
        return shown
    call = tool_call(message.text, traces)
    return shown | {
        "tool": {**call._asdict(), "lines": [line._asdict() for line in call.lines]},
        "files": [trace.value for trace in traces if trace.kind in ("read", "written")],
    }


def _around(core: Core, conversation: Conversation, start: int, end: int) -> Json:
    prompts = figure(core, ("prompts", conversation.id, end), lambda: core.replay.prompts(conversation))
    above, started = core.replay.relatives(conversation)
    version = (conversation.id, conversation.updated_at)
    files = figure(
        core,
        ("files", version),
        lambda: core.engine.store.traces.files([conversation.id]).get(conversation.id, []),
    )
    nearest = sum(seq < start for seq, _ in prompts)
    first = max(min(nearest - MOST_PROMPTS // 4, len(prompts) - MOST_PROMPTS), 0)
    return {
        "prompts": [
            {"number": seq + 1, "text": " ".join(text.split())}
            for seq, text in prompts[first : first + MOST_PROMPTS]
        ],
        "prompt_count": len(prompts),
        "parents": [conversation_card(each) for each in above],
        "started": [conversation_card(each) for each in started],
        "files": files[:MOST_FILES],
        "file_count": len(files),
        "injected": [
            {"at": iso(each.given_at), "text": each.text, "tokens": count_tokens(each.text)}
            for each in injected_into(core, conversation.native_id)
        ],
    }


def export(core: Core, asked: PageQuery) -> Download:
    """The whole conversation with its subagents, as one file that needs nothing else."""
    conversation = core.replay.conversation(asked.text("id"))
    form = asked.choice("as", ("html", "md")) or "html"
    whole = core.export.transcript(conversation)
    name = f"{file_stem(conversation)}.{form}".encode("ascii", "ignore").decode()
    if form == "md":
        return Download(name, "text/markdown; charset=utf-8", "".join(as_markdown(whole)))
    style = (STATIC / "style.css").read_text("utf-8")
    content = templates().get_template("export.html").render(transcript=_exported(whole), style=Markup(style))
    return Download(name, "text/html; charset=utf-8", content)


def _exported(whole: ConversationTree) -> Json:
    return {
        "conversation": conversation_card(whole.conversation, len(whole.messages)),
        "messages": [_message(each, ()) for each in whole.messages],
        "files": list(whole.files),
        "started": [_exported(each) for each in whole.started],
    }


def forget(core: Core, asked: PageQuery) -> View:
    """With its subagents, for good; its assistant's own file is not touched, and a sync does not bring it back."""
    conversation = core.replay.conversation(asked.text("id"))
    erasure = Erasure(core.engine)
    ids = [each.id for each in erasure.with_subagents([conversation])]
    receipt = erasure.forget(ForgetRequest(conversations=ids))
    body = {
        "what": conversation.name,
        "removed": dict(receipt.removed),
        "rewritten": list(receipt.files),
        "notices": receipt.notices,
    }
    return View("forgotten.html", body, "Forgotten")


class ToolLine(NamedTuple):
    kind: str
    """gone, new, place or plain."""
    text: str


class ShownCall(NamedTuple):
    name: str
    about: str
    """A file, a command, or how its text begins."""
    lines: list[ToolLine]
    left_out: int
    """Lines beyond those that are shown."""
    failed: bool


def tool_call(text: str, traces: Sequence[Trace]) -> ShownCall:
    name, _, rest = text.partition(" ")
    name = name.strip().splitlines()[0][:60] if name.strip() else "tool"
    lines = list(_lines(rest))
    return ShownCall(
        name=name,
        about=_about(traces) or " ".join(rest.split())[:LONGEST_ABOUT],
        lines=lines[:MOST_LINES],
        left_out=max(len(lines) - MOST_LINES, 0),
        failed=any(trace.kind == "error" for trace in traces),
    )


def _about(traces: Sequence[Trace]) -> str:
    values = [trace.value for trace in traces if trace.kind != "error"]
    first = " ".join(values[0].split())[:LONGEST_ABOUT] if values else ""
    return f"{first} and {len(values) - 1} more" if len(values) > 1 else first


def _lines(text: str) -> Iterable[ToolLine]:
    side, is_patch = "plain", False
    for line in text.split("\n"):
        if found := _FIELD.match(line):
            side = _SIDES[found[1]]
            if found[2]:
                yield ToolLine(side, found[2])
            continue
        if side == "plain" and line.startswith(("*** Begin Patch", "--- ", "diff ")):
            is_patch = True
        if line.startswith("*** End Patch"):
            is_patch = False
        elif is_patch:
            yield ToolLine(_kind_in_patch(line), line)
            continue
        if side != "plain" and _ANY_FIELD.match(line):
            side = "plain"
        yield ToolLine(side, line)


def _kind_in_patch(line: str) -> str:
    if line.startswith(("@@", "***", "---", "+++", "diff ")):
        return "place"
    return {"+": "new", "-": "gone"}.get(line[:1], "plain")
