"""Home: the state of each project with its resume command, the latest conversations, the activity of a year, and
pending work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import islice

from ...core import Core
from ...core.browsing import HEADS
from ...core.browsing.resumption import resume_line
from ...core.contents import unreadable_files, waiting_texts
from ...core.usage import TOKENS
from ...domain.census import ConversationTally
from ...domain.filters import Bounds, ConversationFilter
from ...domain.lines import one_line
from ...domain.records import Memory
from ...domain.statements import Statement, StatementKind
from ...domain.when import iso, to_ms
from ..charts import WEEKS, calendar, week, year
from ..figures import busy_hours, census, figure
from ..page_query import PageQuery
from ..view import Json, Redirect, View
from .cards import conversation_card

RECENT = 12
MOST_PROJECTS = 12
MAX_STATES = 4
"""Projects whose state is shown: those of the last conversations."""
MAX_STATES_ASKED = 12
_STATE_PARTS = ("last", "waiting_for_you", "next_steps", "open_tasks", "decisions")
MAX_ITEMS = 3
"""The number of items of each kind in the state of a project."""
ITEM_CHARS = 200
USAGE_DAYS = 30
MS_OF_AN_HOUR = 3_600_000


UnreadHistories = Callable[[], dict[str, int]]
"""The number of files with conversations on this machine, by the title of their assistant."""


def page(core: Core, asked: PageQuery, histories: UnreadHistories | None) -> View:
    """`histories` lists the files that a first sync would read; a team server has none."""
    tallies = core.replay.tally(ConversationFilter(kinds=HEADS))
    now = asked.now()
    since = now - timedelta(weeks=WEEKS)
    first = to_ms(since) // MS_OF_AN_HOUR
    past = figure(core, "year", lambda: calendar(each for each in busy_hours(core) if each[0] >= first))
    projects = _projects(tallies)
    named = [each["project"] for each in projects if each["project"]]
    body = {
        "states": figure(core, "states", lambda: _states(core, named)),
        "recent": [
            conversation_card(*each) for each in core.browsing.latest(ConversationFilter(), limit=RECENT)
        ],
        "projects": [each for each in projects if each["project"]][:MOST_PROJECTS],
        "more_projects": max(census(core).projects - len(named[:MOST_PROJECTS]), 0),
        "assistants": _assistants(tallies),
        "usage": figure(core, "recent usage", lambda: _usage(core, now)),
        "year": year(past.days, now.astimezone().date()),
        "week": week(past.cells),
        "waiting": waiting(core),
        "unread": figure(core, "unread", histories) if histories is not None and not tallies else {},
        "is_reading": bool(asked.text("reading")),
    }
    return View("home.html", body, "Home")


def _usage(core: Core, now: datetime) -> Json | None:
    """Tokens and cost of the last days, or of all time where there were none; None where nothing is known."""
    for days, bounds in ((USAGE_DAYS, Bounds(since=now - timedelta(days=USAGE_DAYS))), (None, Bounds())):
        usage = core.usage.total(bounds)
        if usage is not None and any(usage[name] for name in TOKENS):
            return {**usage, "days": days}
    return None


def read_histories(core: Core, asked: PageQuery) -> Redirect:
    """Begin to read the histories; the page fills as they come."""
    core.engine.sync_soon()
    return Redirect("/?reading=1", {"reading": True})


def _states(core: Core, projects: Sequence[str]) -> list[Json]:
    """The first of the projects that have a state to show: a session, or something open or decided."""
    states = (_state(core, each) for each in projects[:MAX_STATES_ASKED])
    return list(islice((each for each in states if any(each[name] for name in _STATE_PARTS)), MAX_STATES))


def _state(core: Core, project: str) -> Json:
    """The state of a project: items that wait for the user, next steps, open tasks, decisions, and the last
    session."""
    state = core.state.of(project)
    last = state.conversations[0] if state.conversations else None
    return {
        "project": project,
        "last": None
        if last is None
        else conversation_card(last) | {"resume": resume_line(core.engine, last)},
        "waiting_for_you": _items(state.holding(StatementKind.QUESTION)),
        "next_steps": _items(state.holding(StatementKind.NEXT_STEP)),
        "open_tasks": [*_saved(state.tasks), *_items(state.holding(StatementKind.TODO))][:MAX_ITEMS],
        "decisions": [*_saved(state.decisions), *_items(state.holding(StatementKind.DECISION))][:MAX_ITEMS],
    }


def _items(statements: Sequence[Statement]) -> list[Json]:
    return [
        {
            "text": one_line(each.text, ITEM_CHARS),
            "at": iso(each.at),
            "conversation": each.conversation,
            "number": each.place + 1,
        }
        for each in statements[:MAX_ITEMS]
    ]


def _saved(memories: Sequence[Memory]) -> list[Json]:
    return [
        {"text": one_line(each.text, ITEM_CHARS), "at": iso(each.updated_at), "memory": each.id}
        for each in memories[:MAX_ITEMS]
    ]


def _projects(tallies: list[ConversationTally]) -> list[Json]:
    counts: Counter[str] = Counter()
    last: dict[str, datetime] = {}
    assistants: dict[str, list[str]] = {}
    for tally in tallies:
        counts[tally.project] += tally.conversations
        last[tally.project] = max(last.get(tally.project, tally.last), tally.last)
        assistants.setdefault(tally.project, []).append(tally.surface)
    return [
        {
            "project": project,
            "conversations": counts[project],
            "assistants": assistants[project],
            "last": iso(last[project]),
        }
        for project in sorted(last, key=lambda project: last[project], reverse=True)
    ]


def _assistants(tallies: list[ConversationTally]) -> list[Json]:
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts[tally.surface] += tally.conversations
    return [{"assistant": name, "conversations": count} for name, count in counts.most_common()]


def waiting(core: Core) -> Json:
    """Pending work in the background."""
    return {
        "vectors": waiting_texts(core.engine),
        "unreadable_files": len(unreadable_files(core.engine)),
        "problems": [each.sentence for each in core.engine.problems.reported()],
    }
