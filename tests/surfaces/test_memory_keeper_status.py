"""Memory Keeper's status, project directory, search over all sessions, and preparation for a compaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.domain.filters import Filter, Page

from ..conftest import Call, caller_of
from ..doubles import SteppedClock
from ..repositories import commit, write

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


def code(answer: dict[str, Any]) -> str:
    return str(answer["error"]["code"])


@requirement("keeper-more.status")
def test_status_without_a_session_makes_none(call: Call) -> None:
    answer = call("context_status")
    assert answer["text"].startswith("No session yet.")
    assert {name: value for name, value in answer.items() if name != "text"} == {
        "sessionId": None,
        "sessionName": None,
        "createdAt": None,
        "projectDir": "/p",
        "channel": None,
        "itemCount": 0,
        "fileCount": 0,
        "checkpointCount": 0,
        "recentItems": [],
    }
    assert call("context_session_list")["total"] == 0


@requirement("keeper-more.status")
def test_status_counts_and_shows_the_latest_changes(call: Call, other: Call, clock: SteppedClock) -> None:
    session = call("context_session_start", name="Login", defaultChannel="login")["sessionId"]
    for number in range(7):
        clock.step()
        call("context_save", key=f"k{number}", value="x", private=number == 3)
    clock.step()
    call("context_save", key="k0", value="changed", category="task", priority="critical")
    call("context_cache_file", filePath="a.py", content="x")
    call("context_checkpoint", name="one")
    other("context_save", key="theirs", value="x")
    answer = call("context_status")
    assert (answer["sessionId"], answer["sessionName"], answer["channel"]) == (session, "Login", "login")
    counts = (answer["itemCount"], answer["fileCount"], answer["checkpointCount"])
    assert counts == (7, 1, 1)
    assert [item["key"] for item in answer["recentItems"]] == ["k0", "k6", "k5", "k4", "k3"]
    assert answer["recentItems"][0] == {
        "key": "k0",
        "category": "task",
        "priority": "critical",
        "updatedAt": "2026-03-01T09:30:08.000Z",
    }
    assert "• [critical] k0 (task)" in answer["text"]


@requirement("keeper-more.project-dir")
def test_a_project_directory_holds_for_later_items(call: Call, core: Core, tmp_path: Path) -> None:
    shop = commit(tmp_path / "shop", {"a.py": "1\n", "b.py": "1\n", "sub/c.py": "1\n"})
    write(shop, {"a.py": "2\n", "new.py": "x\n"})
    (shop / "b.py").unlink()
    core.caller.directory = str(tmp_path)
    before = call("context_save", key="before", value="x")
    answer = call("context_set_project_dir", projectDir="shop/sub")
    assert answer["sessionId"] == before["sessionId"]
    assert (answer["projectDir"], answer["isGitRepository"]) == (str(shop), True)
    assert answer["branch"] == "main"
    assert answer["status"] == {"modified": 1, "created": 0, "deleted": 1, "untracked": 1}
    call("context_save", key="after", value="x")
    found = core.engine.store.memories.find(Filter(), Page())
    assert {memory.key: memory.project for memory in found} == {"before": "/p", "after": str(shop)}
    plain = tmp_path / "plain"
    plain.mkdir()
    answer = call("context_set_project_dir", projectDir=str(plain))
    assert (answer["isGitRepository"], answer["branch"]) == (False, None)
    assert "No git repository" in answer["text"]


@requirement("keeper-more.project-dir")
def test_setting_the_project_starts_a_session(call: Call, tmp_path: Path) -> None:
    session = call("context_set_project_dir", projectDir=str(tmp_path))["sessionId"]
    assert call("context_status")["sessionId"] == session


@requirement("keeper-more.project-dir.errors")
def test_a_project_that_is_not_there_changes_nothing(call: Call, core: Core, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (str(tmp_path / "nobody"), str(tmp_path / "file")):
        assert code(call("context_set_project_dir", projectDir=path)) == "FILE_NOT_FOUND"
    assert code(call("context_set_project_dir", projectDir=" ")) == "INVALID_PARAMS"
    assert core.caller.project == "/p"
    assert call("context_session_list")["total"] == 0


@requirement("keeper-more.search-all")
@requirement("keeper-more.privacy")
def test_all_sessions_are_searched_with_the_rights_of_the_caller(
    call: Call, other: Call, clock: SteppedClock
) -> None:
    mine = call("context_session_start", name="Mine")["sessionId"]
    theirs = other("context_session_start", name="Theirs")["sessionId"]
    call("context_save", key="a", value="authentication uses JWT", channel="login", priority="high")
    clock.step()
    other("context_save", key="b", value="jwt authentication is slow", category="note")
    other("context_save", key="hidden", value="jwt authentication key", private=True)
    answer = call("context_search_all", query="jwt authentication")
    assert {(each["key"], each["sessionId"], each["sessionName"]) for each in answer["results"]} == {
        ("a", mine, "Mine"),
        ("b", theirs, "Theirs"),
    }
    assert (answer["totalCount"], answer["page"], answer["pageSize"], answer["hasMore"]) == (2, 1, 25, False)
    assert f"• [{theirs[:8]}] b: jwt authentication is slow" in answer["text"]

    def found(**arguments: Any) -> list[str]:
        answer = call("context_search_all", query="jwt", **arguments)
        return [each["key"] for each in answer["results"]]

    assert found(sort="created_desc") == found(sort="updated_desc") == found(sort="key_desc") == ["b", "a"]
    assert found(sort="created_asc") == found(sort="key_asc") == ["a", "b"]
    assert found(sessions=[theirs]) == ["b"]
    assert found(includeShared=False) == ["a"]
    assert found(category="note") == found(keyPattern="b*") == ["b"]
    assert found(channel="login") == found(channels=["login"]) == found(priorities=["high"]) == ["a"]
    assert found(createdAfter="2026-03-01T09:30:01Z") == ["b"]
    assert found(createdBefore="2026-03-01T09:30:01Z") == ["a"]
    assert found(searchIn=["key"]) == []
    detailed = call("context_search_all", query="jwt", includeMetadata=True, sort="key_asc", limit=1)
    assert (detailed["items"][0]["sessionName"], detailed["items"][0]["size"]) == ("Mine", 23)
    assert (detailed["hasMore"], detailed["nextOffset"], detailed["totalCount"]) == (True, 1, 2)
    assert call("context_search_all", query="jwt", limit=1, offset=1)["page"] == 2


@requirement("keeper-more.search-all")
@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"query": " "}, "INVALID_PARAMS"),
        ({"query": "x", "limit": 101}, "INVALID_PARAMS"),
        ({"query": "x", "limit": 0}, "INVALID_PARAMS"),
        ({"query": "x", "offset": -1}, "INVALID_PARAMS"),
        ({"query": "x", "sort": "colour"}, "INVALID_PARAMS"),
        ({"query": "x", "createdAfter": "soon"}, "INVALID_PARAMS"),
        ({"query": "x", "sessions": ["nobody"]}, "SESSION_NOT_FOUND"),
    ],
)
def test_a_wrong_search_is_refused(call: Call, arguments: dict[str, Any], wanted: str) -> None:
    assert code(call("context_search_all", **arguments)) == wanted


@requirement("keeper-more.compaction")
def test_a_compaction_is_prepared_with_a_checkpoint_and_no_new_item(call: Call) -> None:
    call("context_save", key="rule", value="Never log tokens.", priority="critical")
    call("context_save", key="jwt", value="Use JWT.", category="decision", priority="high")
    call("context_save", key="form", value="Build the form.", category="task")
    call("context_save", key="note", value="x", category="note")
    call("context_cache_file", filePath="a.py", content="x")
    answer = call("context_prepare_compaction")
    assert answer["checkpoint"].startswith("auto-compaction-2026-03-01T09:30:00")
    assert [item["key"] for item in answer["criticalItems"]] == ["rule", "jwt"]
    assert answer["criticalItems"][0]["value"] == "Never log tokens."
    assert [item["key"] for item in answer["decisions"]] == ["jwt"]
    assert [item["key"] for item in answer["unfinishedTasks"]] == ["form"]
    assert answer["nextSteps"] == ["Continue: form: Build the form."]
    assert answer["filesTracked"] == 1
    assert answer["summary"].count("jwt") == 1
    assert answer["gitBranch"] is None
    assert len(call("context_get")["items"]) == 4
    call("context_save", key="rule", value="changed")
    restore = answer["restore"]
    assert call(restore["tool"], **restore["arguments"])["restoredItems"] == 4
    assert call("context_get", key="rule")["items"][0]["value"] == "Never log tokens."


@requirement("keeper-more.compaction")
def test_a_summary_is_whole_lines_of_at_most_2000_characters(call: Call) -> None:
    items = [{"key": f"k{n}", "value": "word " * 40, "category": "decision"} for n in range(100)]
    call("context_batch_save", items=items)
    summary = call("context_prepare_compaction")["summary"]
    assert 1_500 < len(summary) <= 2_000
    assert all(line.startswith(("#", "- [decision] k")) for line in summary.splitlines())


@requirement("keeper-more.compaction")
def test_without_a_session_there_is_nothing_to_prepare(call: Call) -> None:
    answer = call("context_prepare_compaction")
    assert (answer["checkpoint"], answer["restore"], answer["nextSteps"]) == (None, None, [])
    assert call("context_session_list")["total"] == 0


@requirement("keeper-more.compaction.tasks")
@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("Build the form", True),
        ("The old form was abandoned", True),
        ("Check that done tasks are hidden", True),
        ("Undone: the form", True),
        ("✓ Build the form", False),
        ("Build the form ✓", False),
        ("[DONE] Build the form", False),
        ("Build the form [done]", False),
        ("done: Build the form", False),
        ("Completed the form", False),
        ("The form is completed.", False),
        ("List completed forms", True),
    ],
)
def test_a_task_is_done_when_it_is_marked_so(call: Call, text: str, is_open: bool) -> None:
    call("context_save", key="t", value=text, category="task")
    assert bool(call("context_prepare_compaction")["unfinishedTasks"]) == is_open


@requirement("keeper-more.compaction.next")
def test_the_next_session_takes_the_next_steps_up(call: Call, other: Call) -> None:
    session = call("context_save", key="form", value="Build the form.", category="task")["sessionId"]
    call("context_save", key="secret", value="Hidden work.", category="task", private=True)
    call("context_prepare_compaction")
    started = other("context_session_start", continueFrom=session)
    assert started["nextSteps"] == ["Continue: form: Build the form."]
    assert "Build the form." in other("brief")["text"]
    assert "nextSteps" not in other("context_session_start", name="Afresh")
