"""Token counts of a Copilot command-line session, which it records per model when the session ends.

Until then only the output of each message is known. A resumed session ends several times."""

from __future__ import annotations

from typing import Any

from ...domain.usage import ModelCall
from ..formats.logs import Log, OpenConversation
from ..formats.usage import count_of, rest_of
from ..formats.values import fields_of, text_of

FIELDS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")


def count_message(log: Log, conversation: OpenConversation, data: dict[str, Any], at_ms: int | None) -> None:
    """Add the output of a message to the counts of a run that has not ended."""
    if not (output := count_of(data.get("outputTokens"))):
        return
    outputs = log.memory.setdefault("outputs", {})
    model = conversation.model
    outputs[model] = outputs.get(model, 0) + output
    key = _key(log, conversation, model)
    conversation.spend(ModelCall(key, model, at_ms, output=outputs[model], is_partial=True))


def count_session(log: Log, conversation: OpenConversation, data: dict[str, Any], at_ms: int | None) -> None:
    """Count a run that has ended, replacing the counts of its messages."""
    for model, metrics in fields_of(data.get("modelMetrics")).items():
        used = fields_of(fields_of(metrics).get("usage"))
        counts = _increase(log, model, [count_of(used.get(field)) for field in FIELDS])
        total, output, cache_read, cache_write, reasoning = counts
        conversation.spend(
            ModelCall(
                _key(log, conversation, model),
                text_of(model),
                at_ms,
                rest_of(total, cache_read, cache_write),
                output,
                cache_read,
                cache_write,
                reasoning=reasoning,
            )
        )
    log.memory["outputs"] = {}
    run = log.memory.setdefault("run", {})
    run["number"] = run.get("number", 0) + 1


def _key(log: Log, conversation: OpenConversation, model: str) -> str:
    number = log.memory.get("run", {}).get("number", 0)
    return f"{conversation.native_id}/{number}/{model}"


def _increase(log: Log, model: str, counts: list[int]) -> list[int]:
    """Return the counts of this run alone. Counts that never decreased are assumed to be totals over all runs."""
    known = log.memory.setdefault("totals", {})
    former = known.get(model, [0] * len(counts))
    known[model] = counts
    is_total = all(now >= before for now, before in zip(counts, former, strict=True))
    return [now - before for now, before in zip(counts, former, strict=True)] if is_total else counts
