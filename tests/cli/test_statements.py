"""`backstory statements`: what the conversations of a project leave behind, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

from ..processes import Json
from ..repositories import git, write
from ..typed import typed


def log(user: Path, project: Path, session: str, *spoken: tuple[str, str | list[Json]]) -> None:
    lines = [
        {
            "type": role,
            "uuid": f"{session}-{number}",
            "sessionId": session,
            "timestamp": f"2026-03-0{number + 1}T10:00:00Z",
            "cwd": str(project),
            "message": {"id": f"{session}-m{number}", "role": role, "content": text},
        }
        for number, (role, text) in enumerate(spoken)
    ]
    path = user / ".claude" / "projects" / "shop" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def test_statements_are_listed_by_kind_with_where_they_were_said(tmp_path: Path) -> None:
    user, project = tmp_path / "user", tmp_path / "shop"
    project.mkdir()
    log(
        user,
        project,
        "aaaa1111",
        ("user", "We use Kafka as the queue for orders."),
        ("assistant", "Noted."),
        ("user", "We use Redis as the queue for orders."),
        ("assistant", "Noted."),
    )
    settings = {"HOME": str(user), "BACKSTORY_EMBEDDINGS": "off", "BACKSTORY_PROJECT": str(project)}
    assert typed("sync", home=tmp_path / "ours", **settings).returncode == 0
    body = json.loads(typed("statements", "--json", home=tmp_path / "ours", **settings).stdout)
    (held,) = body["statements"]
    assert (held["kind"], held["text"]) == ("decision", "We use Redis as the queue for orders.")
    assert held["state"] == "in_force"
    every = json.loads(typed("statements", "--all", "--json", home=tmp_path / "ours", **settings).stdout)
    states = {each["text"].split()[2]: (each["state"], each["superseded_by"]) for each in every["statements"]}
    assert states == {"Redis": ("in_force", None), "Kafka": ("superseded", held["id"])}
    listed = typed("statements", "--all", home=tmp_path / "ours", **settings).stdout
    assert "aaaa1111#1 2026-03-01 (superseded by aaaa1111#3) We use Kafka" in listed
    shown = typed(
        "statements", "--kind", "decision", "--format", "md", home=tmp_path / "ours", **settings
    ).stdout
    assert shown.startswith("# Decision log\n\n- 2026-03-03 **decision**: We use Redis")
    refused = typed("statements", "--kind", "gossip", home=tmp_path / "ours", **settings)
    assert refused.returncode != 0
    assert "gossip" in refused.stderr
    then = typed("statements", "--as-of", "2026-03-02", "--json", home=tmp_path / "ours", **settings)
    assert [each["text"] for each in json.loads(then.stdout)["statements"]] == [
        "We use Kafka as the queue for orders."
    ]


def test_a_statement_has_the_files_of_its_request_and_edits_without_a_commit_are_listed(
    tmp_path: Path,
) -> None:
    user, project = tmp_path / "user", write(tmp_path / "shop", {"queue.py": "redis"})
    git(project, "init", "-q")
    edit = {"file_path": str(project / "queue.py"), "old_string": "kafka", "new_string": "redis"}
    log(
        user,
        project,
        "aaaa1111",
        ("user", "We use Redis as the queue for orders."),
        ("assistant", [{"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}]),
        ("assistant", "The queue is Redis now."),
        ("user", "Never push to main."),
        ("assistant", "Noted."),
    )
    settings = {"HOME": str(user), "BACKSTORY_EMBEDDINGS": "off", "BACKSTORY_PROJECT": str(project)}
    assert typed("sync", home=tmp_path / "ours", **settings).returncode == 0
    listed = typed("statements", "--json", home=tmp_path / "ours", **settings).stdout
    files = {each["kind"]: each["files"] for each in json.loads(listed)["statements"]}
    assert (files["decision"], files["preference"]) == ([str(project / "queue.py")], [])
    left = typed("statements", "--kind", "uncommitted", "--json", home=tmp_path / "ours", **settings).stdout
    (edited,) = json.loads(left)["statements"]
    assert (edited["text"], edited["files"]) == ("queue.py", [str(project / "queue.py")])


def test_folders_and_edits_outside_a_repository_are_not_listed_as_uncommitted(tmp_path: Path) -> None:
    user, project = tmp_path / "user", write(tmp_path / "shop", {"queue.py": "redis", "jobs/a.py": "1"})
    command = {"command": "mv old jobs && touch jobs/a.py"}
    log(
        user,
        project,
        "aaaa1111",
        ("user", "Move the jobs."),
        ("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": command}]),
        ("assistant", "The jobs are in their own folder now."),
    )
    settings = {"HOME": str(user), "BACKSTORY_EMBEDDINGS": "off", "BACKSTORY_PROJECT": str(project)}
    assert typed("sync", home=tmp_path / "ours", **settings).returncode == 0

    def listed() -> list[str]:
        words = ("statements", "--kind", "uncommitted", "--json")
        left = typed(*words, home=tmp_path / "ours", **settings).stdout
        return [each["text"] for each in json.loads(left)["statements"]]

    assert listed() == []
    git(project, "init", "-q")
    git(project, "add", ".")
    assert listed() == ["a.py"]
