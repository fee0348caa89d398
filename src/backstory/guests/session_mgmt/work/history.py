"""The history of a session: memories, events, checkpoints, and traces of other assistants."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ....core.insight.findings import Sample
from ....domain.filters import Filter, Order, Page
from ....domain.records import Event, Memory, Session, TraceHit
from ....store import Store

if TYPE_CHECKING:
    from ....core import Core

MOST_READ = 2_000
"""Maximum number of memories and of traces to read, newest first."""

CHECKPOINT = "checkpoint"
"""The type of the event that stores a checkpoint."""


class History(NamedTuple):
    session: Session
    now: datetime
    sample: Sample
    reports: tuple[Event, ...]
    """Events of other tools, newest first."""
    checkpoints: tuple[Event, ...]
    """Checkpoints, newest first."""
    traces: tuple[TraceHit, ...]
    """Traces of assistants in the project since the session began, newest first."""

    @property
    def memories(self) -> tuple[Memory, ...]:
        return self.sample.memories

    @property
    def last(self) -> Mapping[str, Any]:
        """The data of the last checkpoint; empty before the first."""
        data: Mapping[str, Any] = self.checkpoints[0].data if self.checkpoints else {}
        return data

    @property
    def minutes(self) -> int:
        return int((self.now - self.session.created_at).total_seconds() // 60)

    @property
    def minutes_since_checkpoint(self) -> int | None:
        if not self.checkpoints:
            return None
        return int((self.now - self.checkpoints[0].created_at).total_seconds() // 60)


def history(core: Core, session: Session) -> History:
    """Return the history that the caller may see.

    Events of the surface are our own; all others come from other tools."""
    store, now, surface = core.engine.store, core.engine.now(), core.surface
    events = store.sessions.events(Filter(threads=(session.id,)))
    since = Filter(projects=(session.project,), created_after=session.created_at)
    return History(
        session=session,
        now=now,
        sample=sample(store, core.caller.visible(Filter(threads=(session.id,))), now),
        reports=tuple(event for event in events if event.surface != surface),
        checkpoints=tuple(e for e in events if e.surface == surface and e.type == CHECKPOINT),
        traces=tuple(store.traces.find(since, limit=MOST_READ)),
    )


def sample(store: Store, visible: Filter, now: datetime) -> Sample:
    memories = store.memories.find(visible, Page(limit=MOST_READ, order=Order.UPDATED_NEWEST))
    return Sample(
        memories=tuple(memories),
        total=len(memories),
        saved_again=store.memories.count_former(visible),
        hours=(),
        events=(),
        last_events=(),
        now=now,
    )
