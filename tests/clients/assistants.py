"""The real assistants, where `python3 run.py assistants` installed them: 2 GB, so not for every run of the tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ..patience import PATIENCE_S
from ..processes import BACKSTORY, environment

MODULES = Path(__file__).parent / "assistants" / "node_modules"
PROGRAMS = {
    "claude": ("@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"),
    "codex": (".bin/codex",),
    "gemini": (".bin/gemini",),
    "qwen": (".bin/qwen",),
    "copilot": (".bin/copilot",),
    "opencode": ("opencode-linux-x64/bin/opencode", "opencode-linux-arm64/bin/opencode"),
    "cline": (".bin/cline",),
    "amp": ("@ampcode/cli-linux-x64/amp", "@ampcode/cli-linux-arm64/amp"),
}
"""Their binaries: npm was not allowed to run scripts, so some commands only say so."""


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Person:
    """A throw-away home with one assistant on PATH, and an empty project."""

    def __init__(self, folder: Path, program: str) -> None:
        self.program = program
        self.home, self.project, self.data = folder / "home", folder / "project", folder / "data"
        self._bin = folder / "bin"
        for each in (self.home, self.project, self._bin):
            each.mkdir(exist_ok=True)  # copied from another person's
        self.install(program)

    def install(self, program: str) -> None:
        """Put one more assistant on PATH, or skip the test."""
        found = next((MODULES / path for path in PROGRAMS[program] if (MODULES / path).exists()), None)
        node = shutil.which("node")
        if found is None or node is None:
            reason = f"{program} is not installed: `python3 run.py assistants` does it, with npm"
            if os.environ.get("BACKSTORY_TEST_ASSISTANTS"):
                pytest.fail(reason)
            pytest.skip(reason)
        for name, target in ((program, found), ("node", node)):
            if not (self._bin / name).exists():
                (self._bin / name).symlink_to(target)

    def environment(self, **variables: str) -> dict[str, str]:
        quiet = {
            "HOME": str(self.home),
            "PWD": str(self.project),  # which OpenCode believes
            "PATH": os.pathsep.join([str(self._bin), "/usr/bin", "/bin"]),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "NO_COLOR": "1",
        }
        known = environment(self.data, **quiet)
        for name in ("CI", "CLAUDECODE", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            known.pop(name, None)
        return known | variables

    def run(self, *words: str, **variables: str) -> str:
        """What a program says; it succeeds."""
        done = subprocess.run(
            words,
            env=self.environment(**variables),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return _COLOUR.sub("", done.stdout + done.stderr)

    def ask(self, *words: str, **variables: str) -> str:
        return self.run(self.program, *words, **variables)

    def backstory(self, *words: str) -> str:
        return self.run(*BACKSTORY, *words)
