"""The pages over a store of invented conversations, served in this process; requests reach them as a browser's do."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from backstory.core import Caller, Core, Engine
from backstory.domain.records import Trace
from backstory.readers import Places
from backstory.web.access import Keys
from backstory.web.httpd import http_server
from backstory.web.serving import GRACE_S, LOOPBACK, guarded_app, lender
from backstory.web.site import Site

from ..conftest import open_sqlite
from ..doubles import HashedWords, SteppedClock, counted_ids, make_settings
from ..patience import PATIENCE_S, until
from ..repositories import commit
from .sample import conversation, fill, fill_traced, message


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def json(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed


class Pages(NamedTuple):
    """A site that listens."""

    core: Core
    keys: Keys
    port: int
    cookie: str

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def send(self, path: str, form: dict[str, str] | None = None, /, **headers: str) -> Answer:
        """A request just as it is written: no cookie, Origin or redirect is added."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE_S)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if form is None else urllib.parse.urlencode(form)
        if data is not None:
            named["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request("GET" if form is None else "POST", path, data, named)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.send(path, None, Cookie=self.cookie, **headers)

    def json(self, path: str) -> dict[str, Any]:
        answer = self.get(f"{path}{'&' if '?' in path else '?'}format=json")
        assert answer.status == 200, answer.text
        return answer.json

    def post(self, path: str, **form: str) -> Answer:
        return self.send(path, form, Cookie=self.cookie, Origin=self.url)


def open_sample(folder: Path) -> Core:
    clock = SteppedClock()
    engine = Engine(
        make_settings(folder),
        open_sqlite(folder / "store.db"),
        HashedWords(),
        now=clock,
        new_id=counted_ids(),
    )
    core = Core(engine, Caller(project="/work/shop"))
    fill(core)
    assert engine.backlog is not None
    engine.backlog.drain()
    return core


def serve_pages(
    core: Core,
    *,
    is_read_only: bool = False,
    places: Places | None = None,
    histories: dict[str, int] | None = None,
) -> Iterator[Pages]:
    listening = socket.create_server((LOOPBACK, 0))
    port = listening.getsockname()[1]
    keys = Keys(port, redeemed=lambda: None)
    site = Site(
        lender(core),
        is_read_only=lambda _: is_read_only,
        places=(lambda: places) if places else None,
        histories=(lambda: histories) if histories else None,
        is_closing=lambda: server.should_exit,
    )
    server = http_server(guarded_app(site, keys, port), grace_s=GRACE_S)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    until(lambda: server.started)
    pages = Pages(core, keys, port, "")
    cookie = pages.send(f"/?{keys.link}").headers["Set-Cookie"].partition(";")[0]
    try:
        yield pages._replace(cookie=cookie)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listening.close()


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    """For tests that only look."""
    core = open_sample(tmp_path_factory.mktemp("pages"))
    yield core
    core.engine.close()


@pytest.fixture(scope="session")
def pages(sample: Core) -> Iterator[Pages]:
    yield from serve_pages(sample)


@pytest.fixture(scope="session")
def traced_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    core = open_sample(tmp_path_factory.mktemp("traced"))
    fill_traced(core)
    yield from serve_pages(core)
    core.engine.close()


@pytest.fixture(scope="session")
def blamed_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    """A repository with a file of two lines by a person and two by an assistant."""
    folder = tmp_path_factory.mktemp("blamed")
    repository = folder / "teashop"
    by_hand = '"""The kettle of the shop."""\n\n'
    written = "BOILING_POINT_CELSIUS = 100\nCOLD_TEAPOT_CELSIUS = 21\n"
    core = open_sample(folder)
    talk = conversation("codex:kettle", "The kettle", project=str(repository))
    edit = message(talk, 1, "tool", f"Edit file_path: kettle.py\nold_string: \nnew_string: {written}")
    asked = message(talk, 0, "user", "Add the temperatures of the kettle.")
    core.engine.store.conversations.add(talk, [asked, edit], [Trace(edit.id, "written", "kettle.py")])
    commit(repository, {"kettle.py": by_hand + written})
    yield from serve_pages(core, places=Places(folder, {}, "linux"))
    core.engine.close()


@pytest.fixture
def own_pages(tmp_path: Path) -> Iterator[Pages]:
    """For tests that change something."""
    core = open_sample(tmp_path)
    yield from serve_pages(core)
    core.engine.close()
