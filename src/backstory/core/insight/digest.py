"""Digests: an index of many memories within a number of characters, by importance and recency.

Nothing is cut silently: memories that do not fit are counted, and shortened text ends with an ellipsis.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from ...domain.categories import JOURNAL
from ...domain.filters import Filter, Order, Page
from ...domain.lines import one_line
from ...domain.neutral import neutral
from ...domain.records import Memory, Priority, Trust
from ...domain.terms import terms_of
from ...domain.when import iso
from ...store import Store
from ..tasks import TASK, is_open_task, is_report

LONGEST_LINE = 200
LONGEST_TITLE = 60
RANKS = {priority: rank for rank, priority in enumerate(Priority)}

OPEN, FINISHED, OTHER = "Open tasks", "Finished tasks", "Other"
_TITLES = {
    "decision": "Decisions",
    "error": "Errors",
    "warning": "Warnings",
    "progress": "Progress",
    "note": "Notes",
    JOURNAL: "Journal",
}
SECTIONS = ("Decisions", OPEN, "Errors", "Warnings", "Progress", "Notes", FINISHED, "Journal", OTHER)
MOST_READ = 2_000
SAME_WORDS = 0.8  # of a task's, in a text that says it is done


class DigestForm(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    TEXT = "text"


class Subject(NamedTuple):
    """The subject of a digest: its title, the memories that may be shown and their total number."""

    title: str
    memories: Sequence[Memory]
    total: int
    overview: str = ""


class Digest(NamedTuple):
    text: str
    shown: tuple[Memory, ...]
    left_out: int


def section_of(memory: Memory) -> str:
    if memory.category == TASK:
        return OPEN if is_open_task(memory) else FINISHED
    return _TITLES.get(memory.category or "", OTHER)


def quotable(memory: Memory) -> str:
    """The text of a memory for use in our own advice. Other people's text is labelled, and role markers are neutralised."""
    return memory.text if memory.trust is Trust.OWN else f"({memory.trust.value}) {neutral(memory.text)}"


def digest(subject: Subject, form: DigestForm, longest: int) -> Digest:
    """A digest of the memories that fit: critical ones first, then the best of each section in turn."""
    line_length = min(LONGEST_LINE, max(longest // 8, 40))
    if len(_rendered(subject, (), form, line_length)) > longest:
        subject = subject._replace(title="", overview="")
    chosen: list[Memory] = []
    left = longest - len(_rendered(subject, (), form, line_length))
    opened: set[str] = set()
    for memory in _by_turns(subject.memories):
        section = section_of(memory)
        cost = len(_entry(memory, form, line_length)) + (0 if section in opened else len(section) + 8)
        if cost < left:
            chosen.append(memory)
            opened.add(section)
            left -= cost + 1
    text = _rendered(subject, chosen, form, line_length)
    while len(text) > longest and chosen:
        chosen.pop()
        text = _rendered(subject, chosen, form, line_length)
    if len(text) > longest:
        text = _cut(text, subject.total, form, longest)
    return Digest(text, tuple(chosen), subject.total - len(chosen))


def _cut(text: str, left_out: int, form: DigestForm, longest: int) -> str:
    if form is not DigestForm.JSON:
        return text[: longest - 1] + "…"
    counted = f'{{"leftOut": {left_out}}}'  # half of a JSON text would be none
    return counted if len(counted) <= longest else "{}"


def _by_turns(memories: Iterable[Memory]) -> list[Memory]:
    places: Counter[str] = Counter()
    turns: list[tuple[bool, int, int, Memory]] = []
    for memory in urgent_first(memories):
        section = section_of(memory)
        urgent = memory.priority is Priority.CRITICAL and section != FINISHED
        turns.append((not urgent, places[section], SECTIONS.index(section), memory))
        places[section] += 1
    return [memory for *_, memory in sorted(turns, key=lambda turn: turn[:3])]


def urgent_first(memories: Iterable[Memory]) -> list[Memory]:
    """Most urgent first; newest first among equals."""
    return sorted(memories, key=lambda m: (RANKS[m.priority], -m.updated_at.timestamp(), m.id))


def _entry(memory: Memory, form: DigestForm, longest: int) -> str:
    text = one_line(memory.summary or memory.text, longest)
    if form is DigestForm.JSON:
        entry = {
            "id": memory.id,
            "key": memory.key or memory.id,
            "priority": memory.priority.value,
            "updatedAt": iso(memory.updated_at),
            "text": text,
        }
        return json.dumps(entry, ensure_ascii=False)
    key = one_line(memory.key, LONGEST_TITLE) if memory.key else ""
    stress = "" if memory.priority is Priority.NORMAL else f" [{memory.priority}]"
    name = f"**{key}**" if form is DigestForm.MARKDOWN and key else key
    return f"- {name}{stress}{': ' if name or stress else ''}{text} ({memory.updated_at:%Y-%m-%d})"


def _rendered(subject: Subject, chosen: Sequence[Memory], form: DigestForm, longest: int) -> str:
    sections = {
        title: [_entry(memory, form, longest) for memory in urgent_first(chosen) if section_of(memory) == title]
        for title in SECTIONS
    }  # fmt: skip
    left_out = subject.total - len(chosen)
    if form is DigestForm.JSON:
        return _as_json(subject, sections, left_out)
    return _as_lines(subject, sections, left_out, form)


def _as_json(subject: Subject, sections: dict[str, list[str]], left_out: int) -> str:
    filled = ", ".join(
        f"{json.dumps(title)}: [{', '.join(entries)}]" for title, entries in sections.items() if entries
    )
    title = json.dumps(one_line(subject.title, LONGEST_TITLE), ensure_ascii=False)
    overview = f'"overview": {json.dumps(subject.overview, ensure_ascii=False)}, ' if subject.overview else ""
    return f'{{"title": {title}, {overview}"sections": {{{filled}}}, "leftOut": {left_out}}}'


def _as_lines(subject: Subject, sections: dict[str, list[str]], left_out: int, form: DigestForm) -> str:
    is_markdown = form is DigestForm.MARKDOWN
    lines = [f"{'# ' if is_markdown else ''}{one_line(subject.title, LONGEST_TITLE)}"]
    if subject.overview:
        lines += ["", subject.overview]
    for title, entries in sections.items():
        if entries:
            lines += ["", f"## {title}" if is_markdown else f"{title.upper()}:", *entries]
    if not subject.total:
        lines += ["", "Nothing is saved here yet."]
    elif left_out:
        lines += ["", f"{left_out} left out; a longer summary shows more."]
    return "\n".join(lines)


def open_tasks(store: Store, where: Filter) -> list[Memory]:
    """Open tasks that match, most urgent first.

    For a key that several sessions saved, the latest value counts; for a text without a key, a later one that
    reports it done."""
    page = Page(limit=MOST_READ, order=Order.UPDATED_NEWEST)
    known = store.memories.find(where._replace(categories=(TASK,)), page)
    reports = [(task, terms_of(task.text)) for task in known if is_report(task)]
    tasks = [task for task in known if is_open_task(task) and not _is_reported(task, reports)]
    keys = tuple({task.key for task in tasks if task.key is not None})
    saved = store.memories.find(where._replace(categories=(), keys=keys), page) if keys else []
    last = {(memory.surface, memory.key): memory.id for memory in reversed(saved)}
    return urgent_first(t for t in tasks if last.get((t.surface, t.key), t.id) == t.id)


def _is_reported(task: Memory, reports: Sequence[tuple[Memory, frozenset[str]]]) -> bool:
    """True if a report contains nearly all words of the task."""
    if task.key is not None or not reports:
        return False
    words = terms_of(task.text.partition(":")[2] or task.text)
    return bool(words) and any(
        report.surface == task.surface
        and report.created_at > task.created_at
        and len(words & report_words) >= SAME_WORDS * len(words)
        for report, report_words in reports
    )
