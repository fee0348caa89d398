"""`sessions`, `list`, `show`, `timeline`, `edit`, `delete` and `resume`, as people use them after each other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.brief.files import BriefFiles
from backstory.core.browsing.chronicle import EventKind
from backstory.domain.filters import Bounds
from backstory.store import Store

from ..doubles import make_conversation, make_memory, make_messages
from ..processes import BACKSTORY, environment
from ..repositories import commit
from ..typed import Typing
from .conftest import AGENT, CLAUDE, CODEX, MEMORY


def test_sessions_are_one_line_each_with_an_id_that_show_knows(typing: Typing) -> None:
    first, second = typing.text("sessions").splitlines()
    assert first.split() == ["019ddb75", "2026-03-03", "codex", "site", "1", "Deploy", "on", "Tuesday"]
    assert second.startswith("1af7fc5e ")
    assert "The key has a date." in typing.text("show", second.split()[0])
    assert typing.json("show", "019ddb75")["id"] == CODEX


def test_a_pipe_gets_records_alone(typing: Typing) -> None:
    status, out, err = typing.run("sessions", "--limit", "1")
    assert (status, len(out.splitlines())) == (0, 1)
    assert err.startswith("1 more;")


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (["--assistant", "claude"], [CLAUDE]),
        (["--project", "site"], [CODEX]),
        (["--project", "*"], [CODEX, CLAUDE]),
        (["--since", "2026-03-02"], [CODEX]),
        (["--until", "2026-03-02"], [CLAUDE]),
        (["--file", "cache.py"], [CLAUDE]),
        (["--limit", "1"], [CODEX]),
        (["--offset", "1"], [CLAUDE]),
        (["--subagents", "--project=shop"], [CLAUDE, AGENT]),
        (["--since", "1d"], []),
    ],
)
def test_sessions_are_narrowed(typing: Typing, flags: list[str], found: list[str]) -> None:
    assert [each["id"] for each in typing.json("sessions", *flags)["sessions"]] == found


@pytest.mark.parametrize("command", ["sessions", "list", "timeline"])
@pytest.mark.parametrize(
    ("flags", "said", "status"),
    [
        (["--project", "nowhere"], "There is no project 'nowhere'.", 1),
        (["--assistant", "clippy"], "There is no assistant 'clippy'.", 2),
        (["--since", "some day"], "--since 'some day' is not a time.", 2),
        (["--limit", "0"], "--limit must be at least 1.", 2),
    ],
)
def test_a_filter_that_means_nothing_is_named(
    typing: Typing, command: str, flags: list[str], said: str, status: int
) -> None:
    assert said in typing.refusal(command, *flags, status=status)


def test_show_pages_through_a_conversation_by_the_numbers_of_its_messages(typing: Typing) -> None:
    first = typing.text("show", "1af7fc5e", "--limit", "2")
    assert "#1 user" in first
    assert "#3" not in first
    assert "`--from 3` shows the next" in first
    assert [each["number"] for each in typing.json("show", "1af7fc5e", "--from", "3")["messages"]] == [
        3,
        4,
        4,
    ]
    assert [each["number"] for each in typing.json("show", "1af7fc5e", "--from=-1")["messages"]] == [4, 4]
    assert typing.text("show", "1af7fc5e#2") == typing.text("show", f"{CLAUDE}:1")


def test_show_tells_what_was_done_and_obeys_no_escape_sequence(typing: Typing) -> None:
    shown = typing.text("show", "1af7fc5e", "--around", "4")
    assert "wrote /w/shop/cache.py" in shown
    assert "\x1b" not in shown


def test_a_subagent_is_named_by_its_own_part_and_never_hides_who_started_it(typing: Typing) -> None:
    assert typing.json("show", "ab12cd34")["id"] == AGENT
    assert typing.json("show", "1af7")["id"] == CLAUDE


def test_an_id_that_several_have_is_refused_with_their_names(typing: Typing, filled: Store) -> None:
    other = CODEX.replace("b41d", "ffff")
    filled.conversations.put(make_conversation(other, surface="codex", title="Another"), [])
    assert "(Another)" in typing.refusal("show", "019ddb75")
    assert typing.text("sessions", "--assistant=codex").split()[0] == "019ddb75-a272-7d50-b"
    assert "There is no memory or conversation 'zzzz'." in typing.refusal("show", "zzzz", status=1)
    assert "There is no memory or conversation '019'." in typing.refusal("show", "019", status=1)


def test_memories_are_listed_narrowed_and_shown_with_their_history(typing: Typing, filled: Store) -> None:
    (line,) = typing.text("list").splitlines()
    assert line.split()[:4] == [MEMORY[:10], "2026-03-01", "decision", "site"]
    assert typing.json("list", "--kind", "task")["memories"] == []
    filled.memories.put([make_memory("w1", category="warning"), make_memory("n1", category="note")])
    assert [each["id"] for each in typing.json("list", "--kind", "error")["memories"]] == ["w1"]
    assert [each["id"] for each in typing.json("list", "--kind", "fact")["memories"]] == ["n1"]
    changed = typing.json("edit", MEMORY[:10], "--text", "Deploy on Mondays.")
    assert (changed["id"], changed["changed"]) == (MEMORY, True)
    assert typing.json("edit", MEMORY, "--text", "Deploy on Mondays.")["changed"] is False
    shown = typing.json("show", MEMORY)
    assert shown["text"] == "Deploy on Mondays."
    assert [each["text"] for each in shown["history"]] == ["Deploy on Tuesdays only."]
    assert "Deploy on Tuesdays only." in typing.text("show", MEMORY)


def test_what_is_done_and_what_files_it_is_about_is_said(typing: Typing, filled: Store) -> None:
    metadata = {"status": "done", "files": [{"path": "src/auth.py"}]}
    filled.memories.put([make_memory("task-1", "Renew it.", category="task", metadata=metadata)])
    (task,) = typing.json("list", "--kind", "task")["memories"]
    assert (task["is_done"], task["files"]) == (True, ["src/auth.py"])
    assert "task (done)" in typing.text("list", "--kind", "task")
    assert "about src/auth.py, done" in typing.text("show", "task-1")


def test_an_editor_changes_what_the_memory_says(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "needs a terminal" in typing.refusal("edit", MEMORY)
    script = tmp_path / "editor.py"
    script.write_text("import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('By hand.\\n')")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert "Changed" in typing.text("edit", MEMORY)
    assert typing.json("show", MEMORY)["text"] == "By hand."
    monkeypatch.setenv("VISUAL", "no-such-editor")
    assert "Set EDITOR" in typing.refusal("edit", MEMORY, status=1)


def test_delete_takes_ids_from_any_list(typing: Typing) -> None:
    assert "Add --yes" in typing.refusal("delete", MEMORY[:10])
    assert typing.json("delete", MEMORY[:10], "1af7fc5e", "--yes")["forgotten"] == 3  # with the subagent
    assert typing.json("list")["total"] == 0
    assert [each["id"] for each in typing.json("sessions")["sessions"]] == [CODEX]
    assert "There is no conversation or memory" in typing.refusal("delete", MEMORY, "--yes", status=1)


def test_everything_that_a_hook_said_is_listed_with_its_occasion(typing: Typing) -> None:
    files = BriefFiles(typing.home)
    files.write("/w/site", {})
    note = {"at": 1_767_000_000_000, "event": "PreToolUse", "subject": "src/a.py", "certainty": 0.9}
    (files.folder / "given" / "s1").write_text(
        json.dumps({**note, "project": "/w/site", "text": "Port 9090."})
    )
    (row,) = typing.json("injected", "--session", "s1")["injected"]
    assert (row["session"], row["event"], row["subject"], row["text"]) == (
        "s1",
        "PreToolUse",
        "src/a.py",
        "Port 9090.",
    )
    assert (row["certainty"], row["used"]) == (0.9, None)
    assert row["tokens"] > 0
    assert "Port 9090." in typing.text("injected")
    assert typing.json("injected", "--session", "s2")["injected"] == []


def test_a_brief_says_where_a_project_stands(typing: Typing) -> None:
    brief = typing.json("brief", "site")
    assert "Deploy on Tuesdays only." in brief["text"]
    assert brief["tokens"] <= 400
    assert typing.text("brief", "/w/site").strip() == brief["text"]
    assert "Nothing is known yet" in typing.text("brief", "nowhere")
    assert "--max-tokens must be at least 100." in typing.refusal("brief", "--max-tokens", "1")


def test_the_timeline_has_conversations_memories_and_commits(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = typing.json("timeline", "--until", "2026-04-01")["events"]
    assert [(each["kind"], each["id"]) for each in events] == [
        ("conversation", CODEX),
        ("memory", MEMORY),
        ("conversation", CLAUDE),
    ]
    (line,) = typing.text("timeline", "--kind", "memory").splitlines()
    assert line.startswith("2026-03-01  ")
    assert f"{MEMORY[:10]}  memory  site" in line
    monkeypatch.chdir(commit(tmp_path / "repository", {"a.py": "x\n"}))
    assert [each["title"] for each in typing.json("timeline", "--kind", "commit")["events"]] == ["files"]
    assert "There is no kind 'war'" in typing.refusal("timeline", "--kind", "war")


def test_a_project_without_a_name_is_not_where_the_server_was_started(
    core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(commit(tmp_path / "repository", {"a.py": "x\n"}))
    assert core.chronicle.events(Bounds(projects=("",)), kinds=(EventKind.COMMIT,), limit=5) == []


def test_forgetting_a_project_says_what_was_stored_on_purpose_and_stays(
    typing: Typing, filled: Store
) -> None:
    stored = make_conversation("stored", surface="codearchitect", project="/w/site")
    filled.conversations.add(stored, [], [])
    told = typing.json("forget", "--project", "/w/site", "--yes")
    assert [each["id"] for each in told["conversations"]] == [CODEX]
    assert told["notices"][-1].startswith("1 stored session stayed")
    assert "1 stored session stayed" in typing.text("forget", "--project", "/w/site", "--yes")
    assert typing.json("forget", "stored", "--yes")["forgotten"] == 1


def test_resume_prints_the_assistants_own_command_and_where_to_start_it(
    typing: Typing, tmp_path: Path
) -> None:
    native = CLAUDE.partition(":")[2]
    assert typing.text("resume", "1af7fc5e", "--print") == f"cd {tmp_path} && claude --resume {native}\n"
    assert typing.text("resume", "ab12cd34") == f"cd {tmp_path} && claude --resume {native}\n"
    assert typing.json("resume", "019ddb75")["command"] == ["codex", "resume", CODEX.partition(":")[2]]
    assert "There is no conversation" in typing.refusal("resume", MEMORY, status=1)
    assert typing.text("resume", "--project=/w/site").startswith("codex resume ")
    assert "There is no conversation in" in typing.refusal("resume", "--project=/w/none", status=1)


def test_what_cannot_be_resumed_is_said(typing: Typing, filled: Store) -> None:
    gone = make_conversation("codex:gone-1", surface="codex", is_gone=True)
    editor = make_conversation("cursor:talk-1", surface="cursor", source="/h/state.vscdb#composerData:talk-1")
    filled.conversations.put(gone, [])
    filled.conversations.put(editor, [])
    assert "its assistant deleted it" in typing.refusal("resume", "gone-1", status=1)
    assert "no command that opens a single conversation" in typing.refusal("resume", "talk-1", status=1)


@pytest.mark.parametrize("native", ["--dangerously-skip-permissions", "-c", "a & calc.exe", "x\n--yes"])
def test_an_id_of_a_foreign_file_is_never_a_flag_of_the_assistant(
    typing: Typing, filled: Store, native: str
) -> None:
    talk = make_conversation("codex:odd-1", surface="codex", native_id=native)
    filled.conversations.put(talk, [])
    assert "its id cannot be used on a command line" in typing.refusal("resume", "codex:odd-1", status=1)
    assert native not in typing.text("show", "codex:odd-1")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_on_a_terminal_lists_are_in_colour_and_resume_starts_the_assistant(
    typing: Typing, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text('#!/bin/sh\necho "in $PWD with $*"\n')
    (programs / "claude").chmod(0o700)
    home = environment(typing.home, PATH=f"{programs}:{os.environ['PATH']}", TERM="xterm-256color")
    assert "\x1b[33m1af7fc5e" in _on_a_terminal(home, "sessions")
    assert "\x1b[33m" not in _on_a_terminal(home | {"NO_COLOR": "1"}, "sessions")
    assert f"in {tmp_path} with --resume 1af7fc5e-" in _on_a_terminal(home, "resume", "1af7fc5e")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_shows_answers_as_markdown_means_them_and_loses_nothing(
    typing: Typing, filled: Store
) -> None:
    talk = make_conversation("codex:marked", project="/work/shop")
    texts = ("Use `tea`, **please**.", "1. Boil\n2. Pour `tea`, **hot**", "Write <b>tea</b> and `cup`")
    roles = ("user", "assistant", "assistant")
    messages = [
        each._replace(role=role) for each, role in zip(make_messages(talk.id, *texts), roles, strict=True)
    ]
    filled.conversations.put(talk, messages)
    shown = _on_a_terminal(environment(typing.home, TERM="xterm-256color", NO_COLOR="1"), "show", talk.id)
    assert "Use `tea`, **please**." in shown
    assert "Pour tea, hot" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "Write <b>tea</b> and `cup`" in shown
    assert "Pour `tea`, **hot**" in typing.text("show", talk.id)


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_narrow_terminal_shows_what_a_record_is_about_below_it(typing: Typing) -> None:
    home = environment(typing.home, TERM="xterm", NO_COLOR="1", COLUMNS="40")
    shown = [line.rstrip() for line in _on_a_terminal(home, "sessions").splitlines()]
    assert shown[:2] == ["019ddb75  2026-03-03  codex  site  1", "  Deploy on Tuesday"]
    assert all(line.isprintable() and len(line) <= 40 for line in shown)


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_shows_each_day_of_the_timeline_above_what_happened(typing: Typing) -> None:
    home = environment(typing.home, TERM="dumb", COLUMNS="100")
    shown = [
        line.rstrip() for line in _on_a_terminal(home, "timeline", "--kind", "conversation").splitlines()
    ]
    assert shown[0] == "Tuesday, 2026-03-03"
    assert "Deploy on Tuesday" in shown[1]
    assert shown[2:4] == ["", "Sunday, 2026-03-01"]


def _on_a_terminal(variables: dict[str, str], *words: str) -> str:
    controller, terminal = os.openpty()
    command = [*BACKSTORY, "--histories=off", "--embeddings=off", *words]
    with subprocess.Popen(
        command, env=variables, stdin=terminal, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        shown = b"".join(iter(lambda: _some(controller), b""))
    os.close(controller)
    assert process.returncode == 0, shown.decode()
    return shown.decode()


def _some(controller: int) -> bytes:
    try:
        return os.read(controller, 4096)
    except OSError:  # nobody has the other end any more
        return b""


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (["sessions", "--limit", "x"], "--limit must be a whole number, not 'x'.", 2),
        (["sessions", "--limit"], "--limit needs a value.", 2),
        (["search", "it", "--limit", "0"], "--limit must be at least 1.", 2),
        (["search", "it", "--open", "0"], "--open must be at least 1.", 2),
        (["list", "--offset=-1"], "--offset must be at least 0.", 2),
        (["web", "--port", "99999"], "--port must be at most 65535.", 2),
        (["archive", "--older-than", "x"], "--older-than must be a number of days above 0, not 'x'.", 2),
        (["archive", "--older-than", "nan"], "--older-than must be a number of days above 0, not 'nan'.", 2),
        (["show"], "backstory show needs ID.", 2),
        (["migrate"], "backstory migrate needs --from and --to.", 2),
        (["blame"], "backstory blame needs FILE[:LINE[-LINE]].", 2),
        (["completion", "tcsh"], "SHELL must be bash, zsh or fish, not 'tcsh'.", 2),
        (["status", "extra"], "backstory status does not take 'extra'.", 2),
        (["show", "1af7fc5e#99"], "There is no message '99'.", 1),
        (["show", "1af7fc5e", "--around", "5"], "There is no message '5'.", 1),
        (["show", "1af7fc5e", "--from", "5"], "There is no message '5'.", 1),
        (["edit", "1af7fc5e"], "There is no memory '1af7fc5e'.", 1),
        (["resume", MEMORY[:8]], f"There is no conversation '{MEMORY[:8]}'.", 1),
    ],
)
def test_a_mistake_is_one_sentence_and_one_line_that_helps(
    typing: Typing, words: list[str], said: str, status: int
) -> None:
    first, hint = typing.refusal(*words, status=status).splitlines()
    assert first == f"backstory: {said}"
    assert hint


def test_a_flag_that_a_command_has_not_leads_to_its_help(typing: Typing) -> None:
    assert "`backstory forget --help` lists its flags." in typing.refusal("forget", "--days", "1")


def test_help_of_a_command_can_be_asked_for_in_either_order(typing: Typing) -> None:
    assert typing.text("help", "show") == typing.text("show", "--help")


def test_an_empty_list_says_which_flags_left_nothing(typing: Typing) -> None:
    assert typing.text("sessions", "--file", "nope.py").strip() == "No conversation matches --file."
    empty = typing.text("list", "--project", "site", "--kind", "task").strip()
    assert empty == "No memory matches --project and --kind."
    status, out, _ = typing.run("search", "deploy", "--kind", "desision")
    assert (status, "Kinds are decision, fact" in out) == (1, True)
    assert typing.text("sessions", "--offset", "9").strip() == "There are no more than 9."


def test_the_project_you_are_in_is_named_where_nothing_is_known_of_it(typing: Typing) -> None:
    assert f"There is no project '{os.getcwd()}'." in typing.refusal("sessions", "--project=.", status=1)
