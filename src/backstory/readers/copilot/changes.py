"""Logs of changes to one JSON value, in which VS Code stores chats. Replaying them yields the value."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ..formats.files import open_regular
from ..formats.lines import MISFIT, OBJECTS, read_records
from ..formats.values import items_of

UNKNOWN = "unknown kind of change"


def replay(path: Path, skipped: Counter[str]) -> Any:
    """Return the value after all changes, or after those before the first unknown one."""
    state: Any = None
    with open_regular(path) as stream:
        for _, change in read_records(stream, OBJECTS, skipped):
            keys, value = items_of(change.get("k")), change.get("v")
            try:
                match change.get("kind"):
                    case 0:
                        state = value
                    case 1:
                        _set(state, keys, value)
                    case 2:
                        _extend(state, keys, change.get("i"), items_of(value))
                    case 3:
                        _set(state, keys, None)
                    case _:
                        skipped[UNKNOWN] += 1
                        return state
            except (KeyError, IndexError, TypeError, AttributeError):
                skipped[MISFIT] += 1  # refers to a value from an unreadable line
    return state


def _set(state: Any, keys: list[Any], value: Any) -> None:
    holder, key = _find(state, keys)
    if isinstance(holder, list) and key == len(holder):
        holder.append(value)
    else:
        holder[key] = value


def _extend(state: Any, keys: list[Any], length: object, items: list[Any]) -> None:
    """Cut the list to `length`, if that is a number, and append the items."""
    holder, key = _find(state, keys)
    if isinstance(holder, dict):
        holder.setdefault(key, [])
    if isinstance(length, int):
        del holder[key][length:]
    holder[key].extend(items)


def _find(state: Any, keys: list[Any]) -> tuple[Any, Any]:
    """Return the container of the value at the path `keys`, and the last key."""
    for key in keys[:-1]:
        state = state[key]
    return state, keys[-1]
