"""An OpenTelemetry collector on loopback that stores what it is sent."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[tuple[str, bytes]] = []

    def spans(self) -> list[Any]:
        spans = []
        for path, body in list(self.bodies):
            if path == "/v1/traces":
                request = ExportTraceServiceRequest.FromString(body)
                spans += [
                    span
                    for each in request.resource_spans
                    for scope in each.scope_spans
                    for span in scope.spans
                ]
        return spans

    def metric_names(self) -> set[str]:
        names = set()
        for path, body in list(self.bodies):
            if path == "/v1/metrics":
                request = ExportMetricsServiceRequest.FromString(body)
                names |= {
                    metric.name
                    for each in request.resource_metrics
                    for scope in each.scope_metrics
                    for metric in scope.metrics
                }
        return names


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.bodies.append((self.path, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
