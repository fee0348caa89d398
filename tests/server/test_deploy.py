"""The systemd unit: systemd accepts it, and what it starts serves."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from backstory.settings import Settings

from ..patience import PATIENCE_S
from ..processes import BACKSTORY
from .team import bearer, listening, token

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "backstory.service"


def values(name: str) -> list[str]:
    lines = UNIT.read_text("utf-8").splitlines()
    return [line.removeprefix(f"{name}=") for line in lines if line.startswith(f"{name}=")]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    program, *_ = shlex.split(values("ExecStart")[0])
    unit.write_text(UNIT.read_text("utf-8").replace(program, "/bin/true"), "utf-8")
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, encoding="utf-8", timeout=PATIENCE_S
    )
    assert (verified.returncode, verified.stderr) == (0, "")


def test_the_command_and_variables_of_the_unit_start_a_server(tmp_path: Path) -> None:
    _, *words = shlex.split(values("ExecStart")[0])
    variables = dict(each.split("=", 1) for each in values("Environment"))
    assert variables.pop("BACKSTORY_HOME").removeprefix("/var/lib/") == values("StateDirectory")[0]
    words[words.index("--http") + 1] = "127.0.0.1:0"
    made = token(tmp_path, "alice")
    command = [*BACKSTORY, *words, "--embeddings", "off"]
    with listening(tmp_path, command=command, **variables) as web:
        assert web.ask("ping", {}).status == 401
        assert web.ask("ping", {}, **bearer(made)).status == 200
    assert int(values("TimeoutStopSec")[0]) > Settings(home=tmp_path, project=tmp_path).grace_s
