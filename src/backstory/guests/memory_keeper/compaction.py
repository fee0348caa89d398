"""Prepare the compaction of an assistant's context: a checkpoint, and the items needed to continue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NotRequired, TypedDict

from ...core import Core
from ...core.tasks import TASK, is_open_task
from ...domain.filters import Filter, Order, Page
from ...domain.lines import one_line
from ...domain.records import Memory
from ...domain.when import iso
from ...tools import ADDS
from ...tools.budget import fitting
from ...tools.origin import safe_text
from .branching import WEIGHTY
from .fitting import AnswerItem, Truncation, cut
from .vocabulary import session_of, surface

SUMMARY_CHARS = 2_000
LIST_BYTES = 12_000  # size limit of each list in the answer
VALUE_BYTES = 2_000
LINE_CHARS = 120


class KeptItem(TypedDict):
    key: str
    value: str
    truncated: NotRequired[Truncation]


class CompactionAnswer(TypedDict):
    checkpoint: str | None
    checkpointId: str | None
    criticalItems: list[KeptItem]
    decisions: list[KeptItem]
    nextSteps: list[str]
    unfinishedTasks: list[KeptItem]
    filesTracked: int
    summary: str
    gitBranch: str | None
    restore: dict[str, Any] | None
    text: str


@surface.tool("Prepare for compaction", ADDS)
def context_prepare_compaction(core: Core) -> CompactionAnswer:
    """Take a checkpoint before the context is compacted, and list what matters then: critical and high items, decisions, open tasks and next steps.
    `restore` is the call that brings the session back. Without a session nothing is taken."""
    session = session_of(core, None)
    if session is None:
        return _nothing()
    now = iso(core.engine.now())
    checkpoint = core.checkpoints.take(
        f"auto-compaction-{now}", description="Taken before a compaction.", files=True, git=True
    )
    items = session_items(core, session.id)
    weighty = [memory for memory in items if memory.priority in WEIGHTY]
    decisions = [memory for memory in items if memory.category == "decision"]
    tasks = open_tasks(items)
    steps = next_steps(tasks)
    summary = _summary(session.name, items, tasks)
    restore = {"tool": "context_restore_checkpoint", "arguments": {"name": checkpoint.name}}
    lines = [
        f"Checkpoint: {checkpoint.name}",
        f"Critical and high items: {len(weighty)}. Decisions: {len(decisions)}. Open tasks: {len(tasks)}. Files: {checkpoint.files}.",
        *steps,
        f'To restore: context_restore_checkpoint({{"name": "{checkpoint.name}"}})',
    ]
    return {
        "checkpoint": checkpoint.name,
        "checkpointId": checkpoint.id,
        "criticalItems": _item_bodies(weighty),
        "decisions": _item_bodies(decisions),
        "nextSteps": steps,
        "unfinishedTasks": _item_bodies(tasks),
        "filesTracked": checkpoint.files,
        "summary": summary,
        "gitBranch": checkpoint.git_branch,
        "restore": restore,
        "text": "\n".join(lines),
    }


def session_items(core: Core, session: str) -> list[Memory]:
    """Return the items of a session that the caller may see, by priority, then newest first."""
    return core.memories.find(Filter(threads=(session,)), Page(order=Order.PRIORITY))


def open_tasks(items: Iterable[Memory]) -> list[Memory]:
    return [memory for memory in items if memory.category == TASK and is_open_task(memory)]


def next_steps(tasks: Iterable[Memory]) -> list[str]:
    """Return one line for each open task to continue with."""
    lines = (
        one_line(f"Continue: {memory.key or memory.id}: {safe_text(memory.text, memory.trust)}", LINE_CHARS)
        for memory in tasks
    )
    return fitting(lines, LIST_BYTES, least=0)


def _nothing() -> CompactionAnswer:
    return {
        "checkpoint": None,
        "checkpointId": None,
        "criticalItems": [],
        "decisions": [],
        "nextSteps": [],
        "unfinishedTasks": [],
        "filesTracked": 0,
        "summary": "",
        "gitBranch": None,
        "restore": None,
        "text": "No session yet: there is nothing to prepare.",
    }


def _item_bodies(memories: Iterable[Memory]) -> list[KeptItem]:
    items = (
        cut(
            AnswerItem(
                memory.id,
                {"key": memory.key or memory.id, "value": safe_text(memory.text, memory.trust)},
            ),
            VALUE_BYTES,
        )
        for memory in memories
    )
    return fitting(items, LIST_BYTES, least=0)


def _summary(name: str, items: list[Memory], tasks: list[Memory]) -> str:
    """Return whole lines, with each item once: open tasks, then decisions, then the others by priority."""
    first = [*tasks, *(memory for memory in items if memory.category == "decision")]
    ordered = dict.fromkeys(memory.id for memory in (*first, *items))
    known = {memory.id: memory for memory in items}
    text = f"# {one_line(name, LINE_CHARS)}"
    for id in ordered:
        memory = known[id]
        value = one_line(safe_text(memory.text, memory.trust), LINE_CHARS)
        line = f"\n- [{memory.category or 'item'}] {one_line(memory.key or memory.id, LINE_CHARS)}: {value}"
        if len(text) + len(line) > SUMMARY_CHARS:
            break
        text += line
    return text
