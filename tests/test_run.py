"""`run.py` sets up a checkout on any machine, and ends with a summary when it is interrupted."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
import tomllib
from importlib.util import find_spec
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


WITHOUT_ENSUREPIP = """#!/bin/sh
case "$*" in
  *--without-pip*|*pip_wheel.py*) exec {python} "$@" ;;
  *) exit 1 ;;
esac
"""


@pytest.fixture
def pip_index(tmp_path: Path) -> str:
    """A package index that lists the pip of ensurepip."""
    ensurepip = find_spec("ensurepip")
    bundled = Path(ensurepip.origin).parent / "_bundled" if ensurepip and ensurepip.origin else Path()
    wheels = [path.as_uri() for path in bundled.glob("pip-*.whl")]
    if not wheels:
        pytest.skip("this Python has no ensurepip")
    (tmp_path / "simple" / "pip").mkdir(parents=True)
    (tmp_path / "simple" / "pip" / "index.html").write_text(f'<a href="{wheels[0]}">pip</a>', "utf-8")
    return (tmp_path / "simple").as_uri()


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_python_without_ensurepip_and_pip_gets_pip_from_the_index(pip_index: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(WITHOUT_ENSUREPIP.format(python=sys.executable))
    python.chmod(0o755)
    script = (
        f"import run, sys, pathlib; sys.executable = {str(python)!r};"
        f" print(*run.make_venv(pathlib.Path({str(tmp_path / 'venv')!r})))"
    )
    process = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PATH": "/usr/bin:/bin", "PIP_INDEX_URL": pip_index},
    )
    installer = process.stdout.split()
    assert installer[:3] == [str(tmp_path / "venv" / "bin" / "python"), "-m", "pip"], process.stderr
    version = subprocess.check_output([*installer, "--version"], encoding="utf-8")
    assert str(tmp_path / "venv") in version


def test_constraints_pin_every_dependency_and_name_no_index() -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    dependencies = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["dependencies"]
    requirements = [dependencies, project["dependency-groups"]["dev"], *extras]
    needed = {package_name(each) for group in requirements for each in group}
    pinned = {package_name(line) for line in text.splitlines() if "==" in line}
    assert needed <= pinned
    assert "://" not in text


def package_name(requirement: str) -> str:
    (name,) = re.findall(r"^[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(("is_ci", "status"), [("", 0), ("true", 1)])
def test_a_missing_program_is_a_skip_with_its_reason_and_a_failure_in_ci(
    tmp_path: Path, is_ci: str, status: int
) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/clients/test_toon.py"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PATH": str(tmp_path), "CI": is_ci},
    )
    assert process.returncode == status
    reason = "no TOON from npm; `python3 run.py test` installs it where npm is"
    assert f"{'Failed' if is_ci else '1 skipped'}: {reason}" in process.stdout


def test_the_table_of_benchmarks_has_a_row_for_each_figure() -> None:
    figures = runpy.run_path(str(ROOT / "bench" / "selection.py"))["figures"]
    output = "start: 22 ms CPU\n\n| | tools | tokens |\n|---|---|---|\n| all | 71 | 15,890 |\n"
    assert list(figures(output)) == [("start", "22 ms CPU"), ("all", "71 tools, 15,890 tokens")]
