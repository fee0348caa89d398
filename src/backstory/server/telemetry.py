"""OpenTelemetry: traces and metrics of a team server, sent to a collector by OTLP over HTTP.

A trace shows a request, its tool, and the searches and transactions of the tool, with the ids of request and tenant.
No words of memories, questions or answers are in it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from .. import __version__
from ..domain.spans import Attribute, trace_with
from .metrics import BUCKETS_S, Gauges

TRACES, METRICS = "/v1/traces", "/v1/metrics"
EXPORT_MS = 15_000
CLOSE_MS = 3_000
"""Time limit for the last export: an unreachable collector must not delay the end of a server."""
FRESH_S = 1.0
SERVER_ERROR = 500
_WITHOUT_MESSAGES = {"record_exception": False, "set_status_on_exception": False}
"""The message of an exception may quote what a user wrote, so no span records it."""


class Telemetry:
    def __init__(self, endpoint: str, gauges: Callable[[], Gauges]) -> None:
        """`endpoint` is the collector's address without a path; `gauges` reads current values for each export."""
        resource = Resource.create({"service.name": "backstory", "service.version": __version__})
        self._traces: Any = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint + TRACES)))
        self._tracer: Any = self._traces.get_tracer("backstory", __version__)
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint + METRICS), export_interval_millis=EXPORT_MS
        )
        self._meters: Any = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        meter: Any = self._meters.get_meter("backstory", __version__)
        self._durations: Any = meter.create_histogram(
            "backstory.tool.duration",
            "s",
            "How long tool calls took.",
            explicit_bucket_boundaries_advisory=BUCKETS_S,
        )
        self._responses: Any = meter.create_counter(
            "backstory.http.responses", description="HTTP responses by status."
        )
        read_once = _ReadOnce(gauges)
        for name, (meaning, _) in gauges().items():
            meter.create_observable_gauge(
                name.replace("_", "."), [partial(read_once.observe, name)], description=meaning
            )
        self._propagator: Any = TraceContextTextMapPropagator()
        trace_with(self._start_span)

    @contextmanager
    def request(self, method: str, route: str, id: str, headers: Mapping[str, str]) -> Iterator[list[int]]:
        """The span of a request, part of the caller's trace if it names one (`traceparent`).

        Yields a list to which the status of the response is appended."""
        parent: Context | None = self._propagator.extract(dict(headers))
        attributes = {"http.request.method": method, "http.route": route, "backstory.request.id": id}
        with self._tracer.start_as_current_span(
            f"{method} {route}",
            context=parent,
            kind=SpanKind.SERVER,
            attributes=attributes,
            **_WITHOUT_MESSAGES,
        ) as span:
            statuses: list[int] = []
            yield statuses
            if statuses:
                span.set_attribute("http.response.status_code", statuses[-1])
                if statuses[-1] >= SERVER_ERROR:
                    span.set_status(Status(StatusCode.ERROR))

    def called(self, tool: str, outcome: str, seconds: float) -> None:
        self._durations.record(seconds, {"tool": tool, "outcome": outcome})

    def responded(self, status: int) -> None:
        self._responses.add(1, {"status": status})

    def close(self) -> None:
        """Send the remaining spans and metrics."""
        trace_with(None)
        self._traces.force_flush(CLOSE_MS)
        self._traces.shutdown()
        self._meters.shutdown(CLOSE_MS)

    def _start_span(self, name: str, attributes: Mapping[str, Attribute]) -> AbstractContextManager[object]:
        span: AbstractContextManager[object] = self._tracer.start_as_current_span(
            name, attributes=attributes, **_WITHOUT_MESSAGES
        )
        return span


class _ReadOnce:
    """Values of gauges for one export. Gauges are observed one by one, and each reading would query every open store."""

    def __init__(self, gauges: Callable[[], Gauges]) -> None:
        self._gauges = gauges
        self._values: Gauges = {}
        self._read_s = -math.inf

    def observe(self, name: str, _: CallbackOptions) -> Iterable[Observation]:
        now_s = time.monotonic()
        if now_s - self._read_s >= FRESH_S:
            self._values, self._read_s = self._gauges(), now_s
        return [Observation(self._values[name][1])]
