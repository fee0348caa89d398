"""The pages of usage and of one session: its calls with results, tasks, subagents, usage, search, and the file to share."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backstory.domain.filters import Bounds
from backstory.domain.usage import ModelCall
from backstory.domain.when import to_ms
from backstory.web.figures import renew
from backstory.web.pages.home import USAGE_DAYS

from ..doubles import DAWN
from .conftest import Pages
from .sample import EDITED, LONG_RESULT, MAIN, SECRET, TRACED, TRACED_SUBAGENT


def test_json_has_calls_with_results_and_usage_under_their_fixed_names(traced_pages: Pages) -> None:
    body = traced_pages.json(f"/conversation/{TRACED}")
    failed, read = next(each["calls"] for each in body["messages"] if each["calls"])
    assert failed == {
        "id": failed["id"],
        "name": "Bash",
        "command": "pytest -q",
        "arguments": "pytest -q",
        "result": {
            "text": "1 failed: Teapot is cold",
            "bytes": 24,
            "is_cut": False,
            "is_error": True,
            "exit_code": 1,
            "duration_ms": 2_300,
        },
    }
    assert read["result"]["text"] == LONG_RESULT
    assert (body["usage"]["input"], body["usage"]["output"], body["usage"]["calls"]) == (1_000, 2_000, 1)
    assert body["usage"]["cost_usd"] > 0
    assert traced_pages.json(f"/conversation/{MAIN}")["usage"] is None


def test_a_failed_call_shows_its_exit_code_duration_and_result(traced_pages: Pages) -> None:
    html = traced_pages.get(f"/conversation/{TRACED}").text
    assert "failed: exit 1" in html
    assert "2.3 s" in html
    assert "1 failed: Teapot is cold" in html
    assert "2.0k out" in html


def test_a_long_result_is_shortened_and_shown_whole_on_its_own_page(traced_pages: Pages) -> None:
    html = traced_pages.get(f"/conversation/{TRACED}").text
    assert "line 1000 of the log" in html
    assert "line 500 of the log" not in html
    body = traced_pages.json(f"/result/{TRACED}?message={TRACED}:1:tool&call=2")
    assert body["call"]["result"]["text"] == LONG_RESULT
    for path in (f"message={TRACED}:1:tool&call=9", "message=none", f"message={MAIN}:3:tool"):
        assert traced_pages.get(f"/result/{TRACED}?{path}").status == 404


def test_a_prompt_tells_how_long_it_was_worked_on(traced_pages: Pages) -> None:
    prompts = traced_pages.json(f"/conversation/{TRACED}")["prompts"]
    assert [each["duration_s"] for each in prompts] == [60.0, 120.0]


def test_an_edit_says_how_many_lines_it_changed(traced_pages: Pages) -> None:
    messages = traced_pages.json(f"/conversation/{EDITED}")["messages"]
    edits = [call for each in messages if each["role"] == "tool" for call in each["tools"]]
    assert [(each["added"], each["removed"]) for each in edits] == [(1, 1), (2, 1)]
    html = traced_pages.get(f"/conversation/{EDITED}").text
    assert '<span class="plus">+2</span> <span class="minus">−1</span>' in html
    tools = [
        call
        for each in traced_pages.json(f"/conversation/{TRACED}")["messages"]
        for call in each.get("tools", ())
    ]
    assert {(each["added"], each["removed"]) for each in tools} == {(0, 0)}


def test_tasks_are_shown_as_they_changed(traced_pages: Pages) -> None:
    body = traced_pages.json(f"/conversation/{TRACED}")
    first, second = (body["todos"][f"{TRACED}:{seq}:tool"] for seq in (1, 3))
    assert [each["is_done"] for each in first["items"]] == [False, False]
    assert [each["is_changed"] for each in second["items"]] == [True, False]
    assert (body["tasks"]["done"], body["tasks"]["total"]) == (1, 2)


def test_a_subagent_stands_where_it_was_started(traced_pages: Pages) -> None:
    started = traced_pages.json(f"/conversation/{TRACED}")["subagents"]
    assert [each["id"] for each in started["2"]] == [TRACED_SUBAGENT]


def test_a_session_is_searched_in_its_messages_and_results(traced_pages: Pages) -> None:
    def places(text: str) -> list[tuple[int, str]]:
        found = traced_pages.json(f"/conversation/{TRACED}?find={text}")["found"]
        return [(each["number"], each["role"]) for each in found]

    assert places("TEAPOT") == [(2, "result")]
    assert places("they") == [(4, "assistant")]
    assert places("100%25") == []
    part = traced_pages.get(f"/conversation/{TRACED}?find=teapot&part=found").text
    assert "<mark>Teapot</mark>" in part
    assert "<html" not in part


def test_the_file_to_share_has_results_and_neither_secrets_nor_home_directories(traced_pages: Pages) -> None:
    html = traced_pages.get(f"/export/{TRACED}?as=html").text
    assert "1 failed: Teapot is cold" in html
    assert "Stone cold." in html
    assert SECRET in traced_pages.get(f"/conversation/{TRACED}").text
    assert SECRET not in html
    assert "mira" not in html
    assert "<script" not in html
    assert "<link" not in html


def test_the_page_of_usage_has_the_objects_of_the_command_line(traced_pages: Pages) -> None:
    body = traced_pages.json("/usage?by=model")
    stats = traced_pages.core.usage.stats(Bounds())
    assert {name: body[name] for name in ("usage", "by_assistant", "by_model", "by_project", "by_day")} == {
        name: stats[name] for name in ("usage", "by_assistant", "by_model", "by_project", "by_day")
    }
    bash = next(each for each in body["tools"] if each["name"] == "Bash")
    assert (bash["calls"], bash["failed"], bash["failure_rate"]) == (2, 1, 0.5)
    assert body["cache_hit_rate"] == 3_000_000 / 3_001_000
    assert [row["total"] for row in body["chart"]["rows"]][-1] == body["usage"]["cost_usd"]
    assert traced_pages.json("/usage?project=/work/none")["usage"] is None
    assert traced_pages.get("/usage?by=colour").status == 400


@pytest.mark.parametrize(
    ("weeks_ago", "unit", "periods"), [(3, "week", 26), (60, "week", 61), (200, "month", 47)]
)
def test_the_chart_of_usage_has_all_that_the_total_has(
    own_pages: Pages, weeks_ago: int, unit: str, periods: int
) -> None:
    calls = [
        ModelCall(str(weeks), "claude-sonnet-4-5", to_ms(DAWN - timedelta(weeks=weeks)), output=1_000_000)
        for weeks in (0, weeks_ago)
    ]
    own_pages.core.engine.store.usage.put(MAIN, "codex", calls, {})
    body = own_pages.json("/usage")
    chart = body["chart"]
    assert (chart["unit"], len(chart["rows"])) == (unit, periods)
    assert sum(row["total"] for row in chart["rows"]) == body["usage"]["cost_usd"] == 30
    assert [row["total"] for row in chart["rows"] if row["total"]] == [15, 15]
    assert f"Cost by {unit}" in own_pages.get("/usage").text


def test_home_shows_the_usage_of_the_last_days_or_of_all_time(own_pages: Pages) -> None:
    usage, now = own_pages.core.engine.store.usage, own_pages.core.engine.now()
    assert own_pages.json("/")["usage"] is None
    old = ModelCall("old", "claude-sonnet-4-5", to_ms(now - timedelta(days=90)), output=2_000)
    usage.put(MAIN, "codex", [old], {})
    renew(own_pages.core)
    home = own_pages.json("/")["usage"]
    assert (home["days"], home["output"]) == (None, 2_000)
    assert "Usage, all time" in own_pages.get("/").text
    usage.put(MAIN, "codex", [ModelCall("new", "claude-sonnet-4-5", to_ms(now), output=3_000)], {})
    renew(own_pages.core)
    home = own_pages.json("/")["usage"]
    assert (home["days"], home["output"]) == (USAGE_DAYS, 3_000)


def test_a_missing_page_says_so(pages: Pages) -> None:
    answer = pages.get("/nowhere")
    assert answer.status == 404
    assert "<h1>Page not found</h1>" in answer.text


def test_each_run_of_lines_has_its_session_and_prompt_or_its_commit(blamed_pages: Pages) -> None:
    body = blamed_pages.json("/blame?path=kettle.py")
    by_hand, written = body["runs"]
    assert (by_hand["first"], by_hand["session"], by_hand["commit"]["subject"]) == (1, None, "files")
    assert (written["first"], written["sureness"]) == (3, "exact")
    assert written["session"]["prompt"] == "Add the temperatures of the kettle."
    assert [(each["kind"], each["lines"], each["share"]) for each in body["shares"]] == [
        ("person", 2, 0.5),
        ("assistant", 2, 0.5),
    ]
    assert blamed_pages.json("/file?path=kettle.py")["can_blame"]
    assert blamed_pages.get("/blame?path=/nowhere/at/all.py").status == 404
    assert blamed_pages.get("/blame").status == 400


def test_a_server_without_the_users_files_blames_nobody(pages: Pages) -> None:
    assert pages.get("/blame?path=src/queue.py").status == 403


def test_memories_are_narrowed_to_facts_which_are_those_of_no_other_kind(pages: Pages) -> None:
    body = pages.json("/memories?kind=fact")
    assert {each["id"] for each in body["memories"]} == {"plain", "harm"}
    assert body["total"] == 2
    assert [each["id"] for each in pages.json("/memories?kind=decision")["memories"]] == ["decision"]
