"""`backstory blame`: from a line to the conversation of an assistant, over a repository and its real log."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ..repositories import commit, git
from ..typed import Typing
from .claude_log import Log

SESSION = "11111111-0000-4000-8000-000000000001"
OTHER = "22222222-0000-4000-8000-000000000002"
CACHE = "def key(user, day):\n    return f'{user}:{day}'\n\n\ndef clear(store):\n    store.clear()\n"
FIXED = "    return f'{user}:{day.isoformat()}'\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository: what a person wrote, what two sessions added, and a line that nobody committed."""
    root = commit(tmp_path / "shop", {"README.md": "# A shop of walruses\n"})
    (root / "src").mkdir()
    (root / "src" / "cache.py").write_text(CACHE.replace(CACHE.splitlines(keepends=True)[1], FIXED), "utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Cache keys")
    with (root / "src" / "cache.py").open("a") as file:
        file.write("\n# by hand\n")
    return root


@pytest.fixture
def typing(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typing:
    user = tmp_path / "user"
    first = Log(SESSION, shop, "2026-01-02")
    first.say("user", "please cache by day")
    first.say("assistant", [{"type": "text", "text": "We decided to key the cache by day in src/cache.py."}])
    first.call("Write", file_path=str(shop / "src" / "cache.py"), content=CACHE)
    first.write(user)
    second = Log(OTHER, shop, "2026-01-03")
    second.say("user", "keys differ between machines")
    second.call(
        "Edit", file_path="src/cache.py", old_string=CACHE.splitlines()[1], new_string=FIXED.rstrip("\n")
    )
    second.call("Bash", command="sed -i s/x/y/ README.md")
    second.call("Bash", command="pytest", result="src/cache.py:2: TypeError", is_error=True)
    second.write(user)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(user))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(shop)
    (tmp_path / "ours").mkdir()
    command = Typing(tmp_path / "ours", monkeypatch, capsys)
    command.text("sync", "--reader", "claude-code")
    return command


def traced(typing: Typing, file: str) -> list[tuple[str | None, str | None]]:
    lines = typing.json("blame", file)["lines"]
    return [(line["session"] and line["session"]["name"], line["sureness"]) for line in lines]


def test_each_line_is_traced_to_the_session_that_wrote_it(typing: Typing) -> None:
    first, second, nobody = ("11111111", "exact"), ("22222222", "exact"), (None, None)
    assert traced(typing, "src/cache.py") == [first, second, first, first, first, first, nobody, nobody]
    text = typing.text("blame", "src/cache.py")
    assert "6 of 8 lines were written by an assistant." in text
    assert "7-8  -           -                        -      not committed" in text


def test_a_line_names_commit_session_message_and_prompt(typing: Typing) -> None:
    (line,) = typing.json("blame", "src/cache.py:2")["lines"]
    assert line["commit"]["subject"] == "Cache keys"
    assert line["session"]["prompt"] == "keys differ between machines"
    shown = typing.text("blame", "src/cache.py:2")
    assert "keys differ between machines" in shown
    name = next(word for word in shown.split() if word.startswith("22222222#"))
    assert "wrote src/cache.py" in typing.text("show", name)
    assert "not committed" in typing.text("blame", "src/cache.py:8")
    assert "No assistant is known" in typing.text("blame", "src/cache.py:8")


def test_what_a_command_wrote_is_traced_by_time_and_said_to_be(typing: Typing, shop: Path) -> None:
    assert traced(typing, "README.md") == [(None, None)]  # committed long after
    (shop / "README.md").write_text("# A yard\n")
    assert traced(typing, "README.md") == [("22222222", "by time")]
    (shop / "README.md").write_text("# A yard\n\n")
    text = " ".join(typing.text("blame", "README.md").split())
    assert "0 of 2 lines were written by an assistant. 2 more lines are likely an assistant's" in text


def test_what_is_kept_serves_when_the_assistants_files_are_gone(typing: Typing, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "user")
    assert traced(typing, "src/cache.py:1-2") == [("11111111", "exact"), ("22222222", "exact")]


def test_a_moved_file_keeps_its_authors(typing: Typing, shop: Path) -> None:
    git(shop, "checkout", "-q", "--", "src/cache.py")
    git(shop, "mv", "src/cache.py", "src/keys.py")
    git(shop, "commit", "-qm", "Keys")
    assert [name for name, _ in traced(typing, "src/keys.py:1-2")] == ["11111111", "22222222"]


@pytest.mark.parametrize(
    ("file", "said", "status"),
    [
        ("src/none.py", "There is no file", 1),
        ("src/cache.py:99", "cache.py has 8 lines.", 2),
        ("src/cache.py:0", "cache.py has 8 lines.", 2),
        (".git/index", "is not a text", 2),
        ("src", "cannot be read", 1),
    ],
)
def test_what_cannot_be_blamed_is_said(typing: Typing, file: str, said: str, status: int) -> None:
    assert said in typing.refusal("blame", file, status=status)
