"""A conversation of any length is kept in short transactions, and is right wherever that is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from backstory.core import Engine
from backstory.core.forgetting.removal import ForgetRequest, Removal
from backstory.core.sync import Sync, keeping, pieces, transactions, witness_rows
from backstory.domain.filters import ConversationFilter
from backstory.readers import Places
from backstory.store import Store

from ..conftest import OpenCore, OpenStore, open_sqlite
from ..doubles import DAWN, make_settings
from .test_sync import Killed, dump, said
from .toy_reader import Line, append, toy_reader, write

LONG = [said(str(n), f"turn {n}") for n in range(1, 41)]
EDITED = [*LONG[:19], said("x20", "turn 20, edited"), *LONG[20:30]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is long: a transaction ends after each turn, or after three rows about who told them."""
    monkeypatch.setattr(transactions, "TRANSACTION_COST", 1)
    monkeypatch.setattr(pieces, "PART_COST", 1)
    monkeypatch.setattr(witness_rows, "LONG_CONVERSATION", 2)
    for module in (keeping, witness_rows):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 3)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Have something called whenever others may write."""

    def set_action(action: Callable[[], None]) -> None:
        monkeypatch.setattr(time, "sleep", lambda _: action())

    return set_action


def first(home: Path) -> None:
    write(home / "a.toy", *LONG)


def grown(home: Path) -> None:
    append(home / "a.toy", said("50", "later"), said("51", "and later"))


def edited(home: Path) -> None:
    write(home / "a.toy", *EDITED)


def copied(home: Path) -> None:
    write(home / "b.toy", *LONG[:25], said("60", "only in the copy"))


def document(home: Path) -> None:
    write(home / "c.whole", *LONG)


def shorter_document(home: Path) -> None:
    write(home / "c.whole", *LONG[5:20])


def vanished(home: Path) -> None:
    (home / "a.toy").unlink()


def back(home: Path) -> None:
    write(home / "a.toy", *LONG[:10], said("70", "since it is back"))


def better(home: Path) -> None:
    write(home / "a.toy", *(line | {"standing": 1} for line in LONG))


STEPS = [
    [first],
    [first, grown],
    [first, edited],
    [first, copied],
    [first, copied, edited],
    [first, copied, vanished],
    [first, copied, vanished, back],
    [first, vanished, back],
    [document],
    [document, shorter_document],
    [document, copied, shorter_document],
    [better, copied],
]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("steps", STEPS, ids=lambda steps: "-".join(step.__name__ for step in steps))
def test_a_sync_killed_between_any_two_transactions_ends_as_if_it_had_not_been(
    steps: list[Callable[[Path], None]],
    home: Path,
    tmp_path: Path,
    pauses: Callable[[Callable[[], None]], None],
) -> None:
    left = 0

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed

    def run(name: str, kill_at: int) -> tuple[object, int]:
        """What the store holds in the end, and how often others might have written during the last step."""
        nonlocal left
        for path in home.iterdir():
            path.unlink()
        engine = Engine(make_settings(), open_sqlite(tmp_path / f"{name}.db"), None)
        pauses(count)
        for step in steps:
            step(home)
            left = kill_at if step is steps[-1] else 0
            with suppress(Killed):
                assert Sync(engine).run([toy_reader(8)], Places(home, {}, "linux")) is not None
        paused = -left
        left = 0
        assert Sync(engine).run([toy_reader(8)], Places(home, {}, "linux")) is not None
        assert engine.store.problems() == []
        held = dump(engine.store), _rows(engine.store)
        engine.close()
        return held, paused

    undisturbed, paused = run("undisturbed", 0)
    assert paused > 1
    for kill_at in range(1, paused, max(1, paused // 12)):
        assert run(f"killed{kill_at}", kill_at)[0] == undisturbed, kill_at


def _rows(store: Store) -> object:
    ids = [each.id for each in store.conversations.find(ConversationFilter())]
    return {id: store.witnesses.of(id) for id in ids}


@pytest.mark.usefixtures("tiny")
def test_others_save_between_the_transactions_of_a_sync(
    open_core: OpenCore, open_store: OpenStore, home: Path, pauses: Callable[[Callable[[], None]], None]
) -> None:
    store, other = open_store(), open_store()
    first(home)
    saves: list[int] = []

    def save() -> None:
        assert other.leases.take(f"lease {len(saves)}", "other", for_ms=1000)
        saves.append(len(other.messages.of("toy:t")))

    pauses(save)
    assert Sync(open_core(store, None).engine).run([toy_reader(50)], Places(home, {}, "linux")) is not None
    assert saves == sorted(saves)
    assert len(set(saves)) > 20, "each sees more of the conversation"


@pytest.mark.usefixtures("tiny")
def test_what_is_forgotten_between_two_transactions_of_its_sync_stays_forgotten(
    open_core: OpenCore, open_store: OpenStore, home: Path, pauses: Callable[[Callable[[], None]], None]
) -> None:
    store, other = open_store(), open_store()
    first(home)

    def forget() -> None:
        pauses(lambda: None)
        Removal(other, DAWN, ()).forget(ForgetRequest(conversations=["toy:t"]))

    pauses(forget)
    engine = open_core(store, None).engine
    assert Sync(engine).run([toy_reader(50)], Places(home, {}, "linux")) is not None
    assert Sync(engine).run([toy_reader(50)], Places(home, {}, "linux")) is not None
    assert store.conversations.get(["toy:t"]) == []


@pytest.mark.usefixtures("tiny")
def test_a_long_conversation_is_forgotten_whole_though_others_save_meanwhile(
    open_store: OpenStore, open_core: OpenCore, home: Path, pauses: Callable[[Callable[[], None]], None]
) -> None:
    store, other = open_store(), open_store()
    first(home)
    engine = open_core(store, None).engine
    assert Sync(engine).run([toy_reader(50)], Places(home, {}, "linux")) is not None
    counts = []
    pauses(lambda: counts.append(len(other.messages.of("toy:t"))))
    removed = Removal(store, DAWN, ()).forget(ForgetRequest(conversations=["toy:t"])).counts
    assert (removed["messages"], removed["conversations"]) == (40, 1)
    assert store.conversations.get(["toy:t"]) == []
    grown(home)
    assert Sync(engine).run([toy_reader(50)], Places(home, {}, "linux")) is not None
    assert store.conversations.get(["toy:t"]) == []


def lines_of(count: int) -> list[Line]:
    return [said(str(n), f"turn {n}") for n in range(count)]


def test_what_a_sync_writes_at_once_does_not_grow_with_the_conversation(
    open_core: OpenCore, store: Store, home: Path, pauses: Callable[[Callable[[], None]], None]
) -> None:
    """With the limits that users have."""
    sizes: list[int] = [0]
    pauses(lambda: sizes.append(store.messages.count(["toy:t"]).get("toy:t", 0)))
    write(home / "a.toy", *lines_of(3_000))
    assert Sync(open_core(store, None).engine).run([toy_reader(9_999)], Places(home, {}, "linux")) is not None
    steps = [later - earlier for earlier, later in pairwise(sizes)]
    assert max(steps) < 700
