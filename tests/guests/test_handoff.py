"""The handoff as a record and as a file."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from backstory.guests.session_mgmt.work.handoff import (
    Handoff,
    HandoffNote,
    as_data,
    from_data,
    markdown,
    note,
    write,
)

from ..doubles import DAWN, make_memory

HANDOFF = Handoff(
    session="s1",
    project="/work/shop",
    started_at=DAWN,
    ended_at=DAWN + timedelta(minutes=90),
    branch="main",
    quality=71,
    decisions=(HandoffNote("d1", "We use PostgreSQL", "high"),),
    tasks=(HandoffNote("t1", "Größe 日本語 🦉", "normal"),),
    errors=(),
    files=("src/api.py",),
    next_steps=("Go on",),
    insights=(HandoffNote("i1", "Tokens rotate", "normal"),),
)


def test_what_the_store_keeps_is_the_whole_handoff() -> None:
    kept = json.loads(json.dumps(as_data(HANDOFF)))
    assert from_data(kept) == HANDOFF
    del kept["insights"]  # as an older version kept it
    assert from_data(kept) == HANDOFF._replace(insights=())


def test_the_file_is_for_people() -> None:
    assert markdown(HANDOFF) == (
        "# Handoff of shop, 2026-03-01 11:00 UTC\n\n- Session: s1, 90 minutes\n- Branch: main\n- Quality at the end: 71 of 100\n"
        "\n## Decisions\n\n- (high) We use PostgreSQL\n\n## Learned\n\n- Tokens rotate\n\n## Open tasks\n\n- [ ] Größe 日本語 🦉\n"
        "\n## Files\n\n- `src/api.py`\n\n## Next steps\n\n- Go on\n"
    )


def test_a_memory_of_many_lines_is_one_line_and_cannot_pose_as_a_section() -> None:
    kept = note(make_memory("m", "Fix it.\n## Decisions\n- none"))
    assert kept.text == "Fix it. ## Decisions - none"
    assert len(note(make_memory("m", "word " * 500)).text) <= 300


def test_a_long_section_says_how_many_more_there_are() -> None:
    text = markdown(HANDOFF._replace(files=tuple(f"f{n}.py" for n in range(120))))
    assert "- and 70 more\n" in text
    assert text.count(".py`") == 50


def test_no_part_of_a_file_is_left_when_writing_fails(tmp_path: Path) -> None:
    folder = tmp_path / ".backstory" / "handoff"
    name = write(HANDOFF, tmp_path, tmp_path / "ours")
    assert name is not None
    name.unlink()
    name.mkdir()  # nothing can take its place
    (name / "occupied").touch()
    (tmp_path / "ours").touch()
    assert write(HANDOFF, tmp_path, tmp_path / "ours") is None
    assert [path.name for path in folder.iterdir()] == [name.name]


@pytest.mark.parametrize("linked", [".backstory", ".backstory/handoff"])
def test_a_link_in_the_project_leads_nowhere(tmp_path: Path, linked: str) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (project / linked).parent.mkdir(parents=True)
    elsewhere.mkdir()
    (project / linked).symlink_to(elsewhere)
    assert write(HANDOFF, project, tmp_path / "ours") == tmp_path / "ours" / "20260301-110000-s1.md"
    assert list(elsewhere.iterdir()) == []


def test_the_users_own_ignore_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".backstory").mkdir()
    (tmp_path / ".backstory" / ".gitignore").write_text("!handoff\n")
    assert write(HANDOFF, tmp_path, tmp_path / "ours") is not None
    assert (tmp_path / ".backstory" / ".gitignore").read_text() == "!handoff\n"
