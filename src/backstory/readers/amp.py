"""Amp: one document per thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..domain.usage import ModelCall
from . import ConversationHeader, Cursor, Form, Piece, Places, Reader, Resume, Role, Source, Turn
from .formats.blocks import blocks_of, outputs_in, text_in, thinking_in, uses_in
from .formats.documents import read_document
from .formats.paths import EDITORS, data_home, editor_directories, homes, locate
from .formats.pieces import whole
from .formats.usage import count_of
from .formats.values import fields_of, records_of, text_of, time_ms


def find(places: Places) -> Iterator[Source]:
    directories = [data_home(places) / "amp", *(home / ".local/share/amp" for home in homes(places))]
    directories += [user / "globalStorage/sourcegraph.amp" for user in editor_directories(places, *EDITORS)]
    for directory in dict.fromkeys([*directories, *places.roots.get("amp", ())]):
        for path in sorted(directory.glob("threads*/T-*.json")):
            yield Source(path, Form.DOCUMENT)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    thread = fields_of(read_document(source.path))
    skipped: Counter[str] = Counter()
    turns = list(_turns(thread, skipped))
    initial = fields_of(fields_of(thread.get("env")).get("initial"))
    trees = list(records_of(initial.get("trees")))
    header = ConversationHeader(
        native_id=text_of(thread.get("id")) or source.path.stem,
        source=str(source.path),
        title=text_of(thread.get("title")),
        directory=locate(text_of(trees[0].get("uri"))).path if trees else "",
        started_ms=time_ms(thread.get("created")),
        ended_ms=_last_trace_ms(thread),
    )
    yield whole(header, turns, skipped, usage=list(_usage(header.native_id, thread)))


def _turns(thread: dict[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    messages = list(records_of(thread.get("messages")))
    contents = [blocks_of(message.get("content")) for message in messages]
    outputs = {id: output for blocks in contents for id, output in outputs_in(blocks).items()}
    for n, (message, blocks) in enumerate(zip(messages, contents, strict=True)):
        if message.get("role") not in ("user", "assistant"):
            skipped["unknown role"] += 1
            continue
        turn = Turn(
            str(message.get("messageId", n)),
            Role(message["role"]),
            text_in(blocks),
            time_ms(fields_of(message.get("meta")).get("sentAt")),
            thinking_in(blocks),
            tuple(use.call(outputs) for use in uses_in(blocks)),
            text_of(fields_of(message.get("usage")).get("model")),
        )
        if not turn.is_empty:
            yield turn


def _usage(thread_id: str, thread: dict[str, Any]) -> Iterator[ModelCall]:
    for n, message in enumerate(records_of(thread.get("messages"))):
        used = fields_of(message.get("usage"))
        if message.get("role") == "assistant" and used:
            id = str(message.get("messageId", n))
            at_ms = time_ms(used.get("timestamp")) or time_ms(fields_of(message.get("meta")).get("sentAt"))
            yield ModelCall(
                f"{thread_id}/{id}",
                text_of(used.get("model")),
                at_ms,
                count_of(used.get("inputTokens")),
                count_of(used.get("outputTokens")),
                count_of(used.get("cacheReadInputTokens")),
                count_of(used.get("cacheCreationInputTokens")),
                turn=id,
            )


def _last_trace_ms(thread: dict[str, Any]) -> int | None:
    traces = records_of(fields_of(thread.get("meta")).get("traces"))
    ends = (time_ms(trace.get("endTime")) or time_ms(trace.get("startTime")) for trace in traces)
    return max(filter(None, ends), default=None)


reader = Reader("amp", "Amp", find, read, resume=Resume(("amp", "threads", "continue", "{id}")))
