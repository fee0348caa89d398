"""The tests' own PostgreSQL server goes with the process that started it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from .postgres_server import server

START = "from tests.postgres_server import server; print(server().pgdata, server().get_pid(), flush=True); input()"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when another's process ends")
def test_a_killed_run_leaves_no_server_behind() -> None:
    server()  # skips where there is none
    root = Path(__file__).parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", START],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        directory, pid = run.stdout.readline().split()
        descriptor = os.pidfd_open(int(pid))
        run.kill()
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        assert ended.poll(60_000), f"the server {pid} in {directory} still runs"
    finally:
        os.close(descriptor)
