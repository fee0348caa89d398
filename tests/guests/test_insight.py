"""The parts of insight that have edges of their own: periods, digests, heatmaps, tasks."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from backstory.core.insight.digest import DigestForm, Subject, digest
from backstory.core.tasks import is_open_task
from backstory.domain.filters import Filter
from backstory.domain.lines import one_line
from backstory.domain.records import Event, Priority
from backstory.domain.terms import are_alike, terms_of
from backstory.guests.memory_keeper.analysis.periods import (
    Grain,
    ago,
    duration,
    hour_of,
    how_long_ago,
    label,
    start_of,
)
from backstory.guests.memory_keeper.analysis.timeline import MOST_DAYS, by_day
from backstory.store import Store

from ..doubles import DAWN, make_memory


@pytest.mark.parametrize(
    ("moment", "week"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-W01"),
        (datetime(2027, 1, 1, tzinfo=UTC), "2026-W53"),
        (datetime(2026, 3, 1, 23, 59, tzinfo=UTC), "2026-W09"),
        (datetime(2026, 3, 2, tzinfo=UTC), "2026-W10"),
    ],
)
def test_weeks_are_those_of_iso_8601(moment: datetime, week: str) -> None:
    assert label(start_of(hour_of(moment), Grain.WEEK), Grain.WEEK) == week


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0s"), (45, "45s"), (60, "1m"), (7_980, "2h 13m"), (3_600, "1h"), (273_600, "3d 4h"), (-5, "0s")],
)
def test_a_duration_has_its_two_largest_units(seconds: int, told: str) -> None:
    assert duration(timedelta(seconds=seconds)) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_200, "2 hours ago"),
        (86_400 * 8, "1 week ago"),
        (86_400 * 45, "1 month ago"),
        (86_400 * 800, "2 years ago"),
        (-7_200, "in 2 hours"),
    ],
)
def test_how_long_ago_a_moment_was(seconds: int, told: str) -> None:
    assert ago(DAWN - timedelta(seconds=seconds), DAWN) == told


def test_a_period_to_come_is_told_as_such() -> None:
    assert how_long_ago(hour_of(DAWN) + 3, Grain.HOUR, DAWN) == "in 3 hours"


@pytest.mark.parametrize(
    ("text", "longest", "shown"),
    [
        ("short", 10, "short"),
        ("two words here", 10, "two words…"),
        ("one\n  two", 20, "one two"),
        ("unbreakable", 5, "unbr…"),
        ("ends exactly", 12, "ends exactly"),
        ("Fix 日本語日本語日本語", 10, "Fix 日本語日本…"),
    ],
)
def test_a_clipped_text_ends_at_a_word(text: str, longest: int, shown: str) -> None:
    assert one_line(text, longest) == shown


def test_every_section_has_its_turn_in_a_digest() -> None:
    notes = [
        make_memory(f"n{n}", "A note of note", category="note", priority=Priority.HIGH) for n in range(50)
    ]
    error = make_memory("e", "An error", category="error", priority=Priority.LOW)
    made = digest(Subject("All", [*notes, error], 51), DigestForm.TEXT, 400)
    assert error in made.shown
    assert made.left_out == 51 - len(made.shown)


def test_critical_items_come_before_all_turns() -> None:
    critical = [
        make_memory(f"c{n}", "Critical", category="note", priority=Priority.CRITICAL) for n in range(4)
    ]
    decision = make_memory("d", "A decision", category="decision", priority=Priority.HIGH)
    made = digest(Subject("All", [decision, *critical], 5), DigestForm.TEXT, 190)
    assert [memory.id for memory in made.shown][:3] == ["c0", "c1", "c2"]


@pytest.mark.parametrize("form", list(DigestForm))
def test_a_title_that_does_not_fit_is_dropped(form: DigestForm) -> None:
    title = "\x01" * 60  # each is six characters in JSON
    made = digest(Subject(title, [make_memory("m", "text")], 1), form, 200)
    assert len(made.text) <= 200
    if form is DigestForm.JSON:
        json.loads(made.text)


def test_a_heatmap_shows_a_year_and_counts_the_days_before() -> None:
    heat = by_day({0: 1, 24: 1, 24 * 1_000: 5})
    assert len(heat.rows) == MOST_DAYS
    assert (heat.left_out, heat.total, heat.hottest) == (2, 5, 5)


@pytest.mark.parametrize(
    ("text", "tags", "status", "is_open"),
    [
        ("Write tests", (), None, True),
        ("[x] Write tests", (), None, False),
        ("Done: write tests", (), None, False),
        ("Done is better than perfect", (), None, True),
        ("Write tests", ("done",), None, False),
        ("Write tests", (), "Closed", False),
        ("[x] Write tests", (), "reopened", True),
    ],
)
def test_a_task_says_whether_it_is_open(
    text: str, tags: tuple[str, ...], status: str | None, is_open: bool
) -> None:
    metadata = {} if status is None else {"status": status}
    assert is_open_task(make_memory("t", text, category="task", tags=tags, metadata=metadata)) is is_open


def test_only_tasks_are_open_tasks() -> None:
    assert not is_open_task(make_memory("n", "Write tests", category="note"))


def test_terms_are_names_and_words_but_no_filler() -> None:
    assert terms_of("The file src/auth.py and user_name, 42 times in it") == {
        "file",
        "src/auth.py",
        "user_name",
        "times",
    }


def test_reports_of_one_error_are_alike() -> None:
    first = make_memory("a", "KeyError: 'name' in load_user at line 12")
    again = make_memory("b", "KeyError: 'name' in load_user at line 97")
    other = make_memory("c", "KeyError while the cache of templates was rebuilt on start")
    assert are_alike(first, again)
    assert not are_alike(first, other)


def test_events_come_back_whole_newest_first(store: Store) -> None:
    def event(id: str, minutes: int, session: str) -> Event:
        return Event(
            id, session, "/p", "s", "tool", "type", {"n": [id]}, DAWN + timedelta(minutes=minutes), None
        )

    events = [event("a", 0, "one"), event("b", 70, "two"), event("c", 75, "one")._replace(memory="m")]
    for each in events:
        store.sessions.add_event(each)
    assert store.sessions.events(Filter()) == events[::-1]
    assert store.sessions.events(Filter(), 1) == [events[2]]
    assert store.sessions.events(Filter(threads=("one",), created_after=DAWN + timedelta(minutes=1))) == [
        events[2]
    ]
    assert store.sessions.events(Filter(surfaces=("other",))) == []
    assert store.sessions.events(Filter(created_before=DAWN + timedelta(minutes=70))) == [events[0]]
    hour = hour_of(DAWN)
    assert store.sessions.count_events(Filter()) == [(hour, 1), (hour + 1, 2)]


def test_tallies_and_busy_hours_need_no_text(store: Store) -> None:
    store.memories.put(
        [
            make_memory("a", category="task"),
            make_memory("b", category="task", created_at=DAWN + timedelta(hours=1), updated_at=DAWN + timedelta(hours=3)),
            make_memory("c", priority=Priority.HIGH),
        ]
    )  # fmt: skip
    tallies = {(tally.category, tally.priority): tally for tally in store.memories.tally(Filter())}
    both = tallies["task", Priority.NORMAL]
    assert (both.total, both.first, both.last) == (2, DAWN, DAWN + timedelta(hours=3))
    assert tallies[None, Priority.HIGH].total == 1
    assert [
        busy.hour - hour_of(DAWN) for busy in store.memories.tally_hours(Filter(categories=("task",)))
    ] == [0, 1]
    assert sorted(store.memories.leading(Filter(), store.memories.tally(Filter()), 1)) == ["b", "c"]
