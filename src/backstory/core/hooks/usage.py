"""Detect whether an assistant used an injected text: it quoted it, named its source, ran its command, or edited the file that a fix names.

Opening a source marks the receipt immediately (`Pages.mark_opened`), since calls of our own tools are not read from
histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from ...clients.hook import FAILURE
from ...domain.lazy import lazy_pattern
from ...domain.records import Injection, Message, Trace
from ...readers import reader_names
from ..engine import Engine

JUDGED_FOR = timedelta(days=2)
"""Time for which a session is observed after an injection."""
QUOTED_WORDS = 6
"""Words in a row that are no coincidence."""
_TAG = lazy_pattern(r"</?backstory[^<>]*>")
_SOURCE = lazy_pattern(r"\(([\w.:/-]{8,})(?: at \d+)?(?:, said \d+ times)?\)")
_COMMAND = lazy_pattern(r"`([^`\n]{4,200})`")
_FILE = lazy_pattern(r"[\w@.+/-]+\.\w{1,10}\b")
_WORD = lazy_pattern(r"\w+")


def judge_receipts(engine: Engine) -> None:
    """Mark recent receipts as used or not, from the later messages of their conversations."""
    store = engine.store
    receipts = store.injections.unused(engine.now() - JUDGED_FOR)
    for session in dict.fromkeys(receipt.session for receipt in receipts):
        own = [receipt for receipt in receipts if receipt.session == session]
        ids = [f"{reader}:{session}" for reader in reader_names()]
        messages = [
            message
            for conversation in store.conversations.get(ids)
            for message in store.messages.of(conversation.id)
        ]
        actions = _actions(engine, messages)
        with store.transaction():
            for receipt in own:
                later = [each for each in messages if each.created_at > receipt.given_at]
                texts = [each.text for each in later if each.role == "assistant"]
                used = is_used(receipt, texts, [trace for at, trace in actions if at > receipt.given_at])
                if texts and used is not receipt.used:
                    store.injections.judge(receipt, used=used)


def is_used(receipt: Injection, texts: Sequence[str], actions: Sequence[Trace]) -> bool:
    """True if later texts of the assistant quote the receipt or name its source, or a later command or edit follows it."""
    body = _TAG.sub(" ", receipt.text)
    sources = _SOURCE.findall(body)
    if any(source in text for text in texts for source in sources):
        return True
    named = [" ".join(command.split()) for command in _COMMAND.findall(body)]
    commands = [" ".join(trace.value.split()) for trace in actions if trace.kind == "command"]
    if any(command in run for run in commands for command in named):
        return True
    if receipt.event == FAILURE:  # a note before a change is followed by that change anyway
        edited = {
            trace.value.replace("\\", "/").rpartition("/")[2] for trace in actions if trace.kind == "written"
        }
        if edited & {name.rpartition("/")[2] for name in _FILE.findall(body)}:
            return True
    known = _runs(_SOURCE.sub(" ", body))
    return any(not known.isdisjoint(_runs(text)) for text in texts)


def _actions(engine: Engine, messages: Sequence[Message]) -> list[tuple[datetime, Trace]]:
    """Commands and edits, each with the time of its message."""
    times = {message.id: message.created_at for message in messages}
    traces = (
        trace
        for conversation in dict.fromkeys(message.conversation for message in messages)
        for trace in engine.store.traces.of(conversation)
    )
    return [
        (times[trace.message], trace)
        for trace in traces
        if trace.kind in ("command", "written") and trace.message in times
    ]


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return {tuple(words[place : place + QUOTED_WORDS]) for place in range(len(words) - QUOTED_WORDS + 1)}
