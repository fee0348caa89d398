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


def crash(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CRASH), *words]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=3 * PATIENCE_S, env=environment(home)
    )


@pytest.mark.requirement("server.saved-is-durable")
def test_nothing_acknowledged_is_lost_and_nothing_is_half_written(tmp_path: Path) -> None:
    done = crash(tmp_path, "40")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lab_notices_an_answer_before_the_commit(tmp_path: Path) -> None:
    done = crash(tmp_path, "20", "--hasty")
    assert done.returncode == 1
    assert "it was acknowledged and is lost" in done.stdout
