"""Lists of tasks that assistants keep with a tool of their own, and answers that a tool got from the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...domain.statements import Saying, Speaker, StatementKind
from ...readers import ToolCall
from ...readers.formats.values import fields_of, records_of, text_of
from .words import is_steering

OPEN, DONE = "open", "done"
LIST = "list"
"""The subject of an item of a list that is written as a whole each time."""
_ITEMS = ("todos", "plan", "items", "todoList", "tasks")
_TEXTS = ("content", "step", "title", "text", "description", "subject")
_FINISHED = frozenset(
    {"completed", "complete", "done", "deleted", "cancelled", "canceled", "skipped", "closed"}
)
_TASK_NUMBER = re.compile(r"\bTask #?(\w+)\b")
_ANSWER = re.compile(r'"((?:[^"\\]|\\.){3,400})"="((?:[^"\\]|\\.){1,400})"')
_NO_ANSWER = re.compile(r"^\s*(?:no response|no answer|\(?none\)?|skip)", re.IGNORECASE)


def sayings_of(call: ToolCall) -> Iterator[Saying]:
    name = call.name.lower()
    if name == "taskcreate":
        yield from _created(call)
    elif name == "taskupdate":
        yield from _updated(fields_of(call.given))
    elif call.given is not None and isinstance(call.given, Mapping) and _is_list(name, call.given):
        yield from _listed(call.given)
    elif "ask" in name and call.result is not None:
        yield from _answered(call.result.text)


def _is_list(name: str, given: Mapping[str, Any]) -> bool:
    return ("todo" in name or "plan" in name) and any(isinstance(given.get(key), list) for key in _ITEMS)


def _listed(given: Mapping[str, Any]) -> Iterator[Saying]:
    """Every item, with its state: the list as it is from now on."""
    for key in _ITEMS:
        for item in records_of(given.get(key)):
            text = next(filter(None, (text_of(item.get(field)).strip() for field in _TEXTS)), "")
            if text:
                yield _todo(text, LIST, text_of(item.get("status")))


def _created(call: ToolCall) -> Iterator[Saying]:
    text = text_of(fields_of(call.given).get("subject")).strip()
    number = _TASK_NUMBER.search(call.result.text) if call.result is not None else None
    if text and number:
        yield _todo(text, f"task {number[1]}", "")


def _updated(given: Mapping[str, Any]) -> Iterator[Saying]:
    number, status = text_of(given.get("taskId")), text_of(given.get("status"))
    if number and status:
        yield _todo(text_of(given.get("subject")).strip(), f"task {number}", status)


def _todo(text: str, subject: str, status: str) -> Saying:
    outcome = DONE if status.lower() in _FINISHED else OPEN
    return Saying(StatementKind.TODO, text, Speaker.LOG, subject=subject, outcome=outcome)


def _answered(text: str) -> Iterator[Saying]:
    """What the user chose, with the question as its subject."""
    for question, answer in _ANSWER.findall(text):
        if not (_NO_ANSWER.match(answer) or is_steering(answer)):
            yield Saying(StatementKind.DECISION, f"{question} {answer}", Speaker.USER, subject=question)
