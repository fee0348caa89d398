"""Receipts: every text that hooks added to sessions, and how often it was used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from ...domain.records import Injection, InjectionCount
from .. import Core
from ..brief.files import BriefFiles

MEASURED_FOR = timedelta(days=30)


class HookAnswer(NamedTuple):
    """One text for the session, with the data of its receipt."""

    text: str
    subject: str
    """The subject of the text; it is not repeated within one session."""
    certainty: float | None
    """None if the accuracy of this kind of text was not measured."""


class InjectionPrecision(NamedTuple):
    """The number of hook texts of the last month, and how many of them were used."""

    given: int
    judged: int
    """Receipts whose conversation continued afterwards and was read."""
    used: int
    precision: float | None
    """`used` of `judged`; None where nothing can be judged."""
    events: Sequence[InjectionCount]


def injected(core: Core, limit: int, session: str | None = None) -> list[Injection]:
    """The newest receipts of all sessions or one, including those that no server has stored yet."""
    if session is not None:
        return injected_into(core, session)[::-1][:limit]
    stored = core.engine.store.injections.newest(limit)
    if not core.caller.is_local:
        return stored
    noted = BriefFiles(core.engine.settings.home).injections(core.engine.store.injections.last_times())
    return sorted([*stored, *noted], key=lambda each: each.given_at, reverse=True)[:limit]


def injected_into(core: Core, session: str) -> list[Injection]:
    """The receipts of one session, the oldest first."""
    stored = core.engine.store.injections.of(session) if session else []
    if not session or not core.caller.is_local:
        return stored
    last = {session: stored[-1].given_at} if stored else {}
    return [*stored, *BriefFiles(core.engine.settings.home).injections(last, session)]


def injection_precision(core: Core) -> InjectionPrecision:
    events = core.engine.store.injections.counts(core.engine.now() - MEASURED_FOR)
    total, judged = sum(each.given for each in events), sum(each.judged for each in events)
    used = sum(each.used for each in events)
    return InjectionPrecision(total, judged, used, used / judged if judged else None, events)
