"""Edits of YAML as text: add or remove one member of a block mapping, and preserve all other bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from ..domain.errors import Unreadable
from .edits import Splice, apply, line_end, malformed


def parse(text: str) -> Any:
    """The value; None for an empty text, or one of comments alone."""
    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise malformed(text, mark.index if mark else 0, error.problem or "it is not YAML") from None
    except YAMLError as error:
        raise Unreadable(" ".join(str(error).split())) from None


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> list[Splice]:
    """Set a member of a mapping at the root, creating the mapping if it is missing."""
    section, name = path
    present = parse(text)
    if not isinstance(present, Mapping | None):
        raise malformed(text, 0, "a mapping is expected here")
    newline = line_end(text)
    splices = _splices(text, section, name, value, newline)
    members = dict((present or {}).get(section) or {})
    _check(apply(text, splices), {**(present or {}), section: {**members, name: value}}, section)
    return splices


def cut(text: str, path: Sequence[str]) -> list[Splice]:
    """Remove a member; no splices if it is missing."""
    section, name = path
    present = parse(text)
    keys = dict(_keys(_member(text, section)))
    if name not in keys:
        return []
    start, end = _lines(text, keys[name])
    splice = Splice(start, text[start:end], "")
    members = {key: value for key, value in present[section].items() if key != name}
    _check(apply(text, [splice]), {**present, section: members or None}, section)
    return [splice]


def prune(text: str, path: Sequence[str]) -> list[Splice]:
    """Take a mapping of the root out that has no members."""
    key = dict(_keys(_compose(text))).get(path[0]) if path else None
    if key is None or parse(text)[path[0]]:
        return []
    start, end = _lines(text, key)
    return [Splice(start, text[start:end], "")]


def _splices(text: str, section: str, name: str, value: Mapping[str, Any], newline: str) -> list[Splice]:
    root = _compose(text)
    key = dict(_keys(root)).get(section)
    if key is None:
        gap = newline if text.strip("\ufeff") and not text.endswith("\n") else ""
        block = newline.join([f"{section}:", *_block(name, value, "  "), ""])
        return [Splice(len(text), "", gap + block)]
    node = _member(text, section)
    if node is None or (isinstance(node, MappingNode) and not node.value):
        return _into_empty(text, key, node, newline.join(["", *_block(name, value, "  ")]))
    if not isinstance(node, MappingNode) or node.flow_style:
        raise malformed(text, node.start_mark.index, f"{section} is not written with a line for each member")
    keys = dict(_keys(node))
    indent = " " * node.value[0][0].start_mark.column
    block = newline.join([*_block(name, value, indent), ""])
    if name in keys:
        start, end = _lines(text, keys[name])
        return [Splice(start, text[start:end], block)]
    at = _line_after(text, key.end_mark.index)
    return [Splice(at, "", block)]


def _into_empty(text: str, key: Node, node: Node | None, block: str) -> list[Splice]:
    """`extensions:` and `extensions: {}` get lines after theirs."""
    splices = []
    if node is not None and node.end_mark.index > node.start_mark.index:
        start, end = node.start_mark.index, node.end_mark.index
        splices.append(Splice(start, text[start:end], ""))
        text = apply(text, splices)
    end_of_line = _line_after(text, key.end_mark.index)
    at = len(text[:end_of_line].rstrip("\r\n"))
    return [*splices, Splice(at, "", block)]


def _compose(text: str) -> Node | None:
    node: Node | None = YAML(pure=True).compose(text)
    return node


def _member(text: str, section: str) -> Node | None:
    root = _compose(text)
    for key, value in root.value if isinstance(root, MappingNode) else ():
        if key.value == section:
            is_null = isinstance(value, ScalarNode) and not value.value
            return None if is_null else value
    return None


def _keys(node: Node | None) -> Iterator[tuple[str, Node]]:
    for key, _ in node.value if isinstance(node, MappingNode) else ():
        yield key.value, key


def _lines(text: str, key: Node) -> tuple[int, int]:
    """The lines of a member: all lines that are indented more than its key, without trailing comments."""
    start = end = text.rfind("\n", 0, key.start_mark.index) + 1
    at = _line_after(text, start)
    end = at
    while at < len(text):
        after = _line_after(text, at)
        line = text[at:after]
        words = line.strip()
        if words and len(line) - len(line.lstrip(" ")) <= key.start_mark.column:
            break
        if words and not words.startswith("#"):
            end = after
        at = after
    return start, end


def _line_after(text: str, offset: int) -> int:
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def _block(name: str, value: Mapping[str, Any], indent: str) -> Iterator[str]:
    yield f"{indent}{name}:"
    for key, each in value.items():
        if isinstance(each, list) and each:
            yield f"{indent}  {key}:"
            yield from (f"{indent}    - {json.dumps(item, ensure_ascii=False)}" for item in each)
        else:
            yield f"{indent}  {key}: {json.dumps(each, ensure_ascii=False)}"


def _check(text: str, expected: Any, section: str) -> None:
    if parse(text) != expected:
        raise Unreadable(f"{section} is written in a form that must be edited by hand")
