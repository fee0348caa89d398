"""Tools under SIGKILL: every tool that writes, called as a client would, is done wholly or not at all.

Clock and ids are those of the lab, so the store after each call is known beforehand, row by row: after a kill it must be
the one before the call or the one after it, and the one after it if the call was acknowledged.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from crash_process import Outcome, run_process

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.doubles import DAWN, make_settings
from tests.example_calls import DOOMED, OFF_BY_DEFAULT, Known, chunked_answer, example_calls

from backstory.core import Caller, Core, Engine
from backstory.store.sqlite import SqliteStore
from backstory.store.tables import COPIED_TABLES, VECTOR
from backstory.surfaces import all_tools, load_surfaces

TOOLS = all_tools(load_surfaces())
SESSION = "session"
READERS: frozenset[str] = frozenset()
"""Tools that say they may write and whose example does not."""
REHEARSALS = 2  # other work on the machine makes some of them slow
FAST = Path("/dev/shm")
FOLLOWS = (VECTOR, "waiting")
"""Tables that are filled behind the answers."""


class Moment(NamedTuple):
    """The state of a connection between two calls."""

    number: int
    session: str | None
    project: str
    directory: str


class State(NamedTuple):
    """The contents of the store and of files, as hashes.

    A call begins a session before its own work, and renames a file before it commits its rows. After a kill, complete
    sessions and files may therefore exist without rows, but never rows without them."""

    problems: tuple[str, ...]
    rows: str
    sessions: str
    files: str

    def faults(self, before: State, after: State, *, is_acknowledged: bool) -> Iterator[str]:
        yield from self.problems
        if self == after:
            return
        if is_acknowledged:
            yield "it was acknowledged and is lost"
        elif self.rows != before.rows:
            yield "its rows are half written"
        if self.sessions not in (before.sessions, after.sessions):
            yield "its session is half written"
        if self.files not in (before.files, after.files):
            yield "its file is half written"


class Place:
    """One directory that every run uses, so that paths are the same in all of them."""

    def __init__(self, root: Path) -> None:
        self.work, self._kept = root / "work", root / "kept"
        self.home, self.project = self.work / "home", self.work / "project"

    def keep(self, number: int) -> None:
        shutil.copytree(self.work, self._kept / str(number))

    def put_back(self, number: int) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self._kept / str(number), self.work)

    def state(self) -> State:
        with closing(SqliteStore(self.home / "store.db")) as store:
            return State(
                problems=tuple(store.problems()),
                rows=_hash(
                    f"{table}:{tuple(row)!r}"
                    for table in COPIED_TABLES
                    if table not in (*FOLLOWS, SESSION)
                    for row in _rows(store, table)
                ),
                sessions=_hash(f"{tuple(row)!r}" for row in _rows(store, SESSION)),
                files=_hash(f"{path}:{path.read_bytes()!r}" for path in self._files()),
            )

    def _files(self) -> list[Path]:
        """The files without drafts, which do not have their final name yet."""
        found = [path for folder in (self.project, self.home) for path in folder.rglob("*") if path.is_file()]
        return sorted(
            path
            for path in found
            if not path.name.startswith("store.db")
            and not any(part.startswith(".") for part in path.relative_to(self.work).parts)
        )


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _rows(store: SqliteStore, table: str) -> Iterator[Sequence[Any]]:
    after: Sequence[Any] = ()
    while rows := store.copying.export(table, after):
        yield from rows
        after = rows[-1][: len(COPIED_TABLES[table].key)]


@contextmanager
def connection(place: Place, moment: Moment) -> Iterator[Core]:
    """As a client has one, with the lab's clock and ids."""
    numbers = count(1)
    engine = Engine(
        make_settings(place.home, project=place.project),
        SqliteStore(place.home / "store.db"),
        None,
        now=lambda: DAWN + timedelta(seconds=moment.number),
        new_id=lambda: f"id-{moment.number}-{next(numbers)}",
    )
    caller = Caller(project=moment.project, directory=moment.directory, session=moment.session, id="lab")
    try:
        yield Core(engine, caller)
    finally:
        engine.close()


class ToolTrial:
    is_hasty = False

    def __init__(self, place: Place, moment: Moment, tool: str, arguments: dict[str, Any]) -> None:
        self.name = tool
        self._place, self._moment, self._arguments = place, moment, arguments
        self.before: State | None = None
        self.after: State | None = None
        self.took_s = 0.0

    def call(self) -> None:
        with connection(self._place, self._moment) as core:
            self.call_on(core)

    def call_on(self, core: Core) -> None:
        reply = TOOLS[self.name].call(core, self._arguments)
        if reply.is_error:
            raise RuntimeError(f"{self.name}: {reply.text}")

    def rehearse(self) -> None:
        """Run without a kill. Returns the duration and the result, which must be the same each time."""
        states, took_s = set(), []
        for _ in range(REHEARSALS):
            self._place.put_back(self._moment.number)
            self.before = self._place.state()
            took_s.append(run_process(self.call).took_s)
            states.add(self._place.state())
        if len(states) > 1:
            raise RuntimeError(f"{self.name} does not leave the same each time")
        (self.after,) = states
        self.took_s = min(took_s)

    def run(self, chosen: random.Random) -> Outcome:
        self._place.put_back(self._moment.number)
        moment_s = chosen.uniform(0, self.took_s * 2)
        ended = run_process(self.call, kill_after_s=moment_s, is_hasty=self.is_hasty)
        assert self.before is not None
        assert self.after is not None
        faults = self._place.state().faults(self.before, self.after, is_acknowledged=ended.is_acknowledged)
        return Outcome(self.name, ended.is_acknowledged, tuple(faults))


@contextmanager
def tool_trials() -> Iterator[list[ToolTrial]]:
    with tempfile.TemporaryDirectory(prefix="crash-", dir=FAST if FAST.is_dir() else None) as root:
        place = Place(Path(root))
        place.project.mkdir(parents=True)
        place.home.mkdir()
        trials = list(_trials(place))
        for trial in trials:
            trial.rehearse()
        writing = [trial for trial in trials if trial.before != trial.after]
        missing = {name for name, tool in TOOLS.items() if not tool.effect.read_only} - {
            t.name for t in writing
        }
        assert not missing - READERS - OFF_BY_DEFAULT, missing
        yield writing


def _trials(place: Place) -> Iterator[ToolTrial]:
    """Every tool's example, from the store that those before it left."""
    project = str(place.project)
    moment = Moment(0, None, project, project)
    with connection(place, moment) as core:
        known = _prepare(core)
    calls = [*example_calls(known), *_more_calls(known)]
    for number, (tool, arguments) in enumerate(calls, 1):
        moment = moment._replace(number=number)
        place.keep(number)
        trial = ToolTrial(place, moment, tool, arguments)
        with connection(place, moment) as core:
            trial.call_on(core)
            caller = core.caller
        moment = Moment(number, caller.session, caller.project, caller.directory)
        yield trial


def _more_calls(known: Known) -> list[tuple[str, dict[str, Any]]]:
    """Tools whose example has nothing to do."""
    return [
        ("context_compress", {"olderThan": "2999-01-01"}),
        ("export_individual_conversations", {"conversation_filter": "log", "output_dir": known.directory}),
    ]


def _prepare(core: Core) -> Known:
    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        reply = TOOLS[tool].call(core, arguments)
        assert reply.structured is not None, reply.text
        return dict(reply.structured)

    session = call("context_save", key=DOOMED, value="Not for long.")["sessionId"]
    call("context_save", key="packed", value="An item to compress.", metadata={"a": 1})
    one, two = (call("save_context", context_text=text)["id"] for text in ("One.", "Two."))
    return Known(one, two, session, core.caller.directory, chunked_answer(call))
