"""`backstory forget` of memories, as a process: the receipt, and what is left on the disk."""

from __future__ import annotations

import json
from pathlib import Path

from ..processes import save
from ..typed import typed


def bytes_in(home: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_memory_is_forgotten_by_its_id_in_backups_too(tmp_path: Path) -> None:
    gone, stays = save(tmp_path, "Quokkamarker is called heron.", "Numbatmarker is called egret.")
    assert typed("backup", home=tmp_path).returncode == 0
    asked = typed("forget", gone, home=tmp_path)
    assert asked.returncode == 2
    assert "Quokkamarker is called heron." in asked.stderr
    first = json.loads(typed("forget", gone, "--yes", "--json", home=tmp_path).stdout)
    assert (first["forgotten"], first["removed"], first["memories"][0]["id"]) == (1, {"memories": 1}, gone)
    assert "Backups may still contain it" in first["notices"][0]
    assert b"Quokkamarker" in bytes_in(tmp_path)
    then = json.loads(typed("forget", gone, "--backups", "--yes", "--json", home=tmp_path).stdout)
    assert (then["removed"], then["notices"]) == ({"backups": 1}, [])
    left = bytes_in(tmp_path)
    assert b"quokkamarker" not in left.lower()
    assert b"Numbatmarker" in left
    text = typed("forget", stays, "--yes", home=tmp_path).stdout
    assert "Removed:\n  memories  1" in text
    assert typed("forget", gone, "--yes", home=tmp_path).returncode == 1
