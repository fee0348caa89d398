"""numpy in a process of our own starts no threads, and is left as it is in a program that imports our library."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COUNTING = """
import os
from backstory.domain.arrays import np, use_one_thread
{start}
np.zeros(1)
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS", "none"))
"""
COMMAND = """
from backstory.cli.entry import run
from backstory.front import Heard
run(["--version"], Heard())
"""


def counted(start: str, **variables: str) -> list[str]:
    """The threads of a new process after the import of numpy, and the variable that its children inherit."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    output = subprocess.run(
        [sys.executable, "-c", COUNTING.format(start=start)],
        env={**inherited, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return output.stdout.splitlines()[-1].split()


linux_only = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")


@linux_only
@pytest.mark.parametrize("start", ["use_one_thread()", COMMAND])
def test_numpy_starts_no_threads_in_a_process_of_ours_and_children_do_not_inherit_it(start: str) -> None:
    assert counted(start) == ["1", "none"]


@linux_only
def test_the_user_s_own_number_of_threads_stays() -> None:
    assert counted("use_one_thread()", OPENBLAS_NUM_THREADS="2")[1] == "2"


@linux_only
def test_a_program_that_imports_the_library_keeps_the_threads_of_numpy() -> None:
    assert counted("import backstory") == counted("import numpy")
