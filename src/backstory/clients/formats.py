"""The formats of configuration files: how to parse each, and how to add or remove one value in its text.

Each function returns splices and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from ..domain.errors import Unreadable
from ..domain.lazy import lazy_name
from . import jsonc, toml
from .edits import Splice, apply
from .jsonc import Dialect

MISSING: Final = object()
Path = Sequence[str]


class Format(NamedTuple):
    parse: Callable[[str], Any]
    put: Callable[[str, Path, Any], list[Splice]]
    """Set the member at a path, creating missing parents."""
    cut: Callable[[str, Path], list[Splice]]
    prune: Callable[[str, Path], list[Splice]]
    """Remove an empty container."""
    append: Callable[[str, Path, Any], list[Splice]] | None = None
    cut_element: Callable[[str, Path, Any], list[Splice]] | None = None


class Change(NamedTuple):
    """One thing that we want in a file."""

    path: tuple[str, ...]
    value: Any
    is_element: bool = False
    """The path is an array, which is to have the value among its elements."""


class Entry(NamedTuple):
    """A change as it was made, with all that undoing it needs."""

    change: Change
    replaced: Any
    """The member that was there before; MISSING if there was none."""
    made: int
    """The number of containers on its path that were created."""
    splices: tuple[Splice, ...]


def _json(dialect: Dialect) -> Format:
    return Format(
        partial(jsonc.parse, dialect=dialect),
        partial(jsonc.put, dialect=dialect),
        partial(jsonc.cut, dialect=dialect),
        partial(jsonc.prune, dialect=dialect),
        partial(jsonc.append, dialect=dialect),
        lambda text, path, value: jsonc.cut(text, path, dialect, element=value),
    )


def _whole_text(text: str) -> Any:
    return text or MISSING


def _put_whole(text: str, path: Path, value: Any) -> list[Splice]:
    return [Splice(0, text, value)]


def _cut_whole(text: str, path: Path) -> list[Splice]:
    return [Splice(0, text, "")]


FORMATS: Mapping[str, Format] = {
    "json": _json(Dialect(comments=False, trailing_commas=False)),
    "json-comments": _json(Dialect(comments=True, trailing_commas=False)),
    "jsonc": _json(Dialect()),
    "toml": Format(toml.parse, toml.put, toml.cut, lambda text, path: []),
    # ruamel.yaml takes 15 ms to import, every server imports this module, and only two clients have YAML files
    "yaml": Format(*(lazy_name("backstory.clients.yaml", name) for name in ("parse", "put", "cut", "prune"))),
    "whole": Format(_whole_text, _put_whole, _cut_whole, lambda text, path: []),
}
"""`whole` is a file that belongs to Backstory; its value is its text."""


def lookup(document: Any, path: Path) -> Any:
    """The member at a path, or MISSING."""
    for key in path:
        if document is None:  # an empty file, or `extensions:` with nothing after it
            return MISSING
        if not isinstance(document, Mapping):
            raise Unreadable(f"{key} is expected in an object, and there is none")
        document = document.get(key, MISSING)
        if document is MISSING:
            return MISSING
    return document


def present(format: Format, text: str, change: Change) -> Any:
    """The present value at the place of a change; an element is present or MISSING."""
    value = lookup(format.parse(text), change.path)
    if change.is_element:
        return change.value if isinstance(value, list) and change.value in value else MISSING
    return value


def equal(present_value: Any, value: Any) -> bool:
    """True if an entry is ours; an empty `env` that some programs add is ignored."""
    if isinstance(present_value, Mapping) and isinstance(value, Mapping):
        return _filled(present_value) == _filled(value)
    return bool(present_value == value)


def _filled(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value not in ({}, None)}


def make(format: Format, text: str, change: Change) -> tuple[str, Entry]:
    replaced = MISSING if change.is_element else present(format, text, change)
    document = format.parse(text)
    containers = len(change.path) if change.is_element else len(change.path) - 1
    new_containers = sum(
        lookup(document, change.path[:depth]) is MISSING for depth in range(1, containers + 1)
    )
    write = format.append if change.is_element else format.put
    assert write is not None
    splices = write(text, change.path, change.value)
    return apply(text, splices), Entry(change, replaced, new_containers, tuple(splices))


def unmake(format: Format, text: str, entry: Entry) -> str:
    """Remove our value from a text that was changed since, or restore the one it replaced."""
    change = entry.change
    if entry.replaced is not MISSING:
        return apply(text, format.put(text, change.path, entry.replaced))
    if change.is_element:
        assert format.cut_element is not None
        text = apply(text, format.cut_element(text, change.path, change.value))
    else:
        text = apply(text, format.cut(text, change.path))
    containers = change.path if change.is_element else change.path[:-1]
    for depth in range(entry.made):
        text = apply(text, format.prune(text, containers[: len(containers) - depth]))
    return text
