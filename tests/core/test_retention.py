"""Retention: what is old goes to the archive whole, once a day, and comes back when it is wanted or goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from backstory.core import Caller, Core, Engine
from backstory.core import background as module
from backstory.core.calls import Call, Cancelled
from backstory.core.forgetting.retention import Retention
from backstory.core.memories import MemoryDraft
from backstory.core.sync import Sync
from backstory.domain.errors import StorageFull
from backstory.domain.filters import ConversationFilter, Filter
from backstory.domain.when import to_ms
from backstory.guests.codearchitect.stored_sessions import IN_FILES, StoredSessions
from backstory.guests.session_mgmt.work.reflections import Reflections
from backstory.readers import Places
from backstory.store import Store

from ..doubles import DAWN, SteppedClock, make_conversation, make_messages, make_settings
from ..patience import until
from .test_background_sync import reading
from .toy_reader import Line, append, toy_reader, write

DAY = 24 * 60 * 60


def at(day: int, id: str, text: str, **more: object) -> Line:
    """A line of a toy history that was said so many days after the beginning."""
    return {"talk": "t", "id": id, "text": text, "at": to_ms(DAWN + timedelta(days=day)), **more}


@pytest.fixture
def engine(store: Store, clock: SteppedClock) -> Engine:
    return Engine(make_settings(retention_days=30.0), store, None, now=clock)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def sync(engine: Engine, home: Path) -> Callable[[], object]:
    return lambda: Sync(engine).run([toy_reader()], Places(home, {}, "linux"))


def archive(engine: Engine, *, days: float = 30) -> None:
    retention = Retention(engine)
    retention.archive(retention.find(days), Call())


def live(store: Store) -> list[str]:
    return sorted(talk.id for talk in store.conversations.find(ConversationFilter()))


def put_away(store: Store) -> list[str]:
    return sorted(talk.conversation.id for talk in store.archive.find_conversations(ConversationFilter()))


def talk(store: Store, id: str, day: int, **changes: object) -> None:
    updated = DAWN + timedelta(days=day)
    store.conversations.put(make_conversation(id, updated_at=updated, **changes), make_messages(id, id))


def test_conversations_go_by_their_last_message(engine: Engine, store: Store, clock: SteppedClock) -> None:
    talk(store, "old", 0)
    talk(store, "long", 25)
    clock.step(40 * DAY)
    archive(engine)
    assert (live(store), put_away(store)) == (["long"], ["old"])


def test_reflections_go_and_what_the_user_saved_stays(core: Core, store: Store, clock: SteppedClock) -> None:
    Reflections(core.through("session-mgmt")).keep("an old insight", ())
    core.through("memory-keeper").memories.save_item(MemoryDraft("an item", key="k"))
    core.through("projectmemory").memories.save("a fact")
    clock.step(40 * DAY)
    Reflections(core.through("session-mgmt")).keep("a new insight", ())
    archive(core.engine)
    texts = {memory.text for memory in store.entries.load(range(9)).values()}
    assert texts == {"an item", "a fact", "a new insight"}
    assert [each.memory.text for each in store.archive.find_memories(Filter())] == ["an old insight"]
    assert Reflections(core.through("session-mgmt")).stats().reflections == 1


def test_what_was_brought_back_stays(core: Core, store: Store, clock: SteppedClock) -> None:
    reflective = core.through("session-mgmt")
    memory, _ = Reflections(reflective).keep("an old insight", ())
    talk(store, "old", 0)
    talk(store, "part", 0, parent="old", kind="subagent")
    clock.step(40 * DAY)
    archive(core.engine)
    assert reflective.archive.find_named(memory.id) == [memory]
    assert reflective.archive.restore((memory.id,)) == [memory]
    assert [each.id for each in Retention(core.engine).restore("old")] == ["old", "part"]
    archive(core.engine)
    assert live(store) == ["old", "part"]
    assert store.entries.count(Filter(ids=(memory.id,))) == 1
    assert Retention(core.engine).restore("old") == []


def test_a_full_store_has_room_again(store: Store, clock: SteppedClock) -> None:
    core = Core(Engine(make_settings(max_store_mb=3), store, None, now=clock), Caller(project="/p"))
    numbers = count()

    def reflect() -> None:
        words = (f"{next(numbers)}.{place}" for place in range(4_000))
        text = " ".join(hashlib.sha256(word.encode()).hexdigest()[:9] for word in words)
        Reflections(core.through("session-mgmt")).keep(text, ())

    def reflect_without_end() -> None:
        while True:
            reflect()

    with pytest.raises(StorageFull):
        reflect_without_end()
    clock.step(40 * DAY)
    archive(core.engine)
    for _ in range(5):
        reflect()


def test_it_happens_once_a_day_in_one_process(engine: Engine, store: Store, clock: SteppedClock) -> None:
    clock.step(40 * DAY)
    talk(store, "first", 0)
    Retention(engine).archive_daily(Call())
    assert put_away(store) == ["first"]
    talk(store, "second", 0)
    for each in (engine, Engine(engine.settings, store, None, now=clock)):
        Retention(each).archive_daily(Call())
    assert live(store) == ["second"]


def test_it_is_off_by_default(store: Store, clock: SteppedClock) -> None:
    talk(store, "old", 0)
    clock.step(4_000 * DAY)
    Retention(Engine(make_settings(), store, None, now=clock)).archive_daily(Call())
    assert live(store) == ["old"]


def test_one_that_was_interrupted_is_done_by_the_next(
    engine: Engine, store: Store, clock: SteppedClock
) -> None:
    for id in ("a", "b"):
        talk(store, id, 0)
    clock.step(40 * DAY)
    with pytest.raises(Cancelled):
        Retention(engine).archive_daily(Call(is_cancelled=lambda: put_away(store) == ["a"]))
    assert (live(store), put_away(store)) == (["b"], ["a"])
    Retention(engine).archive_daily(Call())
    assert put_away(store) == ["a", "b"]


def test_a_running_server_archives_by_itself_even_without_histories(
    store: Store, clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_AFTER_S", 0.0)
    talk(store, "old", 0)
    clock.step(40 * DAY)
    settings = make_settings(retention_days=30.0, histories=("off",), sync_interval_s=0.01)
    engine = Engine(settings, store, None, now=clock, background=reading(Path("/none")))
    engine.sync_now(Call())
    assert live(store) == ["old"], "a call does not wait for it"
    engine.sync_soon()
    until(lambda: put_away(store) == ["old"])
    assert engine.background is not None
    engine.background.close()


def test_reading_the_source_again_does_not_bring_it_back(
    engine: Engine, store: Store, clock: SteppedClock, home: Path, sync: Callable[[], object]
) -> None:
    write(home / "a.toy", at(0, "1", "one"), at(1, "2", "two"))
    write(home / "b.whole", at(0, "1", "whole", talk="w"))
    sync()
    clock.step(40 * DAY)
    archive(engine)
    write(home / "a.toy", at(1, "2", "two"), at(0, "1", "one, rewritten"), at(1, "3", "three"))
    write(home / "b.whole", at(0, "1", "whole, rewritten", talk="w"))
    sync()
    assert (live(store), put_away(store)) == ([], ["toy:t", "toy:w"])
    assert store.entries.count(Filter()) == 0


def test_a_conversation_that_goes_on_comes_back_whole(
    engine: Engine, store: Store, clock: SteppedClock, home: Path, sync: Callable[[], object]
) -> None:
    calls = [{"name": "Edit", "writes": ["/p/a.py"]}]
    write(home / "a.toy", at(0, "1", "one", thinking="hm"), at(1, "2", "two", role="assistant", calls=calls))
    sync()
    clock.step(40 * DAY)
    archive(engine)
    append(home / "a.toy", at(40, "3", "three"))
    sync()
    said = [message.text for message in store.messages.of("toy:t") if message.role in ("user", "assistant")]
    assert said == ["one", "two", "three"]
    assert store.traces.files(["toy:t"]) == {"toy:t": ["/p/a.py"]}
    assert put_away(store) == []
    archive(engine)
    assert live(store) == ["toy:t"]


def test_a_stored_session_is_read_whole_though_it_is_archived(
    core: Core, store: Store, clock: SteppedClock, tmp_path: Path
) -> None:
    transcripts = StoredSessions(core.through("codearchitect"))
    place = transcripts.place(str(tmp_path / "sessions"))
    long = [{"role": "user", "content": f"{number} " + "word " * (IN_FILES // 20)} for number in range(6)]
    kept = transcripts.keep(long, "a long one", place)
    assert kept.is_cut
    clock.step(40 * DAY)
    archive(core.engine)
    assert live(store) == []
    fetched = transcripts.fetch(place, kept.folder.name, None)
    assert [turn.text for turn in fetched.turns] == [each["content"] for each in long]
    transcripts.listing(place, None, limit=10)
    assert (live(store), put_away(store)) == ([], [kept.header.id]), "looking at it does not bring it back"


def test_a_stored_session_that_is_edited_comes_back(
    core: Core, store: Store, clock: SteppedClock, tmp_path: Path
) -> None:
    transcripts = StoredSessions(core.through("codearchitect"))
    place = transcripts.place(str(tmp_path / "sessions"))
    kept = transcripts.keep([{"role": "user", "content": "a walrus"}], "animals", place)
    clock.step(40 * DAY)
    archive(core.engine)
    file = kept.folder / "full.md"
    file.write_text(file.read_text("utf-8").replace("walrus", "puffin"), "utf-8")
    transcripts.fetch(place, kept.folder.name, None)
    assert (live(store), put_away(store)) == ([kept.header.id], [])
    assert [message.text for message in store.messages.of(kept.header.id)] == ["a puffin"]
