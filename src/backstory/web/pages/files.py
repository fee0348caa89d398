"""Files: which were worked on, and for one of them its story and every session that touched it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ...core import Core
from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Kind
from ...domain.paths import names_a_file, paths_in_project
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
    return len(hits), _by_file(core, hits)


def _by_file(core: Core, hits: list[TraceHit]) -> list[Json]:
    """The last touched first. Spellings of one file are one row."""
    conversations, paths = _paths_by_spelling(core, hits)
    files: dict[tuple[str, str], list[TraceHit]] = {}
    for hit in hits:
        if path := paths.get((hit.conversation, hit.value)):
            files.setdefault((conversations[hit.conversation].project, path), []).append(hit)
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


def _paths_by_spelling(
    core: Core, hits: Sequence[TraceHit]
) -> tuple[dict[str, Conversation], dict[tuple[str, str], str]]:
    """The conversations by id, and the file that each spelling in them means."""
    spellings: dict[str, dict[str, None]] = {}
    for hit in hits:
        spellings.setdefault(hit.conversation, {})[hit.value] = None
    conversations = {each.id: each for each in core.engine.store.conversations.get(sorted(spellings))}
    paths = {
        (id, spelling): path
        for id, each in conversations.items()
        for spelling, path in file_paths(spellings[id], each).items()
    }
    return conversations, paths


def file_paths(spellings: Iterable[str], conversation: Conversation) -> dict[str, str]:
    """The files that spellings in a conversation mean, without those that name no file."""
    files = (each for each in spellings if names_a_file(each))
    return paths_in_project(files, conversation.directory, conversation.project)


def conversation_files(core: Core, conversation: Conversation) -> list[str]:
    """The files that a conversation read or wrote, each once: those it wrote first, of these the most touched."""
    spellings = core.engine.store.traces.files([conversation.id]).get(conversation.id, [])
    return list(dict.fromkeys(file_paths(spellings, conversation).values()))


def file_page(core: Core, asked: PageQuery) -> View:
    """The file at a path from the root of a project. Without a project: of the files whose path ends so, those in the
    project that was last at one of them, and the names of the other projects."""
    path = asked.text("path")
    if not path:
        raise InvalidInput("path is empty.", hint="Name a file.", field="path")
    wanted = asked.text("project")
    where = Filter(kinds=(Kind.MESSAGE,), projects=tuple(filter(None, [wanted])))
    touched = core.engine.store.traces.touching(path, core.caller.visible(where))
    conversations, paths = _paths_by_spelling(core, touched)
    touched = [hit for hit in touched if (hit.conversation, hit.value) in paths]
    projects = Counter(conversations[id].project for id in dict.fromkeys(hit.conversation for hit in touched))
    project = wanted or next(iter(projects), "")
    own = [hit for hit in touched if conversations[hit.conversation].project == project]
    if any(paths[hit.conversation, hit.value] == path for hit in own):
        own = [hit for hit in own if paths[hit.conversation, hit.value] == path]
    sessions = _sessions(core, own, conversations)
    body = {
        "path": path,
        "project": project,
        "other_projects": [
            {"project": name, "sessions": count} for name, count in projects.items() if name != project
        ],
        "sessions": sessions,
        "total": len({hit.conversation for hit in own}),
        "story": figure(
            core,
            ("story", path, project, wanted),
            lambda: story_body(_story(core, path, project, is_from_root=bool(wanted))),
        ),
        "can_blame": core.caller.is_local and os.path.isfile(file_on_disk(core, path, project)),
    }
    return View("file.html", body, path)


def _sessions(
    core: Core, touched: Sequence[TraceHit], conversations: Mapping[str, Conversation]
) -> list[Json]:
    """The sessions that touched a file, the last first, each with the place where it first did."""
    by_session: dict[str, list[TraceHit]] = {}
    for hit in touched:
        by_session.setdefault(hit.conversation, []).append(hit)
    chosen = list(by_session)[:MOST_SESSIONS]
    first = core.ask.load(by_session[id][-1].entry for id in chosen)
    return [
        {
            **conversation_card(conversations[id]),
            "written": sum(hit.kind == "written" for hit in by_session[id]),
            "read": sum(hit.kind == "read" for hit in by_session[id]),
            "number": entry.seq + 1
            if isinstance(entry := first.get(by_session[id][-1].entry), Message)
            else 1,
            "last": iso(by_session[id][0].at),
        }
        for id in chosen
    ]


def _story(core: Core, path: str, project: str, *, is_from_root: bool) -> FileStory:
    """The story of the file at this path from the root of a project, or of every file of it whose path ends so."""
    return core.stories.of(path, (project,), limit=MOST_EVENTS, is_from_root=is_from_root)
