"""Processes that are killed at random moments: a small run of `bench/crash.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..patience import PATIENCE_S
from ..processes import environment

CRASH = Path(__file__).parents[2] / "bench" / "crash.py"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")


@pytest.mark.requirement("server.saved-is-durable")
def test_nothing_acknowledged_is_lost_and_nothing_is_half_written(tmp_path: Path) -> None:
    """And the lab notices what would be: it tries answers before the commit, too."""
    done = subprocess.run(
        [sys.executable, str(CRASH), "40"],
        capture_output=True,
        encoding="utf-8",
        timeout=3 * PATIENCE_S,
        env=environment(tmp_path),
    )
    assert done.returncode == 0, done.stdout + done.stderr
