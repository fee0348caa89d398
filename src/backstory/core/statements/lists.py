"""Lists of tasks that assistants keep with a tool of their own, and answers that a tool got from the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...domain.lazy import lazy_pattern
from ...domain.statements import Saying, Speaker, StatementKind
from ...readers import ToolCall
from ...readers.formats.touched import asks_user
from ...readers.formats.values import fields_of, records_of, text_of
from .words import is_steering

OPEN, DONE = "open", "done"
MAX_FREE_ANSWER_WORDS = 8
LIST = "list"
"""The subject of items in a list that is rewritten completely each time."""
_ITEMS = ("todos", "plan", "items", "todoList", "tasks")
_TEXTS = ("content", "step", "title", "text", "description", "subject")
_FINISHED = frozenset(
    {"completed", "complete", "done", "deleted", "cancelled", "canceled", "skipped", "closed"}
)
_TASK_NUMBER = lazy_pattern(r"\bTask #?(\w+)\b")
_ANSWER = lazy_pattern(r'"((?:[^"\\]|\\.){3,400})"="((?:[^"\\]|\\.){1,400})"')
_NO_ANSWER = lazy_pattern(r"^\s*(?:no response|no answer|\(?none\)?|skip)", re.IGNORECASE)


def sayings_of(call: ToolCall) -> Iterator[Saying]:
    name = call.name.lower()
    if name == "taskcreate":
        yield from _created(call)
    elif name == "taskupdate":
        yield from _updated(fields_of(call.given))
    elif "todo" in name or "plan" in name:
        yield from _listed(fields_of(call.given))
    elif asks_user(name) and call.result is not None:
        yield from _answered(call.result.text, _options(fields_of(call.given)))


def _listed(arguments: Mapping[str, Any]) -> Iterator[Saying]:
    """Every item, with its state: the list as it is from now on."""
    for key in _ITEMS:
        for item in records_of(arguments.get(key)):
            text = next(filter(None, (text_of(item.get(field)).strip() for field in _TEXTS)), "")
            if text:
                yield _todo(text, LIST, text_of(item.get("status")))


def _created(call: ToolCall) -> Iterator[Saying]:
    text = text_of(fields_of(call.given).get("subject")).strip()
    # The number is known only from the answer of the tool, and later updates name nothing else.
    number = _TASK_NUMBER.search(call.result.text) if call.result is not None else None
    if text and number:
        yield _todo(text, f"task {number[1]}", "")


def _updated(arguments: Mapping[str, Any]) -> Iterator[Saying]:
    number, status = text_of(arguments.get("taskId")), text_of(arguments.get("status"))
    if number and status:
        yield _todo(text_of(arguments.get("subject")).strip(), f"task {number}", status)


def _todo(text: str, subject: str, status: str) -> Saying:
    outcome = DONE if status.lower() in _FINISHED else OPEN
    return Saying(StatementKind.TODO, text, Speaker.LOG, subject=subject, outcome=outcome)


def _options(arguments: Mapping[str, Any]) -> set[str]:
    """The labels that the user could choose from; empty if the log does not have them."""
    return {
        text_of(option.get("label")).strip()
        for question in records_of(arguments.get("questions"))
        for option in records_of(question.get("options"))
    } - {""}


def _answered(text: str, options: set[str]) -> Iterator[Saying]:
    """Choices of the user, each with its question as its subject.

    A long answer in the user's own words, where options were offered, is talk: it corrects the question or puts it off."""
    for question, answer in _ANSWER.findall(text):
        is_talk = bool(options) and answer not in options and len(answer.split()) > MAX_FREE_ANSWER_WORDS
        if not (is_talk or _NO_ANSWER.match(answer) or is_steering(question, answer)):
            yield Saying(StatementKind.DECISION, f"{question} {answer}", Speaker.USER, subject=question)
