"""Runs of conversations that were stored by older rules and whose source is gone.

They are derived from stored traces: a command, and the error that follows it. Output lines of passing runs are not
stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from ...domain.records import Trace
from ...domain.runs import MessageRun
from ...readers import CallResult
from ...store import Store
from .extraction import RUN_RULES, run_of, signed

MAX_CONVERSATIONS_AT_ONCE = 50


def derive_next_runs(store: Store) -> int:
    """Derive the runs of some conversations by the current rules. Returns the number of conversations."""
    due = store.conversations.with_older_run_rules(RUN_RULES, limit=MAX_CONVERSATIONS_AT_ONCE)
    for conversation in due:
        runs = list(_runs_in(store.traces.of(conversation.id)))
        with store.transaction():
            store.conversations.replace_runs(conversation.id, runs, RUN_RULES)
    return len(due)


def _runs_in(traces: Sequence[Trace]) -> Iterator[MessageRun]:
    for message, group in groupby(traces, attrgetter("message")):
        together = list(group)
        for place, trace in enumerate(together):
            if trace.kind != "command":
                continue
            after = together[place + 1] if place + 1 < len(together) else None
            # Traces of a call are stored in order: the error of a command directly follows it.
            error = after.value if after is not None and after.kind == "error" else ""
            run = run_of(trace.value, CallResult(error, is_error=bool(error)))
            if run is not None:
                yield MessageRun(message, signed(run._replace(place=place)))
