"""Set up a checkout of Backstory and use it: `python3 run.py demo`, `python3 run.py test`.

Needs Python 3.11 or newer, and nothing else: everything is installed into `.venv` beside this file. Older Pythons,
from 3.7 on, can read this file too: they look for a newer one, or say that it is missing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
CLIENTS = ROOT / "tests" / "clients"
ASSISTANTS = CLIENTS / "assistants"

PROGRAMS = {
    "chromium": ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    "pgbouncer": ["pgbouncer", "/usr/sbin/pgbouncer"],
}
"""What tests need besides packages of Python, by the name of Debian's package: the commands that it may have."""

OLDEST = (3, 11)
NEWER = ["python3." + str(minor) for minor in range(20, 10, -1)] + ["python3", "python"]

LINT = [
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports", "--no-cache"],
]
# many wait for a process of their own; those of a file share servers, a browser, a model
TESTS = ["pytest", "--numprocesses=3", "--dist=loadfile"]
FULL = [*LINT, TESTS]
QUICK = [*LINT, [*TESTS, "--quick", "--hypothesis-profile=quick"]]
COVERAGE = [  # twice the time
    ["coverage", "erase"],
    ["coverage", "run", "-m", *TESTS],
    ["coverage", "combine", "--quiet"],
    ["coverage", "report"],
]

USAGE = """\
python3 run.py demo          set up, then show Backstory at work
python3 run.py test          set up, then run every check and test
python3 run.py test --quick  the checks and tests that need no PostgreSQL and no whole processes
python3 run.py coverage      which lines and branches the tests reach
python3 run.py assistants    install the real assistants, 2 GB, that tests/clients/test_assistants.py asks
python3 run.py setup         set up only"""


def main(words: list[str]) -> int:
    if not words or words[0] not in ("demo", "test", "coverage", "assistants", "setup"):
        print(USAGE)
        return 2
    if sys.version_info < OLDEST:
        return run_with_newer_python(words)
    command, *rest = words
    set_up(with_tools=command != "demo")
    if command == "demo":
        return subprocess.call([str(PYTHON), "-m", "backstory", "demo", *rest])
    if command == "test" and rest == ["--quick"]:
        return run_checks(QUICK)
    if command == "assistants":
        return install_packages(ASSISTANTS)
    if command in ("test", "coverage"):
        install_packages(CLIENTS)
        install_programs()
        return run_checks(FULL if command == "test" else COVERAGE)
    return 0


def run_with_newer_python(words: list[str]) -> int:
    for name in NEWER:
        found = shutil.which(name)
        if found and is_new_enough(found):
            return subprocess.call([found, str(Path(__file__).resolve()), *words])
    say("This is Python {}.{}; Backstory needs 3.11 or newer, and none is on PATH.".format(*sys.version_info))
    say("Install one (your system's package manager, python.org or `uv python install`) and run this again.")
    return 1


def is_new_enough(python: str) -> bool:
    """Asked by running it: a name on PATH may be a stub that starts nothing."""
    question = f"import sys; sys.exit(sys.version_info < {OLDEST!r})"
    return subprocess.run([python, "-c", question], stderr=subprocess.DEVNULL).returncode == 0


def set_up(*, with_tools: bool) -> None:
    """Make `.venv` hold what pyproject.toml asks for. Nothing is done when it does already."""
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode()).hexdigest()
    stamps = [VENV / "tools.stamp"] if with_tools else [VENV / "tools.stamp", VENV / "demo.stamp"]
    if PYTHON.exists() and any(stamp.exists() and stamp.read_text() == wanted for stamp in stamps):
        return
    say("Setting up .venv; the first time this takes about a minute.")
    installer = make_venv()
    # with the extras, or their tests would be skipped
    packages = (
        ["--editable", f"{ROOT}[code,http]", *development_tools()]
        if with_tools
        else ["--editable", str(ROOT)]
    )
    if subprocess.call([*installer, "install", "--quiet", *packages]):
        sys.exit("run.py: the packages could not be installed; the lines above say why.")
    stamps[-1].write_text(wanted)


def development_tools() -> list[str]:
    """Read here, since `pip install --group` is newer than many a pip."""
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        tools: list[str] = tomllib.load(file)["dependency-groups"]["dev"]
    return tools


def make_venv() -> list[str]:
    """Make `.venv` if need be; the command that installs into it. A Python without ensurepip (Debian splits
    it off) can still lend its own pip, and uv needs neither."""
    usable = PYTHON.exists() and is_new_enough(str(PYTHON))
    pip = ["-m", "pip", "--disable-pip-version-check"]
    if usable and not subprocess.call(
        [str(PYTHON), *pip, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        return [str(PYTHON), *pip]
    shutil.rmtree(VENV, ignore_errors=True)
    if not subprocess.call(
        [sys.executable, "-m", "venv", str(VENV)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        return [str(PYTHON), *pip]
    shutil.rmtree(VENV, ignore_errors=True)
    uv = shutil.which("uv")
    if uv and not subprocess.call([uv, "venv", "--quiet", "--python", sys.executable, str(VENV)]):
        return [uv, "pip", "--python", str(PYTHON)]
    lent = [sys.executable, *pip, "--python", str(PYTHON)]
    made = subprocess.call([sys.executable, "-m", "venv", "--without-pip", str(VENV)]) == 0
    if made and not subprocess.call(
        [*lent, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        return lent
    sys.exit(
        "run.py: this Python can make no virtual environment: it has neither ensurepip nor pip, and uv is not"
        " installed.\nOn Debian and Ubuntu: sudo apt install python3-venv"
    )


def install_packages(folder: Path) -> int:
    """The programs that the server is tested with. Without npm those tests are skipped, or fail when CI is set."""
    npm = shutil.which("npm")
    stamp = folder / "node_modules" / "installed.stamp"
    wanted = (folder / "package.json").read_text()
    if npm is None or (stamp.exists() and stamp.read_text() == wanted):
        return 0 if npm else 1
    say("Installing the {} to test with.".format("MCP clients" if folder == CLIENTS else "assistants"))
    command = [
        npm,
        "install",
        "--no-package-lock",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--loglevel=error",
    ]
    failed = subprocess.call(command, cwd=folder)
    if not failed:
        stamp.write_text(wanted)
    return failed


def install_programs() -> None:
    """A browser for the pages and a pooler for PostgreSQL. Tests that miss one are skipped, or fail when CI is set."""
    apt = shutil.which("apt-get")
    if not missing_programs() or apt is None or os.geteuid() != 0:
        return
    say("Installing {} to test with.".format(" and ".join(missing_programs())))
    apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", apt]
    install = [*apt_get, "install", "--yes", "--no-install-recommends", *missing_programs()]
    # a new machine has no list of packages
    for command in (install, [*apt_get, "update"], install):
        if missing_programs():
            subprocess.call(command, stdout=subprocess.DEVNULL)


def missing_programs() -> list[str]:
    return [package for package, commands in PROGRAMS.items() if not any(map(shutil.which, commands))]


def run_checks(checks: list[list[str]]) -> int:
    """Every check, even after one failed: whoever corrects the first wants to know the others."""
    failed = []
    for number, (program, *arguments) in enumerate(checks):
        line = " ".join([program, *arguments])
        say(line)
        try:
            if finish([str(BIN / program), *arguments]):
                failed.append(line)
        except KeyboardInterrupt:
            rest = [" ".join(check) for check in checks[number:]]
            say(
                "interrupted; failed: {}; not finished: {}".format(
                    ", ".join(failed) or "none", ", ".join(rest)
                )
            )
            return 130
    if failed:
        say("failed: " + ", ".join(failed))
    return 1 if failed else 0


def finish(command: list[str]) -> int:
    """Its exit status. Ctrl-C reaches it too: it may say what it had found by then, before we end."""
    # without compiled files every worker and every process that a test starts would compile all it imports
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise


def say(line: str) -> None:
    print("run.py:", line, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # while something was installed; the next run goes on with it
        say("interrupted")
        sys.exit(130)
