"""Health: what is held and what waits; and on demand all that `backstory doctor` checks."""

from __future__ import annotations

from collections.abc import Callable

from ...core import Core
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, View
from .home import waiting

Checks = Callable[[], Json]


def page(core: Core, asked: PageQuery, checks: Checks | None) -> View:
    """`checks` is the doctor; a team server lends none, since it looks at the whole machine."""
    store = core.engine.store
    body = {
        "holds": figure(core, "census", store.census)._asdict(),
        "waiting": waiting(core),
        "archived": store.archive.census()._asdict(),
        "histories": {name: counts._asdict() for name, counts in store.sync.census().items()},
        "unreadable": store.sync.problems(),
        "can_check": checks is not None,
        "doctor": checks() if checks is not None and asked.text("check") else None,
    }
    return View("health.html", body, "Health")
