"""Git as the transport: fetch before a sync, commit and push after it. Only our directory is staged, and no hooks run.

Segments never change, so there are no conflicts.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ...domain.errors import GitFailed
from ..projects.git import run_git
from .folder import SUBFOLDER

GIT_TIMEOUT_S = 120.0
COMMIT_SUBJECT = "Backstory devices"
MAX_ERROR_CHARS = 300


class GitCarrier:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fetch(self) -> None:
        """Pull new commits, if the branch has an upstream."""
        if self._has_upstream():
            self._run("pull", "--rebase", "--quiet")

    def send(self) -> None:
        """Commit and push changes in our directory; retry once if another machine pushed meanwhile."""
        self._run("add", "--all", "--", SUBFOLDER)
        # An empty commit would be an error, and a commit for every sync without news a nuisance.
        if self._ask("diff", "--cached", "--quiet", "--", SUBFOLDER).returncode:
            self._run("commit", "--quiet", "--no-gpg-sign", "-m", COMMIT_SUBJECT, "--", SUBFOLDER)
        if self._has_upstream() and self._ask("push", "--quiet").returncode:
            self.fetch()
            self._run("push", "--quiet")

    def _has_upstream(self) -> bool:
        return self._ask("rev-parse", "--abbrev-ref", "@{upstream}").returncode == 0

    def _run(self, *words: str) -> None:
        outcome = self._ask(*words)
        if outcome.returncode:
            reason = outcome.stderr.decode(errors="replace").strip()[-MAX_ERROR_CHARS:]
            raise GitFailed(
                f"git {words[0]} failed in {self._folder}: {reason}",
                hint="Nothing is lost; correct it and sync again.",
            )

    def _ask(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        # Hooks of the repository are for the work of people, and may ask questions.
        without_hooks = ("-c", f"core.hooksPath={os.devnull}")
        return run_git(self._folder, *words, timeout_s=GIT_TIMEOUT_S, options=without_hooks)
