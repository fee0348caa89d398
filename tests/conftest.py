"""Fixtures for every test: a store of each backend, the product over it, and a way to call its tools."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from backstory.app import guest_derivations
from backstory.core import Caller, Core, Engine
from backstory.store import Store
from backstory.store.sqlite import SqliteStore
from backstory.surfaces import all_tools, load_surfaces

from .doubles import HashedWords, SteppedClock, counted_ids, make_settings
from .patience import PATIENCE_S
from .postgres_server import SHARED, empty, open_postgres, open_shared, pool
from .repositories import IDENTITY

BACKENDS: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda path: open_sqlite(path),
    "postgres": open_postgres,
}

# an example that takes long says only that the machine is busy; tests with fixtures know that examples share them
settings.register_profile(
    "default",
    max_examples=25,  # others at each run; `--hypothesis-profile=thorough` is for what was just changed
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=10)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=1_000)
settings.load_profile("default")

OpenStore = Callable[[], Store]
OpenCore = Callable[[Store, HashedWords | None], Core]
Call = Callable[..., dict[str, Any]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write golden files anew; read the diff")
    parser.addoption("--quick", action="store_true", help="leave out PostgreSQL and whole processes")


NOT_QUICK = (
    "postgres",
    "/cli/",
    "/clients/",
    "/test_browser.py",
    "/test_http.py",
    "/test_database.py",
    "/test_processes.py",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    left_out = [item for item in items if any(part in item.nodeid for part in NOT_QUICK)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")


@cache
def empty_sqlite() -> bytes:
    """A new store. Migrating one costs more than most tests; that it works is tested in tests/store."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        SqliteStore(path).close()
        return path.read_bytes()


def open_sqlite(path: Path) -> Store:
    if not path.exists():
        path.write_bytes(empty_sqlite())
    return SqliteStore(path, busy_timeout_s=PATIENCE_S)


@pytest.fixture(params=BACKENDS)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens the test's one database; each call is another connection to it, as another process would have."""
    opened: list[Store] = []

    def open_store() -> Store:
        is_shared = request.param == "postgres"
        opened.append(open_shared() if is_shared else BACKENDS[request.param](tmp_path / "store.db"))
        return opened[-1]

    if request.param == "postgres":
        pool()  # its threads are not the test's
        empty(SHARED)
    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def embedder() -> HashedWords:
    return HashedWords()


@pytest.fixture
def open_core(clock: SteppedClock, open_store: OpenStore, tmp_path: Path) -> Iterator[OpenCore]:
    """The product over a store, with an embedder or without. Its threads end before the store is closed."""
    engines: list[Engine] = []
    new_id = counted_ids()

    def open_core(store: Store, embedder: HashedWords | None) -> Core:
        engine = Engine(
            make_settings(tmp_path),
            store,
            embedder,
            now=clock,
            new_id=new_id,
            derivations=guest_derivations,
        )
        engines.append(engine)
        return Core(engine, Caller(project="/p"))

    before = set(threading.enumerate())
    yield open_core
    for engine in engines:
        if engine.backlog is not None:
            engine.backlog.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
    for engine in engines:
        engine.close()


@pytest.fixture
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever commits in the repositories of a test is also who runs Backstory."""
    config = tmp_path / "ann.gitconfig"
    config.write_text(IDENTITY, "utf-8")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def core(open_core: OpenCore, store: Store, embedder: HashedWords) -> Core:
    return open_core(store, embedder)


@pytest.fixture
def call(core: Core) -> Call:
    """`call(tool, **arguments)`: the answer of any surface's tool, parsed."""
    return caller_of(core)


def caller_of(core: Core) -> Call:
    tools = all_tools(load_surfaces())
    core = core.during(core.call._replace(tool_names=lambda: list(tools)))

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        reply = tools[tool].call(core, arguments)
        if tools[tool].surface.name == "backstory":
            return {"text": reply.text}
        body: dict[str, Any] = json.loads(reply.text)
        assert reply.is_error or reply.structured == body
        return body

    return call
