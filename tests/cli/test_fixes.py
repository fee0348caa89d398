"""`backstory fix` and `backstory how`: what made an error pass, and which commands worked, for people and for programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from backstory.__main__ import main

from ..core.test_failures import edited, failed, log_of, passed
from ..processes import environment
from ..typed import typed

ERROR = "error: Cannot find module 'left-pad' required by the bundler"


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """A home in which one session met an error and solved it."""
    project = tmp_path / "shop"
    project.mkdir()
    calls = (
        failed("npm run build", ERROR),
        edited("src/a.ts"),
        passed("npm i left-pad"),
        passed("npm run build"),
    )
    log = tmp_path / "user" / ".claude" / "projects" / "shop" / "aaaa1111.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(log_of("aaaa1111", calls, directory=str(project)), "utf-8")
    settings = {
        "HOME": str(tmp_path / "user"),
        "BACKSTORY_EMBEDDINGS": "off",
        "BACKSTORY_PROJECT": str(project),
    }
    assert typed("sync", home=tmp_path / "ours", **settings).returncode == 0
    return settings


def test_fix_tells_programs_where_the_error_was_met_and_what_made_it_pass(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    answer = typed("fix", f"npm says\n{ERROR}", "--json", home=tmp_path / "ours", **settings)
    assert answer.returncode == 0
    (fix,) = json.loads(answer.stdout)["answers"]
    assert fix == {
        "match": "same",
        "kind": "edit",
        "error": [ERROR],
        "command": "npm run build",
        "exit_code": 1,
        "conversation": "claude-code:aaaa1111",
        "message": "claude-code:aaaa1111/maaaa1111-0#tool",
        "number": 1,
        "project": str(tmp_path / "shop"),
        "at": "2026-01-02T10:00:00.000Z",
        "fix": {"edits": [{"file": "src/a.ts"}], "commands": ["npm i left-pad"], "passed": "npm run build"},
    }
    shown = typed("fix", ERROR, home=tmp_path / "ours", **settings).stdout
    assert shown.startswith("The same error aaaa1111#1, 2026-01-02 10:00 in shop\n")
    assert "`npm run build` passed after edits of src/a.ts." in shown


def test_fix_reads_standard_input_and_says_similar_of_a_loose_match(
    tmp_path: Path,
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment(tmp_path / "ours", **settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", io.StringIO(ERROR.replace("left", "right")))
    monkeypatch.setattr("sys.argv", ["backstory", "fix", "-", "--json", "--project", "shop"])
    assert main() == 0
    assert [each["match"] for each in json.loads(capsys.readouterr().out)["answers"]] == ["similar"]


def test_fix_and_how_exit_with_1_when_there_is_nothing(tmp_path: Path, settings: dict[str, str]) -> None:
    for words in (("fix", "error: never met before"), ("how", "deploy")):
        plain = typed(*words, home=tmp_path / "ours", **settings)
        assert (plain.returncode, bool(plain.stdout)) == (1, True)
        document = typed(*words, "--json", home=tmp_path / "ours", **settings)
        assert (document.returncode, json.loads(document.stdout)) == (1, {"answers": []})
    refused = typed("fix", " ", home=tmp_path / "ours", **settings)
    assert refused.returncode != 0
    assert "The error text is empty." in refused.stderr


def test_how_lists_commands_that_passed(tmp_path: Path, settings: dict[str, str]) -> None:
    answer = typed("how", "build", "--json", home=tmp_path / "ours", **settings)
    assert json.loads(answer.stdout)["answers"] == [
        {
            "command": "npm run build",
            "passed": 1,
            "failed": 1,
            "last_at": "2026-01-02T10:03:00.000Z",
            "conversation": "claude-code:aaaa1111",
        }
    ]
    shown = typed("how", "do", "the", "build", home=tmp_path / "ours", **settings).stdout
    assert shown.splitlines() == [
        "npm run build",
        "   passed 1 time, failed 1 time, last on 2026-01-02 in aaaa1111",
    ]
