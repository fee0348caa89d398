"""Repositories for tests: files, and git without the configuration of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

EMPTY = Path(__file__).with_name("no.gitconfig")
"""Never the null device: git replaces the file it writes a setting to, and as root that is the device."""

PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": str(EMPTY),
    "GIT_CONFIG_NOSYSTEM": "1",
}
IDENTITY = "[user]\n\tname = Ann\n\temail = Ann@Example.org\n"
"""The configuration of who commits in these repositories."""
SOMEONE = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always"]


def git(place: Path, *words: str, fails: bool = False) -> str:
    done = subprocess.run(["git", *SOMEONE, "-C", str(place), *words], env=PLAIN, capture_output=True)
    assert (done.returncode != 0) == fails, done.stderr
    return os.fsdecode(done.stdout)


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


def commit_as_stranger(root: Path, name: str, text: str = "x") -> Path:
    """A file of the repository that somebody else wrote."""
    write(root, {name: text})
    git(root, "add", "--force", "--", name)
    git(root, "commit", "-qm", "x", "--author=Mallory <mallory@example.org>", "--", name)
    return root / name


def commit(root: Path, files: Mapping[str, str]) -> Path:
    """A repository in which these files are committed."""
    write(root, files)
    if not (root / ".git").exists():
        git(root, "init", "-q", "-b", "main")
    git(root, "add", "--", *files)
    git(root, "commit", "-qm", "files", "--", *files)
    return root
