"""`backstory why FILE`: the story of a file, from sessions as Claude Code writes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ..conftest import open_sqlite
from ..doubles import make_memory
from ..processes import Json
from ..repositories import commit, git
from ..typed import Typing
from .claude_log import Log

FIRST = "11111111-0000-4000-8000-000000000001"
SECOND = "22222222-0000-4000-8000-000000000002"
ELSEWHERE = "33333333-0000-4000-8000-000000000003"
DAY = "Let's use a daily key for the walrus cache, because users come back daily."
HOUR = "I changed my mind: let's use an hourly key for the walrus cache, because prices change within a day."


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return commit(
        tmp_path / "shop", {"src/cache.py": "x = 1\n", "cache.py": "y = 1\n", "src/other.py": "z = 1\n"}
    )


@pytest.fixture
def typing(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typing:
    """A decision, an error and its cure, a commit; a day later the reversal; and a file of that name in another project."""
    user = tmp_path / "user"
    cache = str(shop / "src" / "cache.py")
    first = Log(FIRST, shop, "2026-01-02")
    first.say("user", DAY)
    first.call("Write", file_path=cache, content="x = 2\n")
    first.call("Bash", command="pytest", result="src/cache.py:2: TypeError: no day", is_error=True)
    first.call("Edit", file_path=cache, old_string="x = 2", new_string="x = 3")
    first.call("Bash", command="pytest", result="1 passed")
    first.answer("Shall I commit it?")
    first.say("user", "yes")
    first.call("Edit", file_path=cache, old_string="x = 3", new_string="x = 4")
    first.call("Bash", command="git commit -am Keys", result="[main abc1234] Key the cache by day")
    first.answer("It is committed.")
    first.write(user)
    second = Log(SECOND, shop, "2026-01-03")
    second.say("user", HOUR)
    second.call("Edit", file_path=cache, old_string="x = 4", new_string="x = 5")
    second.call("Edit", file_path=str(shop / "cache.py"), old_string="y = 1", new_string="y = 2")
    second.answer("Done.")
    second.write(user)
    elsewhere = Log(ELSEWHERE, tmp_path / "elsewhere", "2026-01-04")
    elsewhere.say("user", "Let's keep the heron cache in src/cache.py, because herons wait.")
    elsewhere.call("Write", file_path="src/cache.py", content="h = 1\n")
    elsewhere.answer("Done.")
    elsewhere.write(user)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(user))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(shop)
    (tmp_path / "ours").mkdir()
    command = Typing(tmp_path / "ours", monkeypatch, capsys)
    command.text("sync", "--reader", "claude-code")
    return command


def kinds(story: Json) -> list[str]:
    return [each["kind"] for each in story["events"]]


def test_the_story_is_told_in_the_order_of_time_and_each_line_can_be_opened(typing: Typing) -> None:
    story = typing.json("why", "src/cache.py")
    assert kinds(story) == ["decision", "failure", "prompt", "commit", "decision"]
    decided, failed, asked, committed, reversed_ = story["events"]
    assert (decided["text"], decided["edits"]) == (DAY, 2)
    assert failed["text"] == "`pytest`: src/cache.py:2: TypeError: no day"
    assert failed["outcome"] == "passed after an edit of this file"
    assert (asked["text"], asked["answers"]) == ("yes", "Shall I commit it?")
    assert committed["text"] == "[main abc1234] Key the cache by day"
    assert reversed_["text"] == HOUR
    assert (story["path"], story["paths"], story["total"]) == ("src/cache.py", ["src/cache.py"], 5)
    for each in story["events"]:
        assert typing.text("show", each["id"])
    assert "users come back daily" in typing.text("show", decided["id"])


def test_a_superseded_decision_says_by_what_and_both_give_their_reasons(typing: Typing) -> None:
    events = typing.json("why", "src/cache.py")["events"]
    former, latter = events[0], events[-1]
    assert (former["state"], latter["state"]) == ("superseded", "in_force")
    assert former["superseded_by"] == {
        "id": latter["id"],
        "text": HOUR,
        "reason": "because prices change within a day.",
    }
    assert latter["supersedes"] == [
        {"id": former["id"], "text": DAY, "reason": "because users come back daily."}
    ]
    text = typing.text("why", "src/cache.py")
    assert f"superseded by {latter['id']}" in text
    assert f"replaces {former['id']}" in text


def test_a_pipe_gets_one_line_for_each_event_after_the_path(typing: Typing) -> None:
    path, *lines = typing.text("why", "src/cache.py").splitlines()
    assert path == "src/cache.py"
    assert [line.split()[:3] for line in lines] == [
        ["2026-01-02", "11111111#1", "decided"],
        ["2026-01-02", "11111111#1", "failed"],
        ["2026-01-02", "11111111#3", "asked"],
        ["2026-01-02", "11111111#3", "committed"],
        ["2026-01-03", "22222222#1", "decided"],
    ]


def test_a_file_of_another_project_never_appears(typing: Typing, tmp_path: Path) -> None:
    assert "heron" not in typing.text("why", "src/cache.py")
    everywhere = typing.text("why", "src/cache.py", "--project", "*")
    assert "heron" in everywhere
    assert "walrus" in everywhere
    (tmp_path / "elsewhere").mkdir()
    other = typing.json("why", "src/cache.py", "--project", str(tmp_path / "elsewhere"))
    assert [each["id"] for each in other["events"]] == ["33333333#1"]


def test_a_file_of_the_same_name_in_another_folder_has_its_own_story(
    typing: Typing, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kinds(typing.json("why", "cache.py")) == [
        "decision",
        "decision",
    ]  # the reversal, and what it reverses
    monkeypatch.chdir(shop / "src")
    assert typing.json("why", "cache.py")["path"] == "src/cache.py"
    shutil.rmtree(shop / "src")
    monkeypatch.chdir(shop)
    assert kinds(typing.json("why", str(shop / "src" / "cache.py"))) == kinds(
        typing.json("why", "src/cache.py")
    )


def test_forgetting_a_conversation_removes_its_lines_and_what_it_superseded_holds_again(
    typing: Typing,
) -> None:
    typing.text("forget", f"claude-code:{SECOND}", "--yes")
    events = typing.json("why", "src/cache.py")["events"]
    assert {each["session"] for each in events} == {f"claude-code:{FIRST}"}
    assert (events[0]["state"], events[0]["superseded_by"]) == ("in_force", None)


def test_saved_memories_are_told_with_what_they_said_before_and_private_ones_are_not(
    typing: Typing, shop: Path
) -> None:
    store = open_sqlite(typing.home / "store.db")
    store.memories.put(
        [
            make_memory("b" * 24, "Never log src/cache.py keys.", project=str(shop), category="preference"),
            make_memory("c" * 24, "src/cache.py is secret", project=str(shop), private=True, session="s"),
            make_memory("d" * 24, "src/cache.py of another", project="/elsewhere"),
        ]
    )
    store.close()
    typing.text("edit", "b" * 24, "--text", "Log src/cache.py keys only when testing.")
    saved = [each for each in typing.json("why", "src/cache.py")["events"] if each["memory"]]
    assert [(each["kind"], each["state"], each["text"]) for each in saved] == [
        ("preference", "superseded", "Never log src/cache.py keys."),
        ("preference", "in_force", "Log src/cache.py keys only when testing."),
    ]
    assert saved[0]["superseded_by"]["id"] == "b" * 10


def test_a_limit_keeps_decisions_before_other_events_and_all_shows_everything(typing: Typing) -> None:
    story = typing.json("why", "src/cache.py", "--limit", "3")
    assert (kinds(story), story["total"]) == (["decision", "commit", "decision"], 5)
    status, _, hints = typing.run("why", "src/cache.py", "--limit", "3")
    assert (status, "2 more events; --all shows all." in hints) == (0, True)
    assert len(typing.json("why", "src/cache.py", "--limit", "3", "--all")["events"]) == 5


def test_what_nothing_is_known_of_is_said(typing: Typing, shop: Path) -> None:
    assert typing.text("why", "src/none.py") == "Nothing is known of src/none.py.\n"
    assert typing.text("why", "src/other.py") == "Nothing is known of src/other.py.\n"
    assert "file is empty" in typing.refusal("why", "/", status=2)


def test_a_commit_that_git_knows_and_that_left_the_file_alone_is_not_told(
    typing: Typing, tmp_path: Path, shop: Path
) -> None:
    (shop / "src" / "other.py").write_text("z = 2\n", "utf-8")
    git(shop, "commit", "-qam", "Other things")
    other = git(shop, "rev-parse", "--short", "HEAD").strip()
    (shop / "src" / "cache.py").write_text("x = 9\n", "utf-8")
    git(shop, "commit", "-qam", "Cache things")
    own = git(shop, "rev-parse", "--short", "HEAD").strip()
    log = Log("44444444-0000-4000-8000-000000000004", shop, "2026-01-05")
    log.say("user", "tidy up")
    log.call("Edit", file_path=str(shop / "src" / "cache.py"), old_string="x = 5", new_string="x = 9")
    log.call("Bash", command="git commit -m Other", result=f"[main {other}] Other things")
    log.call("Bash", command="git commit -m Cache", result=f"[main {own}] Cache things")
    log.answer("Done.")
    log.write(tmp_path / "user")
    typing.text("sync", "--reader", "claude-code")
    commits = [
        each["text"] for each in typing.json("why", "src/cache.py")["events"] if each["kind"] == "commit"
    ]
    assert commits == ["[main abc1234] Key the cache by day", f"[main {own}] Cache things"]
