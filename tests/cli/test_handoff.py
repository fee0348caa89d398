"""`resume --in`, `handoff`, `share`, `unshare` and `team`, as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.store import Store

from ..repositories import commit, git
from ..typed import Typing
from .conftest import CLAUDE, CODEX, MEMORY

pytestmark = pytest.mark.usefixtures("ann")


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any assistant, so that nothing of whoever runs the tests is touched."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "user"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "user"


def test_resume_in_another_assistant_says_what_it_wrote_and_how_to_undo_it(
    typing: Typing, user: Path, tmp_path: Path
) -> None:
    status, line, notes = typing.run("resume", "1af7fc5e", "--in", "codex")
    (path,) = user.rglob("rollout-*.jsonl")
    assert status == 0
    session = path.stem[-36:]
    assert line == f"cd {tmp_path} && codex resume {session}\n"
    assert f"Wrote {path}. To undo it, delete that file." in notes
    assert "4 messages of claude-code:1af7fc5e" in notes
    assert path.stat().st_mode & 0o777 == 0o600
    body = typing.json("resume", "1af7fc5e", "--in", "claude")
    assert set(body) == {
        "id", "in", "method", "session", "wrote", "prepare", "command", "directory", "line", "messages", "left_out", "tokens"
    }  # fmt: skip
    assert (body["id"], body["in"], body["method"]) == (CLAUDE, "claude-code", "native")
    assert [Path(path).exists() for path in body["wrote"]] == [True]


def test_a_dry_run_writes_nothing(typing: Typing, user: Path, filled: Store) -> None:
    body = typing.json("resume", "1af7fc5e", "--in", "gemini", "--dry-run")
    assert body["wrote"] == []
    assert not user.exists()
    assert not (typing.home / "handoff").exists()
    assert filled.handoffs.all() == []


def test_a_deleted_directory_and_an_unknown_assistant_are_said(typing: Typing, tmp_path: Path) -> None:
    assert "--directory" in typing.refusal("resume", CODEX, "--in", "claude", status=1)
    assert "There is no assistant 'emacs'" in typing.refusal("resume", "1af7fc5e", "--in", "emacs")
    assert "at least 4000" in typing.refusal("resume", "1af7fc5e", "--in", "codex", "--tokens", "10")


def test_handoff_prints_the_conversation_for_any_tool(typing: Typing) -> None:
    text = typing.text("handoff", "1af7fc5e")
    assert text.startswith("[Backstory] This conversation was held in Claude Code")
    assert "## User\n\nwhy does it miss?\n\n## Claude Code\n\nThe key has a date." in text
    assert "[edited /w/shop/cache.py]" in text
    assert "\x1b" not in text


def test_a_memory_is_shared_listed_checked_and_withdrawn(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = commit(tmp_path / "shop", {"README.md": "shop\n"})
    monkeypatch.chdir(root)
    (path,) = typing.json("share", MEMORY[:10])["wrote"]
    assert (root / path).read_text().startswith(f"---\nid: {MEMORY}\nkind: decision\n")
    assert [each["state"] for each in typing.json("team")["memories"]] == ["proposed"]
    assert typing.text("team", "check") == "No problems.\n"
    git(root, "add", "-A")
    git(root, "commit", "-qm", "share", "--author=Bea <bea@example.org>")
    assert typing.json("team")["trusted"] is False
    trusted = typing.json("team", "trust")
    assert [(each["state"], each["by"]) for each in trusted["memories"]] == [("team", "Bea")]
    assert "(team, Bea) Deploy on Tuesdays only" in typing.text("brief")
    team_memory = json.loads(typing.text("list", "--project", ".", "--json"))["memories"][0]
    assert team_memory["trust"] == "team"
    assert "Deploy on Tuesdays" in typing.text("show", team_memory["id"])
    assert path in typing.refusal("edit", team_memory["id"], "--text", "Never deploy.", status=1)
    assert typing.json("unshare", MEMORY)["removed"] == path
    typing.text("team", "distrust")
    assert "(team" not in typing.text("brief")
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("---\nid: abcd\nkind: wish\ndate: 2026-01-01\n---\n# A wish\n")
    status, out, _ = typing.run("team", "check")
    assert (status, out) == (1, f"{path}:2: kind must be one of decision, fact, convention, warning.\n")
