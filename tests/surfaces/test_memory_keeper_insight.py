"""Memory Keeper's summaries, timelines and drawings, through their tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from backstory.core import Caller, Core, Engine
from backstory.domain.errors import Unavailable
from backstory.guests.memory_keeper.tools import surface
from backstory.store import Store
from backstory.tools.budget import ANSWER_BYTES

from ..conftest import Call, caller_of
from ..doubles import SteppedClock, make_settings

requirement = pytest.mark.requirement
HOUR = 3_600
DAY = 24 * HOUR
WORDS = "Using JWT with 24h expiry and refresh tokens"


def save(call: Call, key: str, value: str = "a value", **arguments: Any) -> str:
    id: str = call("context_save", key=key, value=value, **arguments)["id"]
    return id


def another(core: Core) -> Call:
    """Return a second connection to the store of `core`."""
    return caller_of(Core(core.engine, Caller(project="/p")))


def work(call: Call) -> None:
    save(call, "n1", "The API lives in src/api", category="note")
    save(call, "t1", "Write the migration", category="task", priority="high")
    save(call, "t2", "done: rename the module", category="task")
    save(call, "d1", WORDS, category="decision", priority="high")
    save(call, "e1", "The token store times out", category="error", priority="critical")
    save(call, "w1", "Disk is nearly full", category="warning")
    save(call, "p1", "Half of the tests pass", category="progress")
    save(call, "u1", "No category at all")


@requirement("keeper-insight.summarize.reply")
def test_a_summary_has_stats_and_tells_about_its_session(call: Call, clock: SteppedClock) -> None:
    session = call("context_session_start", name="Feature")["sessionId"]
    clock.step(2 * HOUR + 13 * 60)
    work(call)
    reply = call("context_summarize")
    assert reply["stats"] == {
        "totalItems": 8,
        "byCategory": {
            "decision": 1,
            "error": 1,
            "note": 1,
            "progress": 1,
            "task": 2,
            "uncategorized": 1,
            "warning": 1,
        },
        "byPriority": {"critical": 1, "high": 2, "normal": 5},
    }
    assert reply["sessionInfo"] == {"id": session, "name": "Feature", "duration": "2h 13m"}
    assert reply["leftOut"] == 0


@requirement("keeper-insight.summarize.index")
def test_a_summary_is_an_index_by_kind_priority_and_recency(call: Call, clock: SteppedClock) -> None:
    call("context_session_start", name="Feature")
    work(call)
    clock.step()
    save(call, "d2", "Later but normal", category="decision")
    clock.step()
    save(call, "d3", "Latest of all", category="decision")
    lines = call("context_summarize")["summary"].splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Feature",
        "## Decisions",
        "## Open tasks",
        "## Errors",
        "## Warnings",
        "## Progress",
        "## Notes",
        "## Finished tasks",
        "## Other",
    ]
    assert [line for line in lines if line.startswith("- **d")] == [
        f"- **d1** [high]: {WORDS} (2026-03-01)",
        "- **d3**: Latest of all (2026-03-01)",
        "- **d2**: Later but normal (2026-03-01)",
    ]


@requirement("keeper-insight.summarize.index")
def test_a_task_is_finished_when_its_status_says_so(call: Call) -> None:
    save(call, "a", "Ship it", category="task", metadata={"status": "completed"})
    save(call, "b", "Test it", category="task", metadata={"status": "in progress"})
    sections = json.loads(call("context_summarize", format="json")["summary"])["sections"]
    assert {title: [each["key"] for each in entries] for title, entries in sections.items()} == {
        "Open tasks": ["b"],
        "Finished tasks": ["a"],
    }


@requirement("keeper-insight.summarize.categories")
def test_categories_narrow_the_summary_and_its_stats(call: Call) -> None:
    work(call)
    reply = call("context_summarize", categories=["decision", "error"])
    assert reply["stats"]["byCategory"] == {"decision": 1, "error": 1}
    assert "d1" in reply["summary"]
    assert "t1" not in reply["summary"]


@requirement("keeper-insight.summarize.session")
def test_a_summary_is_of_the_current_session_or_of_the_one_named(call: Call) -> None:
    first = call("context_session_start", name="first")["sessionId"]
    save(call, "old", category="note")
    call("context_session_start", name="second")
    save(call, "new", category="note")
    assert "old" not in call("context_summarize")["summary"]
    reply = call("context_summarize", sessionId=first)
    assert "old" in reply["summary"]
    assert reply["sessionInfo"]["name"] == "first"


@requirement("keeper-insight.summarize.session")
def test_a_summary_of_an_unknown_session_fails(call: Call) -> None:
    assert call("context_summarize", sessionId="nobody")["error"]["code"] == "SESSION_NOT_FOUND"


@requirement("keeper-insight.summarize.session")
def test_an_empty_session_has_an_empty_summary(call: Call) -> None:
    reply = call("context_summarize")
    assert "Nothing is saved here yet." in reply["summary"]
    assert reply["stats"] == {"totalItems": 0, "byCategory": {}, "byPriority": {}}
    assert reply["sessionInfo"]["duration"] == "0s"


@requirement("keeper-insight.summarize.max-length")
@pytest.mark.parametrize("format", ["markdown", "json", "text"])
@pytest.mark.parametrize("length", [200, 333, 1_000, 5_000])
def test_a_summary_keeps_to_its_length_and_says_what_it_left_out(
    call: Call, format: str, length: int
) -> None:
    call("context_session_start", name='A "quoted" name \\ of a session that goes on ' * 3)
    for number in range(40):
        category = ("decision", "task", "error", "note")[number % 4]
        save(call, f"key-{number}", f"Fact «{number}» is " + "wordy " * number, category=category)
    reply = call("context_summarize", maxLength=length, format=format)
    assert len(reply["summary"]) <= length
    assert reply["leftOut"] > 0
    assert str(reply["leftOut"]) in reply["summary"]
    for line in reply["summary"].replace("…", " ").split():
        assert "word" not in line or "wordy" in line  # never cut in the middle of a word


@requirement("keeper-insight.summarize.max-length")
def test_a_longer_summary_holds_more(call: Call) -> None:
    for number in range(40):
        save(call, f"key-{number}", "Something was noted " * 3, category="note")
    left = [call("context_summarize", maxLength=length)["leftOut"] for length in (300, 1_000, 40_000)]
    assert left[0] > left[1] > left[2] == 0


@requirement("keeper-insight.summarize.max-length")
@pytest.mark.parametrize("length", [0, -1])
def test_a_length_out_of_range_is_refused(call: Call, length: int) -> None:
    error = call("context_summarize", maxLength=length)["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", "maxLength")


@requirement("keeper-insight.summarize.max-length")
@pytest.mark.parametrize("length", [1, 20, 100])
def test_even_a_short_summary_keeps_to_its_length(call: Call, length: int) -> None:
    save(call, "key", "Something was noted.", category="note")
    assert 0 < len(call("context_summarize", maxLength=length)["summary"]) <= length


@requirement("keeper-insight.summarize.max-length")
@pytest.mark.parametrize(("length", "shown"), [(2, {}), (14, {"leftOut": 1}), (42, {"leftOut": 1})])
def test_even_a_short_json_summary_keeps_to_its_length_and_is_json(
    call: Call, length: int, shown: dict[str, int]
) -> None:
    save(call, "key", "Something was noted.", category="note")
    summary = call("context_summarize", maxLength=length, format="json")["summary"]
    assert len(summary) <= length
    assert json.loads(summary) == shown


@requirement("keeper-insight.summarize.format")
def test_a_json_summary_is_json(call: Call) -> None:
    id = save(call, "d1", WORDS, category="decision", priority="high")
    summary = json.loads(call("context_summarize", format="json")["summary"])
    assert summary["sections"] == {
        "Decisions": [
            {
                "id": id,
                "key": "d1",
                "priority": "high",
                "updatedAt": "2026-03-01T09:30:00.000Z",
                "text": WORDS,
            }
        ]
    }
    assert summary["leftOut"] == 0


@requirement("keeper-insight.summarize.format")
def test_markdown_is_the_default_and_text_has_no_marks(call: Call) -> None:
    save(call, "d1", WORDS, category="decision")
    assert call("context_summarize") == call("context_summarize", format="markdown")
    text = call("context_summarize", format="text")["summary"]
    assert "DECISIONS:\n- d1: " in text
    assert "#" not in text
    assert "*" not in text


@requirement("keeper-insight.summarize.private")
def test_private_items_are_summarized_in_their_own_session_only(call: Call, core: Core) -> None:
    session = call("context_session_start", name="mine")["sessionId"]
    save(call, "open", category="note")
    save(call, "hidden", "a secret", category="note", private=True)
    assert call("context_summarize")["stats"]["totalItems"] == 2
    theirs = another(core)("context_summarize", sessionId=session)
    assert theirs["stats"]["totalItems"] == 1
    assert "hidden" not in theirs["summary"]


class Chat:
    def __init__(self, failure: Unavailable | None = None) -> None:
        self.failure = failure

    def write(self, text: str) -> str:
        if self.failure is not None:
            raise self.failure
        return f"An overview of {len(text)} characters."


def with_chat(store: Store, chat: Chat, clock: SteppedClock) -> Call:
    return caller_of(Core(Engine(make_settings(), store, None, chat, now=clock), Caller(project="/p")))


@requirement("keeper-insight.summarize.chat")
@pytest.mark.parametrize("format", ["markdown", "json", "text"])
def test_a_chat_endpoint_writes_an_overview(store: Store, clock: SteppedClock, format: str) -> None:
    call = with_chat(store, Chat(), clock)
    save(call, "d1", WORDS, category="decision")
    summary = call("context_summarize", format=format)["summary"]
    assert "An overview of " in summary
    assert WORDS in summary


@requirement("keeper-insight.summarize.chat")
def test_without_an_answer_of_the_chat_endpoint_the_local_summary_stands(
    store: Store, clock: SteppedClock, call: Call
) -> None:
    failing = with_chat(store, Chat(Unavailable("It is down.")), clock)
    for each in (call, failing):
        each("context_session_start", name="same")
        save(each, "d1", WORDS, category="decision")
    assert failing("context_summarize")["summary"] == call("context_summarize")["summary"]


def three_days(call: Call, clock: SteppedClock) -> None:
    """Three days of work from Sunday 1 March 2026, 09:30."""
    save(call, "a", category="task")
    clock.step(HOUR)
    save(call, "b", category="decision", priority="high")
    clock.step(DAY)
    save(call, "c", category="task", priority="critical")
    call("context_journal_entry", entry="A good day", mood="happy", tags=["x"])
    clock.step(DAY)
    save(call, "d")


@requirement("keeper-insight.timeline.reply")
def test_a_timeline_counts_what_happened_in_each_period(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)
    reply = call("context_timeline")
    assert reply["summary"] == {
        "totalPeriods": 3,
        "totalItems": 4,
        "totalJournals": 1,
        "mostActiveperiod": "2026-03-02",
    }
    assert reply["periods"][0] == {
        "period": "2026-03-01",
        "startTime": "2026-03-01T00:00:00.000Z",
        "endTime": "2026-03-02T00:00:00.000Z",
        "items": {"total": 2, "byCategory": {"decision": 1, "task": 1}},
        "journals": [],
        "events": 0,
        "activity": 3,
    }
    assert [period["period"] for period in reply["periods"]] == ["2026-03-01", "2026-03-02", "2026-03-03"]


@requirement("keeper-insight.timeline.reply")
def test_an_empty_timeline_has_no_periods(call: Call) -> None:
    assert call("context_timeline") == {
        "periods": [],
        "summary": {"totalPeriods": 0, "totalItems": 0, "totalJournals": 0, "mostActiveperiod": ""},
    }


@requirement("keeper-insight.timeline.range")
@pytest.mark.parametrize(
    ("range", "days"),
    [
        ({"startDate": "2026-03-02"}, [2, 3]),
        ({"endDate": "2026-03-02"}, [1, 2]),
        ({"startDate": "2026-03-02", "endDate": "2026-03-02"}, [2]),
        ({"endDate": "2026-03-01T09:30:00Z"}, [1]),
        ({"endDate": "2026-03-01T09:29:59Z"}, []),
        ({"startDate": "yesterday"}, [2, 3]),
        ({"endDate": "yesterday"}, [1, 2]),
        ({"endDate": "2 days ago"}, [1]),
        ({"startDate": "2 hours ago"}, [3]),
        ({"startDate": "2026-03-02T11:30:00+01:00"}, [2, 3]),
    ],
)
def test_dates_bound_a_timeline(
    call: Call, clock: SteppedClock, range: dict[str, str], days: list[int]
) -> None:
    three_days(call, clock)
    labels = [period["period"] for period in call("context_timeline", **range)["periods"]]
    assert labels == [f"2026-03-0{day}" for day in days]


@requirement("keeper-insight.timeline.range")
def test_a_bound_in_the_middle_of_a_period_counts(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)
    reply = call("context_timeline", endDate="2026-03-01T10:00:00Z", includeItems=True)
    (period,) = reply["periods"]
    assert [item["key"] for item in period["items"]["details"]] == ["a"]


@requirement("keeper-insight.timeline.range")
@pytest.mark.parametrize(
    ("range", "field"),
    [
        ({"startDate": "someday"}, "startDate"),
        ({"endDate": "2026-13-01"}, "endDate"),
        ({"startDate": "2026-03-02", "endDate": "2026-03-01"}, "endDate"),
    ],
)
def test_a_wrong_date_is_refused_by_name(call: Call, range: dict[str, str], field: str) -> None:
    error = call("context_timeline", **range)["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", field)


@requirement("keeper-insight.timeline.group-by")
@pytest.mark.parametrize(
    ("group_by", "labels"),
    [
        ("hour", ["2026-03-01 09:00", "2026-03-01 10:00", "2026-03-02 10:00", "2026-03-03 10:00"]),
        ("day", ["2026-03-01", "2026-03-02", "2026-03-03"]),
        ("week", ["2026-W09", "2026-W10"]),
    ],
)
def test_periods_are_hours_days_or_iso_weeks(
    call: Call, clock: SteppedClock, group_by: str, labels: list[str]
) -> None:
    three_days(call, clock)
    periods = call("context_timeline", groupBy=group_by)["periods"]
    assert [period["period"] for period in periods] == labels
    if group_by == "week":
        assert (periods[1]["startTime"], periods[1]["endTime"]) == (
            "2026-03-02T00:00:00.000Z",
            "2026-03-09T00:00:00.000Z",
        )


@requirement("keeper-insight.timeline.journals")
def test_journals_are_shown_unless_they_are_not_wanted(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)
    (journal,) = call("context_timeline")["periods"][1]["journals"]
    assert journal == {
        "id": journal["id"],
        "entry": "A good day",
        "mood": "happy",
        "tags": ["x"],
        "createdAt": "2026-03-02T10:30:00.000Z",
    }
    without = call("context_timeline", includeJournals=False)
    assert without["summary"]["totalJournals"] == 0
    assert without["periods"][1]["journals"] == []
    assert without["periods"][1]["activity"] == 3


@requirement("keeper-insight.timeline.session")
def test_a_timeline_covers_all_sessions_or_one(call: Call, core: Core) -> None:
    save(call, "mine")
    other = another(core)
    session = other("context_session_start", name="other")["sessionId"]
    save(other, "theirs")
    assert call("context_timeline")["summary"]["totalItems"] == 2
    assert call("context_timeline", sessionId=session)["summary"]["totalItems"] == 1
    assert call("context_timeline", sessionId="nobody")["error"]["code"] == "SESSION_NOT_FOUND"


@requirement("keeper-insight.timeline.items")
def test_items_are_shown_when_asked_for(call: Call) -> None:
    id = save(call, "k", "v", category="task", priority="low", channel="c")
    assert "details" not in call("context_timeline")["periods"][0]["items"]
    assert call("context_timeline", includeItems=True)["periods"][0]["items"]["details"] == [
        {
            "id": id,
            "key": "k",
            "value": "v",
            "category": "task",
            "priority": "low",
            "channel": "c",
            "createdAt": "2026-03-01T09:30:00.000Z",
        }
    ]


@requirement("keeper-insight.timeline.items")
def test_items_per_period_shows_the_newest_and_says_how_many_are_not(call: Call, clock: SteppedClock) -> None:
    for number in range(12):
        clock.step()
        save(call, f"k{number}")
    call("context_journal_entry", entry="not an item")
    reply = call("context_timeline", includeItems=True, itemsPerPeriod=2)
    assert [item["key"] for item in reply["periods"][0]["items"]["details"]] == ["k11", "k10"]
    assert reply["notices"] == ["10 items are counted but not shown; a larger itemsPerPeriod shows more."]
    assert len(call("context_timeline", includeItems=True)["periods"][0]["items"]["details"]) == 10
    error = call("context_timeline", itemsPerPeriod=0)["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", "itemsPerPeriod")


@requirement("keeper-insight.timeline.categories")
def test_categories_narrow_a_timeline(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)
    reply = call("context_timeline", categories=["task"], includeJournals=False, includeItems=True)
    assert [period["items"]["byCategory"] for period in reply["periods"]] == [{"task": 1}, {"task": 1}]
    assert [period["items"]["details"][0]["key"] for period in reply["periods"]] == ["a", "c"]


@requirement("keeper-insight.timeline.relative")
def test_relative_time_says_how_long_ago(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)
    clock.step(2 * HOUR)

    def told(group_by: str) -> list[str]:
        reply = call("context_timeline", groupBy=group_by, relativeTime=True)
        return [period["relativeTime"] for period in reply["periods"]]

    assert told("day") == ["2 days ago", "yesterday", "today"]
    assert told("hour") == ["51 hours ago", "50 hours ago", "26 hours ago", "2 hours ago"]
    assert told("week") == ["last week", "this week"]
    last = call("context_timeline", relativeTime=True, includeItems=True)["periods"][-1]
    assert last["items"]["details"][0]["relativeTime"] == "2 hours ago"
    assert "relativeTime" not in call("context_timeline")["periods"][0]


@requirement("keeper-insight.timeline.activity")
def test_activity_weighs_priorities_journals_and_events(call: Call) -> None:
    for priority in ("low", "normal", "high", "critical"):
        save(call, priority, priority=priority)
    call("context_journal_entry", entry="one")
    call("context_integrate_tool", toolName="git", eventType="push", data={})
    assert call("context_timeline")["periods"][0]["activity"] == 1 + 1 + 2 + 3 + 1 + 1


@requirement("keeper-insight.timeline.budget")
def test_a_long_timeline_shows_its_newest_periods_and_how_to_go_on(call: Call, clock: SteppedClock) -> None:
    for number in range(103):
        save(call, f"k{number}")
        clock.step(DAY)
    reply = call("context_timeline")
    assert len(reply["periods"]) == 100
    assert reply["summary"]["totalPeriods"] == 103
    assert reply["notices"] == [
        "3 older periods are not shown; endDate 2026-03-03T23:59:59.999Z shows the next of them."
    ]
    rest = call("context_timeline", endDate="2026-03-03T23:59:59.999Z")
    assert [period["period"] for period in rest["periods"]] == ["2026-03-01", "2026-03-02", "2026-03-03"]


@requirement("keeper-insight.timeline.budget")
def test_long_values_are_cut_and_marked(call: Call) -> None:
    id = save(call, "long", "x" * 5_000)
    (item,) = call("context_timeline", includeItems=True)["periods"][0]["items"]["details"]
    assert item["value"] == "x" * 600
    assert (item["truncated"]["end"], item["truncated"]["size"]) == (600, 5_000)
    assert id in item["truncated"]["readOn"]
    entry = call("context_journal_entry", entry="y" * 5_000)["id"]
    (journal,) = call("context_timeline")["periods"][0]["journals"]
    assert journal["truncated"]["size"] == 5_000
    for whole in (id, entry):
        assert len(call("context_get", key=whole)["items"][0]["value"]) == 5_000


@requirement("keeper-insight.timeline.budget")
def test_a_timeline_of_large_periods_keeps_to_the_budget(call: Call, clock: SteppedClock) -> None:
    for number in range(150):
        save(call, f"k{number}", "ü" * 600)
        clock.step(DAY / 5)
    for arguments in ({"includeItems": True}, {"includeItems": True, "groupBy": "hour"}):
        reply = call("context_timeline", **arguments)
        assert len(json.dumps(reply, ensure_ascii=False).encode()) < 100_000
        assert "older periods are not shown" in reply["notices"][0]


@requirement("keeper-insight.timeline.budget")
@pytest.mark.parametrize("group_by", ["hour", "day"])
def test_one_large_period_keeps_to_the_budget_and_says_what_is_hidden(call: Call, group_by: str) -> None:
    for number in range(60):
        save(call, f"k{number}", "語" * 600)
        call("context_journal_entry", entry="誌" * 600)
    reply = call("context_timeline", includeItems=True, itemsPerPeriod=100, groupBy=group_by)
    assert len(json.dumps(reply, ensure_ascii=False).encode()) < ANSWER_BYTES
    (period,) = reply["periods"]
    items, journals = 60 - len(period["items"]["details"]), 60 - len(period["journals"])
    assert min(items, journals) > 0
    for hidden, notice in zip((items, journals), reply["notices"], strict=True):
        assert notice.startswith(f"{hidden} ")
        assert notice.endswith("not shown; context_get with createdAfter and createdBefore lists all.")


@requirement("keeper-insight.timeline.private")
def test_a_timeline_hides_private_items_of_others(call: Call, core: Core) -> None:
    save(call, "hidden", category="note", private=True)
    assert call("context_timeline")["summary"]["totalItems"] == 1
    other = another(core)
    assert other("context_timeline", includeItems=True)["periods"] == []


@requirement("keeper-insight.timeline.examples")
def test_the_documented_examples_work(call: Call) -> None:
    save(call, "t", category="task")
    assert call("context_timeline", groupBy="hour")["summary"]["totalItems"] == 1
    detailed = call(
        "context_timeline",
        startDate="2026-02-25T00:00:00Z",
        endDate="2026-03-01T23:59:59Z",
        groupBy="day",
        includeItems=True,
        categories=["task", "progress"],
        itemsPerPeriod=10,
    )
    assert detailed["periods"][0]["items"]["details"][0]["key"] == "t"
    relative = call("context_timeline", groupBy="hour", relativeTime=True, includeItems=True)
    assert relative["periods"][0]["relativeTime"] == "less than an hour ago"


@requirement("keeper-insight.visualize.graph")
def test_a_graph_has_nodes_and_edges(call: Call) -> None:
    save(call, "d1", "AuthService calls TokenStore", category="decision")
    drawing = call("context_visualize", type="graph")
    assert {"AuthService", "TokenStore"} <= {node["label"] for node in drawing["nodes"]}
    assert all(set(node) == {"id", "label", "type", "size", "color"} for node in drawing["nodes"])
    assert all(set(edge) == {"source", "target", "label", "weight"} for edge in drawing["edges"])
    ids = {node["id"] for node in drawing["nodes"]}
    assert drawing["edges"]
    assert all({edge["source"], edge["target"]} <= ids for edge in drawing["edges"])


@requirement("keeper-insight.visualize.timeline")
def test_a_drawn_timeline_counts_and_describes(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)
    periods = call("context_visualize", type="timeline")["periods"]
    assert [(period["period"], period["count"]) for period in periods] == [
        ("2026-03-01", 2),
        ("2026-03-02", 2),
        ("2026-03-03", 1),
    ]
    assert periods[1]["categories"] == {"task": 1, "journal": 1}
    assert periods[1]["events"] == [
        {"time": "2026-03-02T10:30:00.000Z", "type": "task", "description": "c: a value"},
        {"time": "2026-03-02T10:30:00.000Z", "type": "journal", "description": "A good day"},
    ]


@requirement("keeper-insight.visualize.timeline")
def test_a_full_period_describes_its_last_events_and_counts_all(call: Call, clock: SteppedClock) -> None:
    for number in range(25):
        save(call, f"k{number:02d}")
        clock.step()
    drawing = call("context_visualize", type="timeline")
    (period,) = drawing["periods"]
    assert period["count"] == 25
    assert [event["description"][:3] for event in period["events"]] == [f"k{n:02d}" for n in range(5, 25)]
    assert "the last 20 events are described" in drawing["notices"][0]


@requirement("keeper-insight.visualize.heatmap")
def test_a_heatmap_counts_by_day_and_hour_without_holes(call: Call, clock: SteppedClock) -> None:
    save(call, "a")
    save(call, "b")
    clock.step(2 * DAY + HOUR)
    save(call, "c")
    drawing = call("context_visualize", type="heatmap")
    assert drawing["days"] == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert drawing["hours"] == list(range(24))
    assert [len(row) for row in drawing["counts"]] == [24, 24, 24]
    assert (drawing["counts"][0][9], drawing["counts"][2][10]) == (2, 1)
    assert (drawing["max"], drawing["total"]) == (2, 3)


@requirement("keeper-insight.visualize.parameters")
def test_group_by_changes_timelines_and_heatmaps(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)

    def heat(group_by: str) -> dict[str, Any]:
        return call("context_visualize", type="heatmap", groupBy=group_by)

    def labels(group_by: str) -> list[str]:
        drawing = call("context_visualize", type="timeline", groupBy=group_by)
        return [period["period"] for period in drawing["periods"]]

    assert labels("week") == ["2026-W09", "2026-W10"]
    assert labels("hour")[0] == "2026-03-01 09:00"
    assert heat("week")["days"][0] == "Monday"
    assert [sum(row) for row in heat("week")["counts"]] == [2, 1, 0, 0, 0, 0, 2]
    assert heat("hour")["days"] == ["all days"]
    assert (heat("hour")["counts"][0][9], heat("hour")["counts"][0][10]) == (1, 4)


@requirement("keeper-insight.visualize.parameters")
def test_dates_and_session_narrow_every_drawing(call: Call, clock: SteppedClock, core: Core) -> None:
    other = another(core)
    save(other, "old", "OldService calls OldStore")
    clock.step(DAY)
    session = call("context_session_start", name="s")["sessionId"]
    save(call, "new", "NewService calls NewStore")
    for narrowing in ({"sessionId": session}, {"startDate": "today"}):
        heat = call("context_visualize", type="heatmap", **narrowing)
        assert (heat["days"], heat["total"]) == (["2026-03-02"], 1)
        (period,) = call("context_visualize", type="timeline", **narrowing)["periods"]
        assert period["period"] == "2026-03-02"
        labels = {node["label"] for node in call("context_visualize", type="graph", **narrowing)["nodes"]}
        assert "NewService" in labels
        assert "OldService" not in labels
    heat = call("context_visualize", type="heatmap", endDate="2026-03-01")
    assert heat["days"] == ["2026-03-01"]


@requirement("keeper-insight.visualize.parameters")
@pytest.mark.parametrize("type", ["graph", "timeline", "heatmap"])
def test_a_drawing_of_an_unknown_session_fails(call: Call, type: str) -> None:
    assert call("context_visualize", type=type, sessionId="nobody")["error"]["code"] == "SESSION_NOT_FOUND"
    error = call("context_visualize", type=type, startDate="someday")["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", "startDate")


@requirement("keeper-insight.visualize.parameters")
def test_the_type_of_a_drawing_is_required_and_checked(call: Call) -> None:
    for arguments in ({}, {"type": "pie"}):
        error = call("context_visualize", **arguments)["error"]
        assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", "type")


@requirement("keeper-insight.visualize.private")
def test_no_drawing_shows_private_items_of_others(call: Call, core: Core) -> None:
    save(call, "hidden", "SecretService calls SecretStore", private=True)
    assert call("context_visualize", type="heatmap")["total"] == 1
    other = another(core)
    assert other("context_visualize", type="heatmap")["total"] == 0
    assert other("context_visualize", type="timeline")["periods"] == []
    assert other("context_visualize", type="graph") == {"nodes": [], "edges": []}


@requirement("keeper-insight.visualize.schema")
def test_every_answer_fits_its_declared_schema(call: Call, clock: SteppedClock) -> None:
    three_days(call, clock)
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("context_visualize", {"type": type}) for type in ("graph", "timeline", "heatmap")),
        ("context_timeline", {"includeItems": True, "relativeTime": True}),
        ("context_summarize", {}),
    ]
    for tool, arguments in calls:
        schema = surface.tools[tool].describe()["outputSchema"]
        Draft202012Validator(schema).validate(call(tool, **arguments))
