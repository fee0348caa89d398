"""Files in the data directory that another assistant reads to go on with a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...domain.handoffs import SessionHandoff

FOLDER = "handoff"


def handoff_folder(home: Path) -> Path:
    return home / FOLDER


def remove_handoff_files(home: Path, handoffs: Sequence[SessionHandoff]) -> tuple[str, ...]:
    """Delete our own files of these handoffs. Returns the others that are still there: sessions of assistants."""
    folder = handoff_folder(home)
    remaining = []
    for path in (Path(path) for handoff in handoffs for path in handoff.paths):
        if path.parent == folder:
            path.unlink(missing_ok=True)
        elif path.exists():
            remaining.append(str(path))
    return tuple(remaining)
