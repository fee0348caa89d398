"""The engine: what a process shares, made when first needed and closed whole."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

from backstory.core import Core
from backstory.domain.filters import Filter
from backstory.store.sqlite import SqliteStore

from ..doubles import HashedWords, found_memories
from ..patience import PATIENCE_S

SAVER = Path(__file__).with_name("saver.py")


def test_parts_are_made_once(core: Core) -> None:
    assert core.engine.search is core.engine.search
    assert core.engine.backlog is core.engine.backlog
    assert core.engine.summarizer is core.engine.summarizer


def test_a_save_does_not_wait_for_its_vectors(core: Core, embedder: HashedWords) -> None:
    """The embedder asks the store for the text: it is committed before anyone embeds it."""
    seen: list[int] = []
    embedder.meanwhile = lambda: seen.append(core.engine.store.entries.count(Filter()))
    core.memories.save("text")
    found_memories(core, "text")
    assert min(seen) == 1


def test_closing_while_vectors_are_made_harms_nothing(tmp_path: Path) -> None:
    """In a process of its own, since a connection that is closed in use takes the whole process down."""
    path = tmp_path / "store.db"
    ran = subprocess.run(
        [sys.executable, str(SAVER), str(path), "150"], capture_output=True, timeout=PATIENCE_S
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    with closing(SqliteStore(path)) as store:
        assert store.entries.count(Filter()) == 150
        assert store.problems() == []
