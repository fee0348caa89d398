"""Files: which were worked on, and for one of them every session that touched it and what was decided about it."""

from __future__ import annotations

from collections import Counter

from ...core import Core
from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Kind
from ...domain.records import Memory, Message, TraceHit
from ...domain.when import iso
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, View
from .cards import conversation_card
from .memories import memory_card

MOST_TRACES = 3_000  # the newest; older files are found by name
MOST_FILES = 200
MOST_SESSIONS = 100
MOST_MENTIONS = 20
TOUCHED = ("read", "written")


def page(core: Core, asked: PageQuery) -> View:
    part = asked.text("name").casefold()
    where = core.caller.visible(
        Filter(kinds=(Kind.MESSAGE,), projects=tuple(filter(None, [asked.text("project")])))
    )
    traces = core.engine.store.traces
    hits, known = figure(core, where, lambda: _counted(traces.find(where, kinds=TOUCHED, limit=MOST_TRACES)))
    files = [each for each in known if part in each["path"].casefold()]
    body = {
        "files": files[:MOST_FILES],
        "total": len(files),
        "is_whole": hits < MOST_TRACES,
        "known_projects": core.engine.store.conversations.projects(),
    }
    return View("files.html", body, "Files")


def _counted(hits: list[TraceHit]) -> tuple[int, list[Json]]:
    return len(hits), _by_file(hits)


def _by_file(hits: list[TraceHit]) -> list[Json]:
    """The last touched first."""
    written: Counter[str] = Counter(hit.value for hit in hits if hit.kind == "written")
    sessions: dict[str, set[str]] = {}
    last: dict[str, str] = {}
    for hit in hits:
        sessions.setdefault(hit.value, set()).add(hit.conversation)
        last.setdefault(hit.value, iso(hit.at))
    return [
        {"path": path, "sessions": len(sessions[path]), "written": written[path], "last": last[path]}
        for path in last
    ]


def file_page(core: Core, asked: PageQuery) -> View:
    path = asked.text("path")
    if not path:
        raise InvalidInput("path is empty.", hint="Name a file.", field="path")
    touched = core.engine.store.traces.touching(path, core.caller.visible(Filter(kinds=(Kind.MESSAGE,))))
    by_session: dict[str, list[TraceHit]] = {}
    for hit in touched:
        by_session.setdefault(hit.conversation, []).append(hit)
    chosen = list(by_session)[:MOST_SESSIONS]
    known = {each.id: each for each in core.engine.store.conversations.get(chosen)}
    first = core.search.loaded(by_session[id][-1].entry for id in chosen)
    sessions = [
        {
            **conversation_card(known[id]),
            "written": sum(hit.kind == "written" for hit in by_session[id]),
            "read": sum(hit.kind == "read" for hit in by_session[id]),
            "number": entry.seq + 1
            if isinstance(entry := first.get(by_session[id][-1].entry), Message)
            else 1,
            "last": iso(by_session[id][0].at),
        }
        for id in chosen
        if id in known
    ]
    body = {
        "path": path,
        "sessions": sessions,
        "total": len(by_session),
        "memories": _mentions(core, path),
    }
    return View("file.html", body, path)


def _mentions(core: Core, path: str) -> list[Json]:
    """Memories that speak of it."""
    ranking = core.search.by_file(path, narrow=Filter(kinds=(Kind.MEMORY,)))
    entries = core.search.loaded(hit.entry for hit in ranking.hits if hit.conversation is None)
    found = [entry for hit in ranking.hits if isinstance(entry := entries.get(hit.entry), Memory)]
    return [memory_card(each) for each in found[:MOST_MENTIONS]]
