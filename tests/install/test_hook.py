"""The hook as clients run it: alone, under `python -I -S`, and silent unless it has something to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backstory.clients.hook import (
    DEFAULT_LIMIT_S,
    FAILURE,
    MAX_FRUITLESS_READINGS,
    STARTS,
    WATCH,
    question,
    unread,
)
from backstory.clients.hooks import SOURCE
from backstory.core.brief.files import BriefFiles

from ..patience import PATIENCE_S
from ..processes import run, serving
from ..repositories import git

TEXT = '<backstory project="p" made="2026-01-02">\nOpen:\n- é\n</backstory>'
CONTINUED = '<backstory project="p" made="2026-01-02">\nOpen:\n</backstory>'
NOTE = '<backstory file="app.py">Recorded memory: 2026-01-02 decided: Port 9090. (id-1)</backstory>'
LAST = 1_700_000_000_000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    (folder / "inside").mkdir(parents=True)
    (folder / ".git").mkdir()
    notes = {"src/app.py": {"text": NOTE, "certainty": 0.9}}
    body = {
        "project": str(folder),
        "basis": "1:1",
        "last_at": LAST,
        "text": TEXT,
        "continued": CONTINUED,
        "files": notes,
    }
    BriefFiles(tmp_path / "data").write(str(folder), body)
    return folder


def hook(
    tmp_path: Path, event: Any, client: str = "claude-code", words: Sequence[str] = (), **variables: str
) -> str:
    """What it prints. However it fares, it succeeds and says nothing else."""
    given = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SOURCE), client, str(tmp_path / "data"), *words],
        input=given,
        env={"BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S), **nobody(tmp_path), **variables},
        cwd=tmp_path,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def nobody(folder: Path) -> dict[str, str]:
    """Whose histories a hook may have read."""
    return dict.fromkeys(("HOME", "USERPROFILE"), str(folder / "nobody"))


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


PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** End Patch\nEOF"


@pytest.mark.parametrize(
    ("client", "fields"),
    [
        (
            "claude-code",
            {
                "hook_event_name": "PreToolUse",
                "tool_name": "Edit",
                "tool_input": {"file_path": "{}/src/app.py"},
            },
        ),
        ("codex", {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": PATCH}}),
        (
            "codex",
            {"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": PATCH}},
        ),
        ("copilot-cli", {"toolName": "edit", "toolArgs": {"path": "{}/src/app.py"}}),
        ("copilot-cli", {"toolName": "create", "toolArgs": '{"path": "src/app.py"}'}),
    ],
)
def test_before_a_file_changes_what_is_known_of_it_is_told_once_in_a_session(
    tmp_path: Path, project: Path, client: str, fields: dict[str, Any]
) -> None:
    given = json.loads(json.dumps(fields).replace("{}", str(project)))
    name = "sessionId" if client == "copilot-cli" else "session_id"
    event = {"cwd": str(project), name: "s", **given}
    printed = json.loads(
        hook(tmp_path, event, client, words=["preToolUse"] if client == "copilot-cli" else [])
    )
    body = printed if client == "copilot-cli" else printed["hookSpecificOutput"]
    assert body["additionalContext"] == NOTE
    assert hook(tmp_path, event, client, words=["preToolUse"] if client == "copilot-cli" else []) == ""
    (receipt,) = BriefFiles(tmp_path / "data").injections({})
    assert (receipt.event, receipt.subject, receipt.certainty) == ("PreToolUse", "src/app.py", 0.9)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"file_path": "src/other.py"}),
        ("Edit", {"file_path": "/elsewhere/src/app.py"}),
        ("Edit", {"file_path": "app.py"}),
        ("Read", {"file_path": "src/app.py"}),
        ("Bash", {"command": "cat src/app.py"}),
        ("Edit", {}),
    ],
)
def test_of_another_file_and_to_who_only_reads_nothing_is_told(
    tmp_path: Path, project: Path, tool: str, given: dict[str, str]
) -> None:
    event = {"cwd": str(project), "session_id": "s", "hook_event_name": "PreToolUse"}
    assert hook(tmp_path, {**event, "tool_name": tool, "tool_input": given}) == ""


def test_in_a_worktree_a_file_is_known_by_its_path_there(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    git(first, "init", "-q")
    git(first, "commit", "-q", "--allow-empty", "-m", "x")
    git(first, "worktree", "add", "-q", str(second))
    notes = {"src/app.py": {"text": NOTE, "certainty": 0.9}}
    body = {"project": str(first.resolve()), "text": "", "continued": "", "last_at": 0, "files": notes}
    BriefFiles(tmp_path / "data").write(str(first.resolve()), body)
    event = {"cwd": str(second), "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Write"}
    assert (
        NOTE
        in json.loads(hook(tmp_path, {**event, "tool_input": {"file_path": f"{second}/src/app.py"}}))[
            "hookSpecificOutput"
        ]["additionalContext"]
    )


@pytest.mark.parametrize("event", ["SessionStart", "PreToolUse", "PreCompact", "UserPromptSubmit", "Stop"])
@pytest.mark.parametrize(
    "client", ["claude-code", "codex", "gemini-cli", "copilot-cli", "qwen-code", "cursor"]
)
@pytest.mark.parametrize(
    "variables", [{"BACKSTORY_BRIEF": "off"}, {"CI": "1"}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, {}]
)
def test_what_silences_one_hook_silences_all(
    tmp_path: Path, project: Path, event: str, client: str, variables: dict[str, str]
) -> None:
    given = {
        "tool_name": "Edit",
        "tool_input": {"file_path": "src/app.py"},
        "prompt": "Which port is it now?",
    }
    if not variables:
        (tmp_path / "data" / "config.toml").write_text(f"brief_off = ['{project}']\n")
    whole = {"cwd": str(project), "session_id": "s", "hook_event_name": event, **given}
    assert hook(tmp_path, whole, client, **variables) == ""


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"tool_name": "Bash", "error": "Exit code 2\nls: no x"}, "Exit code 2\nls: no x"),
        ({"tool_name": "Bash", "tool_response": "ls: no x"}, "ls: no x"),
        ({"tool_name": "run_shell_command", "error": "Exit Code: 2"}, "Exit Code: 2"),
        ({"toolName": "bash", "toolResult": {"textResultForLlm": "no x <shellId: 0 completed with exit code 2>"}}, "no x <shellId: 0 completed with exit code 2>"),
        ({"toolName": "bash", "toolResult": {"textResultForLlm": "ok <shellId: 0 completed with exit code 0>"}}, ""),
        ({"tool_name": "Read", "tool_response": "ValueError: in a file that was read"}, ""),
    ],
)  # fmt: skip
def test_after_a_tool_only_the_output_of_a_command_that_may_have_failed_is_asked_about(
    fields: dict[str, Any], asked: str
) -> None:
    assert question(FAILURE, fields) == asked


def test_a_stop_hook_prints_nothing(tmp_path: Path, project: Path) -> None:
    event = {"cwd": str(project), "session_id": "s", "hook_event_name": "Stop", "transcript_path": "/none"}
    assert hook(tmp_path, event) == ""


def test_a_disk_that_takes_no_receipt_makes_it_silent(tmp_path: Path, project: Path) -> None:
    given = tmp_path / "data" / "briefs" / "given"
    given.rmdir()
    given.write_text("no folder")  # as a full disk: nothing can be written there
    assert hook(tmp_path, start(project, session_id="s")) == ""


def test_a_line_of_settings_to_parse_leaves_time_to_speak(tmp_path: Path, project: Path) -> None:
    (tmp_path / "data" / "config.toml").write_text("brief_off = ['/elsewhere']\n")
    assert context(hook(tmp_path, start(project))) == TEXT
    assert DEFAULT_LIMIT_S >= 0.5


def test_two_files_in_the_same_millisecond_have_a_receipt_each(tmp_path: Path) -> None:
    files = BriefFiles(tmp_path / "data")
    files.write("/p", {})
    lines = [
        json.dumps({"at": LAST, "event": "PreToolUse", "subject": name, "project": "/p", "text": name})
        for name in ("a.py", "b.py")
    ]
    (files.folder / "given" / "s").write_text("\n".join(lines) + "\n")
    receipts = list(files.injections({}))
    assert [each.subject for each in receipts] == ["a.py", "b.py"]
    assert receipts[0].given_at < receipts[1].given_at


def test_it_gives_up_when_its_input_does_not_come(tmp_path: Path, project: Path) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-I", "-S", str(SOURCE), "claude-code", str(tmp_path / "data")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=nobody(tmp_path),
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
        env={"BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S), **nobody(tmp_path)},
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


def test_time_that_runs_out_while_it_prints_leaves_a_whole_line_or_none(
    tmp_path: Path, project: Path
) -> None:
    for tenth_ms in range(5, 105, 4):
        printed = hook(tmp_path, start(project), BACKSTORY_BRIEF_TIMEOUT_S=f"{tenth_ms / 10_000}")
        assert not printed or context(printed) == TEXT


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


RULE = "From now on, always use tabs in the Makefile."


def say_in_claude(home: Path, project: Path, text: str, id: str) -> None:
    log = home / ".claude" / "projects" / "-p" / f"{id}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    said = {"type": "user", "uuid": id, "sessionId": id, "cwd": str(project)}
    message = {"message": {"role": "user", "content": text}, "timestamp": f"{datetime.now(UTC).isoformat()}"}
    log.write_text(json.dumps(said | message) + "\n")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_a_session_is_told_what_another_assistant_wrote_just_before_though_no_server_runs(
    tmp_path: Path, project: Path, home: Path
) -> None:
    say_in_claude(home, project, "Why is the sky blue?", "1111")
    run("sync", home=tmp_path / "data", HOME=str(home))
    assert RULE not in hook(tmp_path, start(project), "codex", HOME=str(home))
    say_in_claude(home, project, RULE, "2222")
    assert RULE in context(hook(tmp_path, start(project), "codex", HOME=str(home)))


def test_where_the_python_that_read_last_is_gone_the_one_of_the_hook_reads(
    tmp_path: Path, project: Path, home: Path
) -> None:
    say_in_claude(home, project, "Why is the sky blue?", "1111")
    run("sync", home=tmp_path / "data", HOME=str(home))
    watch = tmp_path / "data" / WATCH
    watch.write_text(json.dumps(json.loads(watch.read_text()) | {"python": str(tmp_path / "gone")}))
    say_in_claude(home, project, RULE, "2222")
    assert RULE in context(hook(tmp_path, start(project), "codex", HOME=str(home)))


def test_the_first_session_of_an_assistant_is_read_though_none_of_it_was_known(
    tmp_path: Path, project: Path, home: Path
) -> None:
    hook(tmp_path, start(project), HOME=str(home))  # nothing is written yet
    say_in_claude(home, project, RULE, "1111")
    assert RULE in context(hook(tmp_path, start(project), "gemini-cli", HOME=str(home)))


def test_a_client_whose_files_are_never_found_is_soon_left_alone(
    tmp_path: Path, project: Path, home: Path
) -> None:
    data = tmp_path / "data"
    for _ in range(MAX_FRUITLESS_READINGS + 2):
        assert context(hook(tmp_path, start(project), "qwen-code", HOME=str(home))) == TEXT
    assert (data / STARTS / "qwen-code").stat().st_size == MAX_FRUITLESS_READINGS
    assert unread("qwen-code", str(data)) == []


def test_what_cannot_be_read_leaves_the_brief_as_it_was(tmp_path: Path, project: Path, home: Path) -> None:
    (tmp_path / "data" / "store.db").write_bytes(b"no database at all " * 500)
    hook(tmp_path, start(project), HOME=str(home))
    assert context(hook(tmp_path, start(project), "codex", HOME=str(home))) == TEXT
    assert (tmp_path / "data" / STARTS / "codex").exists()
