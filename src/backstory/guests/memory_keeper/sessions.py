"""Sessions: start, continue, list."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from ...core import Core
from ...domain.records import Session
from ...domain.when import iso, parse_when
from ...tools import ADDS, READS
from ...tools.budget import fitting
from ...tools.params import CoreName, PathName, Range
from .compaction import next_steps, open_tasks, session_items
from .fitting import page_size
from .vocabulary import surface


class StartedSession(TypedDict):
    sessionId: str
    name: str
    description: NotRequired[str]
    parentId: NotRequired[str]
    createdAt: str
    channel: str
    nextSteps: NotRequired[list[str]]


class ListedSession(TypedDict):
    id: str
    name: str
    description: NotRequired[str]
    createdAt: str
    updatedAt: str
    itemCount: int
    parentId: NotRequired[str]


class SessionList(TypedDict):
    sessions: list[ListedSession]
    total: int
    notices: NotRequired[list[str]]


@surface.tool("Start session", ADDS)
def context_session_start(
    core: Core,
    name: Annotated[str | None, "Session name"] = None,
    description: Annotated[str | None, "What the session is about"] = None,
    continue_from: Annotated[str | None, "Id of the session that this one continues"] = None,
    project_dir: Annotated[
        str | None,
        "Project directory; its git branch names the default channel",
        PathName(),
        CoreName("directory"),
    ] = None,
    default_channel: Annotated[str | None, "Channel of items that name none"] = None,
) -> StartedSession:
    """Start a new session, or continue from a previous one, whose open tasks are then in nextSteps. What is saved from now on belongs to it."""
    session = core.sessions.begin(
        (name or "").strip(),
        description=description or "",
        channel=default_channel or "",
        continued=continue_from,
        directory=project_dir,
    )
    reply: StartedSession = {
        "sessionId": session.id,
        "name": session.name,
        "createdAt": iso(session.created_at),
        "channel": session.channel,
    }
    if session.description:
        reply["description"] = session.description
    if session.parent is not None:
        reply["parentId"] = session.parent
        if steps := next_steps(open_tasks(session_items(core, session.parent))):
            reply["nextSteps"] = steps
    return reply


@surface.tool("List sessions", READS)
def context_session_list(
    core: Core,
    limit: Annotated[int, "Number of sessions to return", Range(low=1)] = 10,
    before_date: Annotated[str | None, "Only sessions started before this time"] = None,
    after_date: Annotated[str | None, 'Only sessions started since: ISO, or "yesterday", "-7d"'] = None,
) -> SessionList:
    """List sessions, the newest first, with the number of items in each that you may see."""
    now = core.engine.now()
    after = None if after_date is None else parse_when(after_date, now, field="afterDate")
    before = None if before_date is None else parse_when(before_date, now, field="beforeDate")
    sessions, total = core.sessions.recent(page_size(limit), after=after, before=before)
    rows = fitting(_listed(session, count) for session, count in sessions)
    reply: SessionList = {"sessions": rows, "total": total}
    if len(rows) < min(limit, total):
        last = rows[-1]["createdAt"]
        reply["notices"] = [f"More do not fit into this answer; beforeDate {last} shows the next."]
    return reply


def _listed(session: Session, count: int) -> ListedSession:
    listed: ListedSession = {
        "id": session.id,
        "name": session.name,
        "createdAt": iso(session.created_at),
        "updatedAt": iso(session.updated_at),
        "itemCount": count,
    }
    if session.description:
        listed["description"] = session.description
    if session.parent is not None:
        listed["parentId"] = session.parent
    return listed
