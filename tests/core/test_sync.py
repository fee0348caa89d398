"""Histories of other assistants: what a sync keeps, and that nothing that happens to it changes that."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Core, Engine
from backstory.core.calls import Call, Cancelled
from backstory.core.projects.identity import Identities
from backstory.core.subjects import subject_of
from backstory.core.sync import LEASE_MS, Sync, SyncReport
from backstory.domain.entries import TextFields
from backstory.domain.filters import ConversationFilter, Filter
from backstory.domain.records import Conversation
from backstory.domain.sources import SourceState
from backstory.domain.when import from_ms
from backstory.domain.words import Unit
from backstory.readers import Places, Source, load_readers
from backstory.store import Store

from ..conftest import OpenCore, OpenStore, open_sqlite
from ..doubles import DAWN, SteppedClock, make_settings
from ..readers.goose.make import data as goose_data
from ..readers.goose.make import make_home as make_goose
from .toy_reader import Line, append, toy_reader, write

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hLaB3d"
AT = 1_770_000_000_000


def said(id: str, text: str = "", talk: str = "t", role: str = "user", **more: Any) -> Line:
    return {
        "talk": talk,
        "id": id,
        "text": text,
        "role": role,
        "at": AT + int(id.strip("abcdefx") or 0),
        **more,
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def sync(open_core: OpenCore, store: Store, home: Path) -> Callable[..., SyncReport]:
    engine = open_core(store, None).engine
    syncs = Sync(engine)

    def run(lines: int = 2) -> SyncReport:
        outcome = syncs.run([toy_reader(lines)], Places(home, {}, "linux"))
        assert outcome is not None
        return outcome["toy"]

    return run


def texts(store: Store, talk: str = "t") -> list[str]:
    return [message.text for message in store.messages.of(f"toy:{talk}")]


def only(store: Store) -> Conversation:
    (talk,) = store.conversations.find(ConversationFilter())
    return talk


def test_what_a_reader_learns_of_a_file_later_is_read_into_it(
    open_core: OpenCore, store: Store, home: Path
) -> None:
    """A document whose list comes late, and a log whose project becomes known: both without a change of the file."""
    engine = open_core(store, None).engine
    write(home / "a.toy", said("1", "one"))
    places = Places(home, {}, "linux")

    def run(beside: str = "", directory: str = "") -> SyncReport:
        toy = toy_reader(2)
        reader = toy._replace(
            find=lambda places: [
                each._replace(beside=beside, directory=directory) for each in toy.find(places)
            ]
        )
        outcome = Sync(engine).run([reader], places)
        assert outcome is not None
        return outcome["toy"]

    assert run().unchanged == 0
    assert run().unchanged == 1
    assert run(beside="a list").unchanged == 0
    assert run(beside="a list").unchanged == 1
    assert run(beside="a list", directory="/w").unchanged == 0
    assert run(beside="a list", directory="/w").unchanged == 1
    assert texts(store) == ["one"]


def test_readers_of_projects_are_asked_again_when_others_found_more(
    open_core: OpenCore, store: Store, home: Path
) -> None:
    engine = open_core(store, None).engine
    write(home / "a.toy", said("1", "one", directory="/no/such/app"))
    asked: list[tuple[Path, ...]] = []
    toy = toy_reader(2)

    def find(places: Places) -> list[Source]:
        asked.append(places.projects)
        return []

    early = toy._replace(name="early", find=find, by_projects=True)
    outcome = Sync(engine).run([early, toy], Places(home, {}, "linux"))
    assert outcome is not None
    assert asked == [(), (Path("/no/such/app"),)]
    asked.clear()
    Sync(engine).run([early, toy], Places(home, {}, "linux"))
    assert len(asked) == 1, "nothing became known meanwhile"


def test_projects_that_one_assistant_names_are_those_of_the_others_whatever_is_read_first(
    open_core: OpenCore, store: Store, home: Path
) -> None:
    """Aider lies in a project, and Gemini CLI names it by a hash: only Claude Code, which is read later, tells its path."""
    app = (home / "app").resolve()
    app.mkdir()
    (app / ".aider.chat.history.md").write_text(
        "# aider chat started at 2026-01-02 03:04:05\n\n#### Why is it slow?\n\nBecause.\n"
    )
    hashed = hashlib.sha256(str(app).encode()).hexdigest()
    chat = home / ".gemini" / "tmp" / hashed / "chats" / "session-1.json"
    chat.parent.mkdir(parents=True)
    asked = [{"id": "1", "type": "user", "content": "Why is it red?"}]
    chat.write_text(json.dumps({"sessionId": "g", "messages": asked}))
    places = Places(home, {}, "linux")
    engine = open_core(store, None).engine
    readers = load_readers(["aider", "claude-code", "gemini-cli"])
    Sync(engine).run([readers["gemini-cli"]], places)
    assert store.conversations.projects() == []
    log = home / ".claude" / "projects" / "-app" / "s.jsonl"
    log.parent.mkdir(parents=True)
    message = {"role": "user", "content": "Where are we?"}
    line = {"type": "user", "uuid": "u", "sessionId": "s", "cwd": str(app), "message": message}
    log.write_text(json.dumps(line) + "\n")
    Sync(engine).run([readers["aider"], readers["gemini-cli"], readers["claude-code"]], places)
    found = {each.surface: each.project for each in store.conversations.find(ConversationFilter())}
    assert found == dict.fromkeys(("aider", "claude-code", "gemini-cli"), str(app))
    (asked_red,) = store.messages.of("gemini-cli:g")
    assert asked_red.project == str(app), "what was read before moves with its conversation"


def test_a_conversation_that_its_owner_deleted_is_marked_gone_and_kept(
    open_core: OpenCore, store: Store, home: Path
) -> None:
    engine = open_core(store, None).engine
    reader = load_readers(["goose"])["goose"]
    make_goose(home)
    places = Places(home, {}, "linux")

    def gone() -> dict[str, bool]:
        assert Sync(engine).run([reader], places) is not None
        return {each.native_id: each.is_gone for each in store.conversations.find(ConversationFilter())}

    assert gone() == {"20250102_1": False, "20260102_1": False, "20260102_2": False}
    path = goose_data(home) / "sessions.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM messages WHERE session_id = '20260102_2'")
        database.execute("DELETE FROM sessions WHERE id = '20260102_2'")
    assert gone() == {"20250102_1": False, "20260102_1": False, "20260102_2": True}
    assert [message.text for message in store.messages.of("goose:20260102_2")][-1] == "It is empty."
    assert gone()["20260102_2"], "it stays so"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM messages")
        database.execute("DELETE FROM sessions")
    assert gone() == {"20250102_1": False, "20260102_1": True, "20260102_2": True}, "the last one too"


def dump(store: Store) -> Any:
    """All that a sync leaves, without the numbers of entries and the time of reading."""
    talks = sorted(store.conversations.find(ConversationFilter()))
    words = {
        word: len(store.text.match(Unit((word,)), TextFields.VALUE)) for word in ("walrus", "cache", "pytest")
    }
    sources = {
        path: state._replace(read_at=None, modified_ns=0, state=state.state["stale"])
        for path, state in store.sync.sources().items()
    }
    return (
        talks,
        [store.messages.of(talk.id) for talk in talks],
        sorted(trace._replace(entry=0) for trace in store.traces.find(Filter())),
        words,
        sources,
        store.vectors.count_waiting(store.vectors.open_space("model")),
    )


def test_a_turn_becomes_what_was_said_thought_and_done(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    call = {
        "name": "Edit",
        "arguments": '{"path": "/p/auth.py"}',
        "writes": ["/p/auth.py"],
        "reads": ["/p/jwt.py"],
        "command": "pytest -q",
        "error": "ImportError: jwt",
    }
    write(
        home / "a.toy", said("1", "why?"), said("2", "because", role="assistant", thinking="hm", calls=[call])
    )
    told = sync()
    assert (told.sources, told.conversations, told.turns, told.skipped) == (1, 1, 2, {"odd": 1})
    found = [(m.id, m.seq, m.role, m.text) for m in store.messages.of("toy:t")]
    tool = 'Edit {"path": "/p/auth.py"} pytest -q /p/jwt.py failed: ImportError: jwt'
    assert sorted(found) == [
        ("toy:t/1", 0, "user", "why?"),
        ("toy:t/2", 1, "assistant", "because"),
        ("toy:t/2#thinking", 1, "thinking", "hm"),
        ("toy:t/2#tool", 1, "tool", tool),
    ]
    assert [(did.kind, did.value) for did in store.traces.find(Filter())] == [
        ("read", "/p/jwt.py"),
        ("written", "/p/auth.py"),
        ("command", "pytest -q"),
        ("error", "ImportError: jwt"),
    ]


def test_a_conversation_has_the_times_of_its_turns(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(
        home / "a.toy", said("1", "one\nand more"), said("5", "five"), said("9", "nine"), said("3", "three")
    )
    sync()
    assert (only(store).created_at, only(store).updated_at) == (from_ms(AT + 1), from_ms(AT + 9))
    assert (only(store).title, only(store).surface, only(store).native_id) == ("one", "toy", "t")


def test_what_tells_no_time_has_that_of_its_file(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one") | {"at": None})
    os.utime(home / "a.toy", ns=(AT * 10**6, AT * 10**6))
    sync()
    assert only(store).created_at == from_ms(AT)
    assert store.messages.of("toy:t")[0].created_at == from_ms(AT)


def test_turns_of_tools_alone_stand_with_what_was_said_before(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    calls = [{"name": "Read"}]
    lines = [
        said("1", "why?"),
        said("2", calls=calls),
        said("3", calls=calls),
        said("4", "so", role="assistant"),
    ]
    write(home / "a.toy", *lines)
    for size in (1, 3):
        sync(size)
        assert store.messages.places("toy:t") == {
            "toy:t/1": 0, "toy:t/2#tool": 0, "toy:t/3#tool": 0, "toy:t/4": 1
        }  # fmt: skip


def test_unchanged_files_are_not_read_again(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one"))
    assert sync().unchanged == 0
    told = sync()
    assert (told.unchanged, told.turns, told.conversations) == (1, 0, 0)


def test_what_is_appended_is_added_and_a_turn_told_again_replaced(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one"), said("2", "two", thinking="hm"))
    sync()
    append(home / "a.toy", said("2", "two, and more"), said("3", "three", title="Named"))
    assert sync().turns == 2
    assert texts(store) == ["one", "two, and more", "three"]
    assert only(store).title == "Named"


def test_half_a_line_waits_for_its_end(sync: Callable[..., SyncReport], store: Store, home: Path) -> None:
    write(home / "a.toy", said("1", "one"), said("2", "two"))
    whole = (home / "a.toy").read_bytes()
    (home / "a.toy").write_bytes(whole[:-10])
    sync()
    assert texts(store) == ["one"]
    (home / "a.toy").write_bytes(whole)
    sync()
    assert texts(store) == ["one", "two"]


@pytest.mark.parametrize(
    "lines",
    [
        [said("1", "ONE"), said("2", "two"), said("3", "three")],
        [said("1", "one"), said("2", "TWO"), said("3", "three")],
        [said("1", "one")],
        [said("7", "seven")],
    ],
    ids=["head", "tail", "cut", "other"],
)
def test_a_rewritten_log_replaces_its_turns(
    sync: Callable[..., SyncReport], store: Store, home: Path, lines: list[Line]
) -> None:
    write(home / "a.toy", said("1", "one"), said("2", "two"))
    sync()
    write(home / "a.toy", *lines)
    os.utime(home / "a.toy", ns=(1, 1))
    sync()
    assert texts(store) == [line["text"] for line in lines]
    assert store.problems() == []


def test_a_rewritten_log_keeps_conversations_it_no_longer_tells_of(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one", talk="s"), said("2", "two"))
    sync()
    write(home / "a.toy", said("2", "TWO"))
    sync()
    assert (texts(store, "s"), texts(store)) == (["one"], ["TWO"])


def test_a_document_is_replaced_as_a_whole(sync: Callable[..., SyncReport], store: Store, home: Path) -> None:
    write(home / "a.whole", said("1", "one", thinking="hm"), said("2", "two"), said("3", "three"))
    sync(9)
    write(home / "a.whole", said("3", "three"), said("1", "one"))
    sync(9)
    assert texts(store) == ["three", "one"]
    assert store.messages.places("toy:t") == {"toy:t/3": 0, "toy:t/1": 1}


def test_a_vanished_file_leaves_what_was_read(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one"))
    sync()
    raw = (home / "a.toy").read_bytes()
    (home / "a.toy").unlink()
    assert sync().vanished == 1
    assert (only(store).is_gone, texts(store)) == (True, ["one"])
    assert sync().vanished == 0
    (home / "a.toy").write_bytes(raw)
    sync()
    assert not only(store).is_gone


def test_a_session_that_comes_back_under_another_name_replaces_what_it_tells(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one"), said("2", "two"))
    sync()
    (home / "a.toy").unlink()
    write(home / "b.toy", said("1", "ONE"))
    sync()
    assert texts(store) == ["ONE", "two"]
    assert (only(store).source, only(store).is_gone) == (str(home / "b.toy"), False)


def test_copies_of_a_session_add_up(sync: Callable[..., SyncReport], store: Store, home: Path) -> None:
    write(home / "a.toy", said("1", "one"), said("2", "two", title="Own"))
    write(home / "b.toy", said("2", "two"), said("3", "three", title="Copy"))
    sync()
    assert texts(store) == ["one", "two", "three"]
    assert (only(store).source, only(store).title) == (str(home / "b.toy"), "Copy"), "it tells the end"


@pytest.mark.parametrize("is_own_first", [True, False])
def test_a_better_witness_replaces_and_a_worse_one_is_ignored(
    sync: Callable[..., SyncReport], store: Store, home: Path, is_own_first: bool
) -> None:
    names = ("a.toy", "b.toy") if is_own_first else ("b.toy", "a.toy")
    write(home / names[0], said("1", "one"), said("2", "two", role="assistant"))
    write(home / names[1], said("x1", "one, as typed", standing=0, kind="prompt-log"))
    sync()
    assert texts(store) == ["one", "two"]
    assert (only(store).kind, only(store).standing) == ("main", 2)


def test_what_was_forgotten_does_not_come_back(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one"))
    sync()
    store.sync.forget(["toy:t"], DAWN)
    append(home / "a.toy", said("2", "two"))
    assert sync().conversations == 0
    write(home / "a.toy", said("3", "other"))
    sync()
    assert (store.conversations.find(ConversationFilter()), store.entries.count(Filter())) == ([], 0)


def test_a_list_of_names_renames_what_is_known(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", said("1", "one"))
    names = [{"talk": talk, "closed": True, "title": "Fix a crash"} for talk in ("t", "unknown")]
    write(home / "names.whole", *names)
    sync()
    before = only(store)
    assert (before.title, before.subject) == ("Fix a crash", "debugging"), "the log was read first"
    write(home / "names.whole", {"talk": "t", "closed": True, "title": f"Plan with {TOKEN}"})
    assert (sync().conversations, texts(store)) == (1, ["one"])
    assert only(store) == before._replace(title="Plan with [redacted: github token]", subject="architecture")
    assert sync().conversations == 0


CLOSED = {"talk": "t", "closed": True, "title": "Walrus", "completeness": "encrypted", "standing": 0}


def test_a_conversation_whose_words_cannot_be_read_is_listed(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", CLOSED)
    assert (sync().conversations, store.entries.count(Filter())) == (1, 0)
    assert (only(store).title, only(store).completeness) == ("Walrus", "encrypted")
    assert store.conversations.count_unread() == [("toy", "encrypted", 1)]
    write(home / "a.toy", CLOSED | {"closed": False, "id": "1", "text": "a plan"})
    sync()
    assert (texts(store), store.conversations.count_unread()) == (["a plan"], [("toy", "encrypted", 1)])
    write(home / "b.toy", said("1", "in clear"))
    sync()
    assert (texts(store), only(store).completeness, store.conversations.count_unread()) == (
        ["in clear"],
        "full",
        [],
    )
    write(home / "a.toy", CLOSED, CLOSED)
    sync()
    assert (texts(store), only(store).completeness) == (["in clear"], "full")


def test_a_file_that_says_nothing_is_no_conversation(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    write(home / "a.toy", {"talk": "t", "closed": True, "title": "Walrus"})
    sync()
    assert store.conversations.find(ConversationFilter()) == []


def test_a_file_that_cannot_be_read_is_reported_and_stops_nothing(
    sync: Callable[..., SyncReport], store: Store, home: Path, clock: SteppedClock
) -> None:
    (home / "a.toy").write_text("encrypted")
    (home / "b.toy").write_text('{"talk": "t"}\n')
    (home / "c.toy").write_text("no JSON\n")
    write(home / "d.toy", said("1", "one"))
    told = sync()
    assert texts(store) == ["one"]
    assert told.problems[str(home / "a.toy")] == "It is encrypted."
    assert "(KeyError)" in told.problems[str(home / "b.toy")]
    assert len(told.problems) == len(store.sync.problems()) == 3
    assert (sync().unchanged, len(sync().problems)) == (4, 3)
    clock.step(3600)
    assert sync().unchanged == 1


def test_secrets_are_gone_before_anything_is_kept(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    key = "AKIA" + "Q3EGRJ5XW7LTV2NB"
    call = {
        "name": "Bash",
        "arguments": key,
        "command": f"echo {key}",
        "error": f"bad {key}",
        "reads": [f"/{key}"],
    }
    line = said("1", f"use {key}", title=f"Key {key}", branch=f"fix/{key}", thinking=key, calls=[call])
    write(home / "a.toy", line)
    told = sync()
    assert told.redacted == 8
    assert store.sync.sources()[str(home / "a.toy")].redacted == 8
    assert store.sync.census()["toy"].redacted == 8
    assert only(store).branch == "fix/[redacted: aws key]"
    assert only(store).title == "Key [redacted: aws key]"
    assert key not in repr(dump(store))


def test_half_a_character_does_no_harm(sync: Callable[..., SyncReport], store: Store, home: Path) -> None:
    write(home / "a.toy", said("1", "a \ud83d b"))
    assert sync().problems == {}
    assert texts(store) == ["a ? b"]


def test_subagents_know_who_started_them(sync: Callable[..., SyncReport], store: Store, home: Path) -> None:
    write(home / "a.toy", said("1", "one", talk="t/agent", kind="subagent", parent="t"))
    sync()
    assert (only(store).kind, only(store).parent) == ("subagent", "toy:t")


def test_a_log_without_turns_is_no_conversation(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    (home / "a.toy").write_text("")
    assert (sync().sources, sync().unchanged) == (1, 1)
    assert store.conversations.find(ConversationFilter()) == []


SPOKEN = [
    said("1", "why does the cache miss? walrus", directory="/gone/project"),
    said("2", calls=[{"name": "Read", "reads": ["/p/cache.py"]}], thinking="hm, cache"),
    said("3", "one walrus", talk="s", title="Walrus"),
    said("4", "because", role="assistant", calls=[{"name": "Bash", "command": "pytest -q", "error": "no"}]),
    said("5", "fix the bug", talk="s"),
    said("4", "because of the cache", role="assistant", calls=[{"name": "Bash", "command": "pytest -q"}]),
    said("6", "thanks"),
]
OTHER = [said("1", "copied"), said("7", "only in the copy"), said("8", "walrus", talk="u", standing=1)]


def fill(home: Path) -> None:
    write(home / "a.toy", *SPOKEN)
    write(home / "b.toy", *OTHER)
    write(home / "c.whole", said("9", "a document", talk="w"))


def engine_over(path: Path) -> Engine:
    return Engine(make_settings(), open_sqlite(path), None)


class Killed(BaseException):
    """As a signal would end the process: nobody catches it."""


@pytest.mark.parametrize("is_rewritten", [False, True])
@pytest.mark.parametrize("at", range(1, 11))
def test_a_sync_that_was_interrupted_anywhere_ends_as_if_it_had_not_been(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, is_rewritten: bool
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", 1)  # each file in transactions of its own
    left = 0

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed

    results = []
    for name in ("undisturbed", "interrupted"):
        engine = engine_over(tmp_path / f"{name}.db")
        engine.store.vectors.open_space("model")
        places = Places(home, {}, "linux")
        if is_rewritten:
            write(home / "a.toy", said("0", "old"), *SPOKEN[2:], said("5", "stale", talk="s"))
            write(home / "b.toy", said("1", "old copy"))
            Sync(engine).run([toy_reader(1)], places)
        fill(home)
        left = at if name == "interrupted" else 0
        with suppress(Killed):
            Sync(engine).run([toy_reader(1, count)], places)
        left = 0
        Sync(engine).run([toy_reader(1)], places)
        results.append(dump(engine.store))
        assert engine.store.problems() == []
        engine.close()
    assert results[0] == results[1]
    assert len(results[0][0]) == 4


KILL = """
import os, signal, sys
from pathlib import Path
from backstory.core import Engine
from backstory.core import sync
from backstory.readers import Places
from backstory.domain.sources import SourceState
from backstory.store.sqlite import SqliteStore
from core.toy_reader import toy_reader
from doubles import make_settings
sync.decoding.SMALL_BYTES = sync.LEASE_MS = 1
left = int(sys.argv[3])
def count():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
engine = Engine(make_settings(), SqliteStore(Path(sys.argv[1])), None)
sync.Sync(engine).run([toy_reader(1, count)], Places(Path(sys.argv[2]), {}, "linux"))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_sync_whose_process_was_killed_goes_on(home: Path, tmp_path: Path) -> None:
    fill(home)
    tests = str(Path(__file__).resolve().parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    for at in (3, 2):
        done = subprocess.run(
            [sys.executable, "-c", KILL, str(tmp_path / "killed.db"), str(home), str(at)],
            env=environment,
            capture_output=True,
        )
        assert done.returncode == -9, done.stderr
    results = []
    for name in ("killed", "undisturbed"):
        engine = engine_over(tmp_path / f"{name}.db")
        assert Sync(engine).run([toy_reader(1)], Places(home, {}, "linux")) is not None
        results.append(dump(engine.store))
        engine.close()
    assert results[0] == results[1]


def test_small_files_are_kept_all_or_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    engine = engine_over(tmp_path / "s.db")

    def die_late(source: SourceState) -> None:
        if engine.store.conversations.find(ConversationFilter(ids=("toy:u",))):
            raise Killed

    monkeypatch.setattr(engine.store.sync, "put", die_late)
    with pytest.raises(Killed):
        Sync(engine).run([toy_reader(1)], Places(home, {}, "linux"))
    assert engine.store.conversations.find(ConversationFilter()) == []
    assert engine.store.sync.sources() == {}
    engine.close()


def test_a_cancelled_sync_keeps_what_it_read(
    core: Core, store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", 1)
    fill(home)
    call = Call(is_cancelled=lambda: store.entries.count(Filter()) > 1)
    with pytest.raises(Cancelled):
        Sync(core.engine).run([toy_reader(1)], Places(home, {}, "linux"), call=call)
    assert store.entries.count(Filter()) > 1
    assert Sync(core.engine).run([toy_reader(1)], Places(home, {}, "linux")) is not None


def test_one_process_reads_at_a_time(open_store: OpenStore, core: Core, home: Path) -> None:
    write(home / "a.toy", said("1", "one"))
    other = open_store()
    assert other.leases.take("sync", "another process", for_ms=LEASE_MS)
    sync = Sync(core.engine)
    assert sync.run([toy_reader()], Places(home, {}, "linux")) is None
    other.leases.drop("sync", "another process")
    assert sync.run([toy_reader()], Places(home, {}, "linux")) is not None
    assert other.leases.take("sync", "another process", for_ms=LEASE_MS)


def test_worktrees_are_one_project(tmp_path: Path) -> None:
    project = tmp_path / "app"
    for command in (
        "init -q .",
        "-c user.name=n -c user.email=e commit -q --allow-empty -m m",
        "worktree add -q ../tree",
    ):
        project.mkdir(exist_ok=True)
        subprocess.run(["git", *command.split()], cwd=project, check=True, capture_output=True)
    (project / "src").mkdir()
    identities = Identities("linux")
    recorded = [project, project / "src", tmp_path / "tree", project / ".claude" / "worktrees" / "x" / "src"]
    assert {identities.project_of(str(path)) for path in recorded} == {str(project.resolve())}


@pytest.mark.parametrize(
    ("platform", "recorded", "project"),
    [
        ("linux", "/no/such/place", "/no/such/place"),
        ("linux", "/no/such/.claude/worktrees/x/src", "/no/such"),
        ("linux", r"C:\no\such", "/mnt/c/no/such"),
        ("linux", "/mnt/c/no/such", "/mnt/c/no/such"),
        ("win32", r"C:\no\such", r"C:\no\such"),
        ("win32", "/mnt/c/no/such", r"C:\no\such"),
        ("win32", r"C:\no\such\.claude\worktrees\x", r"C:\no\such"),
        ("linux", "relative", "relative"),
        ("linux", "a\0b", "a\0b"),
        ("linux", "", ""),
    ],
)
def test_a_directory_of_another_time_or_system_is_named_the_same_way(
    platform: str, recorded: str, project: str
) -> None:
    assert Identities(platform).project_of(recorded) == project


@pytest.mark.parametrize(
    ("recorded", "project"),
    [
        ("{0}/app/.worktrees/fix/src", "{0}/app"),
        ("{0}/app/.superset/worktrees/fix", "{0}/app"),
        ("{0}/app.worktrees/fix", "{0}/app"),
        ("{0}/app-worktrees/fix", "{0}/app"),
        ("{0}/app__worktrees/fix", "{0}/app"),
        ("{0}/.codex/worktrees/1f2e/app", "{0}/app"),
        ("{0}/.codex/worktrees/1f2e/app/src", "{0}/app"),
        ("{0}/.cursor/worktrees/app/xyz", "{0}/app"),
        ("{0}/.codex/worktrees/1f2e/twin", "{0}/.codex/worktrees/1f2e/twin"),
        ("{0}/.codex/worktrees/1f2e/unknown", "{0}/.codex/worktrees/1f2e/unknown"),
        ("/no/such/.worktrees/x", "/no/such"),
    ],
)
def test_a_worktree_that_is_gone_belongs_to_its_repository(
    tmp_path: Path, recorded: str, project: str
) -> None:
    home = tmp_path.resolve()
    projects = [home / "app", home / "a" / "twin", home / "b" / "twin"]
    for path in projects:
        (path / ".git").mkdir(parents=True)
    identities = Identities("linux", [*projects, home / ".codex/worktrees/9/app"])
    assert identities.project_of(recorded.format(home)) == project.format(home)


@pytest.mark.parametrize("lines", [1, 9])
def test_a_turn_without_a_time_has_that_of_the_one_before_it(
    sync: Callable[..., SyncReport], store: Store, home: Path, lines: int
) -> None:
    told = [
        said("1", "asked"),
        said("2", "answered", at=None),
        said("7", "asked"),
        said("8", "answered", at=None),
    ]
    write(home / "a.toy", *told[:3])
    sync(lines)
    append(home / "a.toy", told[3])
    sync(lines)
    times = [message.created_at for message in store.messages.of("toy:t")]
    assert times == [from_ms(AT + 1), from_ms(AT + 1), from_ms(AT + 7), from_ms(AT + 7)]


def test_a_worktree_joins_its_repository_when_that_becomes_known(
    sync: Callable[..., SyncReport], store: Store, home: Path
) -> None:
    tree = "/no/such/home/.codex/worktrees/1f2e/app"
    calls = [{"name": "edit", "writes": ["src/a.py"]}]
    decision = "We decided on SQLite for billing, because a backup is one file."
    write(home / "a.toy", said("1", decision, directory=tree, calls=calls))
    sync()
    assert only(store).project == tree
    sayings, results = store.sayings.of("toy:t"), store.results.of("toy:t")
    assert [each.saying.text for each in sayings] == [decision]
    assert [each.name for each in results] == ["edit"]
    write(home / "b.toy", said("2", "two", talk="u", directory="/no/such/app"))
    sync()
    assert store.conversations.projects() == ["/no/such/app"]
    assert {message.project for message in store.messages.of("toy:t")} == {"/no/such/app"}
    assert store.traces.files(["toy:t"]) == {"toy:t": ["src/a.py"]}
    assert (store.sayings.of("toy:t"), store.results.of("toy:t")) == (sayings, results)
    assert [each.directory for each in store.conversations.get(["toy:t"])] == [tree]


@pytest.mark.parametrize("change", [append, write])
def test_a_conversation_stays_in_its_project_when_its_worktree_is_removed(
    sync: Callable[..., SyncReport], store: Store, home: Path, tmp_path: Path, change: Callable[..., None]
) -> None:
    app, tree = tmp_path / "app", tmp_path / "fix"
    app.mkdir()
    git = ("git", "-c", "user.name=n", "-c", "user.email=e")
    for command in ("init -q .", "commit -q --allow-empty -m m", "worktree add -q ../fix"):
        subprocess.run([*git, *command.split()], cwd=app, check=True, capture_output=True)
    write(home / "a.toy", said("1", "one", directory=str(tree)))
    sync()
    assert only(store).project == str(app.resolve())
    subprocess.run([*git, "worktree", "remove", "../fix"], cwd=app, check=True, capture_output=True)
    change(home / "a.toy", said("2", "and two", directory=str(tree)))
    sync()
    assert only(store).project == str(app.resolve())
    assert {message.project for message in store.messages.of("toy:t")} == {str(app.resolve())}


@pytest.mark.parametrize(
    ("title", "opening", "subject"),
    [
        ("", ["Why does this crash with an error? Please fix the bug."], "debugging"),
        ("Design of the module boundaries", ["refactor the schema into layers"], "architecture"),
        ("", ["how should we solve this? which approach is best?"], "problem_solving"),
        ("", ["deploy the api server with docker and a database"], "technical"),
        ("", ["write a function and add tests for the class"], "code_discussion"),
        ("Hello", ["nice weather today"], "general"),
        ("", [], "general"),
    ],
)
def test_the_subject_comes_from_the_words(title: str, opening: list[str], subject: str) -> None:
    assert subject_of(title, opening) == subject
