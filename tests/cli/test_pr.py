"""`backstory pr`: a range of commits, explained by the sessions that wrote it."""

from __future__ import annotations

from pathlib import Path

from ..repositories import git
from ..typed import Typing
from .claude_log import Log
from .test_blame import OTHER, SESSION, shop, typing

__all__ = ["shop", "typing"]


def test_each_hunk_names_its_session_and_what_none_explains_is_said(typing: Typing, shop: Path) -> None:
    git(shop, "commit", "-qam", "By hand")
    sessions = [
        (each["file"], each["line"], each["session"]) for each in typing.json("pr", "HEAD~2..HEAD")["hunks"]
    ]
    assert sessions == [("src/cache.py", 1, f"claude-code:{SESSION}")]
    (by_hand,) = typing.json("pr", "HEAD")["hunks"]
    assert (by_hand["line"], by_hand["added"], by_hand["session"]) == (7, 2, None)
    text = typing.text("pr", "HEAD")
    assert text.startswith(
        "## Why this change\n\n1 hunk: 0 written in 0 sessions, 1 explained by no session.\n"
    )
    assert "- lines 7–8: no session explains this." in text


def test_the_prompt_the_decision_and_the_session_are_told(typing: Typing, shop: Path) -> None:
    text = typing.text("pr", "HEAD")
    assert "`11111111#2` (2026-01-02): “please cache by day”" in text
    assert "We decided to key the cache by day in src/cache.py." in text
    assert "- `11111111` Claude Code, 2026-01-02: please cache by day" in text


def test_removed_lines_are_traced_to_the_edit_that_removed_them(typing: Typing, shop: Path) -> None:
    cache = shop / "src" / "cache.py"
    git(shop, "checkout", "-q", "--", "src/cache.py")
    old = "    return f'{user}:{day}'"
    cache.write_text(f"{old}\n{cache.read_text()}", "utf-8")
    git(shop, "commit", "-qam", "again")
    cache.write_text(cache.read_text().replace(f"{old}\n", "", 1), "utf-8")
    git(shop, "commit", "-qam", "without")
    (hunk,) = typing.json("pr", "HEAD")["hunks"]
    assert (hunk["added"], hunk["removed"], hunk["session"]) == (0, 1, f"claude-code:{OTHER}")


def test_a_line_that_came_back_is_explained_by_who_brought_it_back(
    typing: Typing, shop: Path, tmp_path: Path
) -> None:
    cache = shop / "src" / "cache.py"
    git(shop, "checkout", "-q", "--", "src/cache.py")
    line = "def clear(store):"
    whole = cache.read_text()
    cache.write_text(whole.replace(f"{line}\n", ""), "utf-8")
    git(shop, "commit", "-qam", "without", "--date=2026-02-01T00:00:00Z")
    third = Log("33333333-0000-4000-8000-000000000003", shop, "2026-02-02")
    third.say("user", "the function lost its head")
    third.call(
        "Edit", file_path=str(cache), old_string="    store.clear()", new_string=f"{line}\n    store.clear()"
    )
    third.write(tmp_path / "user")
    typing.text("sync", "--reader", "claude-code")
    cache.write_text(whole, "utf-8")
    git(shop, "commit", "-qam", "with", "--date=2026-02-03T00:00:00Z")
    (hunk,) = typing.json("pr", "HEAD")["hunks"]
    assert (hunk["session"], hunk["prompt"]) == (f"claude-code:{third.session}", "the function lost its head")


def test_without_a_range_the_branch_is_compared_with_the_shared_one(
    typing: Typing, shop: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(shop), "origin.git")
    git(shop, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(shop, "fetch", "-q", "origin")
    git(shop, "checkout", "-qb", "topic")
    git(shop, "commit", "-qam", "By hand")
    body = typing.json("pr")
    assert [(each["file"], each["session"]) for each in body["hunks"]] == [("src/cache.py", None)]


def test_what_is_no_range_is_said(typing: Typing, shop: Path) -> None:
    assert "There is no commit 'nothing'" in typing.refusal("pr", "nothing..HEAD", status=2)
    assert "not a range of commits" in typing.refusal("pr", "--", "--output=x", status=2)
