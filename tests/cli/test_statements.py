"""`backstory statements`: what the conversations of a project leave behind, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

from ..typed import typed


def log(user: Path, project: Path, session: str, *spoken: tuple[str, str]) -> None:
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
    shown = typed(
        "statements", "--kind", "decision", "--format", "md", home=tmp_path / "ours", **settings
    ).stdout
    assert shown.startswith("# Decision log\n\n- 2026-03-03 **decision**: We use Redis")
    refused = typed("statements", "--kind", "gossip", home=tmp_path / "ours", **settings)
    assert refused.returncode != 0
    assert "gossip" in refused.stderr
