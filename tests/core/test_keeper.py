"""The keeper of conversations: its table of states, and that nothing that happens to files loses what they told."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from backstory.core.sync import Sync
from backstory.readers import Places, load_readers
from backstory.store import Store

from ..conftest import OpenCore

HOMES = Path(__file__).resolve().parents[1] / "readers"
CLAUDE = "1f6a0000-0000-4000-8000-000000000001"
CODEX = "0199aaaa-0000-7000-8000-000000000001"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def sync(open_core: OpenCore, store: Store, home: Path) -> Callable[..., None]:
    syncs = Sync(open_core(store, None).engine)

    def run(reader: str, **roots: tuple[Path, ...]) -> None:
        named = {name.replace("_", "-"): paths for name, paths in roots.items()}
        assert syncs.run(load_readers([reader]).values(), Places(home, {}, "linux", roots=named)) is not None

    return run


def texts(store: Store, conversation: str) -> list[str]:
    return [message.text for message in store.conversations.messages(conversation)]


def touch(path: Path) -> None:
    """As a backup program does that sets times anew."""
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000_000))


def test_a_backup_that_is_only_touched_loses_nothing(
    sync: Callable[..., None], store: Store, home: Path, tmp_path: Path
) -> None:
    shutil.copytree(HOMES / "claude-code/home", home)
    backup = tmp_path / "old-laptop/.claude"
    shutil.copytree(home / ".claude", backup)
    sync("claude-code", claude_code=(backup,))
    before = texts(store, f"claude-code:{CLAUDE}")
    assert len(before) > 3
    shutil.rmtree(home)
    home.mkdir()
    sync("claude-code", claude_code=(backup,))
    for path in backup.rglob("*.jsonl"):
        touch(path)
    sync("claude-code", claude_code=(backup,))
    assert texts(store, f"claude-code:{CLAUDE}") == before


def test_a_codex_thread_that_is_archived_and_resumed_is_whole(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    shutil.copytree(HOMES / "codex/home", home)
    (log,) = (home / ".codex/sessions").rglob(f"*{CODEX}.jsonl")
    archived = home / ".codex/archived_sessions" / log.name
    sync("codex")
    before = texts(store, f"codex:{CODEX}")
    for there, then in ((log, archived), (archived, log)):
        there.rename(then)
        sync("codex")
        assert texts(store, f"codex:{CODEX}") == before
    with log.open("a") as file:
        file.write(
            '{"timestamp":"2026-03-01T00:00:00.000Z","type":"event_msg","payload":{"type":"agent_message","message":"Resumed."}}\n'
        )
    sync("codex")
    now = texts(store, f"codex:{CODEX}")
    assert len(now) >= len(before) > 3
    assert "Resumed." in now[-1]
    assert now[: len(before) - 1] == before[:-1]


def test_a_log_that_is_compressed_and_expanded_is_whole(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    shutil.copytree(HOMES / "codex/home", home)
    (log,) = (home / ".codex/sessions").rglob(f"*{CODEX}.jsonl")
    packed = log.with_name(f"{log.name}.zst")
    sync("codex")
    before = texts(store, f"codex:{CODEX}")
    for _ in range(2):
        packed.write_bytes(zstandard.compress(log.read_bytes()))
        log.unlink()
        sync("codex")
        assert texts(store, f"codex:{CODEX}") == before
        log.write_bytes(zstandard.decompress(packed.read_bytes(), max_output_size=1 << 24))
        packed.unlink()
        sync("codex")
        assert texts(store, f"codex:{CODEX}") == before
    touch(log)
    sync("codex")
    assert texts(store, f"codex:{CODEX}") == before


def test_a_project_folder_that_is_renamed_and_named_back_loses_nothing(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    shutil.copytree(HOMES / "claude-code/home", home)
    project = home / ".claude/projects/-w-app"
    sync("claude-code")
    before = texts(store, f"claude-code:{CLAUDE}")
    other = project.with_name("-w-renamed")
    project.rename(other)
    sync("claude-code")
    assert texts(store, f"claude-code:{CLAUDE}") == before
    other.rename(project)
    sync("claude-code")
    for path in project.rglob("*.jsonl"):
        touch(path)
    sync("claude-code")
    assert texts(store, f"claude-code:{CLAUDE}") == before
    assert not store.conversations.get([f"claude-code:{CLAUDE}"])[0].is_gone
