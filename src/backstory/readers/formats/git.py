"""Run git on a checkout without changing it and without starting programs that the checkout configures."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

TIMEOUT_S = 10

_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
_SET = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
_QUIET = (
    "--no-optional-locks",  # keeps git from refreshing its index
    "--literal-pathspecs",
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "protocol.allow=never",  # a partial clone would fetch what it lacks
)  # fmt: skip


class GitOutput(NamedTuple):
    """The output of git, and whether it succeeded."""

    text: str
    is_ok: bool


def ask(
    directory: Path,
    *arguments: str,
    stdin: str = "",
    variables: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> GitOutput:
    """Run git in a directory. A missing git, or a timeout, is a failure like any other."""
    try:
        process = subprocess.run(
            ["git", *_QUIET, "-C", str(directory), *arguments],
            env=own_environment() | dict(variables or {}),
            input=os.fsencode(stdin),
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return GitOutput("", False)
    return GitOutput(os.fsdecode(process.stdout), process.returncode == 0)


def git(directory: Path, *arguments: str, timeout_s: float = TIMEOUT_S) -> str | None:
    """Return the output of git; None if there is no repository, no git, or no answer in time."""
    answer = ask(directory, *arguments, timeout_s=timeout_s)
    return answer.text if answer.is_ok else None


def names(text: str | None) -> list[str]:
    """Split an answer to `-z`."""
    return [part for part in (text or "").split("\0") if part]


def own_environment() -> dict[str, str]:
    """Return the environment without variables that select another repository: a hook may have started the server."""
    inherited = os.environ  # noqa: TID251  (passed on, not read as settings)
    environment = {
        name: value for name, value in inherited.items() if not name.startswith("GIT_") or name in _KEPT
    }
    return environment | _SET
