"""Health: contents of the store and pending work, and on demand all checks of `backstory doctor`."""

from __future__ import annotations

from collections.abc import Callable

from ...core import Core
from ...core.contents import contents_of
from ..figures import census
from ..page_query import PageQuery
from ..view import Json, View
from .home import waiting

Checks = Callable[[], Json]


def page(core: Core, asked: PageQuery, checks: Checks | None) -> View:
    """`checks` is the doctor; a team server lends none, since it looks at the whole machine."""
    contents = contents_of(core.engine, census(core))
    body = {
        "holds": contents.census._asdict(),
        "waiting": waiting(core),
        "archived": contents.archived._asdict(),
        "histories": {name: counts._asdict() for name, counts in contents.histories.items()},
        "unreadable": contents.unreadable,
        "can_check": checks is not None,
        "doctor": checks() if checks is not None and asked.text("check") else None,
    }
    return View("health.html", body, "Health")
