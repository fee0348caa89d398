"""Redaction of truncated tool results: a secret across the cut is seen whole, and no part of it is stored."""

from __future__ import annotations

from collections.abc import Iterator

from ...readers import CallResult
from ...readers.formats.results import cut_line


def parts_of(result: CallResult) -> Iterator[str]:
    """The texts to redact: the whole result, or its head and tail, each extended into the part that was cut out."""
    if result.cut is None:
        yield result.text
        return
    yield result.text[: result.cut.head_chars] + result.cut.after_head
    yield result.cut.before_tail + _tail(result)


def rewritten(result: CallResult, texts: Iterator[str]) -> CallResult:
    """The result with its redacted parts, in the order of `parts_of`, without their extensions."""
    if (cut := result.cut) is None:
        return result._replace(text=next(texts))
    head, tail = next(texts), next(texts)
    # Redaction may have shortened the head into its extension; never cut below 0.
    head = head[: max(len(head) - len(cut.after_head), 0)]
    tail = tail[len(cut.before_tail) :]
    cut = cut._replace(head_chars=len(head), after_head="", before_tail="")
    return result._replace(text=f"{head}{cut_line(cut.bytes)}{tail}", cut=cut)


def _tail(result: CallResult) -> str:
    assert result.cut is not None
    return result.text[result.cut.head_chars + len(cut_line(result.cut.bytes)) :]
