"""Spans: the parts of a request that a trace shows. Without a tracer, which only a server with `otel_endpoint` has, they cost nothing.

Attributes are names, ids and numbers, never words of a memory or a question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

Attribute = str | int | float | bool
StartSpan = Callable[[str, Mapping[str, Attribute]], AbstractContextManager[object]]

_NO_SPAN = nullcontext()
_start_span: StartSpan | None = None


def span(name: str, **attributes: Attribute) -> AbstractContextManager[object]:
    """A part of the current request, for as long as the block runs. `_` in the name of an attribute becomes a dot."""
    if _start_span is None:
        return _NO_SPAN
    return _start_span(name, {key.replace("_", "."): value for key, value in attributes.items()})


def is_traced() -> bool:
    return _start_span is not None


def trace_with(start_span: StartSpan | None) -> None:
    """Use a tracer for all spans of this process; None for none."""
    global _start_span
    _start_span = start_span
