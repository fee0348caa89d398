"""The changes of an assistant's task lists in the course of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...domain.statements import MessageSaying, StatementKind
from ..statements.lists import DONE, LIST


class TodoItem(NamedTuple):
    text: str
    is_done: bool


class TodoList(NamedTuple):
    """The tasks after a message changed them."""

    message: str
    items: tuple[TodoItem, ...]
    changed: tuple[int, ...]
    """Indexes in `items` of new tasks and of tasks whose state changed."""


def todo_lists(sayings: Iterable[MessageSaying]) -> list[TodoList]:
    """The list after each message that changed it, in the order of the conversation."""
    by_message: dict[str, list[tuple[str, TodoItem]]] = {}
    for message, saying in sayings:
        if saying.kind is StatementKind.TODO and saying.subject:
            item = TodoItem(saying.text, saying.outcome == DONE)
            by_message.setdefault(message, []).append((saying.subject, item))
    tasks: dict[str, TodoItem] = {}
    lists: list[TodoList] = []
    for message, stated in by_message.items():
        former = set(tasks.values())
        tasks = _changed(tasks, stated)
        items = tuple(tasks.values())
        places = tuple(place for place, item in enumerate(items) if item not in former)
        if places:
            lists.append(TodoList(message, items, places))
    return lists


def _changed(tasks: dict[str, TodoItem], stated: list[tuple[str, TodoItem]]) -> dict[str, TodoItem]:
    """Tasks by number, or by text where the assistant writes the whole list each time."""
    if any(subject == LIST for subject, _ in stated):
        return {item.text: item for subject, item in stated if subject == LIST}
    changed = dict(tasks)
    for number, item in stated:
        text = item.text or (changed[number].text if number in changed else "")
        if text:
            changed[number] = TodoItem(text, item.is_done)
    return changed
