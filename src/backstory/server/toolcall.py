"""One tool call, from its arguments to the line that answers it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ..core import Core
from ..core.calls import Call, Cancelled, Progress, Unanswered
from ..domain.errors import BackstoryError, Unavailable
from ..problems import frames_of
from ..tools import Reply, Tool
from . import wire
from .elicitation import Asking, input_required
from .message import Request
from .sessionlog import RequestLog, SessionLog, is_at_least

Json = dict[str, Any]


class PendingCall:
    """A `tools/call` between its arrival and its answer."""

    def __init__(
        self,
        request: Request,
        tool: Tool,
        arguments: Json,
        *,
        level: str | None,
        version: str,
        envelope: Json,
        result: Callable[[Reply], Json] | None = None,
        client: str = "",
        asking: Asking | None = None,
        tool_names: Callable[[], list[str]] = list,
    ) -> None:
        """`level`: the least severe event to send to the client. `version`: the negotiated protocol version.

        `envelope`: fields that the era adds to a result. `result`: builds the result, if it is not that of a tool;
        raises Refused. `client`: the name of the program. `tool_names`: the tools that it can list."""
        self.request = request
        self.tool = tool
        self.arguments = arguments
        self.level = level
        self.version = version
        self.envelope = envelope
        self.result = result or tool_result
        self.client = client
        self.asking = asking
        """Set if the client can ask its user."""
        self.tool_names = tool_names
        self.is_withdrawn = False

    @property
    def size(self) -> int:
        return self.request.size


class ToolAnswer(NamedTuple):
    """A result, and the same as JSON text: that it can be written is known."""

    body: Json
    text: str

    @property
    def outcome(self) -> str:
        if "inputRequests" in self.body:
            return "waits for the user"
        return "failed" if self.body.get("isError") else "completed"


class Runner:
    """Runs calls for one client, on any thread."""

    def __init__(
        self,
        core: Core,
        log: SessionLog | RequestLog,
        send: Callable[[bytes], None],
        finish: Callable[[PendingCall], None],
        is_leaving: Callable[[], bool],
    ) -> None:
        self._core = core
        self._log = log
        self._send = send
        self._finish = finish
        self._is_leaving = is_leaving
        self.has_written = False
        """True if a tool ran that may change the store."""

    def run(self, call: PendingCall) -> None:
        """Answer a call, unless the client withdrew it. Never raises."""
        self.has_written |= not call.tool.effect.read_only
        with self._core.engine.serving():  # until the answer is out: background work begins behind it
            try:
                line = wire.result(call.request.id, self.answer(call).text)
            except wire.Refused as refused:
                line = wire.refusal(call.request.id, refused)
            self._finish(call)  # first, since the client may use the id again as soon as it is answered
            if not call.is_withdrawn:
                self._send(line)
        if not self._is_leaving():
            self._core.engine.sync_soon()
            self._core.engine.load_soon()

    def answer(self, call: PendingCall) -> ToolAnswer:
        """The result, including that of a failed call. Raises Refused if the failure cannot be expressed as a result."""
        started = time.perf_counter()
        try:
            with self._core.engine.serving():
                answer = self._attempt(call)
        except wire.Refused:
            raise
        except BaseException as bug:  # also a library's sys.exit(): the client still waits for an answer
            self._report_bug(call, bug)
            answer = _apologise(call)
        elapsed = round(time.perf_counter() - started, 6)
        outcome = "withdrawn" if call.is_withdrawn else answer.outcome
        measured = {"processing_time": elapsed, "is_error": answer.outcome == "failed"}
        self._report(call, "info", f"Tool call {outcome}", measured)
        return answer

    def _attempt(self, call: PendingCall) -> ToolAnswer:
        caller = self._core.caller
        caller.assistant = caller.assistant or call.client
        try:
            is_cancelled = self._cancellation(call)
            during = Call(
                self._progress(call),
                is_cancelled,
                call.version,
                self._confirmation(call, is_cancelled),
                call.tool_names,
            )
            reply = call.tool.call(self._core.during(during), call.arguments)
        except Unanswered as unanswered:
            body = call.envelope | input_required(unanswered.question)
            return ToolAnswer(body, wire.to_json(body))
        except Cancelled:
            reply = call.tool.surface.fail(Unavailable("The server is shutting down."))
        return _written(reply, call)

    def _cancellation(self, call: PendingCall) -> Callable[[], bool]:
        return lambda: call.is_withdrawn or self._is_leaving()

    def _confirmation(
        self, call: PendingCall, is_cancelled: Callable[[], bool]
    ) -> Callable[[str], bool | None]:
        asking = call.asking
        if asking is None:
            return lambda question: None
        return lambda question: asking.ask(question, self._send, is_cancelled)

    def _progress(self, call: PendingCall) -> Progress:
        last = float("-inf")

        def send(amount: float, total: float | None, message: str) -> None:
            nonlocal last
            if call.request.progress_token is None or call.is_withdrawn or amount <= last:
                return
            last = amount
            params: Json = {"progressToken": call.request.progress_token, "progress": amount}
            if total is not None:
                params["total"] = total
            if message:
                params["message"] = message
            self._send(wire.notification("notifications/progress", params))

        return send

    def _report_bug(self, call: PendingCall, bug: BaseException) -> None:
        error = type(bug).__name__
        self._report(call, "error", "Internal error", {"error": error}, {"traceback": frames_of(bug)})

    def _report(
        self, call: PendingCall, level: str, message: str, data: Json, private: Json | None = None
    ) -> None:
        """Write to the session log, and notify the client if it asked for it. `private` goes to the log alone."""
        logger = f"tool_call_{call.tool.name}"
        self._log.write(level, logger, message, data | (private or {}))
        if call.level is not None and not call.is_withdrawn and is_at_least(level, call.level):
            params = {"level": level, "logger": logger, "data": {"message": message} | data}
            self._send(wire.notification("notifications/message", params))


def failure(call: PendingCall, error: BackstoryError) -> ToolAnswer:
    """The result of a call that could not even begin."""
    return _written(call.tool.surface.fail(error), call)


def tool_result(reply: Reply) -> Json:
    annotations = {"audience": ["assistant"], "priority": 0.9 if reply.is_error else 0.8}
    body: Json = {"content": [{"type": "text", "text": reply.text, "annotations": annotations}]}
    if reply.structured is not None and not reply.is_error:
        body["structuredContent"] = reply.structured
    return body | {"isError": reply.is_error}


def _written(reply: Reply, call: PendingCall) -> ToolAnswer:
    body = call.result(reply) | call.envelope
    return ToolAnswer(body, wire.to_json(body))


def _apologise(call: PendingCall) -> ToolAnswer:
    error = BackstoryError("An internal error occurred.", hint="The session log has the details.")
    try:
        return failure(call, error)
    except (Exception, wire.Refused):
        raise wire.Refused(wire.INTERNAL_ERROR, "Internal error") from None
