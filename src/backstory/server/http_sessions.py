"""Sessions over HTTP: the caller is stored, so that any instance can continue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock
from weakref import WeakValueDictionary

from ..core import Caller, Core
from ..core.connections import Connections
from ..domain.team import Connection
from ..domain.when import Clock
from .auth import Principal
from .tenants import Tenants


class ClientContext:
    """One HTTP request: its principal, its tenant, and its connection if it has one."""

    def __init__(self, principal: Principal, tenant: str, team: str | None = None) -> None:
        self.principal = principal
        self.tenant = tenant
        self.space = principal.access(team)
        self.scope = principal.scope_in(team)
        self.connection: Connection | None = None


class HttpSessions:
    """Callers between requests. Methods are for any thread."""

    def __init__(self, tenants: Tenants, project: str, now: Clock, *, are_local: bool) -> None:
        self.are_local = are_local
        """True if all callers are on this machine."""
        self._tenants = tenants
        self._project = project
        self._now = now
        # Requests of one connection that run at once share their caller: two first calls make one session.
        self._callers: WeakValueDictionary[tuple[str, str], Caller] = WeakValueDictionary()
        self._lock = Lock()

    def resume(self, client: ClientContext, id: str) -> bool:
        """Continue the connection that a request names. Returns False if it is not one of its own."""
        with self._tenants.lend(client.tenant) as engine:
            connection = Connections(engine, self._now).find(id, client.principal.credential)
        if connection is not None:
            client.connection = connection
        return connection is not None

    def resume_lasting(self, client: ClientContext, program: str) -> None:
        """Continue the connection of a client whose protocol has none: one per program and credential."""
        id = sha256(f"{client.principal.credential}\0{program}".encode()).hexdigest()[:32]
        if not self.resume(client, id):
            client.connection = self._fresh(client, id)

    def open(self, client: ClientContext) -> str:
        """The id of a new connection."""
        with self._tenants.lend(client.tenant) as engine:
            client.connection = self._fresh(client, engine.new_id() + engine.new_id())
            Connections(engine, self._now).add(client.connection)
        return client.connection.id

    def set_level(self, client: ClientContext, level: str) -> None:
        """Send events of this level and more severe ones to the connection from now on."""
        if client.connection is None:
            return  # nothing is remembered of it
        with self._tenants.lend(client.tenant) as engine:
            Connections(engine, self._now).set_level(client.connection.id, level)

    def end(self, client: ClientContext) -> None:
        assert client.connection is not None
        with self._tenants.lend(client.tenant) as engine:
            Connections(engine, self._now).delete(client.connection.id)

    @contextmanager
    def core(self, client: ClientContext) -> Iterator[Core]:
        """The product as the caller sees it. Changes of the caller's state are stored before the answer is sent."""
        with self._tenants.lend(client.tenant) as engine:
            known = client.connection
            if known is None:
                yield Core(engine, self._caller(client, self._fresh(client, "")))
                return
            with self._lock:
                caller = self._callers.get((client.tenant, known.id)) or self._caller(client, known)
                self._callers[client.tenant, known.id] = caller
            yield Core(engine, caller)
            Connections(engine, self._now).update(known, caller)

    def _fresh(self, client: ClientContext, id: str) -> Connection:
        project = client.tenant or self._project
        return Connection(id, client.principal.credential, project, project, None, None, self._now())

    def _caller(self, client: ClientContext, known: Connection) -> Caller:
        return Caller(
            project=known.project,
            directory=known.directory,
            session=known.session,
            id=known.id or None,
            is_local=self.are_local,
            scope=client.scope,
            author=client.principal.author if client.space else None,
            space=client.space,
        )
