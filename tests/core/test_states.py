"""The keeper's table of states: what happens to conversations follows it, and nothing but it.

Scenarios go through the whole sync. Each cell of the table is replaced by every other action, and at least one scenario must
end otherwise: a cell that no outcome depends on decides nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from backstory.core import Engine
from backstory.core.sync import Sync, decoding, keeper, keeping
from backstory.core.sync.states import TRANSITIONS, Action, FileEvent, State
from backstory.domain.filters import ConversationFilter
from backstory.readers import Places
from backstory.store import Store

from ..conftest import open_sqlite
from ..doubles import DAWN, make_settings
from .test_sync import Killed, said
from .toy_reader import Line, toy_reader, write

ONE, TWO, THREE, FOUR = (said(str(n), text) for n, text in enumerate(("one", "two", "three", "four"), 1))
ELSE = said("1", "elsewhere", talk="s")
PROMPT = said("x1", "as typed", standing=0, kind="prompt-log", title="Typed")
NAME = {"talk": "t", "closed": True, "title": "Named"}
DELETED = {"talk": "t", "closed": True, "deleted": True}


def archive(store: Store) -> None:
    store.archive.put_conversation("toy:t")


def restore(store: Store) -> None:
    store.archive.restore_conversations(["toy:t"])


def forget(store: Store) -> None:
    store.sync.forget(["toy:t"], DAWN)


class Interrupted(NamedTuple):
    """Files of which only the first line is read before the process ends."""

    files: Mapping[str, Sequence[Line] | None]


Step = Mapping[str, Sequence[Line] | None] | Interrupted | Callable[[Store], None]
"""What files hold next, None for one that vanished; or what somebody does to the store."""


class Scenario(NamedTuple):
    name: str
    steps: Sequence[Step]
    texts: list[str]
    """In the end, of the live conversation `t`."""
    is_gone: bool = False
    title: str = ""


SCENARIOS = [
    Scenario("a new log", [{"a.toy": [ONE]}], ["one"]),
    Scenario("a log that says nothing", [{"a.toy": [NAME]}], []),
    Scenario("a name of nothing", [{"names.whole": [NAME]}], []),
    Scenario("nothing is deleted", [{"a.base": [DELETED]}], []),
    Scenario("a log goes on", [{"a.toy": [ONE]}, {"a.toy": [ONE, TWO]}], ["one", "two"]),
    Scenario(
        "a log goes on and is rewritten",
        [{"a.toy": [ONE]}, {"a.toy": [ONE, TWO]}, {"a.toy": [TWO]}],
        ["two"],
    ),
    Scenario(
        "a copy goes on, and the log is rewritten",
        [{"a.toy": [ONE]}, {"b.toy": [ONE, TWO]}, {"a.toy": [THREE]}, {"b.toy": [TWO]}],
        ["two", "three"],
    ),
    Scenario("a list of names", [{"a.toy": [ONE]}, {"names.whole": [NAME]}], ["one"], title="Named"),
    Scenario(
        "a list of names, and the log is rewritten",
        [{"a.toy": [ONE]}, {"names.whole": [NAME]}, {"a.toy": [TWO]}],
        ["two"],
    ),
    Scenario("prompts beside a log", [{"a.toy": [ONE]}, {"b.toy": [PROMPT]}], ["one"], title="one"),
    Scenario("a log beside prompts", [{"b.toy": [PROMPT]}, {"a.toy": [ONE]}], ["one"], title="one"),
    Scenario("a log is rewritten", [{"a.toy": [ONE, TWO]}, {"a.toy": [TWO]}], ["two"]),
    Scenario(
        "a log is rewritten beside a copy",
        [{"a.toy": [ONE, TWO], "b.toy": [ONE]}, {"a.toy": [THREE]}],
        ["one", "three"],
    ),
    Scenario(
        "a log is moved, and rewritten there",
        [{"a.toy": [ONE, TWO]}, {"a.toy": None, "b.toy": [ONE, TWO]}, {"b.toy": [TWO]}],
        ["two"],
    ),
    Scenario("a document is written anew", [{"a.whole": [ONE, TWO]}, {"a.whole": [TWO]}], ["two"]),
    Scenario(
        "a log comes back shorter beside a copy",
        [{"a.toy": [ONE, TWO, THREE], "b.toy": [ONE]}, {"a.toy": None}, {"a.toy": [ONE, TWO]}],
        ["one", "two", "three"],
    ),
    Scenario(
        "a log comes back without it beside a copy, and tells of it later",
        [
            {"a.toy": [ONE, TWO, THREE], "b.toy": [ONE]},
            {"a.toy": None},
            {"a.toy": [ELSE]},
            {"a.toy": [FOUR]},
        ],
        ["one", "four", "two", "three"],
    ),
    Scenario(
        "a log comes back with something else beside a copy",
        [
            {"a.toy": [ONE, TWO], "b.toy": [TWO]},
            {"a.toy": None},
            {"a.toy": [FOUR]},
            {"a.toy": [THREE]},
        ],
        ["one", "three", "two"],
    ),
    Scenario(
        "two logs vanish, and one comes back shorter and is rewritten",
        [
            {"a.toy": [ONE, TWO, THREE], "b.toy": [ONE]},
            {"a.toy": None, "b.toy": None},
            {"a.toy": [TWO, said("5", "five")]},
            {"a.toy": [FOUR, TWO]},
        ],
        ["one", "four", "two", "three"],
    ),
    Scenario("a log vanishes", [{"a.toy": [ONE]}, {"a.toy": None}], ["one"], is_gone=True),
    Scenario("a copy stays", [{"a.toy": [ONE], "b.toy": [ONE]}, {"a.toy": None}], ["one"]),
    Scenario(
        "an owner deletes it",
        [{"a.base": [ONE]}, {"a.base": [DELETED]}, {"a.base": [DELETED, ELSE]}],
        ["one"],
        is_gone=True,
    ),
    Scenario(
        "an owner deletes it and brings back less",
        [{"a.base": [ONE, TWO]}, {"a.base": [DELETED]}, {"a.base": [TWO]}],
        ["one", "two"],
    ),
    Scenario(
        "an owner deletes what another file tells too, and brings back less and more",
        [
            {"b.toy": [ONE]},
            {"a.base": [ONE, TWO, THREE]},
            {"a.base": [DELETED]},
            {"a.base": [TWO]},
            {"a.base": [TWO, FOUR]},
        ],
        ["one", "two", "four", "three"],
    ),
    Scenario(
        "an owner deletes what another file tells",
        [{"a.base": [ONE]}, {"b.toy": [ONE, TWO]}, {"a.base": [DELETED]}],
        ["one", "two"],
    ),
    Scenario(
        "another file tells of one that is gone",
        [{"a.toy": [ONE, TWO]}, {"a.toy": None}, {"b.toy": [ONE]}],
        ["one", "two"],
    ),
    Scenario(
        "another file tells of one that is gone, and is rewritten",
        [{"a.toy": [ONE, TWO]}, {"a.toy": None}, {"b.toy": [ONE, THREE]}, {"b.toy": [THREE]}],
        ["three", "two"],
    ),
    Scenario(
        "prompts beside one that is gone",
        [{"a.toy": [ONE]}, {"a.toy": None}, {"b.toy": [PROMPT]}],
        ["one"],
        is_gone=True,
        title="one",
    ),
    Scenario(
        "a log beside prompts that are gone",
        [{"b.toy": [PROMPT]}, {"b.toy": None}, {"a.toy": [ONE]}],
        ["one"],
        title="one",
    ),
    Scenario(
        "a name of one that is gone",
        [{"a.toy": [ONE]}, {"a.toy": None}, {"names.whole": [NAME]}],
        ["one"],
        is_gone=True,
        title="Named",
    ),
    Scenario(
        "a log comes back changed",
        [{"a.toy": [ONE, TWO]}, {"a.toy": None}, {"a.toy": [said("1", "ONE")]}],
        ["ONE", "two"],
    ),
    Scenario(
        "a document comes back shorter",
        [{"a.whole": [ONE, TWO]}, {"a.whole": None}, {"a.whole": [ONE]}],
        ["one", "two"],
    ),
    Scenario(
        "a log comes back as it was",
        [{"a.toy": [ONE, TWO]}, {"a.toy": None}, {"a.toy": [ONE, TWO]}],
        ["one", "two"],
    ),
    Scenario(
        "a log comes back as it was, and is rewritten",
        [{"a.toy": [ONE, TWO]}, {"a.toy": None}, {"a.toy": [ONE, TWO, THREE]}, {"a.toy": [TWO]}],
        ["two"],
    ),
    Scenario(
        "two logs vanish, and one comes back without it before the other tells of it again",
        [
            {"a.toy": [ONE, TWO, THREE], "b.toy": [ONE]},
            {"a.toy": None, "b.toy": None},
            {"a.toy": [ELSE]},
            {"b.toy": [ONE, said("5", "five")]},
            {"a.toy": [FOUR]},
        ],
        ["one", "four", "two", "five", "three"],
    ),
    Scenario(
        "a rewriting that was interrupted ends after the last file that tells it vanished",
        [
            {"a.toy": [ONE, said("0", "zero")], "b.toy": [ONE, TWO]},
            Interrupted({"a.toy": [said("0"), ELSE, ELSE]}),
            {"b.toy": None},
        ],
        ["one", "two"],
        is_gone=True,
    ),
    Scenario(
        "a rewriting that was interrupted goes on after the last file that tells it vanished",
        [
            {"a.toy": [ONE, said("0", "zero")], "b.toy": [ONE, TWO]},
            Interrupted({"a.toy": [said("0"), ELSE, ELSE, THREE]}),
            {"b.toy": None},
        ],
        ["one", "three", "two"],
    ),
    Scenario("an archived log is touched", [{"a.toy": [ONE, TWO]}, archive, {"b.toy": [ONE]}], []),
    Scenario(
        "an archived log goes on",
        [{"a.toy": [ONE]}, archive, {"a.toy": [ONE, TWO]}],
        ["one", "two"],
    ),
    Scenario(
        "an archived log goes on and is rewritten",
        [{"a.toy": [ONE]}, archive, {"a.toy": [ONE, TWO]}, {"a.toy": [TWO]}],
        ["two"],
    ),
    Scenario(
        "prompts of an archived log", [{"a.toy": [ONE]}, archive, {"b.toy": [said("9", standing=0)]}], []
    ),
    Scenario("a name of an archived log", [{"a.toy": [ONE]}, archive, {"names.whole": [NAME]}], []),
    Scenario(
        "a log of archived prompts",
        [{"b.toy": [PROMPT]}, archive, {"a.toy": [ONE, TWO]}],
        ["one", "two"],
        title="one",
    ),
    Scenario(
        "an archived log vanishes",
        [{"a.toy": [ONE]}, archive, {"a.toy": None}, restore],
        ["one"],
        is_gone=True,
    ),
    Scenario(
        "an archived log vanishes and is there again",
        [{"a.toy": [ONE]}, archive, {"a.toy": None}, {"a.toy": [ONE]}, restore],
        ["one"],
    ),
    Scenario(
        "an owner deletes what is archived",
        [{"a.base": [ONE]}, archive, {"a.base": [DELETED]}, restore],
        ["one"],
        is_gone=True,
    ),
    Scenario("a forgotten log goes on", [{"a.toy": [ONE]}, forget, {"a.toy": [ONE, TWO]}], []),
    Scenario("a forgotten log says nothing more", [{"a.toy": [ONE]}, forget, {"b.toy": [NAME]}], []),
    Scenario("a name of a forgotten log", [{"a.toy": [ONE]}, forget, {"names.whole": [NAME]}], []),
    Scenario("an owner deletes what is forgotten", [{"a.base": [ONE]}, forget, {"a.base": [DELETED]}], []),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store, to be copied."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    open_sqlite(path).close()
    return path


class Outcome(NamedTuple):
    texts: list[str]
    is_gone: bool
    title: str
    is_archived: bool
    is_listed: bool


def play(scenario: Scenario, template: Path, folder: Path) -> Iterator[Outcome]:
    """What the store holds after each step."""
    home = folder / "home"
    shutil.rmtree(folder, ignore_errors=True)
    home.mkdir(parents=True)
    shutil.copyfile(template, folder / "store.db")
    engine = Engine(make_settings(), open_sqlite(folder / "store.db"), None)
    try:
        for number, step in enumerate(scenario.steps):
            _take(step, engine, home, number)
            yield _outcome(engine.store)
    finally:
        engine.close()


def _take(step: Step, engine: Engine, home: Path, number: int) -> None:
    if callable(step):
        step(engine.store)
        return
    left = 2 if isinstance(step, Interrupted) else 0

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed

    for name, lines in (step.files if isinstance(step, Interrupted) else step).items():
        (home / name).unlink() if lines is None else write(home / name, *lines)
    with suppress(Killed):
        assert Sync(engine).run([toy_reader(1, count)], Places(home, {}, "linux")) is not None


def _outcome(store: Store) -> Outcome:
    talks = store.conversations.get(["toy:t"])
    archived = store.archive.find_conversations(ConversationFilter(ids=("toy:t",)))
    return Outcome(
        [message.text for message in store.messages.of("toy:t")],
        any(talk.is_gone for talk in [*talks, *(each.conversation for each in archived)]),
        "".join(talk.title for talk in talks),
        bool(archived),
        bool(talks),
    )


@pytest.fixture(autouse=True)
def pieces_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a file can be interrupted between two lines."""
    monkeypatch.setattr(decoding, "SMALL_BYTES", 1)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_what_is_kept_follows_the_table(scenario: Scenario, template: Path, tmp_path: Path) -> None:
    *_, last = play(scenario, template, tmp_path / "played")
    assert (last.texts, last.is_gone) == (scenario.texts, scenario.is_gone)
    assert scenario.title in ("", last.title)
    assert last.is_listed == bool(scenario.texts)


class Recording(dict[tuple[State, FileEvent], Action]):
    def __init__(self, table: Mapping[tuple[State, FileEvent], Action]) -> None:
        super().__init__(table)
        self.cells: set[tuple[State, FileEvent]] = set()

    def __getitem__(self, cell: tuple[State, FileEvent]) -> Action:
        self.cells.add(cell)
        return super().__getitem__(cell)


@pytest.fixture(scope="module")
def usual(template: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Recording, list[Outcome]]]:
    """For each scenario, the cells that it asks for, and its outcomes."""
    folder = tmp_path_factory.mktemp("usual")
    played = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "SMALL_BYTES", 1)
        for scenario in SCENARIOS:
            table = Recording(TRANSITIONS)
            for module in (keeper, keeping):
                patch.setattr(module, "TRANSITIONS", table)
            played.append((table, list(play(scenario, template, folder / "played"))))
    return played


@pytest.mark.parametrize("cell", TRANSITIONS, ids="-".join)
def test_every_cell_of_the_table_decides(
    cell: tuple[State, FileEvent],
    usual: list[tuple[Recording, list[Outcome]]],
    template: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    concerned = [
        (scenario, outcomes)
        for scenario, (table, outcomes) in zip(SCENARIOS, usual, strict=True)
        if cell in table.cells
    ]
    for action in set(Action) - {TRANSITIONS[cell]}:
        with monkeypatch.context() as patch:
            patch.setitem(TRANSITIONS, cell, action)
            assert any(
                _differs(play(scenario, template, tmp_path / "played"), outcomes)
                for scenario, outcomes in concerned
            ), f"it might as well {action}"


def _differs(outcomes: Iterator[Outcome], usual: Sequence[Outcome]) -> bool:
    try:
        return any(now != before for now, before in zip(outcomes, usual, strict=True))
    except (AssertionError, KeyError):  # an action that cannot be done to such a conversation
        return True
