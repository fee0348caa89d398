"""`run.py` ends with a summary when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHECKS = [
    [sys.executable, "-c", "raise SystemExit(1)"],
    [sys.executable, "-c", "print('up', flush=True); input()"],
]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupted_run_says_what_failed_and_what_was_not_finished() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", f"import run, sys; sys.exit(run.run_checks({[*CHECKS, ['never', 'run']]!r}))"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C goes to a whole group of processes, and not to this one
        # started in the background, the tests themselves may ignore the signal, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "up\n":
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        rest = process.stdout.read()
    failed, running = (" ".join(check) for check in CHECKS)
    assert rest == f"run.py: interrupted; failed: {failed}; not finished: {running}, never run\n"
    assert process.returncode == 130
