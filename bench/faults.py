"""Load on several team servers while parts of them fail: lost saves, crossings between tenants, and failed calls.

Used by `chaos.py` and `failover.py`. Clients of eight users save and search without pause, each at one server and,
when that is gone, at the next one. A save counts as acknowledged when its answer arrived. Afterwards every tenant is
read from the database."""

from __future__ import annotations

import http.client
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pooler import USERS, Client, environment_of, texts_of, token_of
from servers import BACKSTORY

CLIENTS_EACH = 2
CUT = "cut off"
"""The outcome of a call whose server went away before it answered."""


class Call(NamedTuple):
    user: str
    started: float
    ended: float
    value: str
    """The text that was to be saved; "" for a search."""
    outcome: str
    """"" if it succeeded, else why not."""
    is_foreign: bool
    """True for a search that showed another user's words."""


class Replica:
    """One team server with a disk and a port of its own."""

    def __init__(self, home: Path, database_url: str, **environment: str) -> None:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._place = f"127.0.0.1:{probe.getsockname()[1]}"
        self.url = f"http://{self._place}/mcp"
        self.environment = environment_of(home, database_url) | environment
        self._log = home / "stderr"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        command = [*BACKSTORY, "--http", self._place, "--http-auth", "token"]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(command, env=self.environment, stderr=log)
        while not self._is_ready():
            assert self._process.poll() is None, self._log.read_text()
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection(self._place, timeout=60)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


class Caller(threading.Thread):
    """The clients' side: one call after the other until the load ends."""

    def __init__(self, load: Load, number: int, user: str, token: str) -> None:
        super().__init__(daemon=True)
        self._load = load
        self._server = number
        self._name = f"c{number}"
        self._user = user
        self._token = token

    def run(self) -> None:
        client: Client | None = None
        number = 0
        while not self._load.is_over.is_set():
            if client is None and (client := self._connect()) is None:
                continue
            number += 1
            call = self._call(client, number)
            self._load.calls.append(call)
            if call.outcome == CUT:
                client = None

    def _connect(self) -> Client | None:
        """A client of the next server, as a load balancer chooses it; None if that one does not answer either."""
        self._server += 1
        with suppress(OSError, http.client.HTTPException):
            return Client(self._load.urls[self._server % len(self._load.urls)], self._token)
        time.sleep(0.05)
        return None

    def _call(self, client: Client, number: int) -> Call:
        value = f"{self._user} wrote {self._name}-{number}" if number % 2 else ""
        started, outcome, text = time.monotonic(), "", ""
        try:
            if value:
                text, is_error = client.call("context_save", key=value, value=value)
            else:
                text, is_error = client.call("context_search", query="wrote", limit=20)
            outcome = text[:200] if is_error else ""
        except (OSError, http.client.HTTPException):
            outcome = CUT
        is_foreign = any(f"{other} wrote" in text for other in USERS if other != self._user)
        return Call(self._user, started, time.monotonic(), value, outcome, is_foreign and not outcome)


class Load:
    def __init__(self, home: Path, replicas: Sequence[Replica], direct_url: str) -> None:
        self._home = home
        self._direct_url = direct_url
        self.urls = [replica.url for replica in replicas]
        self.calls: list[Call] = []
        self.is_over = threading.Event()
        self._callers: list[Caller] = []

    def start(self) -> None:
        for user in USERS:
            texts_of(self._home, self._direct_url, user)  # which makes the tenant
        tokens = {user: token_of(user, environment_of(self._home, self._direct_url)) for user in USERS}
        self._callers = [
            Caller(self, number, user, tokens[user])
            for number, user in enumerate(sorted(USERS * CLIENTS_EACH))
        ]
        for caller in self._callers:
            caller.start()

    def during(self, name: str, event: Callable[[], None], calls: int) -> str:
        """A row of the table: an event, and at least `calls` calls, a third of them before it and a third after its end."""
        first = len(self.calls)
        self._await(first + calls // 3)
        started = time.monotonic()
        event()
        ended = time.monotonic()
        self._await(max(first + calls, len(self.calls) + calls // 3))
        return _row(name, self.calls[first:], ended - started, ended)

    def _await(self, count: int) -> None:
        while len(self.calls) < count:
            time.sleep(0.05)

    def stop(self) -> str:
        """End the load and compare acknowledged saves with the contents of the tenants."""
        self.is_over.set()
        for caller in self._callers:
            caller.join()
        texts = {user: texts_of(self._home, self._direct_url, user) for user in USERS}
        acknowledged = [call for call in self.calls if call.value and not call.outcome]
        lost = sum(call.value not in texts[call.user] for call in acknowledged)
        misplaced = sum(
            not text.startswith(f"{user} ") for user in USERS for text in texts[user] if " wrote " in text
        )
        foreign = sum(call.is_foreign for call in self.calls)
        return (
            f"{len(self.calls):,} calls of {len(self._callers)} clients, {len(acknowledged):,} acknowledged saves: {lost:,} lost;"
            f" crossings: {foreign:,} searches with another's words, {misplaced:,} saves in another's tenant"
        )

    def reasons(self) -> list[str]:
        """The reasons of failed calls, most frequent first."""
        counts = Counter(call.outcome for call in self.calls if call.outcome)
        return [f"{times} ×: {outcome}" for outcome, times in counts.most_common(8)]


def _row(name: str, calls: Sequence[Call], took_s: float, ended: float) -> str:
    failed = [call for call in calls if call.outcome]
    cells = (
        name,
        f"{len(calls):,}",
        f"{took_s:.0f}",
        f"{sum(call.outcome != CUT for call in failed):,}",
        f"{sum(call.outcome == CUT for call in failed):,}",
        f"{max(call.ended - call.started for call in calls):.1f}",
        f"{sum(call.started > ended for call in failed):,}",
    )
    return f"| {' | '.join(cells)} |"


HEADER = (
    "| event | calls | s until it was over | answered with an error | cut off with their server | longest call, s | failed that began afterwards |\n"
    "|---|---|---|---|---|---|---|"
)
