"""`/spaces`: the JSON interface of a team server for laptops that joined a shared space.

`GET /spaces` lists the caller's spaces. `POST /spaces/NAME/changes` returns the contents of the space, `POST
/spaces/NAME/deliveries` accepts a memory that was saved on a laptop."""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from ..core import Core
from ..core.receiving import Receiving
from ..core.team.space_client import NO_SUCH_SPACE
from ..core.team.space_offer import SpaceOffer
from ..core.team.space_wire import BUCKETS, MAX_MEMORIES_AT_ONCE, Json, is_unicode, read_delivered
from ..domain.errors import BackstoryError, InvalidInput, NotAllowed, NotFound, StorageFull
from ..domain.spans import span
from .audit import AuditLog
from .auth import LOCAL, Principal
from .http_sessions import ClientContext, HttpSessions
from .limits import RateLimit
from .metrics import Metrics
from .responses import JSON, HttpRequest, Receive, Response, TooLarge, put_off, read_body, text
from .threads import Threads

SPACES = "/spaces"
CHANGES, DELIVERIES = "changes", "deliveries"
DELIVER = "deliver"
"""The name of a delivery in the audit log and the metrics."""
COPY = "copy"
"""The name of memories that a laptop copies in the audit log, where reads are recorded."""
COMPLETED = "completed"
MAX_REQUEST_BYTES = 2_000_000
_STATUSES: tuple[tuple[type[BackstoryError], int], ...] = (
    (InvalidInput, 400),
    (NotAllowed, 403),
    (NotFound, 409),
    (StorageFull, 409),
)
"""404 means an unknown space, so a delivery that corrects a deleted memory has another status."""


class SpacesEndpoint:
    def __init__(
        self,
        sessions: HttpSessions,
        threads: Threads,
        limit: RateLimit,
        metrics: Metrics,
        audit: AuditLog | None,
    ) -> None:
        self._sessions = sessions
        self._threads = threads
        self._limit = limit
        self._metrics = metrics
        self._audit = audit

    async def respond(self, request: HttpRequest, principal: Principal, receive: Receive) -> Response:
        wait_s = 0.0 if principal is LOCAL else self._limit.wait_s(principal.credential)
        if wait_s:
            return put_off("Too many requests.", wait_s)
        name, _, action = request.path.removeprefix(SPACES).strip("/").partition("/")
        if not name:
            return _listing(request, principal)
        if action not in (CHANGES, DELIVERIES):
            return text(404, "There is no such page.")
        if request.method != "POST":
            return text(405, "Questions are sent with POST.", (b"allow", b"POST"))
        tenant = principal.tenant(name)
        if tenant is None:
            return _error(404, NO_SUCH_SPACE, "There is no such space.")
        try:
            body = await read_body(request, receive, MAX_REQUEST_BYTES)
        except TooLarge:
            return text(413, f"A request may have {MAX_REQUEST_BYTES:,} bytes.")
        client = ClientContext(principal, tenant, name)
        answer = self._changes if action == CHANGES else self._deliver
        return await self._threads.start(partial(self._answer, client, answer, body), len(body))

    def _answer(self, client: ClientContext, answer: Any, body: bytes) -> Response:
        try:
            question = json.loads(body)
        except (ValueError, RecursionError):
            return _error(400, "bad_json", "The question is no JSON.")
        if not isinstance(question, dict):
            return _error(400, "bad_json", "The question is no object.")
        try:
            return Response(200, json.dumps(answer(client, question)).encode(), JSON)
        except BackstoryError as error:
            for kind, status in _STATUSES:
                if isinstance(error, kind):
                    return _error(status, kind.__name__, str(error))
            raise

    def _changes(self, client: ClientContext, question: Json) -> Json:
        with self._sessions.core(client) as core:
            offer = SpaceOffer(core)
            if "ids" in question:
                with self._audited_read(client) as outcomes:
                    memories = offer.memories(_ids(question["ids"]))
                    outcomes.append(COMPLETED)
                return {"memories": [each._asdict() for each in memories]}
            if "buckets" in question:
                return {"stamps": offer.stamps(_buckets(question["buckets"]))}
            return {"digests": offer.digests()}

    def _deliver(self, client: ClientContext, question: Json) -> Json:
        started, outcome = time.perf_counter(), "failed"
        delivered = read_delivered(question)
        try:
            with (
                span(DELIVER, backstory_tenant=client.tenant),
                self._audited(client) as outcomes,
                self._sessions.core(client) as core,
            ):
                receipt = _receiving(core).accept(delivered)
                outcome = COMPLETED
                outcomes.append(outcome)
        finally:
            self._metrics.called(DELIVER, outcome, time.perf_counter() - started)
        return receipt._asdict()

    def _audited_read(self, client: ClientContext) -> AbstractContextManager[list[str]]:
        if self._audit is None or not self._audit.records_reads:
            return nullcontext([])
        return self._audit.call(client.principal, client.tenant, COPY)

    def _audited(self, client: ClientContext) -> AbstractContextManager[list[str]]:
        if self._audit is None:
            return nullcontext([])
        return self._audit.call(client.principal, client.tenant, DELIVER)


def _receiving(core: Core) -> Receiving:
    return Receiving(core, core.memories)


def _listing(request: HttpRequest, principal: Principal) -> Response:
    if request.method not in ("GET", "HEAD"):
        return text(405, "This page is only read.", (b"allow", b"GET, HEAD"))
    spaces = [
        {"name": name, "role": access.role.value, "review": access.is_reviewed}
        for name, access in sorted(principal.spaces.items())
    ]
    return Response(200, json.dumps({"user": principal.person, "spaces": spaces}).encode(), JSON)


def _ids(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) and is_unicode(each) for each in value):
        raise InvalidInput("ids must be a list of texts.", field="ids")
    if len(value) > MAX_MEMORIES_AT_ONCE:
        raise InvalidInput(f"ids may have {MAX_MEMORIES_AT_ONCE} entries.", field="ids")
    return value


def _buckets(value: object) -> set[int]:
    if not isinstance(value, list) or not all(type(each) is int and 0 <= each < BUCKETS for each in value):
        raise InvalidInput(f"buckets must be a list of numbers below {BUCKETS}.", field="buckets")
    return set(value)


def _error(status: int, error: str, message: str) -> Response:
    return Response(status, json.dumps({"error": error, "message": message}).encode(), JSON)
