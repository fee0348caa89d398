"""Every pair of tools side by side, among the first calls of a connection: nobody waits for the other for good.

`core/engine.py` has the order of locks. The store here is impatient, so that two calls that wait for each other
fail after a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import combinations_with_replacement
from pathlib import Path
from threading import Barrier

import pytest

from backstory.core import Caller, Core, Engine
from backstory.domain.errors import BackstoryError, NotFound
from backstory.store import Store
from backstory.store.postgres import PostgresStore
from backstory.store.postgres.pool import PostgresPool
from backstory.store.sqlite import SqliteStore
from backstory.surfaces import all_tools, load_surfaces
from backstory.tools.params import decode

from ..conftest import Call, caller_of
from ..doubles import HashedWords, make_settings
from ..example_calls import DOOMED, OFF_BY_DEFAULT, Json, Known, chunked_answer, example_calls
from ..patience import PATIENCE_S
from ..postgres_server import tenant_of, url

IMPATIENT_S = 60.0
TOOLS = all_tools(load_surfaces())
TAKING = ("replace_context", "delete_context", "open", "done", "forget")
HANDFUL = 4  # two of these at once hold 28 pairs, which two by two would be 56 calls


@pytest.fixture(params=["sqlite", "postgres"])
def impatient_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "store.db"
    if request.param == "sqlite":
        with closing(SqliteStore(path, busy_timeout_s=IMPATIENT_S)) as store:
            yield store
        return
    with (
        closing(PostgresPool(url(), busy_timeout_s=IMPATIENT_S)) as database,
        closing(PostgresStore(database, tenant=tenant_of(path))) as postgres,
    ):
        yield postgres


@pytest.fixture
def engine(impatient_store: Store, tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(make_settings(tmp_path / "home"), impatient_store, HashedWords())
    yield engine
    engine.close()


class Crowd:
    """Several calls at once over one connection that has made none before."""

    def __init__(self, engine: Engine, directory: str) -> None:
        self._engine = engine
        self._directory = directory
        self._known = Known("", "", "", directory, "")

    def begin(self) -> None:
        """Nothing is left of former calls, which would make the next ones slow, and what calls ask for is there."""
        self._engine.store.copying.clear()
        call = self._caller()
        session = call("context_session_start", name="Known")["sessionId"]
        call("context_save", key="auth", value="AuthService")
        call("context_save", key="tokens", value="Renewed daily.")
        call("context_checkpoint", name="before")
        call("context_export", outputPath="example.json")
        call("store_session", **dict(example_calls(self._known))["store_session"])
        self._known = self._known._replace(session=session)

    def run(self, pool: ThreadPoolExecutor, names: Sequence[str]) -> list[str]:
        """Run the tools at the same time. Return `done` or the name of the error for each."""
        core = Core(self._engine, Caller(project=self._directory))
        together = Barrier(len(names), timeout=PATIENCE_S)
        prepared = [(name, self._arguments(name)) for name in names]
        running = [pool.submit(self._call, core, *each, together) for each in prepared]
        return [future.result(PATIENCE_S) for future in running]

    def _arguments(self, name: str) -> Json:
        """Return the arguments of a call, after creating records of its own for it to delete."""
        known = self._known
        if name in TAKING:
            texts = Core(self._engine, Caller(project=self._directory)).through("projectmemory").memories
            saved = texts.save("It is called heron.").id
            known = known._replace(replaced=saved, deleted=saved)
        if name == "context_delete":
            self._caller(known.session)("context_save", key=DOOMED, value="Gone soon.")
        if name == "get_cached_chunk":
            known = known._replace(chunked=chunked_answer(self._caller()))
        return dict(example_calls(known))[name]

    def _caller(self, session: str | None = None) -> Call:
        return caller_of(Core(self._engine, Caller(project=self._directory, session=session)))

    def _call(self, core: Core, name: str, arguments: Json, together: Barrier) -> str:
        tool = TOOLS[name]
        keywords = decode(tool.params, arguments)
        together.wait()
        try:
            tool.fn(core.through(tool.surface.name), **keywords)
        except BackstoryError as error:
            return type(error).__name__
        return "done"


@pytest.fixture
def crowd(engine: Engine, tmp_path: Path) -> Crowd:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "main.py").write_text("print()\n")
    return Crowd(engine, str(directory))


def test_no_two_tools_wait_for_each_other_and_none_fails(crowd: Crowd) -> None:
    names = sorted(TOOLS.keys() - OFF_BY_DEFAULT)
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in names}
    handfuls = [names[start : start + HANDFUL] for start in range(0, len(names), HANDFUL)]
    with ThreadPoolExecutor(2 * HANDFUL) as pool:
        for one, other in combinations_with_replacement(handfuls, 2):
            if one is other:
                crowd.begin()
            for name, outcome in zip([*one, *other], crowd.run(pool, [*one, *other]), strict=True):
                outcomes[name][outcome] += 1
    # one may take away what another asks for; nothing else may go wrong
    wrong = {name: counts for name, counts in outcomes.items() if set(counts) - {"done", NotFound.__name__}}
    assert wrong == {}
    assert [name for name, counts in outcomes.items() if counts["done"] < counts.total() / 2] == []


def test_asking_for_a_session_inside_a_transaction_is_refused_at_once(engine: Engine) -> None:
    caller = Caller(project="/p", session=None)
    core = Core(engine, caller)
    with pytest.raises(RuntimeError, match="before a transaction"), engine.store.transaction():
        core.sessions.current()
    with pytest.raises(RuntimeError, match="before a transaction"), engine.store.transaction():
        core.events.record("ci", "failed", {}, important=True)
    assert caller.session is None
