"""Set up a checkout of Backstory and use it: `python3 run.py demo`, `python3 run.py test`.

Needs Python 3.11 or newer, and nothing else: everything is installed into `.venv` beside this file, and nothing outside
the checkout changes. Older Pythons, from 3.7 on, can read this file too: they look for a newer one, or say that it is
missing.
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
NEWEST_VENV = ROOT / ".venv-newest-{}.{}".format(*sys.version_info)
CONSTRAINTS = ROOT / "constraints.txt"
MODEL = ROOT / "packages" / "minilm"  # built here: no package index has it yet
CLIENTS = ROOT / "tests" / "clients"
ASSISTANTS = CLIENTS / "assistants"

OLDEST = (3, 11)
NEWER = ["python3." + str(minor) for minor in range(20, 10, -1)] + ["python3", "python"]
NEWEST_MINOR = 14  # all dependencies have wheels for it

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
NEWEST = [  # what depends on the versions of numpy and SQLite
    ["mypy"],
    [
        *TESTS,
        "--quick",
        "tests/store",
        "tests/search",
        "tests/core/test_erasure.py",
        "tests/core/test_forgetting.py",
        "tests/core/test_retention.py",
        "tests/core/test_search.py",
        "tests/readers/test_databases.py",
    ],
]
SQLITE_WHEEL = "pysqlite3-binary"
# a line of a .pth file runs whenever Python starts, so processes that tests start have the newer SQLite too
USE_SQLITE_WHEEL = (
    "import sys, pysqlite3;"
    ' sys.modules["sqlite3"] = pysqlite3; sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2'
)
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
python3 run.py test --newest the tests of store and search, with the newest dependencies, SQLite and Python that are to be had
python3 run.py coverage      which lines and branches the tests reach
python3 run.py bench         less than ten minutes of benchmarks, as one table
python3 run.py assistants    install the real assistants, 2 GB, that tests/clients/test_assistants.py asks
python3 run.py setup         set up only"""


def main(words: list[str]) -> int:
    if not words or words[0] not in ("demo", "test", "coverage", "bench", "assistants", "setup"):
        print(USAGE)
        return 2
    if sys.version_info < OLDEST:
        return run_with_newer_python(words)
    command, *rest = words
    if command == "test" and rest == ["--newest"]:
        return check_newest()
    set_up(with_tools=command != "demo")
    if command == "demo":
        return subprocess.call([program(VENV, "python"), "-m", "backstory", "demo", *rest])
    if command == "test" and rest == ["--quick"]:
        return run_checks(QUICK)
    if command == "bench":
        return subprocess.call([program(VENV, "python"), str(ROOT / "bench" / "selection.py")])
    if command == "assistants":
        return install_packages(ASSISTANTS)
    if command in ("test", "coverage"):
        install_packages(CLIENTS)
        return run_checks(FULL if command == "test" else COVERAGE)
    return 0


def program(venv: Path, name: str) -> str:
    """The path of a program in a virtual environment."""
    return str(venv / "Scripts" / (name + ".exe")) if os.name == "nt" else str(venv / "bin" / name)


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
    inputs = [ROOT / "pyproject.toml", CONSTRAINTS, MODEL / "pyproject.toml", MODEL / "hatch_build.py"]
    contents = b"".join(path.read_bytes() for path in inputs) + str(ROOT).encode()
    wanted = hashlib.sha256(contents).hexdigest()
    stamps = [VENV / "tools.stamp"] if with_tools else [VENV / "tools.stamp", VENV / "demo.stamp"]
    if Path(program(VENV, "python")).exists() and any(
        stamp.exists() and stamp.read_text() == wanted for stamp in stamps
    ):
        return
    say("Setting up .venv; the first time this takes about a minute.")
    packages = packages_to_test() if with_tools else ["--editable", str(ROOT)]
    install(VENV, ["--constraint", str(CONSTRAINTS), *packages])
    stamps[-1].write_text(wanted)


def check_newest() -> int:
    """Test with the newest version of everything that a newcomer could have: the constraints are left out."""
    for minor in range(NEWEST_MINOR, sys.version_info[1], -1):
        python = shutil.which("python3." + str(minor))
        if python and is_new_enough(python):
            return subprocess.call([python, str(Path(__file__).resolve()), "test", "--newest"])
    say(f"Setting up {NEWEST_VENV.name}.")
    install(NEWEST_VENV, ["--upgrade", *packages_to_test(), SQLITE_WHEEL])
    question = "import sysconfig; print(sysconfig.get_path('purelib'))"
    modules = subprocess.check_output([program(NEWEST_VENV, "python"), "-c", question], encoding="utf-8")
    (Path(modules.strip()) / "newer_sqlite.pth").write_text(USE_SQLITE_WHEEL + "\n")
    question = (
        "import sys, sqlite3, numpy;"
        " print('Python', sys.version.split()[0] + ', SQLite', sqlite3.sqlite_version + ', numpy', numpy.__version__)"
    )
    subprocess.call([program(NEWEST_VENV, "python"), "-c", question])
    return run_checks(NEWEST, NEWEST_VENV)


def packages_to_test() -> list[str]:
    """With the extras, or their tests would be skipped. The groups are read here, since `pip install --group` is newer
    than many a pip."""
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        tools: list[str] = tomllib.load(file)["dependency-groups"]["dev"]
    return ["--editable", f"{ROOT}[code,http]", *tools]


def install(venv: Path, packages: list[str]) -> None:
    # uv upgrades the dependencies of what it upgrades without being asked
    environment = {**os.environ, "PIP_UPGRADE_STRATEGY": "eager"}
    if subprocess.call([*make_venv(venv), "install", "--quiet", *packages], env=environment):
        sys.exit("run.py: the packages could not be installed; the lines above say why.")


def make_venv(venv: Path) -> list[str]:
    """Make a virtual environment if need be; the command that installs into it.

    A Python without ensurepip (Debian splits it off) may have uv or a pip beside it. If not, pip is downloaded."""
    python = program(venv, "python")
    pip = ["-m", "pip", "--disable-pip-version-check"]
    if Path(python).exists() and is_new_enough(python) and succeeds([python, *pip, "--version"]):
        return [python, *pip]
    shutil.rmtree(venv, ignore_errors=True)
    if succeeds([sys.executable, "-m", "venv", str(venv)]):
        return [python, *pip]
    shutil.rmtree(venv, ignore_errors=True)
    uv = shutil.which("uv")
    if uv and succeeds([uv, "venv", "--quiet", "--python", sys.executable, str(venv)]):
        return [uv, "pip", "--python", python]
    lent = [sys.executable, *pip, "--python", python]
    is_made = subprocess.call([sys.executable, "-m", "venv", "--without-pip", str(venv)]) == 0
    if is_made and succeeds([*lent, "--version"]):
        return lent
    if is_made and install_pip(venv):
        return [python, *pip]
    sys.exit(
        "run.py: this Python can make no virtual environment: it has neither ensurepip nor pip, uv is not"
        " installed, and pip could not be downloaded.\nOn Debian and Ubuntu: sudo apt install python3-venv"
    )


def install_pip(venv: Path) -> bool:
    """Install pip from its own wheel, which can run before it is installed."""
    download = [sys.executable, str(ROOT / "scripts" / "pip_wheel.py"), str(venv)]
    wheel = subprocess.run(download, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
    command = [program(venv, "python"), "-m", "pip", "install", "--quiet", "--no-index", wheel]
    return bool(wheel) and subprocess.call(command, env={**os.environ, "PYTHONPATH": wheel}) == 0


def succeeds(command: list[str]) -> bool:
    return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def install_packages(folder: Path) -> int:
    """The programs that the server is tested with. Without npm those tests are skipped, or fail when CI is set."""
    npm = shutil.which("npm")
    stamp = folder / "node_modules" / "installed.stamp"
    wanted = (folder / "package.json").read_text()
    if npm is None:
        say("npm is not installed.")
        return 1
    if stamp.exists() and stamp.read_text() == wanted:
        return 0
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


def run_checks(checks: list[list[str]], venv: Path = VENV) -> int:
    """Every check, even after one failed: whoever corrects the first wants to know the others."""
    failed = []
    for number, (name, *arguments) in enumerate(checks):
        line = " ".join([name, *arguments])
        say(line)
        try:
            if finish([program(venv, name), *arguments]):
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
