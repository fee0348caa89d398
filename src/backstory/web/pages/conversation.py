"""Conversation: any assistant's session as a trace, part by part: prompts, answers, tool calls with results, tasks,
subagents."""

from __future__ import annotations

from collections.abc import Mapping

from ...core import Core
from ...core.browsing.replay import ReplayPart, ReplayPrompt
from ...core.browsing.resumption import resume_line
from ...core.browsing.todos import TodoList
from ...core.forgetting.erasure import Erasure
from ...core.forgetting.removal import ForgetRequest
from ...core.hooks.receipts import injected_into
from ...domain.errors import NotFound
from ...domain.records import Conversation, Message
from ...domain.tokens import count_tokens
from ...domain.when import iso
from ..figures import figure
from ..minimap import minimap
from ..page_query import PageQuery
from ..view import Json, View
from .cards import conversation_card
from .tool_calls import shown_calls

PAGE_MESSAGES, PAGE_ENTRIES = 60, 120
"""Places that one part has, and messages, calls and thoughts at them: an answer may have hundreds of calls."""
BEFORE = 4  # number of messages before the requested one
MOST_PROMPTS = 100
MOST_FILES = 40
LONGEST_SHOWN, LONGEST_SUMMARY = 6_000, 1_000
"""Maximum characters of a message, and of a summary, that is not folded. A summary repeats earlier messages."""
MOST_FOUND = 100


def page(core: Core, asked: PageQuery) -> View:
    conversation = named_conversation(core, asked.text("id"))
    wanted = asked.text("find")
    if asked.text("part") == "found":
        body = {"conversation": conversation_card(conversation), **_found(core, conversation, wanted)}
        return View("conversation.html", body, conversation.name, "found.html")
    at = asked.number("at", 0)
    first = asked.number("from", max(at - BEFORE, 1), least=1)
    size = asked.number("size", PAGE_MESSAGES, least=1, most=PAGE_MESSAGES)
    fitting = core.replay.places_after(conversation, first - 1, size, most=PAGE_ENTRIES)
    part = core.replay.part(conversation, first - 1, max(fitting, min(at - first + 1, size)))
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
        **_part(core, conversation, part),
        "at": at,
    }
    if asked.text("part"):
        return View("conversation.html", body, conversation.name, "messages.html")
    body |= _around(core, conversation, first - 1, part.end) | _found(core, conversation, wanted)
    return View("conversation.html", body, conversation.name)


def named_conversation(core: Core, id: str) -> Conversation:
    """The conversation with this id, or with an id that begins like this."""
    try:
        return core.replay.conversation(id)
    except NotFound:
        return core.browsing.conversation(id)


def _found(core: Core, conversation: Conversation, text: str) -> Json:
    places = core.replay.search(conversation, text, MOST_FOUND) if text else []
    matches = [{"number": each.seq + 1, "role": each.role, "passage": each.passage} for each in places]
    return {"find": text, "found": matches, "is_found_cut": len(matches) == MOST_FOUND}


def _part(core: Core, conversation: Conversation, part: ReplayPart) -> Json:
    """Messages are numbered from 1."""
    before, last = part.places.start, min(part.places.stop, part.end)
    earlier = before and core.replay.places_before(conversation, before, PAGE_MESSAGES, most=PAGE_ENTRIES)
    version = (conversation.id, conversation.updated_at, part.end)
    todos = figure(core, ("todos", version), lambda: core.replay.todo_lists(conversation))
    subagents = figure(core, ("subagents", version), lambda: core.replay.subagents(conversation))
    prompts = _prompts(core, conversation, part.end)
    return {
        "first": before + 1,
        "last": last,
        "earlier": {"from": before - earlier + 1, "size": earlier} if earlier else None,
        "later": {"from": last + 1} if last < part.end else None,
        "messages": message_bodies(part, prompts),
        "todos": {each.message: _todo_body(each) for each in todos},
        "tasks": _todo_body(todos[-1]) if todos else None,
        "subagents": {
            str(seq + 1): [conversation_card(each) for each in started]
            for seq, started in subagents.items()
            if seq in part.places
        },
    }


def _todo_body(todos: TodoList) -> Json:
    return {
        "done": sum(item.is_done for item in todos.items),
        "total": len(todos.items),
        "items": [
            {"text": item.text, "is_done": item.is_done, "is_changed": place in todos.changed}
            for place, item in enumerate(todos.items)
        ],
    }


def _prompts(core: Core, conversation: Conversation, end: int) -> dict[int, ReplayPrompt]:
    prompts = figure(core, ("prompts", conversation.id, end), lambda: core.replay.prompts(conversation))
    return {each.seq: each for each in prompts}


def message_bodies(part: ReplayPart, prompts: Mapping[int, ReplayPrompt]) -> list[Json]:
    return [_message(part, each, prompts.get(each.seq)) for each in part.messages]


def _message(part: ReplayPart, message: Message, prompt: ReplayPrompt | None) -> Json:
    body: Json = {
        "id": message.id,
        "number": message.seq + 1,
        "role": message.role,
        "speaker": message.speaker,
        "created_at": iso(message.created_at),
        "text": message.text,
        "trust": message.trust.value,
        "is_long": len(message.text) > (LONGEST_SUMMARY if message.role == "summary" else LONGEST_SHOWN),
        "calls": part.call_bodies(message),
    }
    if message.role == "user":
        return body | {"duration_s": None if prompt is None else _duration_s(prompt)}
    if message.role != "tool":
        return body
    traces = part.traces.get(message.id, ())
    return body | {
        "tools": shown_calls(message.text, body["calls"], traces),
        "files": [trace.value for trace in traces if trace.kind in ("read", "written")],
    }


def _duration_s(prompt: ReplayPrompt) -> float:
    return prompt.worked.total_seconds()


def _around(core: Core, conversation: Conversation, start: int, end: int) -> Json:
    prompts = list(_prompts(core, conversation, end).values())
    above, started = core.replay.relatives(conversation)
    version = (conversation.id, conversation.updated_at)
    files = figure(core, ("files", version), lambda: core.files.of(conversation))
    course = figure(
        core,
        ("minimap", version, end),
        lambda: minimap(core.replay.course(conversation), end),
    )
    nearest = sum(each.seq < start for each in prompts)
    first = max(min(nearest - MOST_PROMPTS // 4, len(prompts) - MOST_PROMPTS), 0)
    return {
        "resume": resume_line(core.engine, conversation),
        "usage": core.usage.of(conversation),
        "prompts": [
            {"number": each.seq + 1, "text": " ".join(each.text.split()), "duration_s": _duration_s(each)}
            for each in prompts[first : first + MOST_PROMPTS]
        ],
        "prompt_count": len(prompts),
        "minimap": course,
        "has_changes": core.replay.has_changes(conversation),
        "parents": [conversation_card(each) for each in above],
        "started": [conversation_card(each) for each in started],
        "files": files[:MOST_FILES],
        "file_count": len(files),
        "injected": [
            {"at": iso(each.given_at), "text": each.text, "tokens": count_tokens(each.text)}
            for each in injected_into(core, conversation.native_id)
        ],
    }


def forget(core: Core, asked: PageQuery) -> View:
    """Forget a conversation with its subagents for good.

    Its assistant's own file is not changed, and a sync does not bring it back."""
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
