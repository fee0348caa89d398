"""The team server as an ASGI application: authentication, routing, health and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..app import CONTROL, open_engine, open_pool, open_store
from ..core import Engine
from ..core.background import BACKUPS, CHECK_BACKUPS_S, ERASURE, START_AFTER_S
from ..core.backups import Backups
from ..core.connections import count_connections
from ..core.contents import waiting_deliveries, waiting_texts
from ..core.forgetting.erasure import erase_everywhere
from ..core.projects import project_root
from ..domain.errors import BackstoryError, Unavailable, install_hint
from ..domain.when import utc_now
from ..search.embed import build_embedder
from ..settings import Settings
from ..store import Store
from ..store.database import NO_CONNECTIONS
from ..tools import Surface
from ..web.hosts import AllowedHosts, Host
from ..worker import Worker
from .audit import AuditLog
from .auth import LOCAL, Principal, Verifier
from .challenges import Challenges
from .dispatch import Dispatcher
from .endpoint import McpEndpoint
from .http_sessions import HttpSessions
from .limits import RateLimit
from .logins import Logins, TooManyFailures
from .metrics import Gauges, Metrics
from .offer import Offer
from .proxies import TrustedProxies
from .responses import (
    JSON,
    Gone,
    HttpRequest,
    Receive,
    Response,
    Send,
    put_off,
    read_request,
    text,
    write,
)
from .sessionlog import SessionLog
from .spaces import SPACES, SpacesEndpoint
from .tenants import ORDINARY, Tenants
from .threads import Threads
from .workers import quick_at_once

if TYPE_CHECKING:
    from .oauth import IdentityProvider
    from .pages import TeamPages
    from .sso import SingleSignOn
    from .telemetry import Telemetry

READY_S = 5.0
"""A store that takes longer to answer counts as not ready."""
LOOKUPS = 4
"""Threads for logins, health and metrics, so that these do not wait for tools."""
STDOUT = 1
MCP = "/mcp"
WEB = "/web"


class TeamServer:
    def __init__(
        self, surfaces: Mapping[str, Surface], settings: Settings, allowed: tuple[Host, ...]
    ) -> None:
        # without tokens only this machine's own user can connect, unless a proxy with its own host name forwards requests
        is_personal = settings.http_auth == "none" and not settings.http_hosts
        self._settings = settings
        self._hosts = AllowedHosts(allowed)
        self._proxies = TrustedProxies(settings.http_proxies)
        self._embedder = build_embedder(settings)  # one model for all tenants
        self._pool = open_pool(settings)
        self._tenants = Tenants(self._open_tenant)
        self._metrics = Metrics()
        self._log = SessionLog(
            settings.home,
            settings.log_level,
            settings.logs_max_bytes,
            output=STDOUT if settings.http_log == "stdout" else None,
        )
        self._lookups = Threads(LOOKUPS)
        self._control: Store | None = None
        self._provider: IdentityProvider | None = None
        self._sso: SingleSignOn | None = None
        self._logins: Logins | None = None
        self._audit: AuditLog | None = None
        self._backups: Worker | None = None
        self._erasure: Worker | None = None
        if settings.http_auth != "none":
            self._control = open_store(settings, CONTROL, pool=self._pool)
            if settings.http_auth == "oauth":
                self._provider = _identity_provider(settings, self._control, self._log)
                self._sso = _single_sign_on(settings, self._provider)
            verifier = Verifier(self._control, utc_now, self._provider.verify if self._provider else None)
            self._audit = AuditLog(
                self._control,
                utc_now,
                self._log,
                kept_days=settings.audit_days,
                records_reads=settings.audit_reads == "on",
            )
            self._logins = Logins(verifier.verify, self._control, utc_now, self._lookups)
            self._backups = self._back_up_daily(self._control)
            if self._pool is not None:
                self._erasure = self._erase_nightly(self._control)
        self._challenges = Challenges(self._provider.metadata_url if self._provider else "")
        self._sessions = HttpSessions(
            self._tenants, str(project_root(settings.project)), utc_now, are_local=is_personal
        )
        self._limit = RateLimit(settings.requests_per_minute)
        self._threads = Threads(settings.workers, quick_at_once(settings))
        self._endpoint = self._open_endpoint(surfaces, is_personal)
        self._spaces = SpacesEndpoint(self._sessions, self._threads, self._limit, self._metrics, self._audit)
        self._telemetry = _telemetry(settings, self._gauges)
        self._metrics.sink = self._telemetry

    def _open_endpoint(self, surfaces: Mapping[str, Surface], is_personal: bool) -> McpEndpoint:
        settings = self._settings
        dispatcher = Dispatcher(
            Offer(surfaces, is_remote=not is_personal, can_announce=False),
            self._sessions,
            self._log,
            self._metrics,
            self._audit,
            self._challenges,
            keeps_sessions=settings.http_sessions == "kept",
        )
        most_bytes = int(settings.max_request_mb * 1024 * 1024)
        return McpEndpoint(dispatcher, self._sessions, self._threads, self._limit, most_bytes)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        scope = {**scope, "client": self._client(scope)}  # for the pages too
        request = read_request(scope)
        with self._traced(request) as statuses:
            await self._serve(request, scope, receive, send, statuses)

    async def _serve(
        self,
        request: HttpRequest,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
        statuses: list[int],
    ) -> None:
        try:
            refused = self._refusal(request)
            if refused is None and (request.path == WEB or request.path.startswith(WEB + "/")):
                await self._pages(scope, receive, send)
                return
            response = refused or await self._respond(request, receive)
        except Gone:
            return
        except TooManyFailures as error:
            response = put_off(str(error), error.wait_s)
        except Unavailable as error:  # the store fails before a request has reached its tool
            response = text(503, str(error))
        self._metrics.responded(response.status)
        statuses.append(response.status)
        await write(response, send)

    def _traced(self, request: HttpRequest) -> AbstractContextManager[list[int]]:
        """The span of a request for work; probes of health and metrics have none."""
        route = f"/{request.path.split('/')[1]}"
        if self._telemetry is None or route not in (MCP, SPACES, WEB):
            return nullcontext([])
        return self._telemetry.request(request.method, route, request.id, request.headers)

    @cached_property
    def _pages(self) -> TeamPages:
        from .pages import SignInPages, TeamPages  # templates with them; most servers have no visitor

        sign_in = None
        if self._sso is not None and self._control is not None and self._logins is not None:
            sign_in = SignInPages(self._sso, self._control, self._logins)
        return TeamPages(self._sessions, self._limit, self._logins, self._audit, sign_in)

    def close(self) -> None:
        self._tenants.close()
        for worker in (self._backups, self._erasure):
            if worker is not None:
                worker.close()
        if self._audit is not None:
            self._audit.flush()
        if self._control is not None:
            self._control.close()
        if self._pool is not None:
            self._pool.close()
        if self._telemetry is not None:
            self._telemetry.close()

    def _client(self, scope: MutableMapping[str, Any]) -> tuple[str, int] | None:
        """Address and port of the client, which may be behind a proxy."""
        if not (client := scope.get("client")):
            return None
        return self._proxies.client_address(client[0], scope["headers"]), client[1]

    def _back_up_daily(self, control: Store) -> Worker:
        """Back up tokens and the audit log daily; each tenant's engine backs up its own store."""
        engine = Engine(self._settings, control, None)
        engine.problems.log = self._log.write

        def back_up() -> float:
            Backups(engine).make_daily()
            return CHECK_BACKUPS_S

        worker = Worker(BACKUPS, back_up, engine.problems, first_rest_s=START_AFTER_S)
        worker.wake()
        return worker

    def _erase_nightly(self, control: Store) -> Worker:
        """Rewrite tables that tenants share, in the hours of the settings: tenants that deleted may be closed by then."""
        engine = Engine(self._settings, control, None)
        engine.problems.log = self._log.write
        worker = Worker(
            ERASURE, lambda: erase_everywhere(engine), engine.problems, first_rest_s=START_AFTER_S
        )
        worker.wake()
        return worker

    def _refusal(self, request: HttpRequest) -> Response | None:
        """The answer to a request that may not know us, health and figures included."""
        refused = self._hosts.refusal(request.headers.get("host", ""), request.headers.get("origin"))
        return text(*refused) if refused else None

    async def _respond(self, request: HttpRequest, receive: Receive) -> Response:
        path = request.path
        if path == MCP or path.startswith(MCP + "/"):
            principal = await self._principal(request)
            if principal is None:
                return self._challenges.unauthorized(request)
            team = path.removeprefix(MCP).strip("/") or None
            return await self._endpoint.respond(request, principal, team, receive)
        if path == SPACES or path.startswith(SPACES + "/"):
            principal = await self._principal(request)
            if principal is None:
                return self._challenges.unauthorized(request)
            return await self._spaces.respond(request, principal, receive)
        if request.method not in ("GET", "HEAD"):
            return text(405, "This page is only read.", (b"allow", b"GET, HEAD"))
        if path == "/healthz":
            return text(200, "ok")
        if path == "/readyz":
            return await self._readiness()
        if path == "/metrics":
            is_known = await self._principal(request) is not None
            if not is_known:
                return self._challenges.unauthorized(request)
            return await self._lookups.start(self._figures)
        if self._provider is not None and path == self._provider.metadata_path:
            return Response(200, self._provider.metadata(), JSON)
        return text(404, "There is no such page.")

    async def _principal(self, request: HttpRequest) -> Principal | None:
        if self._logins is None:
            return LOCAL
        authorization = request.headers.get("authorization")
        return await self._logins.login(authorization, request.address) if authorization else None

    async def _readiness(self) -> Response:
        try:
            await asyncio.wait_for(self._lookups.start(self._ask_store), READY_S)
        except TimeoutError:
            return text(503, "The store did not answer in time.")
        except BackstoryError as error:
            return text(503, error.message)
        return text(200, "ok")

    def _ask_store(self) -> None:
        if self._control is not None:
            self._control.team.count_connections()
        else:
            with self._tenants.lend(ORDINARY) as engine:
                count_connections(engine)

    def _figures(self) -> Response:
        content = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
        return Response(200, self._metrics.text(self._gauges()).encode(), (content,))

    def _gauges(self) -> Gauges:
        tenants = self._tenants.open_now()
        sessions = waiting = problems = deliveries = 0
        for tenant in tenants:
            with self._tenants.lend(tenant) as engine:
                sessions += count_connections(engine)
                problems += len(engine.problems.reported())
                waiting += waiting_texts(engine)
                if tenant == ORDINARY:  # only a user's own server delivers to the spaces of others
                    deliveries += waiting_deliveries(engine)
        pool = self._pool.figures() if self._pool is not None else NO_CONNECTIONS
        calls = self._threads.figures()
        return {
            "backstory_open_spaces": ("Databases that this server has open.", len(tenants)),
            "backstory_sessions": ("MCP sessions that are kept in the open databases.", sessions),
            "backstory_problems": ("Work behind the answers of the open databases that fails.", problems),
            "backstory_waiting_vectors": ("Texts in the open databases without a vector yet.", waiting),
            "backstory_waiting_deliveries": ("Memories that have yet to reach a joined space.", deliveries),
            "backstory_queued_calls": ("Calls that wait for a thread.", calls.waiting),
            "backstory_busy_threads": ("Threads that run a call.", calls.busy),
            "backstory_database_connections_used": ("Connections of the pool in use.", pool.used),
            "backstory_database_connections_idle": ("Connections of the pool without work.", pool.idle),
            "backstory_database_connections_awaited": ("Calls that wait for a connection.", pool.awaited),
            "backstory_standby_searches": (
                "Searches that ran on a standby (read_url).",
                pool.standby_searches,
            ),
            "backstory_standby_failures": (
                "Searches that a standby could not answer, so that the primary did.",
                pool.primary_searches,
            ),
        }

    def _open_tenant(self, tenant: str) -> Engine:
        limits = self._control.team.settings_of(tenant) if self._control else None
        engine = open_engine(self._settings, tenant, embedder=self._embedder, pool=self._pool, limits=limits)
        engine.problems.log = self._log.write
        return engine


def _identity_provider(settings: Settings, control: Store, log: SessionLog) -> IdentityProvider:
    try:
        from .oauth import IdentityProvider  # cryptography is large, and only this needs it
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"Checking tokens of an identity provider needs {error.name}, which is not installed.",
            hint=install_hint("http"),
        ) from None
    return IdentityProvider(settings, control, lambda problem: log.write("warning", "oauth", problem, {}))


def _telemetry(settings: Settings, gauges: Callable[[], Gauges]) -> Telemetry | None:
    if not settings.otel_endpoint:
        return None
    try:
        from .telemetry import Telemetry  # 170 ms and the extra `otel`, for servers with a collector
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"otel_endpoint needs {error.name}, which is not installed.", hint=install_hint("otel")
        ) from None
    return Telemetry(settings.otel_endpoint.rstrip("/"), gauges)


def _single_sign_on(settings: Settings, provider: IdentityProvider) -> SingleSignOn | None:
    if not settings.oauth_client_id:
        return None
    from .sso import SingleSignOn  # cryptography, as for the provider's tokens

    return SingleSignOn(settings, provider)
