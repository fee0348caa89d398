"""What a sync keeps of tool calls and model calls: results without secrets, tied to their calls, each token once."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Core
from backstory.core.sync import Sync
from backstory.domain.filters import ConversationFilter
from backstory.domain.tool_results import StoredResult
from backstory.domain.usage import UsageFilter
from backstory.readers import Places, load_readers
from backstory.store import Store
from backstory.store.migrate import LATEST, scripts

from ..conftest import OpenCore, open_sqlite
from ..doubles import DAWN

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hLaB3d"
TALK = "claude-code:s1"
EVERY = UsageFilter(ConversationFilter())


def line(kind: str, n: int, content: object, session: str = "s1", **message: Any) -> dict[str, Any]:
    told = {"role": kind, "content": content, **message}
    at = f"2026-01-02T03:{n // 60:02}:{n % 60:02}.000Z"
    return {
        "type": kind, "uuid": f"{session}-{n}", "sessionId": session, "cwd": "/w/app", "timestamp": at, "message": told,
        "requestId": f"r{n}",
    }  # fmt: skip


def asked(n: int, id: str, command: str = "make") -> dict[str, Any]:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 100}
    block = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}
    return line("assistant", n, [block], id=f"m{n}", model="claude-x", usage=usage)


def answered(n: int, id: str, text: str, *, is_error: bool = False) -> dict[str, Any]:
    return line(
        "user", n, [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]
    )


def write(home: Path, name: str, *lines: dict[str, Any], folder: str = "-w-app") -> Path:
    log = home / ".claude" / "projects" / folder / f"{name}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in lines)
    return log


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "theirs"


@pytest.fixture
def sync(core: Core, home: Path) -> Callable[[], None]:
    return lambda: run(core, home)


def run(core: Core, home: Path) -> None:
    places = Places(home, {}, "linux")
    assert Sync(core.engine).run(load_readers(["claude-code"]).values(), places) is not None


def results(store: Store, id: str = TALK) -> list[StoredResult | None]:
    return [call.result for call in store.results.of(id)]


def result_texts(store: Store, id: str = TALK) -> list[str | None]:
    return [None if result is None else result.text for result in results(store, id)]


def test_a_call_is_stored_with_its_result_its_outcome_and_its_duration(
    home: Path, store: Store, sync: Callable[[], None]
) -> None:
    write(
        home,
        "s1",
        line("user", 1, "Build"),
        asked(2, "a"),
        answered(5, "a", "Exit code 2\nno rule", is_error=True),
    )
    sync()
    assert results(store) == [StoredResult("Exit code 2\nno rule", 19, False, True, 2, 3_000)]


def test_a_result_that_comes_in_a_later_sync_joins_its_call(
    home: Path, store: Store, sync: Callable[[], None]
) -> None:
    write(
        home,
        "s1",
        line("user", 1, "Build"),
        asked(2, "a"),
        asked(3, "b"),
        line("assistant", 4, "Wait", id="m4"),
    )
    sync()
    assert results(store) == [None, None]
    write(home, "s1", answered(5, "a", "built"), line("user", 6, "And?"), answered(7, "b", "done"))
    sync()
    assert result_texts(store) == ["built", "done"]
    messages = [message.text for message in store.messages.of(TALK) if message.role != "tool"]
    assert messages == ["Build", "Wait", "And?"]


def test_results_are_stored_without_secrets(home: Path, store: Store, sync: Callable[[], None]) -> None:
    write(home, "s1", line("user", 1, "Build"), asked(2, "a"), answered(3, "a", f"token {TOKEN} here"))
    write(home, "s1", asked(4, "b"), line("user", 5, "Next"), answered(6, "b", f"late {TOKEN}"))
    sync()
    assert [(text or "").partition(" [redacted: ")[0] for text in result_texts(store)] == ["token", "late"]
    assert not any(TOKEN in (text or "") for text in result_texts(store))


@pytest.mark.parametrize("before", range(7_970, 8_001, 6))
def test_no_half_of_a_secret_is_left_at_a_cut(
    home: Path, store: Store, sync: Callable[[], None], before: int
) -> None:
    """The secret stands on the cut behind the head, and another one on that before the tail."""
    middle = "y" * 30_000
    text = f"{'x ' * (before // 2)}{TOKEN} {middle} {TOKEN}{' z' * ((24_000 - (before - 7_970)) // 2)}"
    write(home, "s1", line("user", 1, "Build"), asked(2, "a"), answered(3, "a", text))
    sync()
    ((stored,),) = [result_texts(store)]
    assert stored is not None
    assert "bytes left out" in stored
    assert not any(TOKEN[n : n + 6] in stored for n in range(len(TOKEN) - 6))


def test_a_copy_of_a_log_without_the_result_takes_nothing_away_and_doubles_nothing(
    home: Path, store: Store, sync: Callable[[], None]
) -> None:
    lines = [
        line("user", 1, "Build"),
        asked(2, "a"),
        answered(3, "a", "built"),
        line("assistant", 4, "Yes", id="m4"),
    ]
    write(home, "s1", *lines)
    sync()
    write(home, "s1", *lines[:2], lines[3], folder="-copied")
    sync()
    assert result_texts(store) == ["built"]
    (total,) = store.usage.sums(EVERY)
    assert (total.calls, total.input, total.output, total.cache_read) == (1, 5, 7, 100)


def test_reading_again_from_the_start_changes_nothing(
    home: Path, store: Store, sync: Callable[[], None]
) -> None:
    log = write(home, "s1", line("user", 1, "Build"), asked(2, "a"), answered(3, "a", "built"))
    sync()
    before = result_texts(store), store.usage.sums(EVERY), len(store.messages.of(TALK))
    with store.transaction():
        store.sync.restart(str(log))
    sync()
    assert (result_texts(store), store.usage.sums(EVERY), len(store.messages.of(TALK))) == before


def test_a_forgotten_conversation_has_neither_results_nor_usage_and_none_come_back(
    home: Path, store: Store, sync: Callable[[], None]
) -> None:
    write(home, "s1", line("user", 1, "Build"), asked(2, "a"), answered(3, "a", "built"))
    sync()
    store.sync.forget([TALK], DAWN)
    write(home, "s1", asked(4, "b"), answered(5, "b", "again"))
    sync()
    assert (store.copying.count("result"), store.copying.count("usage")) == (0, 0)


def test_usage_of_an_archived_conversation_is_counted_when_its_file_is_read_again(
    home: Path, store: Store, sync: Callable[[], None]
) -> None:
    log = write(home, "s1", line("user", 1, "Build"), asked(2, "a"), answered(3, "a", "built"))
    sync()
    store.archive.put_conversation(TALK)
    with store.transaction():
        store.usage.delete([TALK])
        store.sync.restart(str(log))
    sync()
    assert [each.calls for each in store.usage.sums(EVERY)] == [1]
    assert store.conversations.get([TALK]) == []


def test_an_older_store_gets_results_from_the_files_that_are_left(
    open_core: OpenCore, home: Path, tmp_path: Path
) -> None:
    for name in ("s1", "s2"):
        (home / ".claude/projects/-w-app").mkdir(parents=True, exist_ok=True)
        said = [line("user", 1, "Build", name), asked(2, "a") | {"sessionId": name, "uuid": f"{name}-2"}]
        back = answered(3, "a", f"built {name}") | {"sessionId": name, "uuid": f"{name}-3"}
        write(home, name, *said, back)
    file = tmp_path / "store.db"
    with closing(open_sqlite(file)) as store:
        run(open_core(store, None), home)
        shutil.move(home / ".claude/projects/-w-app/s2.jsonl", tmp_path / "s2.jsonl")
        run(open_core(store, None), home)
        before = sorted(store.messages.of(TALK) + store.messages.of("claude-code:s2"))
    with closing(sqlite3.connect(file)) as database, database:
        database.create_function(
            "known_level", 0, lambda: LATEST
        )  # as every connection of the product has it
        (script,) = [each for each in scripts("sqlite") if each.version == 31]
        database.executescript(f"DROP TABLE result; DROP TABLE usage; {script.path.read_text('utf-8')}")
    with closing(open_sqlite(file)) as store:
        assert store.results.count_lost() == 1
        run(open_core(store, None), home)
        assert sorted(store.messages.of(TALK) + store.messages.of("claude-code:s2")) == before
        assert result_texts(store) == ["built s1"]
        assert result_texts(store, "claude-code:s2") == []
        assert store.results.count_lost() == 1
        assert [each.calls for each in store.usage.sums(EVERY)] == [1]
        shutil.move(tmp_path / "s2.jsonl", home / ".claude/projects/-w-app/s2.jsonl")
        run(open_core(store, None), home)
        assert len(store.messages.of("claude-code:s2")) == 2
