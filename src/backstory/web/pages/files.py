"""Files: which were worked on, and for one of them its story and every session that touched it."""

from __future__ import annotations

import os

from ...core import Core
from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Kind
from ...domain.paths import names_a_file, path_in_project
from ...domain.records import Conversation, Message, TraceHit
from ...domain.story import FileStory
from ...domain.when import iso
from ...tools.story import story_body
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, View
from .blame import file_on_disk
from .cards import conversation_card

MOST_TRACES = 3_000  # the newest; older files are found by name
MOST_FILES = 200
MOST_SESSIONS = 100
MOST_EVENTS = 100
TOUCHED = ("read", "written")


def page(core: Core, asked: PageQuery) -> View:
    part = asked.text("name").casefold()
    where = core.caller.visible(
        Filter(kinds=(Kind.MESSAGE,), projects=tuple(filter(None, [asked.text("project")])))
    )
    traces = core.engine.store.traces
    hits, known = figure(
        core, where, lambda: _counted(core, traces.find(where, kinds=TOUCHED, limit=MOST_TRACES))
    )
    files = [each for each in known if part in each["path"].casefold()]
    body = {
        "files": files[:MOST_FILES],
        "total": len(files),
        "is_whole": hits < MOST_TRACES,
        "known_projects": core.engine.store.conversations.projects(),
    }
    return View("files.html", body, "Files")


def _counted(core: Core, hits: list[TraceHit]) -> tuple[int, list[Json]]:
    return len(hits), _by_file(core, [hit for hit in hits if names_a_file(hit.value)])


def _by_file(core: Core, hits: list[TraceHit]) -> list[Json]:
    """The last touched first. Spellings of one file are one row."""
    ids = sorted({hit.conversation for hit in hits})
    conversations = {each.id: each for each in core.engine.store.conversations.get(ids)}
    files: dict[tuple[str, str], list[TraceHit]] = {}
    for hit in hits:
        if (conversation := conversations.get(hit.conversation)) is not None:
            path = path_in_project(hit.value, conversation.directory, conversation.project)
            files.setdefault((conversation.project, path), []).append(hit)
    return [
        {
            "path": path,
            "project": project,
            "sessions": len({hit.conversation for hit in touched}),
            "written": sum(hit.kind == "written" for hit in touched),
            "last": iso(touched[0].at),
        }
        for (project, path), touched in files.items()
    ]


def conversation_files(core: Core, conversation: Conversation) -> list[str]:
    """The files that a conversation read or wrote, each once: those it wrote first, of these the most touched."""
    paths = core.engine.store.traces.files([conversation.id]).get(conversation.id, [])
    return list(
        dict.fromkeys(
            path_in_project(path, conversation.directory, conversation.project)
            for path in paths
            if names_a_file(path)
        )
    )


def file_page(core: Core, asked: PageQuery) -> View:
    path = asked.text("path")
    if not path:
        raise InvalidInput("path is empty.", hint="Name a file.", field="path")
    where = Filter(kinds=(Kind.MESSAGE,), projects=tuple(filter(None, [asked.text("project")])))
    touched = core.engine.store.traces.touching(path, core.caller.visible(where))
    by_session: dict[str, list[TraceHit]] = {}
    for hit in touched:
        by_session.setdefault(hit.conversation, []).append(hit)
    chosen = list(by_session)[:MOST_SESSIONS]
    known = {each.id: each for each in core.engine.store.conversations.get(chosen)}
    first = core.ask.load(by_session[id][-1].entry for id in chosen)
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
        "project": asked.text("project"),
        "sessions": sessions,
        "total": len(by_session),
        "story": story_body(_story(core, path, asked.text("project"))),
        "can_blame": core.caller.is_local and os.path.isfile(file_on_disk(core, path)),
    }
    return View("file.html", body, path)


def _story(core: Core, path: str, project: str) -> FileStory:
    """The story of the file at this path from the root of a project; without a project, of every file whose path
    ends with it."""
    projects = (project,) if project else ()
    return core.stories.of(path, projects, limit=MOST_EVENTS, is_from_root=bool(project))
