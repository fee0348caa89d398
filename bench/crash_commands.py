"""Commands under SIGKILL: no existing data is lost, acknowledged work is done, and the command can be repeated."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from crash_process import Outcome, run_process
from crash_tools import FAST, REHEARSALS
from tests.doubles import HashedWords, make_memory, make_settings

from backstory.cli.commands import run as run_command
from backstory.core import Engine
from backstory.core.backups import DAILY, Backups
from backstory.domain.filters import ConversationFilter, Filter, Page
from backstory.store.sqlite import SqliteStore

HISTORIES = Path(__file__).resolve().parents[1] / "tests" / "readers" / "claude-code" / "home"
OLD = "--older-than", "1"

Check = Callable[["Desk", bool], Iterator[str]]
"""Returns the problems after a kill; the argument says whether the command was acknowledged."""


class View(NamedTuple):
    """The data that a user would miss."""

    memories: dict[str, str]
    conversations: dict[str, list[str]]
    archived: frozenset[str]
    forgotten: int


def view(path: Path) -> View:
    with closing(SqliteStore(path, is_copy=True)) as store:
        if problems := store.problems():
            raise AssertionError(f"{path.name} is damaged: {problems[0]}")
        talks = store.conversations.find(ConversationFilter())
        return View(
            {memory.id: memory.text for memory in store.memories.find(Filter(), Page())},
            {talk.id: [message.text for message in store.messages.of(talk.id)] for talk in talks},
            frozenset(
                talk.conversation.id for talk in store.archive.find_conversations(ConversationFilter())
            ),
            len(store.database.rows("SELECT 1 FROM forgotten")),
        )


class Desk:
    """A user's data directory, reset to a known state before each trial."""

    def __init__(self, root: Path) -> None:
        self._kept, self.root = root / "kept", root / "desk"
        self.home = self.root / "home"
        self.store, self.file = self.home / "store.db", self.root / "file.db"

    def keep(self, name: str) -> None:
        shutil.copytree(self.root, self._kept / name)

    def put_back(self, name: str) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self._kept / name, self.root)

    def give(self, *words: str) -> None:
        """Run the command as a separate process would. Raises if it fails."""
        self.home.mkdir(parents=True, exist_ok=True)  # a directory that is named and missing is refused
        flags = {"home": str(self.home), "embeddings": "off"}
        with Path(os.devnull).open("w") as nowhere:
            before, sys.stdout = sys.stdout, nowhere
            try:
                if code := run_command(list(words), flags):
                    raise RuntimeError(f"{words[0]} ended with {code}")
            finally:
                sys.stdout = before


class CommandTrial:
    def __init__(
        self, desk: Desk, start: str, name: str, work: Callable[[], None], check: Check, *, again: bool = True
    ) -> None:
        self.name = name
        self._desk, self._start, self._work, self._check, self._again = desk, start, work, check, again
        self._took_s = 0.0

    def rehearse(self) -> None:
        """Once here, so that those who are forked need not import anything, then as it will be done."""
        self._desk.put_back(self._start)
        self._work()
        took_s = []
        for _ in range(REHEARSALS):
            self._desk.put_back(self._start)
            took_s.append(run_process(self._work).took_s)
        self._took_s = min(took_s)
        if faults := list(self._check(self._desk, True)):
            raise RuntimeError(f"{self.name} is wrong without a kill: {faults}")

    def run(self, chosen: random.Random) -> Outcome:
        self._desk.put_back(self._start)
        ended = run_process(self._work, kill_after_s=chosen.uniform(0, self._took_s * 2))
        faults: list[str] = []
        try:
            faults += self._check(self._desk, ended.is_acknowledged)
            if self._again and not faults and not ended.is_acknowledged:
                run_process(self._work)
                faults += (f"given again: {fault}" for fault in self._check(self._desk, True))
        except (AssertionError, RuntimeError) as error:
            faults.append(str(error))
        return Outcome(self.name, ended.is_acknowledged, tuple(faults))


@contextmanager
def command_trials() -> Iterator[list[CommandTrial]]:
    with tempfile.TemporaryDirectory(prefix="crash-", dir=FAST if FAST.is_dir() else None) as root:
        before = {name: os.environ.get(name) for name in ("HOME", "BACKSTORY_HISTORIES")}
        os.environ |= {"HOME": str(Path(root) / "user"), "BACKSTORY_HISTORIES": "claude-code"}
        try:
            trials = _trials(Desk(Path(root)), Path(root) / "user")
            for trial in trials:
                trial.rehearse()
            yield trials
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def _trials(desk: Desk, user: Path) -> list[CommandTrial]:
    shutil.copytree(HISTORIES, user)
    desk.root.mkdir()
    desk.keep("nothing")
    with closing(SqliteStore(desk.store)) as store:
        store.memories.put([make_memory(f"m{n}", f"The text of memory {n}.") for n in range(40)])
    desk.keep("saved")
    desk.give("sync")
    desk.keep("synced")
    full = view(desk.store)
    some = sorted(full.conversations)[0]
    desk.give("archive", *OLD, "--yes")
    desk.keep("archived")
    archived = view(desk.store)
    desk.put_back("synced")
    desk.give("forget", some, "--yes")
    without = view(desk.store)
    desk.put_back("saved")
    desk.give("backup", str(desk.file))
    desk.give("sync")
    desk.keep("to restore")
    saved = view(desk.file)
    url, target = f"sqlite:///{desk.store}", f"sqlite:///{desk.file}"
    restored = _either(desk.store, full, saved)

    def trial(start: str, *words: str, check: Check, again: bool = True, name: str = "") -> CommandTrial:
        return CommandTrial(
            desk, start, f"`{name or words[0]}`", lambda: desk.give(*words), check, again=again
        )

    return [
        trial("nothing", "integrity", check=_opens, name="first start"),
        trial("saved", "sync", check=_grows_to(saved, full)),
        trial("synced", "backup", str(desk.file), check=_whole_or_none(desk.file, full), again=False),
        trial("to restore", "restore", str(desk.file), check=restored),
        trial("synced", "migrate", "--from", url, "--to", target, check=_arrives(full)),
        trial("synced", "archive", *OLD, "--yes", check=_moves(full, archived)),
        trial("archived", "unarchive", some, check=_unarchives(some, full), again=False),
        trial("synced", "forget", some, "--yes", check=_either(desk.store, full, without), again=False),
        trial("saved", "token", "create", "--user", "alice", check=_token, again=False),
        CommandTrial(desk, "saved", "daily backup", lambda: _back_up(desk), _daily(saved)),
        CommandTrial(desk, "saved", "embedding", lambda: _embed(desk), _embedded),
    ]


def _opens(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
    if desk.store.exists():
        assert view(desk.store).memories == {}
    elif is_acknowledged:
        yield "there is no store"


def _either(path: Path, before: View, after: View) -> Check:
    def check(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
        found = view(path)
        if is_acknowledged and found != after:
            yield "it was acknowledged and is lost"
        elif found not in (before, after):
            yield "it is half done"

    return check


def _grows_to(before: View, after: View) -> Check:
    def check(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
        found = view(desk.store)
        if found.memories != before.memories:
            yield "it touched memories"
        if is_acknowledged and found != after:
            yield "something was not read"
        for id, texts in found.conversations.items():
            if texts != after.conversations[id][: len(texts)]:
                yield f"{id} is not as it was said"

    return check


def _whole_or_none(path: Path, content: View) -> Check:
    def check(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
        if path.exists():
            if view(path) != content:
                yield "the backup is not whole"
        elif is_acknowledged:
            yield "the backup is not there"

    return check


def _arrives(content: View) -> Check:
    def check(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
        if view(desk.store) != content:
            yield "it changed the source"
        if is_acknowledged and view(desk.file) != content:
            yield "not everything arrived"

    return check


def _moves(before: View, after: View) -> Check:
    def check(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
        found = view(desk.store)
        if is_acknowledged and found != after:
            yield "it was acknowledged and is not done"
        if found.memories != before.memories:
            yield "it touched memories"
        if set(found.conversations) | found.archived != set(before.conversations):
            yield "a conversation is nowhere"
        if set(found.conversations) & found.archived:
            yield "a conversation is in both places"

    return check


def _unarchives(id: str, full: View) -> Check:
    def check(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
        found = view(desk.store)
        if (id in found.conversations) == (id in found.archived):
            yield "the conversation is in both places or in none"
        if is_acknowledged and found.conversations.get(id) != full.conversations[id]:
            yield "it was acknowledged and is not back"

    return check


def _token(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
    control = desk.home / "team.db"
    if not control.exists():
        assert not is_acknowledged, "there is no token"
        return
    with closing(SqliteStore(control, is_copy=True)) as store:
        yield from store.problems()
        if is_acknowledged and len(store.team.tokens()) != 1:
            yield "the token is lost"


def _engine(desk: Desk) -> Engine:
    return Engine(make_settings(desk.home), SqliteStore(desk.store), HashedWords())


def _back_up(desk: Desk) -> None:
    with closing(_engine(desk)) as engine:
        Backups(engine).make(DAILY)


def _daily(content: View) -> Check:
    def check(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
        found = list((desk.home / "backups").glob("*.db"))
        if is_acknowledged and not found:
            yield "there is no backup"
        for path in found:
            if view(path) != content:
                yield "the backup is not whole"

    return check


def _embed(desk: Desk) -> None:
    with closing(_engine(desk)) as engine:
        assert engine.backlog is not None
        engine.backlog.drain()


def _embedded(desk: Desk, is_acknowledged: bool) -> Iterator[str]:
    with closing(SqliteStore(desk.store)) as store:
        yield from store.problems()
        if not is_acknowledged:
            return
        (missing,) = store.database.values(
            "SELECT count(*) FROM entry WHERE n NOT IN (SELECT entry FROM vector)"
        )
        if missing:
            yield f"{missing} texts have no vector"
