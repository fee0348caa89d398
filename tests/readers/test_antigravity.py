"""Antigravity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.readers import Cursor, load_readers

from .golden import check_golden, places


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("antigravity", request)


def test_what_the_program_tells_its_model_in_passing_is_not_read(tmp_path: Path) -> None:
    logs = tmp_path / ".gemini/antigravity/brain/aa000000-0000-4000-8000-000000000009/.system_generated/logs"
    logs.mkdir(parents=True)
    passing = "<EPHEMERAL_MESSAGE>a walrus in passing</EPHEMERAL_MESSAGE>"
    steps = [
        {"step_index": 0, "source": "USER_EXPLICIT", "content": f"<USER_REQUEST>Go</USER_REQUEST>{passing}"},
        {"step_index": 1, "source": "SYSTEM", "type": "EPHEMERAL_MESSAGE", "content": "a walrus of its own"},
        {"step_index": 2, "source": "SYSTEM", "type": "OTHER", "content": passing},
        {"step_index": 3, "source": "SYSTEM", "type": "OTHER", "content": f"kept {passing}"},
        {"step_index": 4, "source": "MODEL", "type": "PLANNER_RESPONSE", "content": "Done."},
    ]
    (logs / "transcript.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
    reader = load_readers(["antigravity"])["antigravity"]
    (source,) = [each for each in reader.find(places(tmp_path)) if each.path.name == "transcript.jsonl"]
    (piece,) = reader.read(source, Cursor())
    assert [turn.text for turn in piece.turns] == ["Go", "kept", "Done."]
