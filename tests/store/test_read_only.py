"""A store on a read-only disk, or of somebody else: it can be searched, and a save says why it cannot be made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from backstory.core import Caller, Core, Engine
from backstory.domain.errors import NotAllowed
from backstory.domain.filters import Filter, Page
from backstory.store.sqlite import SqliteStore

from ..doubles import found_memories, make_memory, make_settings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no read-only directories")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(SqliteStore(tmp_path / "made" / "store.db")) as store:
        store.memories.put([make_memory("a", "the walrus sleeps")])
    return tmp_path / "made"


@pytest.fixture
def read_only(folder: Path, tmp_path: Path) -> Iterator[Path]:
    """The store where nobody can write: by its mode, or for root, whom no mode stops, on a mount."""
    if os.getuid():
        folder.chmod(0o500)
        yield folder / "store.db"
        folder.chmod(0o700)
        return
    mount = tmp_path / "mounted"
    mount.mkdir()
    commands = (["mount", "--bind", str(folder), str(mount)], ["mount", "-o", "remount,ro,bind", str(mount)])
    if shutil.which("mount") is None or any(
        subprocess.run(command, capture_output=True, check=False).returncode for command in commands
    ):
        subprocess.run(["umount", str(mount)], capture_output=True, check=False)
        pytest.skip("root may not mount anything here")
    yield mount / "store.db"
    subprocess.run(["umount", str(mount)], check=True)


def test_what_is_there_is_listed_and_searched_and_nothing_is_saved(read_only: Path) -> None:
    before = sorted(os.listdir(read_only.parent))
    with closing(SqliteStore(read_only)) as store:
        assert [memory.id for memory in store.memories.find(Filter(), Page())] == ["a"]
        core = Core(Engine(make_settings(), store, None), Caller(project="/p"))
        assert [memory.id for memory in found_memories(core, "walrus", 3)] == ["a"]
        with pytest.raises(NotAllowed, match="read-only"):
            store.memories.put([make_memory("b")])
        assert store.problems() == []
    assert sorted(os.listdir(read_only.parent)) == before


def test_what_a_killed_process_left_in_the_log_is_found_too(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    store = SqliteStore(folder / "store.db")
    store.memories.put([make_memory("late", "said at the end")])
    for name in ("store.db-wal", "store.db-shm"):
        shutil.copy(folder / name, folder / f"kept{name}")
    shutil.copy(folder / "store.db", folder / "kept.db")
    store.close()
    os.replace(folder / "kept.db", folder / "store.db")
    for name in ("store.db-wal", "store.db-shm"):
        os.replace(folder / f"kept{name}", folder / name)
    with closing(SqliteStore(request.getfixturevalue("read_only"))) as reopened:
        assert sorted(memory.id for memory in reopened.memories.find(Filter(), Page())) == ["a", "late"]
