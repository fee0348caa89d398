"""A home with conversations of two assistants, and the command line over it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from backstory.domain.records import Trace
from backstory.store import Store

from ..conftest import open_sqlite
from ..doubles import DAWN, make_conversation, make_memory, make_messages
from ..typed import Typing

CLAUDE = "claude-code:1af7fc5e-8455-4414-9ccd-011d40f70b2a"
CODEX = "codex:019ddb75-a272-7d50-b41d-90017f500b5a"
AGENT = f"{CLAUDE}/ab12cd34ef56ab12cd"
MEMORY = "5f0c1d2e3a4b5c6d7e8f9a0b"


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Store]:
    """Two conversations of two assistants, a subagent of one, and a memory."""
    home = tmp_path / "ours"
    home.mkdir()
    opened = open_sqlite(home / "store.db")
    claude = make_conversation(
        CLAUDE,
        title="Why does the cache miss?",
        project="/w/shop",
        directory=str(tmp_path),
        surface="claude-code",
        native_id=CLAUDE.partition(":")[2],
        source="/h/.claude/projects/w/1.jsonl",
    )
    texts = ("why does it miss?", "The key has a date.", "fix it", "Fixed \x1b[31min cache.py.")
    messages = make_messages(CLAUDE, *texts, project="/w/shop", surface="claude-code")
    done = messages[3]._replace(
        id=f"{messages[3].id}#tool", role="tool", text="Edit file_path: /w/shop/cache.py"
    )
    opened.conversations.add(claude, [*messages, done], [Trace(done.id, "written", "/w/shop/cache.py")])
    agent = claude._replace(id=AGENT, kind="subagent", parent=CLAUDE, title="Look around")
    opened.conversations.put(agent, make_messages(AGENT, "look around", surface="claude-code"))
    codex = make_conversation(
        CODEX,
        title="Deploy on Tuesday",
        project="/w/site",
        surface="codex",
        native_id=CODEX.partition(":")[2],
        updated_at=DAWN + timedelta(days=2),
    )
    opened.conversations.put(codex, make_messages(CODEX, "deploy", project="/w/site", surface="codex"))
    decision = make_memory(MEMORY, "Deploy on Tuesdays only.", project="/w/site", category="decision")
    opened.memories.put([decision])
    yield opened
    opened.close()


@pytest.fixture
def typing(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typing:
    return Typing(tmp_path / "ours", monkeypatch, capsys)
