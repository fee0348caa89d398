"""What was committed to a project after a moment, by whomever."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from .git import git, names, printable

MOST = 200
TIMEOUT_S = 2.0


def commits_since(directory: Path, moment: datetime) -> list[str]:
    """The subjects of the last ones on the branch that is checked out, the newest first; none where there is no repository or no
    answer in time."""
    if not directory.is_dir():
        return []
    told = git(directory, "log", "-z", f"--max-count={MOST}", "--format=%ct %s", timeout_s=TIMEOUT_S)
    # git takes a moment that it cannot read for the present one, so the times are compared here
    dated = (printable(line).partition(" ") for line in names(told))
    after = int(moment.timestamp())
    return [subject for at, _, subject in dated if at.isdigit() and int(at) > after]
