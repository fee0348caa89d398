"""What one session ended with, the next one knows: of four assistants in a row, each read as soon as its last line is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backstory.core.brief.files import BriefFiles

from ..processes import Json
from ..typed import typed

Log = tuple[str, list[Json]]


def environment(user: Path) -> dict[str, str]:
    return {
        "HOME": str(user),
        "USERPROFILE": str(user),
        "XDG_CONFIG_HOME": str(user / ".config"),
        "XDG_DATA_HOME": str(user / ".local/share"),
        "BACKSTORY_EMBEDDINGS": "off",
        "BACKSTORY_HISTORIES": "claude-code,codex,gemini-cli,qwen-code",
    }


@pytest.fixture
def user(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    names = tmp_path / "user" / ".gemini" / "projects.json"
    names.parent.mkdir(parents=True)
    names.write_text(json.dumps({"projects": {str(tmp_path / "shop"): "shop"}}))
    return tmp_path / "user"


def claude(project: Path, at: str, question: str, answer: str) -> Log:
    id = "11111111-0000-4000-8000-000000000001"
    common = {"sessionId": id, "cwd": str(project), "timestamp": at}
    return f".claude/projects/-shop/{id}.jsonl", [
        {**common, "type": "user", "uuid": "u1", "message": {"role": "user", "content": question}},
        {
            **common,
            "type": "assistant",
            "uuid": "u2",
            "message": {"id": "m2", "role": "assistant", "content": [{"type": "text", "text": answer}]},
        },
    ]


def codex(project: Path, at: str, question: str, answer: str) -> Log:
    id = "0199aaaa-0000-7000-8000-000000000001"

    def message(role: str, kind: str, text: str) -> Json:
        content = [{"type": kind, "text": text}]
        return {
            "timestamp": at,
            "type": "response_item",
            "payload": {"type": "message", "role": role, "content": content},
        }

    meta = {"id": id, "timestamp": at, "cwd": str(project), "originator": "codex-tui", "source": "cli"}
    return f".codex/sessions/2026/01/02/rollout-2026-01-02T03-01-00-{id}.jsonl", [
        {"timestamp": at, "type": "session_meta", "payload": meta},
        message("user", "input_text", question),
        message("assistant", "output_text", answer),
    ]


def gemini(project: Path, at: str, question: str, answer: str) -> Log:
    return ".gemini/tmp/shop/chats/session-2026-01-02T03-04-aaaa1111.jsonl", [
        {
            "sessionId": "aaaa1111-0000",
            "projectHash": "x",
            "startTime": at,
            "lastUpdated": at,
            "kind": "main",
        },
        {"id": "m1", "timestamp": at, "type": "user", "content": [{"text": question}]},
        {"id": "m2", "timestamp": at, "type": "gemini", "content": answer, "model": "gemini-3-pro"},
    ]


def qwen(project: Path, at: str, question: str, answer: str) -> Log:
    id = "8a000000-0000-4000-8000-000000000001"
    common = {"sessionId": id, "timestamp": at, "cwd": str(project), "version": "0.21"}
    return f".qwen/projects/-shop/chats/{id}.jsonl", [
        {
            **common,
            "uuid": "u1",
            "type": "user",
            "message": {"role": "user", "parts": [{"text": question}]},
        },
        {
            **common,
            "uuid": "u2",
            "parentUuid": "u1",
            "type": "assistant",
            "message": {"role": "model", "parts": [{"text": answer}]},
        },
    ]


def written(user: Path, log: Log) -> Path:
    name, lines = log
    path = user / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(user: Path, *words: str) -> Json:
    done = typed("sync", *words, "--json", home=user.parent / "ours", **environment(user))
    assert done.returncode == 0, done.stderr
    body: Json = json.loads(done.stdout)
    return body


def brief(user: Path) -> str:
    """As the hook of the next session prints it."""
    files = BriefFiles(user.parent / "ours")
    text = files.read(files.path(str(user.parent / "shop"))).get("text", "")
    assert isinstance(text, str)
    return text


SESSIONS = (
    (claude, "Write the exporter.", "Should I publish the exporter package?"),
    (codex, "Speed up the importer.", "Should I deploy the importer tonight?"),
    (gemini, "Test the scheduler.", "Should I enable the scheduler by default?"),
    (qwen, "Look at the mailer.", "Should I rename the mailer queue?"),
)


def sessions(project: Path) -> Iterator[tuple[str, Log]]:
    for number, (assistant, request, question) in enumerate(SESSIONS):
        at = datetime.now(UTC) - timedelta(minutes=len(SESSIONS) - number)
        answer = f"That is done. {question}"
        yield question, assistant(project, at.strftime("%Y-%m-%dT%H:%M:%S.000Z"), request, answer)


def test_each_of_four_assistants_knows_what_the_one_before_it_ended_with(user: Path) -> None:
    for open_item, log in sessions(user.parent / "shop"):
        assert open_item not in brief(user)
        assert read(user, "--file", str(written(user, log)))["briefs"] == 1
        assert open_item in brief(user)


def test_a_file_that_no_assistant_keeps_there_is_refused(user: Path, tmp_path: Path) -> None:
    _, (name, lines) = next(sessions(tmp_path / "shop"))
    stray = written(tmp_path / "elsewhere", (name, lines))
    done = typed("sync", "--file", str(stray), home=tmp_path / "ours", **environment(user))
    assert done.returncode != 0
    assert "not in a folder of histories that Backstory reads" in done.stderr
    assert brief(user) == ""


def test_only_the_named_file_is_read_and_the_others_by_the_next_sync(user: Path) -> None:
    (first, one), (second, other), *_ = sessions(user.parent / "shop")
    path = written(user, one)
    written(user, other)
    body = read(user, "--file", str(path))
    assert [each["turns"] for each in body["assistants"].values()] == [2]
    assert (first in brief(user), second in brief(user)) == (True, False)
    read(user)
    assert second in brief(user)


def test_a_sync_and_an_installation_leave_a_brief_for_the_first_session(user: Path) -> None:
    open_item, log = next(sessions(user.parent / "shop"))
    written(user, log)
    done = typed("install", "claude-code", "--yes", home=user.parent / "ours", **environment(user))
    assert done.returncode == 0, done.stdout + done.stderr
    assert open_item in brief(user)
