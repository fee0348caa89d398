"""The part of Helm's template language that our chart uses: values, `quote`, `join`, `first`, `toJson`, `if` and `range`.

Anything else in a template is an error, so that a chart which this renders says nothing that was not looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

Variables = dict[str, Any]
_TAG = re.compile(r"(\s*\{\{-|\{\{)\s*(.*?)\s*(?:-\}\}|\}\})")
_RANGE = re.compile(r"range (?:(\$\w+), )?(\$\w+) := (\S+)")


def render(template: str, context: Variables) -> str:
    pieces, place = [], 0
    for match in _TAG.finditer(template):
        pieces += [template[place : match.start()], match]
        place = match.end()
    text, rest = _block([*pieces, template[place:]], {"$": context})
    assert not rest, "an end without a beginning"
    return text


def _block(pieces: list[Any], variables: Variables) -> tuple[str, list[Any]]:
    text = ""
    while pieces:
        piece, *pieces = pieces
        if isinstance(piece, str):
            text += piece
            continue
        before, action = piece[1].removesuffix("{{-").removesuffix("{{"), piece[2]
        if action == "end":
            return text, [piece, *pieces]
        if action.startswith("if "):
            inner, after = _block(pieces, variables)
            text += inner if _value(action[3:], variables) else ""
            pieces = _without_end(after)
        elif match := _RANGE.fullmatch(action):
            inner, after = "", pieces
            for key, value in _pairs(_value(match[3], variables)):
                part, _ = _block(
                    pieces, variables | {match[2]: value} | ({match[1]: key} if match[1] else {})
                )
                inner += part
            _, after = _block(pieces, variables | {match[1] or "": "", match[2]: ""})
            text += inner
            pieces = _without_end(after)
        else:
            text += ("" if "{{-" in piece[1] else before) + str(_value(action, variables))
    return text, []


def _without_end(pieces: list[Any]) -> list[Any]:
    assert pieces, "an end is missing"
    return pieces[1:]


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else list(enumerate(value))


def _value(expression: str, variables: Variables) -> Any:
    first, *filters = expression.split(" | ")
    assert filters in ([], ["quote"]), expression
    name, _, argument = first.partition(" ")
    match name:
        case "join":
            separator, path = argument.split(" ")
            value: Any = json.loads(separator).join(_path(path, variables))
        case "first":
            value = _path(argument, variables)[0]
        case "toJson":
            value = json.dumps(_path(argument, variables))
        case _:
            assert not argument, expression
            value = _path(name, variables)
    return json.dumps(str(value)) if filters else value


def _path(path: str, variables: Variables) -> Any:
    root, *names = path.split(".")
    value = variables[root or "$"]
    for name in names:
        value = value[name]
    return value
