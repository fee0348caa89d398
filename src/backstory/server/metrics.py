"""Metrics as Prometheus text. Labels are names of tools and outcomes, never of people or tenants."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from threading import Lock
from typing import Protocol

from .. import __version__

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


Gauges = Mapping[str, tuple[str, float]]
"""A description and the current value, by name."""


class MetricSink(Protocol):
    """A second receiver of calls and responses."""

    def called(self, tool: str, outcome: str, seconds: float) -> None: ...

    def responded(self, status: int) -> None: ...


class Metrics:
    def __init__(self) -> None:
        self.sink: MetricSink | None = None
        self._lock = Lock()
        self._calls: Counter[tuple[str, str]] = Counter()
        # counts by the index of the smallest bound that the duration does not exceed
        self._within: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, float] = {}
        self._responses: Counter[int] = Counter()

    def called(self, tool: str, outcome: str, seconds: float) -> None:
        with self._lock:
            self._calls[tool, outcome] += 1
            self._seconds[tool] = self._seconds.get(tool, 0.0) + seconds
            self._within[tool, bisect_left(BUCKETS_S, seconds)] += 1
        if self.sink is not None:
            self.sink.called(tool, outcome, seconds)

    def responded(self, status: int) -> None:
        with self._lock:
            self._responses[status] += 1
        if self.sink is not None:
            self.sink.responded(status)

    def text(self, gauges: Gauges) -> str:
        """All metrics as text."""
        with self._lock:
            lines = [
                *_family("backstory_build_info", "gauge", "The version that runs."),
                f'backstory_build_info{{version="{__version__}"}} 1',
                *_family("backstory_http_responses_total", "counter", "HTTP responses by status."),
                *(
                    f'backstory_http_responses_total{{status="{status}"}} {count}'
                    for status, count in sorted(self._responses.items())
                ),
                *_family("backstory_tool_calls_total", "counter", "Tool calls by outcome."),
                *(
                    f'backstory_tool_calls_total{{tool="{tool}",outcome="{outcome}"}} {count}'
                    for (tool, outcome), count in sorted(self._calls.items())
                ),
                *_family("backstory_tool_seconds", "histogram", "How long tool calls took."),
                *self._durations(),
            ]
        for name, (meaning, value) in gauges.items():
            lines += [*_family(name, "gauge", meaning), f"{name} {value:g}"]
        return "\n".join([*lines, ""])

    def _durations(self) -> Iterable[str]:
        for tool in sorted(self._seconds):
            total = sum(count for (name, _), count in self._calls.items() if name == tool)
            within = accumulate(self._within[tool, number] for number in range(len(BUCKETS_S)))
            for bound, count in zip(BUCKETS_S, within, strict=True):
                yield f'backstory_tool_seconds_bucket{{tool="{tool}",le="{bound:g}"}} {count}'
            yield f'backstory_tool_seconds_bucket{{tool="{tool}",le="+Inf"}} {total}'
            yield f'backstory_tool_seconds_sum{{tool="{tool}"}} {self._seconds[tool]:.6f}'
            yield f'backstory_tool_seconds_count{{tool="{tool}"}} {total}'


def _family(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
