"""Edits of JSON with comments as text: add or remove one member and preserve all other bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..domain.errors import Unreadable
from ..domain.lazy import lazy_pattern
from .edits import Splice, apply, in_lower_case, indentation, line_end, malformed

_COMMENT = lazy_pattern(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = " \t\r\n"


class Dialect(NamedTuple):
    """The extensions of JSON that a client's own parser accepts."""

    comments: bool = True
    trailing_commas: bool = True


LENIENT = Dialect()


class Item(NamedTuple):
    """A member of an object, or an element of an array."""

    key: str | None
    start: int
    node: Node
    comma: int | None
    """The offset of the comma after it."""


class Node(NamedTuple):
    value: Any
    start: int
    end: int
    items: tuple[Item, ...] = ()


def parse(text: str, dialect: Dialect = LENIENT) -> Any:
    """The value; None for an empty text, or one of comments alone."""
    root = _JsoncParser(text, dialect).document()
    return root.value if root else None


def put(text: str, path: Sequence[str], value: Any, dialect: Dialect = LENIENT) -> list[Splice]:
    """Set the member at a path of keys, creating missing objects."""
    node, missing = _walk(text, path, dialect)
    if node is None:
        return [_beginning(text, _nested(missing, value))]
    if not missing:
        return [_replacement(text, node, value)]
    return _insertion(text, _container(text, node, dict), missing[0], _nested(missing[1:], value))


def append(text: str, path: Sequence[str], value: Any, dialect: Dialect = LENIENT) -> list[Splice]:
    """Add an element to the array at a path of keys, which is made where it is missing."""
    node, missing = _walk(text, path, dialect)
    if node is None or missing:
        return put(text, path, [value], dialect)
    return _insertion(text, _container(text, node, list), None, value)


def cut(text: str, path: Sequence[str], dialect: Dialect = LENIENT, *, element: Any = None) -> list[Splice]:
    """Remove the member at a path of keys, or an element of the array there; no splices if it is missing."""
    node, missing = _walk(text, path if element is not None else path[:-1], dialect)
    if node is None or missing:
        return []
    wanted = [
        number
        for number, item in enumerate(node.items)
        if (item.key == path[-1] if element is None else item.node.value == element)
    ]
    if not wanted:
        return []
    with_line = _removal(text, node, wanted[-1], with_space=True)
    expected = _values_without(node, wanted[-1])
    try:
        left, _ = _walk(apply(text, with_line), path if element is not None else path[:-1], dialect)
        if left is not None and _values(left) == expected:
            return with_line
    except Unreadable:  # a comment before the item needs the end of its line
        pass
    return _removal(text, node, wanted[-1], with_space=False)


def prune(text: str, path: Sequence[str], dialect: Dialect = LENIENT) -> list[Splice]:
    """Remove the object or array at a path if it is empty and contains no comment."""
    node, missing = _walk(text, path, dialect)
    if node is None or missing or text[node.start + 1 : node.end - 1].strip(_SPACE):
        return []
    return cut(text, path, dialect) if path else [Splice(node.start, text[node.start : node.end], "")]


def _values(node: Node) -> list[tuple[str | None, Any]]:
    return [(item.key, item.node.value) for item in node.items]


def _values_without(node: Node, number: int) -> list[tuple[str | None, Any]]:
    return [pair for index, pair in enumerate(_values(node)) if index != number]


def _walk(text: str, path: Sequence[str], dialect: Dialect) -> tuple[Node | None, Sequence[str]]:
    """The deepest node on the path, and the keys that it has not. Of equal keys the last counts, as in every parser."""
    node = _JsoncParser(text, dialect).document()
    for depth, key in enumerate(path):
        if node is None:
            return None, path
        nodes = [item.node for item in _container(text, node, dict).items if item.key == key]
        if not nodes:
            return node, path[depth:]
        node = nodes[-1]
    return node, ()


def _container(text: str, node: Node, kind: type) -> Node:
    if not isinstance(node.value, kind):
        wanted = "an object" if kind is dict else "an array"
        raise malformed(text, node.start, f"{wanted} is expected here")
    return node


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _beginning(text: str, value: Any) -> Splice:
    """Into a text without a value: after its comments, on lines of its own."""
    newline = line_end(text)
    before = newline if text.lstrip("\ufeff") and not text.endswith("\n") else ""
    return Splice(len(text), "", before + _dumped(value, "  ", "", newline) + newline)


def _replacement(text: str, node: Node, value: Any) -> Splice:
    newline = line_end(text)
    if "\n" in (text[node.start : node.end] if node.items else text.strip(_SPACE)):
        written = _dumped(value, _unit(text), indentation(text, node.start), newline)
    else:
        written = json.dumps(value, ensure_ascii=False)
    return Splice(node.start, text[node.start : node.end], written)


def _insertion(text: str, node: Node, key: str | None, value: Any) -> list[Splice]:
    """A new last item, after the comments that follow the one before it."""
    last = node.items[-1] if node.items else None
    end = node.start + 1 if last is None else last.node.end if last.comma is None else last.comma + 1
    tail = text[end : node.end - 1]
    at = end + len(tail.rstrip(_SPACE))
    newline, unit = line_end(text), _unit(text)
    own = indentation(text, node.start)
    inside = _indentation_inside(text, node, own + unit)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    comma = "," if last and last.comma is not None else ""
    if last is None and not tail.strip(_SPACE):
        if "\n" not in text.strip(_SPACE):
            return [Splice(end, tail, name + json.dumps(value, ensure_ascii=False))]
        written = name + _dumped(value, unit, inside, newline)
        return [Splice(end, tail, newline + inside + written + newline + own)]
    splices = [] if last is None or last.comma is not None else [Splice(end, "", ",")]
    shift = len(splices)
    if _is_on_lines(text, node):
        written = newline + inside + name + _dumped(value, unit, inside, newline) + comma
    else:
        written = " " + name + json.dumps(value, ensure_ascii=False) + comma
    return [*splices, Splice(at + shift, "", written)]


def _is_on_lines(text: str, node: Node) -> bool:
    """True if its items are on separate lines; a line comment forces the next item onto its own line."""
    first = node.items[0].start if node.items else node.end - 1
    last = node.items[-1].node.end if node.items else node.start
    return "\n" in text[node.start : first] or "\n" in text[last : node.end]


def _indentation_inside(text: str, node: Node, default: str) -> str:
    if node.items:
        start = node.items[-1].start
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if "\n" in text[node.start : start] and not line.strip(" \t"):
            return line
    return default


def _unit(text: str) -> str:
    """One level of indentation, as the first line that has one shows it."""
    match = re.search(r"^([ \t]+)[\"\]}]", text, re.MULTILINE)
    return match[1] if match else "  "


def _dumped(value: Any, unit: str, inside: str, newline: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + inside)


def _removal(text: str, node: Node, number: int, *, with_space: bool) -> list[Splice]:
    item = node.items[number]
    start, end = item.start, item.node.end
    if with_space:
        start = len(text[:start].rstrip(_SPACE))
    splices = []
    if item.comma is not None:
        between = text[end : item.comma]
        splices.append(Splice(start, text[start : item.comma + 1], between if between.strip() else ""))
    else:
        splices.append(Splice(start, text[start:end], ""))
        before = node.items[number - 1].comma if number else None
        if before is not None:  # it separated the item from the one before
            splices.append(Splice(before, ",", ""))
    return splices


class _JsoncParser:
    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect
        self._at = int(text.startswith("\ufeff"))
        self._scalars = json.JSONDecoder(parse_constant=self._constant)

    def document(self) -> Node | None:
        try:
            if not self._next():
                return None
            root = self._value()
        except RecursionError:
            raise malformed(self._text, self._at, "it is nested too deep") from None
        if self._next():
            raise malformed(self._text, self._at, "there is more after the end")
        return root

    def _next(self) -> str:
        """The character after spaces and comments; empty at the end."""
        text = self._text
        while self._at < len(text):
            if text[self._at] in _SPACE:
                self._at += 1
            elif text[self._at] == "/":
                comment = _COMMENT.match(text, self._at)
                if comment is None:
                    raise malformed(text, self._at, "a comment is not closed")
                if not self._dialect.comments:
                    raise malformed(text, self._at, "a comment, which this client does not accept")
                self._at = comment.end()
            else:
                return text[self._at]
        return ""

    def _value(self) -> Node:
        character = self._next()
        if character == "{":
            return self._items("}")
        if character == "[":
            return self._items("]")
        try:
            value, end = self._scalars.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise malformed(self._text, error.pos, in_lower_case(error.msg)) from None
        start, self._at = self._at, end
        return Node(value, start, end)

    def _items(self, closing: str) -> Node:
        start = self._at
        items: list[Item] = []
        self._at += 1
        while self._next() != closing:
            if items and items[-1].comma is None:
                raise malformed(self._text, self._at, f"a comma or {closing} is expected here")
            items.append(self._item(has_key=closing == "}"))
        if items and items[-1].comma is not None and not self._dialect.trailing_commas:
            raise malformed(self._text, items[-1].comma, "a comma without anything after it")
        self._at += 1
        values = [item.node.value for item in items]
        value = values if closing == "]" else dict(zip((item.key for item in items), values, strict=True))
        return Node(value, start, self._at, tuple(items))

    def _item(self, *, has_key: bool) -> Item:
        start = self._at
        key = None
        if has_key:
            if self._next() != '"':
                raise malformed(self._text, self._at, "a name in double quotes is expected here")
            key = self._value().value
            if self._next() != ":":
                raise malformed(self._text, self._at, "a colon is expected here")
            self._at += 1
        node = self._value()
        if self._next() != ",":
            return Item(key, start, node, None)
        self._at += 1
        return Item(key, start, node, self._at - 1)

    def _constant(self, name: str) -> Any:
        raise malformed(self._text, self._at, f"{name} is no JSON")
