"""Information from git about a checkout. `readers/formats/git.py` runs git, because readers need it too."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ...domain.errors import GitFailed
from ...readers.formats.git import GitOutput, ask, git, names, own_environment

__all__ = [
    "GitOutput",
    "ask",
    "commits_since",
    "git",
    "names",
    "own_environment",
    "printable",
    "run_git",
    "without_filters",
]

_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"
MOST_COMMITS = 200
LOG_TIMEOUT_S = 2.0


def printable(text: str) -> str:
    """Text that can be shown and stored: file names may contain bytes that are not characters."""
    return os.fsencode(text).decode(errors="replace")


def run_git(
    directory: Path, *words: str, timeout_s: float, options: Sequence[str] = (), hint: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run a git command that changes something, with its options before the command. Raises GitFailed if it cannot be
    run or does not end in time; a refusal by git itself is in the result."""
    try:
        return subprocess.run(
            ["git", *options, "-C", str(directory), *words],
            env=own_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git {words[0]} did not end within {timeout_s:.0f} seconds.", hint=hint) from None
    except (OSError, ValueError) as error:
        raise GitFailed(f"git could not be run: {error}.") from None


def without_filters(directory: Path) -> list[str]:
    """Options that stop git from running the configured clean and smudge programs."""
    configured = names(git(directory, "config", "-z", "--name-only", "--get-regexp", _FILTERS))
    return [word for name in dict.fromkeys(configured) for word in ("-c", f"{name}=")]


def commits_since(directory: Path, moment: datetime) -> list[str]:
    """The subjects of recent commits on the current branch, newest first; empty without a repository or on a timeout."""
    if not directory.is_dir():
        return []
    output = git(
        directory, "log", "-z", f"--max-count={MOST_COMMITS}", "--format=%ct %s", timeout_s=LOG_TIMEOUT_S
    )
    # git takes a moment that it cannot read for the present one, so the times are compared here
    dated = (printable(line).partition(" ") for line in names(output))
    after = int(moment.timestamp())
    return [subject for at, _, subject in dated if at.isdigit() and int(at) > after]
