"""Every pair of tools side by side, as the first two calls of a connection: nobody waits for the other for good.

`core/engine.py` has the order of locks. The store here is impatient, so that two calls that wait for each other
fail after a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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

from ..conftest import caller_of
from ..doubles import HashedWords, make_settings
from ..example_calls import DOOMED, Json, Known, chunked_answer, example_calls
from ..patience import PATIENCE_S
from ..postgres_server import schema_of, url

IMPATIENT_S = 60.0
TOOLS = all_tools(load_surfaces())


@pytest.fixture(params=["sqlite", "postgres"])
def impatient_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "store.db"
    if request.param == "sqlite":
        with closing(SqliteStore(path, busy_timeout_s=IMPATIENT_S)) as store:
            yield store
        return
    with (
        closing(PostgresPool(url(), busy_timeout_s=IMPATIENT_S)) as database,
        closing(PostgresStore(database, schema=schema_of(path))) as postgres,
    ):
        yield postgres


@pytest.fixture
def engine(impatient_store: Store, tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(make_settings(tmp_path / "home"), impatient_store, HashedWords())
    yield engine
    engine.close()


class Pair:
    """Two calls at once over one connection that has made none before."""

    def __init__(self, engine: Engine, directory: str) -> None:
        self._engine = engine
        self._directory = directory
        self._known = Known("", "", "", directory, "")
        self._together = Barrier(2, timeout=PATIENCE_S)

    def begin(self) -> None:
        """Nothing is left of former calls, which would make the next ones slow, and what calls ask for is there."""
        self._engine.store.copying.clear()
        call = caller_of(Core(self._engine, Caller(project=self._directory)))
        session = call("context_session_start", name="Known")["sessionId"]
        call("context_save", key="auth", value="AuthService")
        call("context_checkpoint", name="before")
        call("context_export", outputPath="example.json")
        call("store_session", **dict(example_calls(self._known))["store_session"])
        self._known = self._known._replace(session=session)

    def run(self, pool: ThreadPoolExecutor, names: tuple[str, str]) -> list[str]:
        """What became of each: `done`, or the name of its error."""
        core = Core(self._engine, Caller(project=self._directory))
        known = self._renewed(core, names)
        examples = dict(example_calls(known))
        running = [pool.submit(self._call, core, name, examples[name]) for name in names]
        return [future.result(PATIENCE_S) for future in running]

    def _renewed(self, core: Core, names: tuple[str, str]) -> Known:
        """What the calls of a former pair may have taken away is there again."""
        texts = [
            core.through("projectmemory").memories.save("It is called heron.").id
            if name in ("replace_context", "delete_context", "open", "done", "forget")
            else ""
            for name in names
        ]
        if "context_delete" in names:
            other = Caller(project=self._directory, session=self._known.session)
            caller_of(Core(self._engine, other))("context_save", key=DOOMED, value="Gone soon.")
        chunked = self._known.chunked
        if "get_cached_chunk" in names:
            chunked = chunked_answer(caller_of(Core(self._engine, Caller(project=self._directory))))
        return self._known._replace(
            replaced=texts[0] or texts[1], deleted=texts[1] or texts[0], chunked=chunked
        )

    def _call(self, core: Core, name: str, arguments: Json) -> str:
        tool = TOOLS[name]
        keywords = decode(tool.params, arguments)
        self._together.wait()
        try:
            tool.fn(core.through(tool.surface.name), **keywords)
        except BackstoryError as error:
            return type(error).__name__
        return "done"


@pytest.fixture
def pair(engine: Engine, tmp_path: Path) -> Pair:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "main.py").write_text("print()\n")
    return Pair(engine, str(directory))


def test_no_two_tools_wait_for_each_other_and_none_fails(pair: Pair) -> None:
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in TOOLS}
    with ThreadPoolExecutor(2) as pool:
        for names in combinations_with_replacement(TOOLS, 2):
            if names[0] == names[1]:
                pair.begin()
            for name, outcome in zip(names, pair.run(pool, names), strict=True):
                outcomes[name][outcome] += 1
    # one of the two may take away what the other asks for; nothing else may go wrong
    wrong = {name: counts for name, counts in outcomes.items() if set(counts) - {"done", NotFound.__name__}}
    assert wrong == {}
    assert [name for name, counts in outcomes.items() if counts["done"] < len(TOOLS) / 2] == []


def test_asking_for_a_session_inside_a_transaction_is_refused_at_once(engine: Engine) -> None:
    caller = Caller(project="/p", session=None)
    core = Core(engine, caller)
    with pytest.raises(RuntimeError, match="before a transaction"), engine.store.transaction():
        core.sessions.current()
    with pytest.raises(RuntimeError, match="before a transaction"), engine.store.transaction():
        core.events.record("ci", "failed", {}, important=True)
    assert caller.session is None
