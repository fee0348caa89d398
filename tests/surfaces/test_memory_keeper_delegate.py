"""Memory Keeper's delegated tasks: analyses and syntheses, alone and in chains."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from backstory.core import Caller, Core
from backstory.domain.census import Tally
from backstory.domain.filters import Filter
from backstory.guests.memory_keeper.tools import surface

from ..conftest import Call, caller_of
from ..doubles import SteppedClock

requirement = pytest.mark.requirement
DAY = 86_400


def save(call: Call, key: str, value: str, **arguments: Any) -> str:
    id: str = call("context_save", key=key, value=value, **arguments)["id"]
    return id


def analyze(call: Call, analysis: str, **arguments: Any) -> dict[str, Any]:
    reply = call("context_delegate", taskType="analyze", input={"analysisType": analysis, **arguments})
    result: dict[str, Any] = reply["result"]
    return result


def synthesize(call: Call, synthesis: str, **arguments: Any) -> dict[str, Any]:
    reply = call("context_delegate", taskType="synthesize", input={"synthesisType": synthesis, **arguments})
    result: dict[str, Any] = reply["result"]
    return result


def told(result: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each for each in result["findings"] if each["kind"] == kind]


def advised(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["kind"], each["about"]) for each in result["recommendations"]]


def keys(finding: dict[str, Any]) -> list[str]:
    return sorted(source["key"] for source in finding["evidence"])


@pytest.fixture
def worked(call: Call, clock: SteppedClock) -> Call:
    """Eleven days of work that begin with errors and an open task."""
    save(call, "old_task", "Upgrade the linter", category="task")
    save(call, "e1", "TimeoutError: AuthService lost TokenStore after 30 s", category="error")
    clock.step(DAY)
    save(call, "e2", "TimeoutError: AuthService lost TokenStore after 60 s", category="error")
    save(call, "e3", "A label is misspelt on the start page", category="error")
    clock.step(9 * DAY)
    save(call, "d1", "Keep AuthService small", category="decision", priority="high")
    for step in range(4):
        save(call, "p1", f"AuthService calls TokenStore, step {step}", category="progress")
    save(call, "t1", "Fix src/auth/store.py", category="task", priority="critical")
    save(call, "w1", "Certificates expire on Friday", category="warning", priority="high")
    call("context_journal_entry", entry="Learned that retries hide timeouts", mood="neutral")
    clock.step(DAY)
    return call


@requirement("keeper-insight.delegate.confidence")
@pytest.mark.parametrize("task", ["analyze", "synthesize"])
def test_what_is_deleted_while_it_is_looked_at_does_not_make_a_task_fail(
    task: str, worked: Call, core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = core.engine.store.memories
    tally = memories.tally

    def tally_late(where: Filter) -> list[Tally]:
        memories.delete(Filter())
        return tally(where)

    monkeypatch.setattr(memories, "tally", tally_late)
    reply = worked("context_delegate", taskType=task, input={})
    assert "error" not in reply
    assert 0 <= reply["confidence"] <= 1


@requirement("keeper-insight.delegate.reply")
def test_a_task_answers_a_result_its_confidence_and_who_did_it(worked: Call) -> None:
    reply = worked("context_delegate", taskType="analyze", input={"analysisType": "patterns"})
    assert set(reply) == {"result", "confidence", "reasoning", "metadata"}
    assert 0 < reply["confidence"] < 1
    assert reply["metadata"]["agentType"] == "analyzer"
    assert reply["metadata"]["taskId"]
    assert reply["metadata"]["duration"] >= 0
    other = worked("context_delegate", taskType="synthesize", input={})
    assert other["metadata"]["agentType"] == "synthesizer"
    assert other["metadata"]["taskId"] != reply["metadata"]["taskId"]
    Draft202012Validator(surface.tools["context_delegate"].describe()["outputSchema"]).validate(reply)


@requirement("keeper-insight.delegate.patterns")
def test_patterns_are_what_comes_back(worked: Call) -> None:
    result = analyze(worked, "patterns")
    (error,) = told(result, "repeated error")
    assert (error["count"], keys(error)) == (2, ["e1", "e2"])
    (changing,) = told(result, "changing key")
    assert (changing["statement"], changing["count"]) == ("p1 was saved 4 times.", 4)
    (waiting,) = told(result, "waiting task")
    assert waiting["statement"] == "A task is open for 11 days: Upgrade the linter"
    terms = {each["about"]: each for each in told(result, "recurring term")}
    assert keys(terms["AuthService"]) == ["d1", "e1", "e2", "p1"]
    assert told(result, "category")[0]["about"] == "error"
    assert told(result, "busy hour")[0]["about"] == "09:00"
    assert all(each["evidence"] for each in result["findings"])


@requirement("keeper-insight.delegate.patterns")
def test_many_findings_of_one_kind_do_not_hide_the_others(call: Call, clock: SteppedClock) -> None:
    for number in range(70):
        save(call, f"t{number}", f"Chore number{number}", category="task")
    save(call, "k", "first", category="note")
    clock.step(8 * DAY)
    for text in ("second", "third"):
        save(call, "k", text, category="note")
    result = analyze(call, "patterns")
    assert len(result["findings"]) <= 60
    assert told(result, "changing key")
    assert told(result, "category")
    assert result["leftOut"] == 70 - len(told(result, "waiting task"))


@requirement("keeper-insight.delegate.patterns")
def test_categories_and_timeframe_narrow_patterns(worked: Call) -> None:
    assert analyze(worked, "patterns", categories=["error"])["itemsAnalyzed"] == 3
    recent = analyze(worked, "patterns", timeframe="2 days ago")
    assert recent["itemsAnalyzed"] == 5
    assert told(recent, "repeated error") == []


@requirement("keeper-insight.delegate.relationships")
def test_relationships_come_from_the_graph_with_evidence(worked: Call) -> None:
    result = analyze(worked, "relationships")
    hub = next(each for each in told(result, "hub") if each["about"] == "AuthService")
    assert {"d1", "p1"} <= set(keys(hub))
    relation = next(each for each in told(result, "relation") if "calls TokenStore" in each["statement"])
    assert keys(relation) == ["e1", "e2", "p1"] or "p1" in keys(relation)


@requirement("keeper-insight.delegate.relationships")
def test_depth_and_entity_types_change_relationships(call: Call) -> None:
    save(call, "a", "AuthService calls TokenStore and is in src/auth.py")
    save(call, "b", "TokenStore calls DiskCache")
    files = analyze(call, "relationships", entityTypes=["file"])
    assert files["findings"]
    assert all("(file)" in each["statement"] for each in told(files, "relation"))
    statements = [each["statement"] for each in analyze(call, "relationships", maxDepth=1)["findings"]]
    deeper = [each["statement"] for each in analyze(call, "relationships", maxDepth=2)["findings"]]
    assert statements != deeper
    assert any("TokenStore (class) calls DiskCache" in each for each in deeper)


@requirement("keeper-insight.delegate.trends")
def test_trends_compare_the_later_half_with_the_earlier(worked: Call) -> None:
    result = analyze(worked, "trends")
    series = {each["metric"]: each for each in result["series"]}
    assert (series["error"]["direction"], series["error"]["change"]) == ("falling", -1.0)
    assert series["decision"]["direction"] == "rising"
    assert {"items", "error", "task", "critical", "high", "normal"} <= set(series)
    points = series["items"]["periods"]
    assert (points[0], points[-1]["period"]) == ({"period": "2026-03-01", "value": 2.0}, "2026-03-11")
    assert len(points) == 11
    assert sum(point["value"] for point in points) == 9
    falling = next(each for each in result["findings"] if each["about"] == "error")
    assert falling["statement"] == (
        "error: falling between 2026-03-01 and 2026-03-11 (3 in the earlier half, 0 in the later)."
    )
    assert keys(falling) == ["e1", "e2", "e3"]


@requirement("keeper-insight.delegate.trends")
def test_metrics_choose_the_series(worked: Call, clock: SteppedClock) -> None:
    save(worked, "m1", "slow", category="progress", metadata={"seconds": 4})
    clock.step(DAY)
    save(worked, "m2", "slower", category="progress", metadata={"seconds": 10})
    worked("context_integrate_tool", toolName="git", eventType="push", data={})
    result = analyze(worked, "trends", metrics=["errors", "high", "seconds", "events", "nothing"])
    series = {each["metric"]: [point["value"] for point in each["periods"]] for each in result["series"]}
    assert list(series) == ["errors", "high", "seconds", "events", "nothing"]
    assert sum(series["errors"]) == 3
    assert series["seconds"][-2:] == [4.0, 10.0]
    assert sum(series["events"]) == 1
    assert {each["about"]: each["statement"] for each in result["findings"]}["nothing"] == "nothing: no data."


@requirement("keeper-insight.delegate.trends")
def test_a_timeframe_bounds_trends(worked: Call) -> None:
    result = analyze(worked, "trends", timeframe="3 days ago", metrics=["items"])
    points = result["series"][0]["periods"]
    assert points[0]["period"].startswith("2026-03-09")
    assert sum(point["value"] for point in points) == 5


@requirement("keeper-insight.delegate.comprehensive")
def test_a_comprehensive_analysis_has_all_and_includes_all_on_demand(worked: Call) -> None:
    for number in range(8):
        save(worked, f"n{number}", f"Cluster alpha beta gamma delta epsilon zeta eta part{number}")
    some = analyze(worked, "comprehensive")
    assert {"repeated error", "hub", "rising trend"} <= {each["kind"] for each in some["findings"]}
    assert some["series"]
    assert len(told(some, "recurring term")) == 5
    assert some["leftOut"] > 0
    every = analyze(worked, "comprehensive", includeAll=True)
    assert len(told(every, "recurring term")) == 10
    assert "leftOut" not in every


@requirement("keeper-insight.delegate.summary")
def test_a_summary_keeps_to_length_and_categories(worked: Call) -> None:
    assert "auth/store.py" in synthesize(worked, "summary")["summary"]
    short = synthesize(worked, "summary", maxLength=200)
    assert len(short["summary"]) <= 200
    assert short["leftOut"] > 0
    errors = synthesize(worked, "summary", categories=["error"])["summary"]
    assert "e1" in errors
    assert "t1" not in errors


@requirement("keeper-insight.delegate.recommendations")
def test_recommendations_rest_on_real_signals(worked: Call) -> None:
    result = synthesize(worked, "recommendations")
    assert advised(result)[0] == ("open task", "t1")
    assert {("undecided error", "e1"), ("warning", "w1"), ("waiting task", "old_task")} <= set(
        advised(result)
    )
    assert ("undecided error", "e3") not in advised(result)
    assert all(each["evidence"] for each in result["recommendations"])
    ranks = [each["priority"] for each in result["recommendations"]]
    assert ranks == sorted(ranks, key=["critical", "high", "normal", "low"].index)


@requirement("keeper-insight.delegate.recommendations")
def test_an_error_that_a_later_decision_answers_needs_no_other(worked: Call) -> None:
    save(worked, "d2", "TimeoutError: AuthService reconnects when TokenStore is lost", category="decision")
    assert ("undecided error", "e1") not in advised(synthesize(worked, "recommendations"))


@requirement("keeper-insight.delegate.recommendations")
def test_finished_tasks_are_not_recommended(worked: Call) -> None:
    save(worked, "t1", "done: Fix src/auth/store.py", category="task", priority="critical")
    assert ("open task", "t1") not in advised(synthesize(worked, "recommendations"))


@requirement("keeper-insight.delegate.recommendations")
def test_priorities_filter_recommendations(worked: Call) -> None:
    result = synthesize(worked, "recommendations", priorities=["critical"])
    assert advised(result) == [("open task", "t1")]


@requirement("keeper-insight.delegate.recommendations")
def test_analysis_results_add_to_recommendations(worked: Call) -> None:
    found = {"findings": [{"kind": "hub", "statement": "Db is connected to 9 others.", "about": "Db"}]}
    assert ("hub", "Db") in advised(synthesize(worked, "recommendations", analysisResults=found))
    assert ("hub", "Db") not in advised(synthesize(worked, "recommendations"))


@requirement("keeper-insight.delegate.narrative")
def test_a_narrative_of_nothing_says_so(call: Call) -> None:
    result = synthesize(call, "narrative")
    assert result["narrative"] == "## Overview\n\nNothing is saved here yet."
    assert result["itemsAnalyzed"] == 0


@requirement("keeper-insight.delegate.narrative")
def test_a_narrative_tells_with_dates_and_sources(worked: Call) -> None:
    result = synthesize(worked, "narrative")
    titles = [section["title"] for section in result["sections"]]
    assert titles == ["Overview", "Decisions", "Progress", "Problems", "Still open", "Learnings"]
    assert "- On 11 March 2026: d1: Keep AuthService small (high)" in result["narrative"]
    assert "It holds 9 items in 1 session" in result["narrative"]
    assert all(section["evidence"] for section in result["sections"])


@requirement("keeper-insight.delegate.narrative")
def test_metrics_and_learnings_can_be_left_out(worked: Call) -> None:
    assert "It holds" not in synthesize(worked, "narrative", includeMetrics=False)["narrative"]
    assert "Learnings" not in synthesize(worked, "narrative", includeLearnings=False)["narrative"]


@requirement("keeper-insight.delegate.narrative")
def test_a_narrative_says_that_nothing_was_learned(call: Call) -> None:
    save(call, "d", "Keep it small", category="decision")
    narrative = synthesize(call, "narrative", includeLearnings=True)
    assert narrative["narrative"].endswith("## Learnings\n\nNo item says yet what was learned.")
    assert narrative["sections"][-1]["evidence"] == []
    assert "Learnings" not in synthesize(call, "narrative", includeLearnings=False)["narrative"]


@requirement("keeper-insight.delegate.chain")
def test_a_chain_passes_each_result_on(worked: Call) -> None:
    inputs = [{"analysisType": "relationships"}, {"synthesisType": "recommendations"}]
    reply = worked("context_delegate", taskType=["analyze", "synthesize"], input=inputs)
    first, second = reply["result"]["steps"]
    assert (first["taskType"], second["taskType"]) == ("analyze", "synthesize")
    assert any(each["kind"] == "hub" for each in second["result"]["recommendations"])
    assert reply["result"]["chain"] is True
    assert reply["confidence"] == min(first["confidence"], second["confidence"])
    assert reply["metadata"]["agentType"] == "analyzer+synthesizer"
    apart = worked("context_delegate", taskType=["analyze", "synthesize"], input=inputs, chain=False)
    assert not any(each["kind"] == "hub" for each in apart["result"]["steps"][1]["result"]["recommendations"])


@requirement("keeper-insight.delegate.chain")
def test_one_task_with_several_inputs_runs_for_each(worked: Call) -> None:
    inputs = [{"synthesisType": "recommendations"}, {"synthesisType": "narrative"}]
    apart = worked("context_delegate", taskType="synthesize", input=inputs)["result"]
    chained = worked("context_delegate", taskType="synthesize", input=inputs, chain=True)["result"]
    assert [step["result"]["type"] for step in apart["steps"]] == ["recommendations", "narrative"]
    assert "Findings" not in apart["steps"][1]["result"]["narrative"]
    assert "Findings" in chained["steps"][1]["result"]["narrative"]


@requirement("keeper-insight.delegate.chain")
def test_a_chain_may_share_one_input(worked: Call) -> None:
    shared = {"analysisType": "patterns", "synthesisType": "narrative", "categories": ["error"]}
    first, second = worked("context_delegate", taskType=["analyze", "synthesize"], input=shared)["result"][
        "steps"
    ]
    assert (first["result"]["type"], second["result"]["type"]) == ("patterns", "narrative")
    assert first["result"]["itemsAnalyzed"] == second["result"]["itemsAnalyzed"] == 3


@requirement("keeper-insight.delegate.confidence")
def test_confidence_grows_with_what_was_looked_at_and_is_explained(call: Call) -> None:
    values = []
    for number in range(30):
        save(call, f"k{number}", "Cluster alpha beta", category="note")
        if number in (0, 9, 29):
            reply = call("context_delegate", taskType="analyze", input={"analysisType": "patterns"})
            assert f"Looked at {number + 1} of {number + 1} visible items" in reply["reasoning"]
            assert f"= {reply['confidence']:.2f}." in reply["reasoning"]
            values.append(reply["confidence"])
    assert values == sorted(set(values))


@requirement("keeper-insight.delegate.confidence")
@pytest.mark.parametrize(
    ("task", "input"),
    [
        *(("analyze", {"analysisType": kind}) for kind in ("patterns", "relationships", "trends", "comprehensive")),
        *(("synthesize", {"synthesisType": kind}) for kind in ("summary", "recommendations", "narrative")),
    ],
)  # fmt: skip
def test_nothing_to_look_at_gives_no_confidence(call: Call, task: str, input: dict[str, str]) -> None:
    reply = call("context_delegate", taskType=task, input=input)
    assert reply["confidence"] == 0.0
    assert "nothing to look at" in reply["reasoning"]


@requirement("keeper-insight.delegate.context")
def test_context_narrows_to_a_session_and_sets_a_focus(worked: Call, core: Core) -> None:
    other = caller_of(Core(core.engine, Caller(project="/p")))
    session = other("context_session_start", name="other")["sessionId"]
    save(other, "only", "One item")
    task = {"taskType": "analyze", "input": {"analysisType": "patterns"}}
    narrowed = worked("context_delegate", **task, context={"sessionId": session})
    assert narrowed["result"]["itemsAnalyzed"] == 1
    focused = worked("context_delegate", **task, context="What about TokenStore?")
    assert "TokenStore" in focused["result"]["findings"][0]["statement"]
    linter = worked("context_delegate", **task, context={"topic": "the linter"})
    assert "linter" in linter["result"]["findings"][0]["statement"]
    unknown = worked("context_delegate", **task, context={"sessionId": "nobody"})
    assert unknown["error"]["code"] == "SESSION_NOT_FOUND"


@requirement("keeper-insight.delegate.errors")
@pytest.mark.parametrize(
    ("task", "input", "field"),
    [
        ("analyse", {}, "taskType"),
        ([], [], "taskType"),
        ("analyze", [], "input"),
        (["analyze", "guess"], [{}, {}], "taskType"),
        (7, {}, "taskType"),
        ("analyze", "patterns", "input"),
        ("analyze", {"analysisType": "vibes"}, "input.analysisType"),
        ("analyze", {"analysisType": ["patterns"]}, "input.analysisType"),
        ("analyze", {"synthesisType": "summary"}, "input.synthesisType"),
        ("analyze", {"categories": "error"}, "input.categories"),
        ("analyze", {"timeframe": "someday"}, "input.timeframe"),
        ("analyze", {"timeframe": 7}, "input.timeframe"),
        ("analyze", {"maxDepth": 0}, "input.maxDepth"),
        ("analyze", {"maxDepth": "2"}, "input.maxDepth"),
        ("analyze", {"includeAll": 1}, "input.includeAll"),
        ("synthesize", {"synthesisType": "poem"}, "input.synthesisType"),
        ("synthesize", {"maxLength": 0}, "input.maxLength"),
        ("synthesize", {"priorities": ["urgent"]}, "input.priorities"),
        (["analyze", "synthesize"], [{}], "input"),
        (["analyze"] * 11, [{}] * 11, "taskType"),
    ],
)
def test_wrong_input_is_refused_by_name(call: Call, task: Any, input: Any, field: str) -> None:
    error = call("context_delegate", taskType=task, input=input)["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", field)


@requirement("keeper-insight.delegate.deterministic")
@pytest.mark.parametrize("task", ["analyze", "synthesize"])
def test_the_same_store_gives_the_same_result(worked: Call, task: str) -> None:
    first, second = (worked("context_delegate", taskType=task, input={}) for _ in range(2))
    assert {**first, "metadata": 0} == {**second, "metadata": 0}


@requirement("keeper-insight.delegate.private")
@pytest.mark.parametrize(
    ("task", "input"),
    [
        *(("analyze", {"analysisType": kind}) for kind in ("patterns", "relationships", "trends", "comprehensive")),
        *(("synthesize", {"synthesisType": kind}) for kind in ("summary", "recommendations", "narrative")),
    ],
)  # fmt: skip
def test_no_statement_rests_on_private_items_of_others(
    call: Call, core: Core, task: str, input: dict[str, str]
) -> None:
    for number in range(3):
        value = f"SecretService calls VaultStore {number}"
        save(call, f"hidden{number}", value, category="error", priority="critical", private=True)
    save(call, "switch", "once SecretService", private=True)
    save(call, "switch", "again SecretService", private=True)
    save(call, "switch", "now public")
    other = caller_of(Core(core.engine, Caller(project="/p")))
    reply = other("context_delegate", taskType=task, input=input)
    assert reply["result"]["itemsAnalyzed"] == 1
    for word in ("Secret", "Vault", "hidden", "saved 3 times"):
        assert word not in str(reply)
