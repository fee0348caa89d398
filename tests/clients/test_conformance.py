"""The official conformance suite against the real HTTP server; docs/conformance.md says what applies, and why."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ..server.team import listening

PACKAGE = Path(__file__).parent / "node_modules" / "@modelcontextprotocol" / "conformance"
SCENARIOS = ["server-initialize", "ping", "tools-list", "server-sse-multiple-streams"]


@pytest.fixture
def suite() -> list[str]:
    node = shutil.which("node")
    if node and PACKAGE.exists():
        (script,) = json.loads((PACKAGE / "package.json").read_text("utf-8"))["bin"].values()
        return [node, str(PACKAGE / script), "server"]
    reason = "the conformance suite is not installed: `python3 run.py test` does it, with npm"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_server_conforms(tmp_path: Path, suite: list[str], scenario: str) -> None:
    with listening(tmp_path / "home") as web:
        done = subprocess.run(
            [*suite, "--url", web.url, "--scenario", scenario],
            cwd=tmp_path,  # it leaves its results there
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )
    assert done.returncode == 0, done.stdout + done.stderr
