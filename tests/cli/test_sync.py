"""`backstory sync`, `forget` and what `status` says of histories, as processes over a home of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..processes import Json, serving
from ..typed import typed

# it is the title of its session, too, and counts twice
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hLaB3d"
SESSIONS = {
    "11111111-0000-4000-8000-000000000001": (
        "2026-01-02",
        "why does the walrus cache miss?",
        "Because it is cold.",
    ),
    "11111111-0000-4000-8000-000000000002": ("2026-03-04", f"the token is {SECRET}", "I will not repeat it."),
}


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A home with two sessions of Claude Code."""
    logs = tmp_path / "user" / ".claude" / "projects" / "-w-app"
    logs.mkdir(parents=True)
    for id, (day, question, answer) in SESSIONS.items():
        lines = [_line(id, "user", 1, day, question), _line(id, "assistant", 2, day, answer)]
        (logs / f"{id}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "user"


def _line(session: str, role: str, number: int, day: str, text: str) -> Json:
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "timestamp": f"{day}T03:04:0{number}.000Z",
        "cwd": "/w/app",
        "message": {"id": f"m{number}", "role": role, "content": content, "model": "m"},
    }


def environment(user: Path) -> dict[str, str]:
    return {
        "HOME": str(user),
        "USERPROFILE": str(user),
        "XDG_CONFIG_HOME": str(user / ".config"),
        "XDG_DATA_HOME": str(user / ".local/share"),
        "CLAUDE_CONFIG_DIR": "",
        "BACKSTORY_EMBEDDINGS": "off",
        "BACKSTORY_HISTORIES": "claude-code",
    }


def asked(user: Path, *words: str) -> Json:
    done = typed(*words, "--json", home=user.parent / "ours", **environment(user))
    # a search without results ends with 1
    assert done.returncode in ((0, 1) if words[0] == "search" else (0,)), done.stderr
    body: Json = json.loads(done.stdout)
    return body


def found(user: Path, words: str) -> list[str]:
    return [result["text"] for result in asked(user, "search", words)["results"]]


def test_sync_reads_and_says_what(user: Path) -> None:
    told = asked(user, "sync")["assistants"]["claude-code"]
    assert (told["sources"], told["conversations"], told["turns"], told["redacted"]) == (2, 2, 4, 2)
    assert asked(user, "sync")["assistants"]["claude-code"]["unchanged"] == 2
    assert found(user, "walrus cache") == ["Because it is cold."]  # the answer stands for the conversation
    assert found(user, "token")[0] == "the token is [redacted: github token]"


def test_sync_speaks_to_people(user: Path) -> None:
    done = typed("sync", home=user.parent / "ours", **environment(user))
    assert "Claude Code  2 conversations read from 2 files; 2 secrets redacted" in done.stdout
    done = typed("sync", home=user.parent / "ours", **environment(user))
    assert done.stdout.strip() == "Claude Code  nothing new in 2 files"
    done = typed("sync", "--reader", "nobody", home=user.parent / "ours", **environment(user))
    assert (done.returncode, "There is no reader 'nobody'." in done.stderr) == (2, True)


def test_where_nothing_is_found_it_tells_what_it_looked_for(tmp_path: Path) -> None:
    done = typed("sync", home=tmp_path / "ours", **environment(tmp_path / "nobody"))
    assert done.stdout.startswith("No conversations were found on this machine.")
    assert "Claude Code" in done.stdout
    assert "ChatGPT" not in done.stdout  # an archive lies nowhere in particular


def test_every_assistant_is_named_once(tmp_path: Path) -> None:
    variables = environment(tmp_path / "nobody") | {"BACKSTORY_HISTORIES": ""}
    done = typed("sync", home=tmp_path / "ours", **variables)
    names = done.stdout.strip().rstrip(".").partition("Supported assistants: ")[2].split(", ")
    assert "Kilo Code" in names
    assert len(names) == len(set(names)) > 20


def test_sync_and_status_count_subagents_apart(user: Path) -> None:
    session = next(iter(SESSIONS))
    log = user / ".claude" / "projects" / "-w-app" / session / "subagents" / "agent-a1.jsonl"
    log.parent.mkdir(parents=True)
    lines = [
        _line(session, "user", 3, "2026-01-02", "Count the seals."),
        _line(session, "assistant", 4, "2026-01-02", "Two."),
    ]
    log.write_text(
        "".join(json.dumps(line | {"isSidechain": True, "agentId": "a1"}) + "\n" for line in lines)
    )
    done = typed("sync", home=user.parent / "ours", **environment(user))
    assert "2 conversations (and 1 subagent) read from 3 files" in done.stdout
    done = typed("status", home=user.parent / "ours", **environment(user))
    assert "2 conversations (and 1 subagent), 6 messages from 3 files" in done.stdout


def test_doctor_counts_histories_that_were_not_read(user: Path) -> None:
    checks = {check["name"]: check for check in asked(user, "doctor")["checks"]}
    assert checks["histories"]["state"] == "info"
    assert checks["histories"]["message"] == "not read yet: Claude Code (2 files)."
    assert checks["histories"]["advice"] == "`backstory sync` reads them."


def test_histories_can_be_switched_off(user: Path) -> None:
    variables = environment(user) | {"BACKSTORY_HISTORIES": "off"}
    done = typed("sync", home=user.parent / "ours", **variables)
    assert done.stdout.strip() == "Histories are not read (histories = off)."


def test_further_roots_are_read_too(user: Path) -> None:
    (user / ".claude").rename(user / "backup")
    assert asked(user, "sync")["assistants"]["claude-code"]["sources"] == 0
    roots = ["--history-roots", f"claude-code={user / 'backup'}"]
    assert asked(user, "sync", *roots)["assistants"]["claude-code"]["sources"] == 2
    done = typed("sync", "--history-roots", "nonsense", home=user.parent / "ours", **environment(user))
    assert "is not name=path" in done.stderr
    done = typed("sync", "--history-roots", "clod=/x", home=user.parent / "ours", **environment(user))
    assert done.returncode == 2
    assert "There is no reader 'clod', which history_roots has." in done.stderr


def test_status_and_doctor_tell_of_histories(user: Path) -> None:
    asked(user, "sync")
    held = asked(user, "status")["histories"]["claude-code"]
    assert held == {
        "conversations": 2,
        "subagents": 0,
        "messages": 4,
        "sources": 2,
        "gone": 0,
        "redacted": 2,
        "problems": 0,
    }
    done = typed("status", home=user.parent / "ours", **environment(user))
    assert "2 conversations, 4 messages from 2 files; 2 secrets redacted" in done.stdout
    checks = {check["name"]: check for check in asked(user, "doctor")["checks"]}
    assert checks["histories"]["message"] == "2 conversations of claude-code"


FIRST, SECOND = (f"claude-code:{id}" for id in SESSIONS)


@pytest.mark.parametrize(
    ("flags", "gone"),
    [
        ([FIRST], {FIRST}),
        (["--before", "2026-02-01"], {FIRST}),
        (["--assistant", "claude-code"], {FIRST, SECOND}),
        (["--project", "/w/app"], {FIRST, SECOND}),
        (["--project", "app"], {FIRST, SECOND}),
        (["--assistant", "claude-code", "--before", "2026-01-01"], set()),
    ],
)
def test_what_is_forgotten_stays_away(user: Path, flags: list[str], gone: set[str]) -> None:
    asked(user, "sync")
    told = asked(user, "forget", *flags, "--yes")
    assert (told["forgotten"], {talk["id"] for talk in told["conversations"]}) == (len(gone), gone)
    for log in user.rglob("*.jsonl"):
        log.write_text(log.read_text() + "\n")
    asked(user, "sync")
    assert asked(user, "status")["holds"]["conversations"] == 2 - len(gone)


def test_what_was_skipped_stands_below_the_assistant_that_it_is_of(user: Path) -> None:
    log = next(user.rglob("*.jsonl"))
    log.write_text(log.read_text() + '{"type": "user", "message": 7}\n')
    codex = user / ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-0001.jsonl"
    codex.parent.mkdir(parents=True)
    codex.write_text('{"type": "session_meta", "payload": {"id": "0001", "cwd": "/w/app"}}\n')
    words = ("sync", "--reader", "claude-code", "--reader", "codex")
    lines = typed(*words, home=user.parent / "ours", **environment(user)).stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["Claude Code", "", "Codex"]
    assert lines[1].strip().startswith("skipped 1: ")


def test_a_project_that_is_not_known_is_not_forgotten(user: Path) -> None:
    asked(user, "sync")
    for wanted in ("/w/other", "other"):
        done = typed("forget", "--project", wanted, "--yes", home=user.parent / "ours", **environment(user))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"backstory: There is no project '{wanted}'.")


def test_every_id_that_a_search_prints_can_be_forgotten(user: Path) -> None:
    asked(user, "sync")
    first, *others = asked(user, "search", "walrus")["results"]
    told = asked(user, "forget", first["id"], *(result["id"] for result in others), "--yes")
    assert FIRST in {talk["id"] for talk in told["conversations"]}
    assert found(user, "walrus") == []


def test_forgetting_asks_first(user: Path) -> None:
    asked(user, "sync")
    done = typed("forget", FIRST, home=user.parent / "ours", **environment(user))
    assert done.returncode == 2
    assert "cannot be undone" in done.stderr
    assert "why does the walrus cache miss?" in done.stderr
    assert "1 conversation, 2 messages" in done.stderr
    for status, *words in ((2,), (1, "nobody's", "--yes"), (2, "--before", "someday", "--yes")):
        done = typed("forget", *map(str, words), home=user.parent / "ours", **environment(user))
        assert done.returncode == status
    assert asked(user, "status")["holds"]["conversations"] == 2


def test_a_running_server_reads_by_itself(user: Path) -> None:
    with serving(user.parent / "ours", "serve", variables=environment(user)) as server:
        server.greet()
        held: Json = {}
        while held.get("claude-code", {}).get("conversations") != 2:
            held = asked(user, "status")["histories"]
        assert server.call("save_context", context_text="still answering")["status"] == "success"


def test_what_is_old_is_archived_on_demand_and_comes_back(user: Path) -> None:
    asked(user, "sync")
    assert asked(user, "archive", "--older-than", "1") == {
        "conversations": 2,
        "memories": 0,
        "archived": False,
    }
    assert asked(user, "status")["holds"]["conversations"] == 2
    assert asked(user, "archive", "--older-than", "1", "--yes")["archived"] is True
    asked(user, "sync")
    held = asked(user, "status")
    assert (held["holds"]["conversations"], held["holds"]["messages"]) == (0, 0)
    assert (held["archived"]["conversations"], held["archived"]["messages"]) == (2, 4)
    done = typed("status", home=user.parent / "ours", **environment(user))
    assert "archived     2 conversations with 4 messages (" in done.stdout
    assert found(user, "walrus cache") == []
    assert [each["name"] for each in asked(user, "unarchive")["archived"]] == [SECOND, FIRST]
    listed = typed("unarchive", home=user.parent / "ours", **environment(user)).stdout
    assert f"2026-01-02  {FIRST}  why does the walrus cache miss?" in listed
    assert asked(user, "unarchive", FIRST) == {"name": FIRST, "restored": [FIRST], "kept": 0}
    assert found(user, "walrus cache") == ["Because it is cold."]
    assert asked(user, "archive", "--older-than", "1")["conversations"] == 0
    assert typed("unarchive", FIRST, home=user.parent / "ours", **environment(user)).returncode == 1


def test_a_beginning_of_what_is_archived_is_enough(user: Path) -> None:
    asked(user, "sync")
    asked(user, "archive", "--older-than", "1", "--yes")
    several = typed("unarchive", "1111", home=user.parent / "ours", **environment(user))
    assert (several.returncode, several.stdout) == (2, "")
    assert {FIRST, SECOND} <= set(several.stderr.splitlines())
    assert asked(user, "unarchive", FIRST.partition(":")[2])["restored"] == [FIRST]
    assert asked(user, "unarchive", "1111")["restored"] == [SECOND]
    assert typed("unarchive", "1111", home=user.parent / "ours", **environment(user)).returncode == 1


def test_what_is_archived_can_be_forgotten(user: Path) -> None:
    asked(user, "sync")
    asked(user, "archive", "--older-than", "1", "--yes")
    assert asked(user, "forget", "--assistant", "claude-code", "--yes")["forgotten"] == 2
    assert asked(user, "status")["archived"] == {"memories": 0, "conversations": 0, "messages": 0, "bytes": 0}


def test_how_old_is_old_comes_from_the_flag_or_the_setting(user: Path) -> None:
    asked(user, "sync")
    assert asked(user, "archive", "--retention-days", "1")["conversations"] == 2
    assert asked(user, "archive", "--older-than", "9e9")["conversations"] == 0
    for words in (["archive"], ["archive", "--older-than", "-1"], ["archive", "--older-than", "old"]):
        assert typed(*words, home=user.parent / "ours", **environment(user)).returncode == 2


def test_status_before_a_sync_counts_unread_files_and_names_the_next_command(
    user: Path, tmp_path: Path
) -> None:
    home, variables = tmp_path / "ours", environment(user)
    before = typed("status", home=home, **variables).stdout
    assert "on disk   not read yet: Claude Code (2 files)" in before
    assert "`backstory install` adds Backstory to your assistants and reads these conversations" in before
    typed("sync", home=home, **variables)
    after = typed("status", "--json", home=home, **variables)
    assert json.loads(after.stdout)["unread_histories"] == {}
    assert "next " not in typed("status", home=home, **variables).stdout


WITHOUT_VECTORS = "\n\nSearched by words alone: embeddings are switched off.\n"


def test_a_search_without_results_suggests_a_next_step(user: Path, tmp_path: Path) -> None:
    done = typed("search", "walrus", home=tmp_path / "empty", **environment(tmp_path / "nobody"))
    assert (done.returncode, done.stdout) == (1, f"No results for 'walrus'.{WITHOUT_VECTORS}")
    assert "`backstory install`" in done.stderr
    gibberish = typed("search", "qwzx vbnmk", home=tmp_path / "ours", **environment(user))
    assert (gibberish.returncode, gibberish.stdout) == (1, f"No results for 'qwzx vbnmk'.{WITHOUT_VECTORS}")
    assert "Try fewer or other words." in gibberish.stderr
