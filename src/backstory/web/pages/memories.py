"""Memories: list, correct with their history, mark as done, forget and restore."""

from __future__ import annotations

from ...core import Core
from ...core.authors import author_name
from ...core.forgetting import RESTORABLE_FOR, erase
from ...core.tasks import is_open_task
from ...domain.errors import NotFound
from ...domain.filters import Filter, Kind
from ...domain.kinds import MemoryKind, categories_of, categories_of_others, kind_of
from ...domain.records import Former, Memory
from ...domain.when import iso
from ..page_query import PageQuery
from ..view import Json, Redirect, View

PAGE_MEMORIES = 30
LONGEST_SHOWN = 400  # characters of a memory in the list
KINDS = tuple(MemoryKind)
MOST_FORGOTTEN = 20


def page(core: Core, asked: PageQuery) -> View:
    number = asked.number("page", 1, least=1, most=100_000)
    kind = asked.choice("kind", tuple(KINDS))
    where = Filter(
        categories=categories_of(MemoryKind(kind)) if kind else (),
        other_than=categories_of_others(MemoryKind(kind)) if kind else (),
        projects=tuple(filter(None, [asked.text("project")])),
        surfaces=tuple(filter(None, [asked.text("through")])),
    )
    listing = core.browsing.memories(where, limit=PAGE_MEMORIES, offset=PAGE_MEMORIES * (number - 1))
    body = {
        "memories": [memory_card(each) for each in listing.memories],
        "total": listing.total,
        "page": number,
        "pages_count": -(-listing.total // PAGE_MEMORIES),
        "kinds": [str(each) for each in KINDS],
        "known_projects": core.browsing.known_projects(Kind.MEMORY),
        "forgotten": [memory_card(each) for each in core.forgetting.restorable(MOST_FORGOTTEN)],
        "was_forgotten": asked.text("forgotten"),
    }
    return View("memories.html", body, "Memories")


def memory_card(memory: Memory) -> Json:
    return {
        "id": memory.id,
        "text": memory.text[:LONGEST_SHOWN],
        "is_cut": len(memory.text) > LONGEST_SHOWN,
        "key": memory.key,
        "kind": str(kind_of(memory)),
        "category": memory.category,
        "priority": memory.priority.value,
        "project": memory.project,
        "through": memory.surface,
        "trust": memory.trust.value,
        "is_open_task": is_open_task(memory),
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
    }


def memory_page(core: Core, asked: PageQuery) -> View:
    memory = _named(core, asked.text("id"))
    history = core.memories.history(memory)
    body = {
        "memory": memory_card(memory)
        | {
            "text": memory.text,
            "is_cut": False,
            "tags": list(memory.tags),
            "channel": memory.channel,
            "session": memory.session,
            "metadata": {name: str(value) for name, value in memory.metadata.items()},
            "author": author_name(core.engine, core.caller, memory),
        },
        "history": [_former(place, each) for place, each in enumerate(history)][::-1],
        "can_be_done": is_open_task(memory),
        "restorable_days": RESTORABLE_FOR.days,
    }
    return View("memory.html", body, memory.key or memory.text[:60])


def _former(place: int, former: Former) -> Json:
    return {
        "place": place,
        "text": former.text,
        "category": former.category,
        "priority": former.priority.value,
        "saved_at": iso(former.saved_at),
    }


def _named(core: Core, id: str) -> Memory:
    """The memory with this id, or with an id that begins like this."""
    try:
        return core.memories.get(id)
    except NotFound:
        return core.browsing.memory(id)


def edit(core: Core, asked: PageQuery) -> Redirect:
    memory = core.memories.revise(core.memories.get(asked.text("id")).id, asked.whole_text("text").strip())
    return _back_to(memory)


def supersede(core: Core, asked: PageQuery) -> Redirect:
    """It holds no longer: something else does from now on. What it was about has to be looked at anew."""
    memory = core.memories.get(asked.text("id"))
    return _back_to(core.remembering.remember(asked.whole_text("text"), replaces=memory.id).memory)


def undo(core: Core, asked: PageQuery) -> Redirect:
    """Say again what it said before; what it says now joins the history."""
    memory = core.memories.get(asked.text("id"))
    history = core.memories.history(memory)
    place = asked.number("place", len(history) - 1)
    if place >= len(history):
        raise NotFound("former value", str(place))
    return _back_to(core.memories.revise(memory.id, history[place].text, category=history[place].category))


def done(core: Core, asked: PageQuery) -> Redirect:
    return _back_to(core.remembering.done(core.memories.get(asked.text("id")).id, asked.whole_text("note")))


def forget(core: Core, asked: PageQuery) -> Redirect | View:
    """For a month it can be brought back, unless it goes for good."""
    memory = core.memories.get(asked.text("id"))
    if asked.text("for_good"):
        receipt = erase(core.engine, (memory.id,))
        body = {
            "what": memory.key or memory.text[:80],
            "removed": dict(receipt.removed),
            "rewritten": list(receipt.files),
            "notices": receipt.notices,
        }
        return View("forgotten.html", body, "Forgotten")
    core.forgetting.forget(memory.id)
    return Redirect(f"/memories?forgotten={memory.id}", {"forgotten": memory.id})


def restore(core: Core, asked: PageQuery) -> Redirect:
    restored = core.forgetting.restore(asked.text("id"))
    if not restored:
        raise NotFound("forgotten memory", asked.text("id"))
    return _back_to(restored[0])


def _back_to(memory: Memory) -> Redirect:
    return Redirect(f"/memory/{memory.id}", {"memory": memory_card(memory)})
