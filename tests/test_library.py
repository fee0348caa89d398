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

from .doubles import make_conversation, make_messages

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


@pytest.mark.parametrize("call", [
    lambda memory: memory.remember("x", "poem"),
    lambda memory: memory.remember(" "),
    lambda memory: memory.recall(" "),
    lambda memory: memory.brief(max_tokens=1),
    lambda memory: memory.sessions(since="soon"),
])  # fmt: skip
def test_bad_input_is_an_error_of_ours(memory: backstory.Backstory, call: object) -> None:
    with pytest.raises(backstory.InvalidInput) as error:
        call(memory)  # type: ignore[operator]
    assert error.value.message


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
