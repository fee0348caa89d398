"""A tool's parameters are its Python signature: derive JSON Schemas from it, and decode calls into it.

The supported types are limited on purpose (str, int, float, bool, dict, Any, Literal, TypedDict, lists of these, `X |
list[X]`, `| None`). A test describes every tool, and an unknown annotation never reaches a user. Strings are data:
where text is allowed, "null" and "123" stay text, also for `Any`."""

from __future__ import annotations

import json
import os
import types
from collections.abc import Callable, Mapping
from inspect import signature
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ..domain.errors import InvalidInput, Missing

if TYPE_CHECKING:
    from inspect import Parameter

Json = dict[str, Any]
Structure = TypeVar("Structure")

_JSON_NAMES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    type(None): "null",
}


class Range(NamedTuple):
    """Inclusive bounds of a number's value, or of the length of a string or list."""

    low: int | float | None = None
    high: int | float | None = None


class PathName(NamedTuple):
    """A text that names a file or directory, absolute or relative. Names that no file system accepts are refused."""

    longest: int = 4_096
    longest_part: int = 255
    """Both lengths are in bytes."""
    deepest: int = 256
    """Maximum number of parts.

    Python creates nested directories recursively, and fails at a depth of about a thousand."""


class CoreName(NamedTuple):
    """Core's name of the parameter, if it differs from the tool's. Errors are worded by it."""

    name: str


class OrNull(NamedTuple):
    """Marks a parameter whose schema mentions null. A null means "absent" for every parameter."""


class OneOf(NamedTuple):
    """The permitted values of a text that are known only at run time."""

    values: tuple[str, ...]


class Shaped(NamedTuple, Generic[Structure]):
    """An answer whose text is arranged differently from its structure. The output schema describes the structure."""

    text: Json
    structured: Structure


class Param(NamedTuple):
    name: str
    wire: str
    schema: Json
    required: bool
    path: PathName | None = None
    core_name: str = ""


def read_params(fn: Callable[..., Any], wire: Callable[[str], str]) -> tuple[Param, ...]:
    """Return every parameter after the first one, which is the core."""
    hints = get_type_hints(fn, include_extras=True)
    params = list(signature(fn).parameters.values())[1:]
    extras = {name: {type(extra): extra for extra in get_args(hint)} for name, hint in hints.items()}
    return tuple(
        Param(
            p.name,
            wire(p.name),
            _with_default(_schema(hints[p.name]), p),
            required=p.default is p.empty,
            path=extras[p.name].get(PathName),
            core_name=extras[p.name].get(CoreName, CoreName(p.name)).name,
        )
        for p in params
    )


def spellings(params: tuple[Param, ...]) -> dict[str, str]:
    """Map the names that core, the tool's function or callers use for a parameter to the callers' spelling."""
    return (
        {p.core_name: p.wire for p in params}
        | {p.name: p.wire for p in params}
        | {p.wire: p.wire for p in params}
    )


def input_schema(params: tuple[Param, ...]) -> Json:
    schema: Json = {
        "type": "object",
        "properties": {p.wire: p.schema for p in params},
        "additionalProperties": False,
    }
    if required := [p.wire for p in params if p.required]:
        schema["required"] = required
    return schema


def answers_in_text(fn: Callable[..., Any]) -> bool:
    """True if a success is plain text without a structure."""
    return get_type_hints(fn)["return"] is str


def output_schema(fn: Callable[..., Any], constants: Json) -> Json:
    """Return the schema of a success: the function's TypedDict and the constants that its surface adds."""
    hint = get_type_hints(fn, include_extras=True)["return"]
    schema = _schema(get_args(hint)[0] if get_origin(hint) is Shaped else hint)
    fixed = {name: {"type": _JSON_NAMES[type(value)], "const": value} for name, value in constants.items()}
    return schema | {
        "properties": fixed | schema["properties"],
        "required": [*fixed, *schema.get("required", ())],
    }


def decode(params: tuple[Param, ...], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Convert arguments to Python keywords, or raise InvalidInput that names the argument.

    A null means "absent", except for parameters that accept any JSON."""
    known = {p.wire: p for p in params}
    for name in arguments:
        if name not in known:
            raise InvalidInput(f"{name} is not a known argument.", hint=_known_names(known), field=name)
    # models send null for arguments they leave out; a null is a value only for parameters that accept any JSON
    values = {
        p.name: _check(arguments[p.wire], p.schema, p.wire)
        for p in params
        if arguments.get(p.wire) is not None or (p.wire in arguments and _takes_null(p.schema))
    }
    for p in params:
        if p.required and p.name not in values:
            raise Missing(f"{p.wire} is required.", field=p.wire)
        if p.path is not None and p.name in values:
            _check_path(values[p.name], p.path, p.wire)
    return values


def decode_object(shape: type, value: Mapping[str, Any]) -> dict[str, Any]:
    """Check an object inside an argument against its TypedDict. InvalidInput names the wrong member."""
    schema = _typed_dict_schema(shape)
    members = tuple(
        Param(name, name, member, required=name in schema.get("required", ()))
        for name, member in schema["properties"].items()
    )
    return decode(members, value)


def _takes_null(schema: Json) -> bool:
    return "type" not in schema and "anyOf" not in schema


def _known_names(known: Mapping[str, Param]) -> str:
    return f"Known arguments: {', '.join(known)}." if known else "This tool takes no arguments."


def _with_default(schema: Json, parameter: Parameter) -> Json:
    return schema if parameter.default in (None, parameter.empty) else schema | {"default": parameter.default}


def _schema(annotation: Any) -> Json:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated_schema(args)
    if origin is NotRequired:
        return _schema(args[0])
    if annotation is Any:
        return {}
    if annotation in _JSON_NAMES or origin is dict:
        return {"type": _JSON_NAMES[origin or annotation]}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin is list:
        return {"type": "array", "items": _schema(args[0])}
    if is_typeddict(annotation):
        return _typed_dict_schema(annotation)
    if origin in (Union, types.UnionType):
        # for a parameter None means "absent", and `X | None` has the schema of X
        options = [arg for arg in args if arg is not type(None)]
        if len(options) == 1:
            return _schema(options[0])
        if len(options) == 2 and get_origin(options[1]) is list:
            return {"anyOf": [_schema(option) for option in options]}
    raise TypeError(f"a tool cannot take or return {annotation!r}")


def _annotated_schema(args: tuple[Any, ...]) -> Json:
    schema = _schema(args[0])
    for extra in args[1:]:
        if isinstance(extra, str):
            schema["description"] = extra
        elif isinstance(extra, Range):
            low, high = _BOUNDS[schema["type"]]
            bounds = {low: extra.low, high: extra.high}
            schema |= {name: value for name, value in bounds.items() if value is not None}
        elif isinstance(extra, OneOf):
            schema["enum"] = list(extra.values)
        elif isinstance(extra, OrNull):
            schema["anyOf"] = [{"type": schema.pop("type")}, {"type": "null"}]
    return schema


def _typed_dict_schema(shape: Any) -> Json:
    hints = get_type_hints(shape, include_extras=True)
    # __required_keys__ is wrong where annotations are strings
    required = [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
    schema: Json = {
        "type": "object",
        "properties": {name: _member_schema(hint) for name, hint in hints.items()},
    }
    return schema | ({"required": required} if required else {})


def _member_schema(hint: Any) -> Json:
    """Return the schema of an answer's member, where None is null. For a parameter None means "absent"."""
    is_nullable = get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)
    return {"anyOf": [_schema(hint), {"type": "null"}]} if is_nullable else _schema(hint)


_BOUNDS = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
}

_PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


def _check(argument: Any, schema: Json, wire: str) -> Any:
    if "anyOf" in schema:  # `X | list[X]`: use the first type that fits; the error names both
        schema = _option(argument, schema["anyOf"], wire)
    kind = schema.get("type")
    if kind is None:
        _check_text(json.dumps(argument, ensure_ascii=False), wire)
        return argument
    value = _as_meant(argument, kind)
    if not _is(value, kind):
        raise InvalidInput(f"{wire} must be of type {kind}, not {_json_name(value)}.", field=wire)
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidInput(f"{wire} must be one of {', '.join(schema['enum'])}.", field=wire)
    _check_bounds(value, schema, wire)
    if kind == "array":
        return [_check(item, schema["items"], wire) for item in value]
    if kind in ("string", "object"):
        _check_text(value if kind == "string" else json.dumps(value, ensure_ascii=False), wire)
    return value


def _option(argument: Any, options: list[Json], wire: str) -> Json:
    for option in options:
        if _is(argument, option["type"]):
            return option
    kinds = " or ".join(option["type"] for option in options)
    raise InvalidInput(f"{wire} must be of type {kinds}, not {_json_name(argument)}.", field=wire)


def _is(value: Any, kind: str) -> bool:
    # to Python, True is an integer
    return isinstance(value, _PYTHON[kind]) and isinstance(value, bool) == (kind == "boolean")


def _as_meant(value: Any, kind: str) -> Any:
    """Convert a value to the requested type: 5.0 is an integer in JSON, and some models send an object or array as JSON
    text."""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind in ("object", "array") and isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _check_bounds(value: Any, schema: Json, wire: str) -> None:
    if schema["type"] not in _BOUNDS:
        return
    low, high = _BOUNDS[schema["type"]]
    sized = isinstance(value, str | list)
    measure, noun = (len(value), f"The length of {wire}") if sized else (value, wire)
    if low in schema and measure < schema[low]:
        raise InvalidInput(f"{noun} must be at least {schema[low]}.", field=wire)
    if high in schema and measure > schema[high]:
        raise InvalidInput(f"{noun} must be at most {schema[high]}.", field=wire)


def _check_path(value: str, path: PathName, wire: str) -> None:
    written = value.encode()
    part = max(map(len, written.replace(b"\\", b"/").split(b"/")))
    if len(written) > path.longest or part > path.longest_part:
        raise InvalidInput(
            f"{wire} is too long for a path: {len(written):,} bytes, the longest name in it {part:,}.",
            hint=f"A path has at most {path.longest:,} bytes, each name in it {path.longest_part}.",
            field=wire,
        )
    if (names := value.count(os.sep)) > path.deepest:
        raise InvalidInput(
            f"{wire} is too deep for a path: {names:,} names.",
            hint=f"A path has at most {path.deepest} names.",
            field=wire,
        )


def _check_text(value: str, wire: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{wire} holds half of a surrogate pair at character {error.start}, which is not text.",
            hint="Send valid Unicode.",
            field=wire,
        ) from None


def _json_name(value: Any) -> str:
    if isinstance(value, list):
        return "array"
    return _JSON_NAMES.get(type(value), type(value).__name__)
