"""Requests that nobody would send: a small run of `bench/fuzz.py`."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from .. import postgres_server
from ..patience import PATIENCE_S

FUZZ = Path(__file__).parents[2] / "bench" / "fuzz.py"


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_every_request_is_answered_and_none_by_an_internal_error(backend: str) -> None:
    with postgres_server.own_database("fuzz") if backend == "postgres" else nullcontext("") as url:
        done = subprocess.run(
            [sys.executable, str(FUZZ), "300", "7", url],
            capture_output=True,
            encoding="utf-8",
            timeout=2 * PATIENCE_S,
        )
    assert done.returncode == 0, done.stdout + done.stderr
