"""Backstory as a library: what docs/library.md shows works, beside other threads and servers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

import backstory
from backstory.domain.kinds import MemoryKind
from backstory.domain.records import Trust

from .doubles import DAWN, make_conversation, make_messages

PAGE = Path(__file__).parent.parent / "docs" / "library.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a user, who has nothing yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("BACKSTORY_EMBEDDINGS", "off")
    monkeypatch.setenv("BACKSTORY_HISTORIES", "off")
    (tmp_path / "work" / "shop").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def memory(home: Path) -> Iterator[backstory.Backstory]:
    with backstory.open(home=home / "memory", project=home / "work" / "shop") as memory:
        yield memory


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_documentation_work(
    home: Path, example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(example, str(PAGE), "exec"), {})
    assert capsys.readouterr().out


def test_the_examples_are_there() -> None:
    assert len(EXAMPLES) >= 3


def test_what_is_remembered_is_recalled_opened_done_and_forgotten(memory: backstory.Backstory) -> None:
    saved = memory.remember("Rotate the signing key", "task")
    assert (saved.kind, saved.former) == (MemoryKind.TASK, ())
    assert memory.remember("Rotate the signing key").id == saved.id
    assert [hit.id for hit in memory.recall("signing key", since="7d", until="today")] == [saved.id]
    assert [hit.id for hit in memory.recall("signing key", since="a few days ago")] == [saved.id]
    assert memory.recall("signing key", until="the day before yesterday") == []
    assert "Rotate the signing key" in memory.brief(max_tokens=200)
    done = memory.done(saved.id, "Rotated")
    assert done.text == "Done: Rotate the signing key\nRotated"
    opened = memory.open(saved.id)
    assert isinstance(opened, backstory.Memory)
    assert opened.former == ("Rotate the signing key",)
    memory.forget(saved.id)
    assert memory.recall("signing key") == []
    with pytest.raises(backstory.NotFound):
        memory.open(saved.id)


def test_projectmemorys_texts_are_kept(memory: backstory.Backstory) -> None:
    id = memory.save("Port 8080")
    memory.replace(id, "Port 9090")
    assert memory.retrieve("port") == ["Port 9090"]
    memory.delete(id)
    assert memory.retrieve("port") == []
    with pytest.raises(backstory.NotFound):
        memory.delete(id)


def test_conversations_are_listed_and_opened(memory: backstory.Backstory) -> None:
    store, project = memory._core.engine.store, memory._core.caller.project
    talk = make_conversation("codex:1", project=project, surface="codex", title="Herons")
    store.conversations.add(talk, make_messages("codex:1", "Where?", "In the pond.", project=project), [])
    (session,) = memory.sessions()
    assert (session.id, session.title, session.assistant, session.message_count) == (
        "codex:1",
        "Herons",
        "codex",
        2,
    )
    for id in ("codex:1", "codex:1:0"):
        opened = memory.open(id)
        assert isinstance(opened, backstory.Session)
        assert [message.text for message in opened.messages] == ["Where?", "In the pond."]


@pytest.mark.parametrize(("method", "arguments", "field"), [
    ("remember", {"text": "x", "kind": "poem"}, "kind"),
    ("remember", {"text": " "}, "text"),
    ("remember", {"text": None}, "text"),
    ("remember", {"text": "x", "files": "shop.py"}, "files"),
    ("remember", {"text": "x", "files": [1]}, "files"),
    ("remember", {"text": "x", "replaces": 7}, "replaces"),
    ("recall", {"query": " "}, "query"),
    ("recall", {"query": 7}, "query"),
    ("recall", {"query": "x", "limit": 0}, "limit"),
    ("recall", {"query": "x", "limit": "5"}, "limit"),
    ("recall", {"query": "x", "limit": True}, "limit"),
    ("recall", {"query": "x", "kind": "gossip"}, "kind"),
    ("recall", {"query": "x", "file": " "}, "file"),
    ("recall", {"query": "x", "project": "unknown"}, "project"),
    ("recall", {"query": "x", "assistant": "unknown"}, "assistant"),
    ("recall", {"query": "x", "since": "soon"}, "since"),
    ("recall", {"query": "x", "since": DAWN.replace(tzinfo=None)}, "since"),
    ("recall", {"query": "x", "since": "today", "until": "yesterday"}, "until"),
    ("open", {"id": 7}, "id"),
    ("open", {"id": "codex:1", "at": 0}, "at"),
    ("open", {"id": "codex:1", "at": "1"}, "at"),
    ("open", {"id": "codex:1", "limit": 0}, "limit"),
    ("brief", {"max_tokens": 1}, "max_tokens"),
    ("brief", {"project": 7}, "project"),
    ("sessions", {"since": "soon"}, "since"),
    ("sessions", {"until": 7}, "until"),
    ("sessions", {"limit": 0}, "limit"),
    ("sessions", {"limit": -1}, "limit"),
    ("sessions", {"assistant": "unknown"}, "assistant"),
    ("done", {"id": None}, "id"),
    ("done", {"id": "x", "note": 7}, "note"),
    ("forget", {"id": "x", "for_good": "no"}, "for_good"),
    ("save", {"text": " "}, "text"),
    ("save", {"text": b"x"}, "text"),
    ("retrieve", {"query": ""}, "query"),
    ("retrieve", {"query": "x", "limit": 0}, "limit"),
    ("replace", {"id": "x", "text": None}, "text"),
    ("delete", {"id": 7}, "id"),
])  # fmt: skip
def test_a_wrong_argument_is_an_error_that_names_it(
    memory: backstory.Backstory, method: str, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(backstory.InvalidInput) as error:
        getattr(memory, method)(**arguments)
    assert error.value.field == field
    assert field in error.value.message


def test_opening_tells_what_became_of_the_files_and_what_was_cut(
    memory: backstory.Backstory, home: Path
) -> None:
    file = home / "work" / "shop" / "cart.py"
    file.write_text("total = 0\n")
    saved = memory.remember("Totals are integer cents", "decision", files=["cart.py"])

    def freshness() -> str:
        opened = memory.open(saved.id)
        assert isinstance(opened, backstory.Memory)
        return opened.freshness

    assert freshness() == memory.recall("integer cents")[0].freshness == "fresh"
    file.write_text("total = 1\n")
    assert freshness() == memory.recall("integer cents")[0].freshness
    assert "cart.py" in freshness()
    file.unlink()
    assert freshness() == "cart.py is gone"
    store, project = memory._core.engine.store, memory._core.caller.project
    talk = make_conversation("codex:1", project=project, surface="codex", trust=Trust.PROJECT)
    text = "The cart has many items. " * 500
    store.conversations.add(talk, make_messages("codex:1", text, project=project), [])
    session = memory.open("codex:1")
    assert isinstance(session, backstory.Session)
    (message,) = session.messages
    assert message.text + text[len(message.text) :] == text
    assert message.left_out == len(text) - len(message.text) > 0
    assert session.trust is memory.sessions()[0].trust is Trust.PROJECT


def test_several_threads_and_a_second_opening_use_one_store(memory: backstory.Backstory, home: Path) -> None:
    with backstory.open(home=home / "memory", project=home / "work" / "shop") as other:
        threads = [
            Thread(target=each.remember, args=(f"Fact {n}",)) for n in range(6) for each in (memory, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({hit.id for hit in other.recall("fact", limit=20)}) == 6


def test_importing_it_loads_nothing_of_it() -> None:
    code = (
        "import sys; import backstory; backstory.BackstoryError;"
        " sys.exit(any(name.startswith(('backstory.core', 'backstory.store', 'backstory.search', 'numpy')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert backstory.open.__doc__
    with pytest.raises(AttributeError):
        backstory.nothing  # noqa: B018
