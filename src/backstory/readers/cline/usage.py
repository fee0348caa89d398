"""Token counts recorded by Cline and its descendants, with each message or in the displayed requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...domain.usage import ModelCall
from ..formats.blocks import arguments_of
from ..formats.usage import cost_of, count_of, rest_of
from ..formats.values import fields_of, text_of, time_ms


def usage_of(
    session: str, messages: Sequence[Mapping[str, Any]], entries: Sequence[Mapping[str, Any]], model: str
) -> list[ModelCall]:
    """Return the model calls of a task.

    Displayed requests repeat the messages and count only if these have no figures."""
    return list(_of_messages(session, messages, model)) or list(_of_requests(session, entries, model))


def _of_messages(session: str, messages: Sequence[Mapping[str, Any]], model: str) -> Iterator[ModelCall]:
    for n, message in enumerate(messages):
        metrics = fields_of(message.get("metrics"))
        tokens = fields_of(metrics.get("tokens"))
        if message.get("role") != "assistant" or not metrics:
            continue
        id, info = text_of(message.get("id")) or str(n), fields_of(message.get("modelInfo"))
        yield ModelCall(
            f"{session}/{id}",
            text_of(info.get("modelId")) or text_of(info.get("id")) or model,
            time_ms(message.get("ts")),
            count_of(metrics.get("inputTokens")) or rest_of(tokens.get("prompt"), tokens.get("cached")),
            count_of(metrics.get("outputTokens")) or count_of(tokens.get("completion")),
            count_of(metrics.get("cacheReadTokens")) or count_of(tokens.get("cached")),
            count_of(metrics.get("cacheWriteTokens")),
            cost_usd=cost_of(metrics.get("cost")),
            turn=id,
        )


def _of_requests(session: str, entries: Sequence[Mapping[str, Any]], model: str) -> Iterator[ModelCall]:
    for n, entry in enumerate(entries):
        if entry.get("say") != "api_req_started":
            continue
        request = fields_of(arguments_of(entry.get("text")))
        if "tokensIn" in request or "tokensOut" in request:
            yield ModelCall(
                f"{session}/request {entry.get('ts', n)}",
                model,
                time_ms(entry.get("ts")),
                count_of(request.get("tokensIn")),
                count_of(request.get("tokensOut")),
                count_of(request.get("cacheReads")),
                count_of(request.get("cacheWrites")),
                cost_usd=cost_of(request.get("cost")),
            )
