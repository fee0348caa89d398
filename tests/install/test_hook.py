"""The hook as clients run it: alone, under `python -I -S`, and silent unless it has something to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backstory.clients.hooks import SOURCE
from backstory.core.brief.files import BriefFiles

from ..patience import PATIENCE_S
from ..processes import serving
from ..repositories import git

TEXT = '<backstory project="p" made="2026-01-02">\nOpen:\n- é\n</backstory>'
CONTINUED = '<backstory project="p" made="2026-01-02">\nOpen:\n</backstory>'
LAST = 1_700_000_000_000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    (folder / "inside").mkdir(parents=True)
    (folder / ".git").mkdir()
    body = {"project": str(folder), "basis": "1:1", "last_at": LAST, "text": TEXT, "continued": CONTINUED}
    BriefFiles(tmp_path / "data").write(str(folder), body)
    return folder


def hook(tmp_path: Path, event: Any, client: str = "claude-code", **variables: str) -> str:
    """What it prints. However it fares, it succeeds and says nothing else."""
    given = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SOURCE), client, str(tmp_path / "data")],
        input=given,
        env={"BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S), **variables},
        cwd=tmp_path,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def start(directory: Path, **fields: Any) -> dict[str, Any]:
    return {"cwd": str(directory), "hook_event_name": "SessionStart", "source": "startup"} | fields


def context(printed: str) -> str:
    body = json.loads(printed)["hookSpecificOutput"]
    assert body["hookEventName"] == "SessionStart"
    text: str = body["additionalContext"]
    return text


def test_a_new_session_is_given_the_brief_of_its_project(tmp_path: Path, project: Path) -> None:
    assert context(hook(tmp_path, start(project))) == TEXT
    assert context(hook(tmp_path, start(project / "inside", source="clear"))) == TEXT
    assert context(hook(tmp_path, start(project), "gemini-cli")) == TEXT


def test_a_worktree_is_given_the_brief_of_the_first_checkout(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    git(first, "init", "-q")
    git(first, "commit", "-q", "--allow-empty", "-m", "x")
    git(first, "worktree", "add", "-q", str(second))
    body = {"project": str(first.resolve()), "basis": "", "last_at": 0, "text": TEXT, "continued": ""}
    BriefFiles(tmp_path / "data").write(str(first.resolve()), body)
    assert context(hook(tmp_path, start(second))) == TEXT


def test_cursor_and_opencode_get_it_in_their_own_way(tmp_path: Path, project: Path) -> None:
    event = {"workspace_roots": [str(project)], "conversation_id": "c", "hook_event_name": "sessionStart"}
    assert json.loads(hook(tmp_path, event, "cursor")) == {"additional_context": TEXT}
    assert hook(tmp_path, {"cwd": str(project)}, "opencode") == TEXT + "\n"


def test_before_a_compaction_the_summariser_is_asked_to_keep_what_counts(
    tmp_path: Path, project: Path
) -> None:
    event = {"cwd": str(project), "hook_event_name": "PreCompact", "trigger": "auto"}
    line = hook(tmp_path, event)
    assert line.count("\n") == 1
    assert "decisions" in line
    assert "open items" in line


def test_after_a_compaction_only_what_is_open_and_decided_is_told(tmp_path: Path, project: Path) -> None:
    for _ in range(2):  # each one made the session forget
        assert context(hook(tmp_path, start(project, source="compact", session_id="s"))) == CONTINUED


def test_the_same_brief_is_given_to_a_session_once(tmp_path: Path, project: Path) -> None:
    assert context(hook(tmp_path, start(project, session_id="s"))) == TEXT
    assert hook(tmp_path, start(project, session_id="s")) == ""
    assert hook(tmp_path, start(project, session_id="s", source="resume")) == ""
    assert context(hook(tmp_path, start(project, session_id="../../other"))) == TEXT
    given = tmp_path / "data" / "briefs" / "given"
    assert sorted(path.name for path in given.iterdir()) == ["other", "s"]


def test_it_notes_what_it_told_word_for_word(tmp_path: Path, project: Path) -> None:
    for source in ("startup", "resume", "compact"):  # who resumes knows it
        hook(tmp_path, start(project, session_id="s", source=source))
    told = list(BriefFiles(tmp_path / "data").injections({}))
    assert [(each.session, each.project, each.text) for each in told] == [
        ("s", str(project), TEXT),
        ("s", str(project), CONTINUED),
    ]
    assert list(BriefFiles(tmp_path / "data").injections({"s": told[-1].given_at})) == []


@pytest.mark.parametrize(
    ("silence_s", "is_told"), [(60, False), (3601, False), (10 * 365 * 86400, True), (None, True)]
)
def test_who_resumes_is_told_what_happened_since(
    tmp_path: Path, project: Path, silence_s: int | None, is_told: bool
) -> None:
    known = {} if silence_s is None else {"seconds_since_last_response": silence_s}
    assert bool(hook(tmp_path, start(project, source="resume", session_id="s", **known))) == is_told


@pytest.mark.parametrize(
    "variables",
    [
        {"BACKSTORY_BRIEF": "off"},
        {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
        {"CLAUDE_CODE_SESSION_ATTENDED": "0"},
        {"CI": "true"},
    ],
)
def test_it_is_silent_where_nobody_wants_it(tmp_path: Path, project: Path, variables: dict[str, str]) -> None:
    assert hook(tmp_path, start(project), **variables) == ""


def test_an_unattended_run_is_told_when_asked_for(tmp_path: Path, project: Path) -> None:
    assert context(hook(tmp_path, start(project), CI="true", BACKSTORY_BRIEF="on")) == TEXT


def test_a_subagent_is_told_nothing(tmp_path: Path, project: Path) -> None:
    assert hook(tmp_path, start(project, agent_id="a1")) == ""


@pytest.mark.parametrize("line", ["brief_off = ['{}']", "brief_off = '{}'", "brief = 'off'", "brief_off = ["])
def test_a_project_that_the_configuration_excepts_is_told_nothing(
    tmp_path: Path, project: Path, line: str
) -> None:
    (tmp_path / "data" / "config.toml").write_text(line.replace("{}", str(project)))
    assert hook(tmp_path, start(project)) == ""


def test_the_variable_wins_over_the_configuration(tmp_path: Path, project: Path) -> None:
    (tmp_path / "data" / "config.toml").write_text("brief = 'off'")
    assert context(hook(tmp_path, start(project), BACKSTORY_BRIEF="on")) == TEXT


@pytest.mark.parametrize("event", [b"", b"{", b"[]", b'{"cwd": 3}', b"\xff", b'{"cwd": "/nowhere"}'])
def test_whatever_is_wrong_it_is_silent(tmp_path: Path, project: Path, event: bytes) -> None:
    assert hook(tmp_path, event) == ""


def test_a_project_that_is_not_known_is_told_nothing(tmp_path: Path, project: Path) -> None:
    assert hook(tmp_path, start(tmp_path)) == ""
    path = BriefFiles(tmp_path / "data").path(str(project))
    path.write_text(path.read_text().replace(str(project), "/another/of/this/name"))
    assert hook(tmp_path, start(project)) == ""
    path.write_text("no JSON")
    assert hook(tmp_path, start(project)) == ""


def test_it_gives_up_when_its_input_does_not_come(tmp_path: Path, project: Path) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-I", "-S", str(SOURCE), "claude-code", str(tmp_path / "data")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={},
    )
    with waiting:
        assert waiting.wait(PATIENCE_S) == 0
        assert waiting.stdout is not None
        assert waiting.stdout.read() == b""


def test_it_imports_next_to_nothing(tmp_path: Path, project: Path) -> None:
    """Python itself takes 15 ms, and `json` as much again, for its `re`."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", str(SOURCE), "claude-code", str(tmp_path / "data")],
        input=json.dumps(start(project)).encode(),
        env={"BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S)},
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert context(done.stdout.decode()) == TEXT
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "_json" in imported
    assert not imported & {
        "json",
        "re",
        "enum",
        "typing",
        "tomllib",
        "signal",
        "hashlib",
        "subprocess",
        "pathlib",
        "dataclasses",
    }


def test_without_a_data_directory_it_looks_in_the_usual_place(tmp_path: Path, project: Path) -> None:
    (tmp_path / "share").mkdir()
    os.rename(tmp_path / "data", tmp_path / "share" / "backstory")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SOURCE), "claude-code"],
        input=json.dumps(start(project)).encode(),
        env={
            "BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S),
            "XDG_DATA_HOME": str(tmp_path / "share"),
            "HOME": str(tmp_path),
        },
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert context(done.stdout.decode()) == TEXT


def test_an_alarm_that_comes_while_the_hook_ends_does_not_kill_it(tmp_path: Path, project: Path) -> None:
    """At some of these times it has printed and Python is on its way out."""
    for tenth_ms in range(5, 105):
        hook(tmp_path, start(project), BACKSTORY_BRIEF_TIMEOUT_S=f"{tenth_ms / 10_000}")


@pytest.mark.parametrize(
    ("surface", "tool", "arguments"),
    [
        ("backstory", "remember", {"text": "Walruses sleep on port 9090.", "kind": "decision"}),
        (
            "memory-keeper",
            "context_save",
            {"key": "k", "value": "Walruses sleep on port 9090.", "category": "decision"},
        ),
        (
            "session-mgmt",
            "store_reflection",
            {"content": "Walruses sleep on port 9090.", "tags": ["decision"]},
        ),
    ],
)
def test_what_was_saved_just_before_the_client_left_is_in_the_brief_of_the_next_session(
    tmp_path: Path, surface: str, tool: str, arguments: dict[str, Any]
) -> None:
    folder = (tmp_path / "shop").resolve()
    folder.mkdir()
    git(folder, "init", "-q")
    variables = {"BACKSTORY_HISTORIES": "off"}
    words = ("--surfaces", surface, "--project", str(folder))
    with serving(tmp_path / "data", *words, variables=variables) as server:
        server.greet()
        server.ask("tools/call", {"name": tool, "arguments": arguments})
    assert "Walruses sleep on port 9090." in context(hook(tmp_path, start(folder)))
