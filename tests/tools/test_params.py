"""Arguments: what a signature promises is what a call must bring, and nothing is re-interpreted."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from backstory.domain.errors import InvalidInput
from backstory.tools import camel
from backstory.tools.params import OrNull, Range, decode, input_schema, output_schema, read_params


class Item(TypedDict):
    id: str
    score: NotRequired[Annotated[float, "From 0 to 1"]]


class Answer(TypedDict):
    items: list[Item]
    total: int
    next_page: NotRequired[str]


class Nothing(TypedDict):
    pass


def tool(
    core: object,
    text: Annotated[str, "What to save", Range(high=10)],
    level: Literal["low", "high"] = "low",
    count: Annotated[int, Range(1, 100)] = 5,
    share: Annotated[float | None, Range(low=0, high=1)] = None,
    is_private: bool = False,
    tags: Annotated[list[str], Range(high=3)] | None = None,
    extra_fields: dict[str, Any] | None = None,
    project: Annotated[str | None, "Which", OrNull()] = None,
) -> Answer:
    raise NotImplementedError


PARAMS = read_params(tool, camel)
SCHEMA = input_schema(PARAMS)


def decoded(**arguments: Any) -> dict[str, Any]:
    return decode(PARAMS, {"text": "x"} | arguments)


def refused(**arguments: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        decoded(**arguments)
    return caught.value


def test_the_schema_is_the_signature() -> None:
    assert SCHEMA == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to save", "maxLength": 10},
            "level": {"type": "string", "enum": ["low", "high"], "default": "low"},
            "count": {"type": "integer", "minimum": 1, "maximum": 100, "default": 5},
            "share": {"type": "number", "minimum": 0, "maximum": 1},
            "isPrivate": {"type": "boolean", "default": False},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "extraFields": {"type": "object"},
            "project": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Which"},
        },
        "additionalProperties": False,
        "required": ["text"],
    }
    Draft202012Validator.check_schema(SCHEMA)


def test_the_output_schema_is_the_return_type_and_the_constants_of_the_surface() -> None:
    schema = output_schema(tool, {"success": True})
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["success"] == {"type": "boolean", "const": True}
    assert schema["required"] == ["success", "items", "total"]
    good = {"success": True, "items": [{"id": "a"}], "total": 1}
    assert Draft202012Validator(schema).is_valid(good)
    for bad in ({"total": None}, {"success": False}, {"items": [{"score": 1}]}):
        assert not Draft202012Validator(schema).is_valid(good | bad)


def test_a_reply_without_fields_has_the_constants_alone() -> None:
    def done(core: object) -> Nothing:
        raise NotImplementedError

    assert output_schema(done, {})["type"] == "object"
    assert input_schema(read_params(done, str)) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_arguments_become_keywords_and_what_is_absent_stays_absent() -> None:
    assert decoded() == {"text": "x"}
    assert decoded(isPrivate=True, extraFields={"a": None}, count=7, share=0.5, tags=["a"], level="high") == {
        "text": "x",
        "is_private": True,
        "extra_fields": {"a": None},
        "count": 7,
        "share": 0.5,
        "tags": ["a"],
        "level": "high",
    }


def test_null_stands_for_absence() -> None:
    assert decoded(count=None, tags=None) == {"text": "x"}
    assert str(refused(text=None)) == "text is required."


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"^text is required\.$") as caught:
        decode(PARAMS, {})
    assert caught.value.field == "text"


def test_an_unknown_name_is_named_with_those_that_are_known() -> None:
    error = refused(txet="x")
    assert error.field == "txet"
    assert str(error).startswith("txet is not a known argument. Known arguments: text, level, count")


def test_the_python_spelling_is_not_the_wire_spelling() -> None:
    assert refused(is_private=True).field == "is_private"


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("text", 5, "string, not integer"),
        ("text", ["a"], "string, not array"),
        ("text", {"a": 1}, "string, not object"),
        ("text", True, "string, not boolean"),
        ("level", 1, "string, not integer"),
        ("count", "5", "integer, not string"),
        ("count", True, "integer, not boolean"),
        ("count", 5.5, "integer, not number"),
        ("count", float("inf"), "integer, not number"),
        ("share", "0.5", "number, not string"),
        ("share", False, "number, not boolean"),
        ("isPrivate", 1, "boolean, not integer"),
        ("isPrivate", "true", "boolean, not string"),
        ("tags", {"a": 1}, "array, not object"),
        ("tags", "a", "array, not string"),
        ("tags", '{"a": 1}', "array, not object"),
        ("tags", [1], "string, not integer"),
        ("tags", [None], "string, not null"),
        ("extraFields", [1], "object, not array"),
        ("extraFields", "text", "object, not string"),
        ("extraFields", "3", "object, not integer"),
    ],
)
def test_a_wrong_type_is_refused_and_named(name: str, value: Any, kind: str) -> None:
    error = refused(**{name: value})
    assert error.field == name
    assert str(error) == f"{name} must be of type {kind}."


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("count", 0, "count must be at least 1."),
        ("count", 101, "count must be at most 100."),
        ("share", -0.01, "share must be at least 0."),
        ("share", 1.01, "share must be at most 1."),
        ("text", "x" * 11, "The length of text must be at most 10."),
        ("tags", ["a"] * 4, "The length of tags must be at most 3."),
        ("level", "medium", "level must be one of low, high."),
        ("level", "", "level must be one of low, high."),
    ],
)
def test_what_is_out_of_range_is_refused_and_named(name: str, value: Any, sentence: str) -> None:
    error = refused(**{name: value})
    assert str(error) == sentence
    assert error.field == name


@pytest.mark.parametrize(("name", "value"), [("count", 1), ("count", 100), ("share", 0), ("share", 1.0)])
def test_bounds_are_inside(name: str, value: Any) -> None:
    assert decoded(**{name: value})[name] == value


def test_a_whole_float_is_an_integer() -> None:
    count = decoded(count=5.0)["count"]
    assert (count, type(count)) == (5, int)


@pytest.mark.requirement("server.strings-are-data")
@pytest.mark.parametrize("text", ["null", "123", "true", "[1, 2]", '{"a":1}', "", " ", "\x00", "🎉"])
def test_a_string_is_never_reinterpreted(text: str) -> None:
    assert decoded(text=text)["text"] == text
    assert decoded(tags=[text])["tags"] == [text]
    assert decoded(extraFields={"a": text})["extra_fields"] == {"a": text}


@pytest.mark.requirement("server.strings-are-data")
def test_objects_and_arrays_may_come_as_json_text() -> None:
    assert decoded(tags='["a", "null"]')["tags"] == ["a", "null"]
    assert decoded(extraFields='{"a": [1]}')["extra_fields"] == {"a": [1]}
    assert refused(tags="[1]").field == "tags"
    assert refused(tags='["a", "b", "c", "d"]').field == "tags"


@pytest.mark.parametrize("name", ["tags", "extraFields"])
def test_json_text_too_deep_to_read_is_refused_not_a_crash(name: str) -> None:
    assert refused(**{name: "[" * 100_000}).field == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", "a\ud83d"),
        ("tags", ["ok", "\udc00"]),
        ("extraFields", {"a": ["\ud83d"]}),
        ("extraFields", {"\ud83d": 1}),
        ("extraFields", '{"a": "\\ud83d"}'),
    ],
    ids=["string", "item of an array", "deep in an object", "name in an object", "escaped in JSON text"],
)
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(name: str, value: Any) -> None:
    error = refused(**{name: value})
    assert error.field == name
    assert "surrogate" in str(error)


def test_any_json_is_taken_as_it_is_and_described_without_a_type() -> None:
    def takes(core: object, data: Annotated[Any, "Whatever"], more: Any | None = None) -> Nothing:
        raise NotImplementedError

    params = read_params(takes, str)
    assert input_schema(params)["properties"] == {"data": {"description": "Whatever"}, "more": {}}
    for value in ({"a": [1, None]}, [1], "text", '{"a": 1}', "null", 5, 1.5, True, False, None):
        assert decode(params, {"data": value}) == {"data": value}
    with pytest.raises(InvalidInput, match="surrogate"):
        decode(params, {"data": ["\ud800"]})


def test_an_annotation_outside_the_vocabulary_is_refused_before_any_call() -> None:
    def bad(core: object, when: set[str]) -> Nothing:
        raise NotImplementedError

    def union(core: object, value: int | str) -> Nothing:
        raise NotImplementedError

    for fn in (bad, union):
        with pytest.raises(TypeError, match="cannot take or return"):
            read_params(fn, str)


def test_one_or_a_list_of_them_is_taken_as_it_comes() -> None:
    def one_or_many(
        core: object, task: Annotated[Literal["a", "b"] | list[Literal["a", "b"]], "What"]
    ) -> Nothing:
        raise NotImplementedError

    params = read_params(one_or_many, str)
    names = {"type": "string", "enum": ["a", "b"]}
    assert params[0].schema == {"anyOf": [names, {"type": "array", "items": names}], "description": "What"}
    assert decode(params, {"task": "a"}) == {"task": "a"}
    assert decode(params, {"task": ["a", "b"]}) == {"task": ["a", "b"]}
    for wrong in ("c", ["a", "c"], '["a"]', 7):
        with pytest.raises(InvalidInput) as caught:
            decode(params, {"task": wrong})
        assert caught.value.field == "task"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
values = st.one_of(json_values, st.sampled_from(["low", "high", 5, 0.5, ["a"]]))


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "unknown"]), values))
def test_what_the_schema_accepts_is_decoded_and_the_rest_refused(arguments: dict[str, Any]) -> None:
    """But for two kindnesses: null is absence, and JSON text may stand for an object or array."""
    given_ = {name: value for name, value in arguments.items() if value is not None}
    if any(isinstance(given_.get(name), str) for name in ("tags", "extraFields")):
        return
    if Draft202012Validator(SCHEMA).is_valid(given_) and ("unknown" not in arguments):
        assert len(decode(PARAMS, arguments)) == len(given_)
    else:
        with pytest.raises(InvalidInput):
            decode(PARAMS, arguments)


@pytest.mark.parametrize(("name", "spelled"), [("a", "a"), ("key_pattern", "keyPattern"), ("a_b_c", "aBC")])
def test_camel_case_is_a_spelling(name: str, spelled: str) -> None:
    assert camel(name) == spelled
