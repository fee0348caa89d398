"""`list_project_files` on a repository of 20,000 files: CPU time of this process and of the git it runs.

python bench/project_files.py [FILES]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from servers import percentile

from backstory.core.projects.effort import Effort
from backstory.core.projects.ignoring import walk
from backstory.domain.when import utc_now
from backstory.guests.gandalf.files import list_files

CALLS = 10
COMMITS = 200
IDENTITY = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"]


def make(root: Path, files: int) -> None:
    """Files in 200 directories, some committed time and again, some untracked, some ignored."""
    for n in range(files):
        folder = root / f"part{n % 20}" / f"inner{n % 200}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module_{n}.{'py' if n % 3 else 'md'}").write_text(f"{n}\n" * 20)
    (root / ".gitignore").write_text("*.log\n/build/\n")
    (root / "build").mkdir()
    for n in range(1_000):
        (root / "build" / f"{n}.o").touch()
    run = ["git", *IDENTITY, "-C", str(root)]
    subprocess.run([*run, "init", "--quiet"], check=True)
    subprocess.run(
        [*run, "add", "part0", "part1", "part2", "part3", "part4", "part5", "part6", "part7"], check=True
    )
    subprocess.run([*run, "commit", "--quiet", "-m", "first"], check=True)
    busy = sorted(root.glob("part1/*/*"))[:10]
    for n in range(COMMITS):
        path = busy[n % len(busy)]
        path.write_text(f"change {n}\n")
        subprocess.run([*run, "commit", "--quiet", "-am", f"change {n}"], check=True)


def cpu_s() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def main(files: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root, files)
        spent = []
        for _ in range(CALLS):
            before = cpu_s()
            found = list_files(root, utc_now(), Effort())
            spent.append(cpu_s() - before)
        active = sum(1 for file in found.files if file.commits > 1)
        print(f"{len(found.files):,} files, {active} of them committed more than once")
        print(
            f"with git: p50 {percentile(spent, 0.5):.2f}, p95 {percentile(spent, 0.95):.2f} s CPU, children included"
        )
        before = cpu_s()
        walked = sum(1 for _ in walk(root, Effort()))
        print(f"without git: a walk over {walked:,} files takes {cpu_s() - before:.2f} s CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
