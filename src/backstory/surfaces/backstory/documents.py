"""Resources: the knowledge behind the tools, as documents that a client can list, read or attach."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePath
from typing import Any
from urllib.parse import quote, unquote

from ...core import Core
from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Bounds
from ...domain.lines import one_line
from ...domain.statements import StatementKind
from ...domain.when import iso, parse_when
from ...tools import READS
from ...tools.origin import safe_excerpt, safe_text
from .texts import MAX_EVENTS, open_text, story_text
from .vocabulary import surface

Json = dict[str, Any]

SCHEME = "backstory://"
MARKDOWN = "text/markdown"
MOST_LISTED = 50
PRIORITIES = {"brief": 0.9, "tasks": 0.7, "decisions": 0.7}

TEMPLATES = (
    ("brief/{project}", "brief", "Where work on a project stands"),
    ("memory/{id}", "memory", "A memory with what it said before"),
    ("session/{id}{?at,limit}", "session", "A page of a past conversation"),
    ("project/{name}/decisions", "decisions", "Decisions in force in a project"),
    ("project/{name}/tasks", "tasks", "Open tasks of a project"),
    ("timeline/{name}{?since}", "timeline", "What happened in a project, newest first"),
    ("why/{file}", "why", "The story of a file of your project, in the order of time"),
)


@surface.method("resources/list", READS)
def list_resources(core: Core, cursor: str | None = None) -> Json:
    """List the documents of the caller's project."""
    name = PurePath(core.caller.project).name or core.caller.project
    path = quote(core.caller.project, safe="")
    listed = [
        ("brief", "brief", f"Where work on {name} stands"),
        (f"project/{path}/decisions", "decisions", f"Decisions in force in {name}"),
        (f"project/{path}/tasks", "tasks", f"Open tasks of {name}"),
    ]
    return {"resources": [_resource(core, uri, kind, about) for uri, kind, about in listed]}


@surface.method("resources/templates/list", READS)
def list_templates(core: Core, cursor: str | None = None) -> Json:
    """List the templates of all kinds of documents."""
    return {
        "resourceTemplates": [
            {"uriTemplate": f"{SCHEME}{uri}", "name": name, "description": about, "mimeType": MARKDOWN}
            for uri, name, about in TEMPLATES
        ]
    }


@surface.method("resources/read", READS)
def read_resource(core: Core, uri: str) -> Json:
    """Return one document."""
    text = _document(core, uri)
    return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": text}]}


def _resource(core: Core, uri: str, kind: str, about: str) -> Json:
    annotations: Json = {"audience": ["user", "assistant"], "priority": PRIORITIES[kind]}
    return {
        "uri": f"{SCHEME}{uri}",
        "name": kind,
        "title": about,
        "description": about,
        "mimeType": MARKDOWN,
        "annotations": annotations,
    }


def _document(core: Core, uri: str) -> str:
    parts, query = _parsed(uri)
    match parts:
        case ["brief"]:
            return core.briefing.brief_for_session().text
        case ["brief", name]:
            return core.briefing.brief_for_session(_project(core, name, uri)).text
        case ["memory" | "session", *id] if id:
            at, limit = _number(query, "at"), _number(query, "limit")
            return open_text(core.pages.open("/".join(id), at, min(max(limit or 10, 1), 50)))
        case ["project", name, "decisions" | "tasks" as kind]:
            project = _project(core, name, uri)
            return _listed(project, kind, _lines(core, project, kind))
        case ["why", *path] if path:
            return story_text(core.stories.of("/".join(path), limit=MAX_EVENTS))
        case ["timeline", name]:
            return _timeline(core, _project(core, name, uri), query.get("since"))
    raise NotFound("resource", uri)


def _parsed(uri: str) -> tuple[list[str], dict[str, str]]:
    """The parts of a URI's path, and its query."""
    if not uri.startswith(SCHEME):
        raise NotFound("resource", uri)
    path, _, query = uri.removeprefix(SCHEME).partition("?")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return [unquote(part) for part in path.split("/")], {name: unquote(value) for name, _, value in pairs}


def _number(query: dict[str, str], name: str) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    if not text.removeprefix("-").isdecimal() or len(text) > 9:
        raise InvalidInput(f"{name} must be a number.", field=name)
    return int(text)


def _project(core: Core, name: str, uri: str) -> str:
    if name == core.caller.project:
        return name
    project = core.browsing.project_named(name)
    if project is None:
        raise NotFound("resource", uri, hint=f"Nothing is known of a project {name!r}.")
    return project


def _lines(core: Core, project: str, kind: str) -> list[str]:
    """Return saved items first, then statements from conversations that are still in force."""
    state = core.state.of(project)
    saved = state.tasks if kind == "tasks" else state.decisions
    lines = [_line(memory.updated_at, safe_text(memory.text, memory.trust), memory.id) for memory in saved]
    stated = state.holding(StatementKind.TODO if kind == "tasks" else StatementKind.DECISION)
    lines += [
        _line(each.at, safe_excerpt(each.text), f"{each.conversation} at {each.place + 1}") for each in stated
    ]
    return lines


def _listed(project: str, kind: str, lines: list[str]) -> str:
    title = f"{'Decisions in force' if kind == 'decisions' else 'Open tasks'}: {_name(project)}"
    return "\n".join((f"# {title}", "", *(lines[:MOST_LISTED] or ["None."])))


def _timeline(core: Core, project: str, since: str | None) -> str:
    start = None if since is None else parse_when(since, core.engine.now(), field="since")
    events = core.chronicle.events(Bounds(projects=(project,), since=start), limit=MOST_LISTED)
    lines = [
        _line(event.at, safe_excerpt(f"{event.kind}, {event.who}: {event.title}"), event.id)
        for event in events
    ]
    return "\n".join((f"# What happened: {_name(project)}", "", *(lines or ["Nothing."])))


def _line(at: datetime, text: str, id: str) -> str:
    return f"- {iso(at)[:10]} {one_line(text, 200)} ({id})"


def _name(project: str) -> str:
    return one_line(safe_excerpt(PurePath(project).name or project), 60)
