"""Files: which were worked on, and for one of them its story and every session that touched it."""

from __future__ import annotations

import os

from ...core import Core
from ...domain.errors import InvalidInput
from ...domain.filters import Kind
from ...domain.when import iso
from ...tools.story import story_body
from ..figures import figure
from ..page_query import PageQuery
from ..view import View
from .cards import conversation_card

PAGE_FILES = 60
MOST_SESSIONS = 100
MOST_EVENTS = 100


def page(core: Core, asked: PageQuery) -> View:
    part, project = asked.text("name").casefold(), asked.text("project")
    number = asked.number("page", 1, least=1, most=10_000)
    known, is_whole = figure(core, ("files of", project), lambda: core.files.latest(project))
    files = [each for each in known if part in each.path.casefold()]
    listed = files[PAGE_FILES * (number - 1) : PAGE_FILES * number]
    body = {
        "files": [{**each._asdict(), "last": iso(each.last)} for each in listed],
        "total": len(files),
        "page": number,
        "pages_count": -(-len(files) // PAGE_FILES),
        "is_whole": is_whole,
        "known_projects": core.browsing.known_projects(Kind.MESSAGE),
    }
    return View("files.html", body, "Files")


def file_page(core: Core, asked: PageQuery) -> View:
    """The file at a path from the root of a project. Without a project: of the files whose path ends so, those in the
    project that was last at one of them, and the names of the other projects."""
    path = asked.text("path")
    if not path:
        raise InvalidInput("path is empty.", hint="Name a file.", field="path")
    wanted = asked.text("project")
    touches = core.files.sessions(path, wanted, MOST_SESSIONS)
    project = touches.project

    def story() -> dict[str, object]:
        events = core.stories.of(path, (project,), limit=MOST_EVENTS, is_from_root=bool(wanted))
        return story_body(events)

    body = {
        "path": path,
        "project": project,
        "other_projects": [
            {"project": name, "sessions": count} for name, count in touches.other_projects.items()
        ],
        "sessions": [
            {
                **conversation_card(each.conversation),
                "written": each.written,
                "read": each.read,
                "number": each.number,
                "last": iso(each.last),
            }
            for each in touches.sessions
        ],
        "total": touches.total,
        "story": figure(core, ("story", path, project, wanted), story),
        "can_blame": core.caller.is_local and os.path.isfile(core.files.on_disk(path, project)),
    }
    return View("file.html", body, path)
