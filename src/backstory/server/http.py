"""MCP over HTTP: the SDK's transport, our tools, and what people who run a server need to see."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio.to_thread
import uvicorn
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ..app import CONTROL, open_engine, open_pool, open_store
from ..core import Engine
from ..core.projects import project_root
from ..domain.errors import BackstoryError, InvalidInput, Unavailable
from ..domain.scopes import Scope
from ..domain.when import utc_now
from ..search.embed import build_embedder
from ..settings import Settings, variable
from ..store import Store
from ..tools import Surface
from ..web.hosts import Host, Hosts, read_host
from .answers import StreamChoice
from .arrival import prompt_http
from .auth import JwtIssuer, Verifier
from .door import Door
from .heap import share_heap
from .http_sessions import HttpSessions
from .limits import RateLimit
from .logins import FAILURES_PER_MINUTE, Logins, refuse
from .metrics import Metrics
from .registry import Registry
from .sessionlog import SessionLog
from .tenants import ORDINARY, Tenants

READY_S = 5.0
"""A store that takes longer to answer is not ready: whoever asks wants to know now."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Address(NamedTuple):
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback

    @property
    def name(self) -> str:
        """As it stands in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


def serve_http(surfaces: Mapping[str, Surface], settings: Settings) -> int:
    """Serve until a signal; requests that run then get `grace_s` to finish."""
    address = read_address(settings.http)
    if settings.http_auth == "none" and not address.is_loopback:
        raise InvalidInput(
            f"{settings.http} can be reached from other machines, and nothing says who may connect.",
            hint=f"Set {variable('http_auth')} to token or oauth, or serve on 127.0.0.1.",
            field="http_auth",
        )
    allowed = _allowed(address, settings.http_hosts)
    share_heap()
    os.umask(0o077)  # whatever a team server writes is its own user's alone
    listening = _listen(address)
    config = uvicorn.Config(
        TeamServer(surfaces, settings, allowed).app(),
        log_level="warning",
        access_log=False,
        http=prompt_http(settings.http_arrival_s),
        ws="none",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=round(settings.grace_s),
    )
    server = uvicorn.Server(config)

    def stop(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)  # until uvicorn has its own, which sends them on to us when it is done
    print(f"backstory: http://{address.name}:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    server.run(sockets=[listening])
    return 0


class TeamServer:
    def __init__(
        self, surfaces: Mapping[str, Surface], settings: Settings, allowed: tuple[Host, ...]
    ) -> None:
        self._surfaces = surfaces
        # without tokens only this machine's own user can connect, unless a proxy with a name of its own stands before
        self._is_personal = settings.http_auth == "none" and not settings.http_hosts
        # else a caller's project is elsewhere, and sessions that are kept as files go to the server's own place
        own_place = "" if self._is_personal else str(settings.home / "sessions")
        self._settings = settings.changed(sessions_dir=settings.sessions_dir or own_place)
        self._allowed = allowed
        self._embedder = build_embedder(settings)  # one model for all tenants
        self._pool = open_pool(settings)
        self._tenants = Tenants(self._open_tenant)
        self._control: Store | None = (
            open_store(settings, CONTROL, pool=self._pool) if settings.http_auth != "none" else None
        )
        self._issuer = JwtIssuer(settings) if settings.http_auth == "oauth" else None
        self._metrics = Metrics()
        self._log = SessionLog(settings.home, settings.log_level)

    def app(self) -> Starlette:
        settings = self._settings
        sessions = HttpSessions(
            self._tenants,
            str(project_root(settings.project)),
            utc_now,
            are_local=self._is_personal,
        )
        registry = Registry(
            self._surfaces,
            sessions,
            self._log,
            self._metrics,
            self._control,
            utc_now,
            workers=settings.workers,
            keeps_sessions=settings.http_sessions == "kept",
        )
        most_bytes = int(settings.max_request_mb * 1024 * 1024)
        whole, streamed = (
            StreamableHTTPSessionManager(
                registry.server,
                json_response=is_json,
                stateless=True,  # sessions are in the store, where every instance finds them
                max_request_body_size=most_bytes,
            )
            for is_json in (True, False)
        )
        answers = StreamChoice(whole.handle_request, streamed.handle_request)
        limit = RateLimit(settings.requests_per_minute)
        inside = RequestBodyLimitMiddleware(answers, most_bytes)
        door = self._guarded(Door(inside, sessions, limit))
        routes = [
            Route("/mcp", door),
            Route("/mcp/{team}", door),
            Route("/healthz", self._is_alive),
            Route("/readyz", self._is_ready),
            Route("/metrics", self._guarded(_Page(self._measure))),
            *self._metadata(),
        ]

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with whole.run(), streamed.run():
                yield
            await anyio.to_thread.run_sync(self._close)

        middleware = [
            Middleware(self._metrics.counted),
            Middleware(_Apology),
            Middleware(Hosts, allowed=self._allowed),
            *self._authentication(),
        ]
        return Starlette(routes=routes, middleware=middleware, lifespan=lifespan)

    def _open_tenant(self, tenant: str) -> Engine:
        engine = open_engine(self._settings, tenant, embedder=self._embedder, pool=self._pool)
        engine.problems.log = self._log.write
        return engine

    def _close(self) -> None:
        self._tenants.close()
        if self._control is not None:
            self._control.close()
        if self._pool is not None:
            self._pool.close()

    def _authentication(self) -> list[Middleware]:
        if self._control is None:
            return []
        verifier = Verifier(self._control, utc_now, self._issuer)
        logins = Logins(verifier, self._control, utc_now, RateLimit(FAILURES_PER_MINUTE))
        return [Middleware(AuthenticationMiddleware, backend=logins, on_error=refuse)]

    def _guarded(self, app: ASGIApp) -> ASGIApp:
        if self._control is None:
            return app
        url = build_resource_metadata_url(AnyHttpUrl(self._issuer.audience)) if self._issuer else None
        return RequireAuthMiddleware(app, [], url)

    def _metadata(self) -> list[Route]:
        if self._issuer is None:
            return []
        scopes = [scope.word for scope in Scope if scope]
        return create_protected_resource_routes(
            AnyHttpUrl(self._issuer.audience), [AnyHttpUrl(self._issuer.issuer)], scopes, "Backstory"
        )

    async def _is_alive(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _is_ready(self, request: Request) -> Response:
        try:
            with anyio.fail_after(READY_S):
                await anyio.to_thread.run_sync(self._ask_store, abandon_on_cancel=True)
        except TimeoutError:
            return PlainTextResponse("The store did not answer in time.\n", 503)
        except BackstoryError as error:
            return PlainTextResponse(f"{error.message}\n", 503)
        return PlainTextResponse("ok\n")

    def _ask_store(self) -> None:
        if self._control is not None:
            self._control.team.count_connections()
        else:
            with self._tenants.lend(ORDINARY) as engine:
                engine.store.team.count_connections()

    async def _measure(self, request: Request) -> Response:
        text = await anyio.to_thread.run_sync(lambda: self._metrics.text(self._gauges()))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    def _gauges(self) -> dict[str, tuple[str, float]]:
        tenants = self._tenants.open_now()
        sessions = waiting = problems = 0
        for tenant in tenants:
            with self._tenants.lend(tenant) as engine:
                sessions += engine.store.team.count_connections()
                problems += len(engine.problems.reported())
                if engine.backlog is not None:
                    waiting += engine.store.vectors.count_waiting(engine.backlog.space)
        return {
            "backstory_open_spaces": ("Databases that this server has open.", len(tenants)),
            "backstory_sessions": ("MCP sessions that are kept in the open databases.", sessions),
            "backstory_problems": ("Work behind the answers of the open databases that fails.", problems),
            "backstory_waiting_vectors": ("Texts in the open databases without a vector yet.", waiting),
        }


class _Apology:
    """Answers for a store that fails before a request has reached its tool."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._app(scope, receive, send)
        except Unavailable as error:
            await PlainTextResponse(f"{error}\n", 503)(scope, receive, send)


class _Page:
    """A function of a request as an ASGI application, which a guard can stand before."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)


def read_address(text: str) -> Address:
    host, separator, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        if not separator or not 0 <= int(port) < 65_536:
            raise ValueError(port)
        if host != "localhost":
            ipaddress.ip_address(host)
    except ValueError:
        raise InvalidInput(
            f"http {text!r} is not an address to serve on.", hint="Use 127.0.0.1:8765.", field="http"
        ) from None
    return Address(host, int(port))


def _allowed(address: Address, names: tuple[str, ...]) -> tuple[Host, ...]:
    """The names a request may call us by."""
    own = LOOPBACK if address.is_loopback else (address.name,)
    if not names and not address.is_loopback and ipaddress.ip_address(address.host).is_unspecified:
        raise InvalidInput(
            f"{address.name} is every address of this machine; clients use a name.",
            hint=f"Set {variable('http_hosts')} to the names that clients reach the server by.",
            field="http_hosts",
        )
    return tuple(map(_host, (*own, *names)))


def _host(name: str) -> Host:
    host = read_host(name)
    if host is None:
        raise InvalidInput(
            f"{name!r} is not the name of a host.", hint="Such as memory.example.com.", field="http_hosts"
        )
    return host


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server(address, family=family, backlog=2048)
    except OSError as error:
        raise Unavailable(
            f"{address.name}:{address.port} cannot be used: {error.strerror}.", hint="Choose another port."
        ) from error
