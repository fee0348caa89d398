"""Rules for every surface: golden schemas, valid schemas, and a wording for each error."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from backstory.core import Core
from backstory.domain.errors import InvalidInput
from backstory.server.offer import instructions
from backstory.surfaces import all_tools, load_surfaces
from backstory.tools import Surface, Tool
from backstory.tools.params import Param, decode

from ..conftest import caller_of
from ..example_calls import (
    DOOMED,
    OFF_BY_DEFAULT,
    Known,
    chunked_answer,
    emptiest_calls,
    example_calls,
    largest_calls,
)

SURFACES = load_surfaces()
TOOLS = all_tools(SURFACES)
HUGE = 10**30
SHAPED = ("recall_conversations", "get_project_info")
"""Gandalf's document gives their texts another shape than their structure."""


@pytest.mark.parametrize("surface", SURFACES.values(), ids=lambda surface: surface.name)
def test_tools_are_described_as_in_the_golden_file(surface: Surface, request: pytest.FixtureRequest) -> None:
    """After a change that is meant: `pytest tests/surfaces --rewrite-golden`, then read the diff."""
    golden = Path(__file__).with_name(f"{surface.name}.schemas.json")
    described = [tool.describe() for tool in surface.tools.values()]
    if request.config.getoption("--rewrite-golden"):
        golden.write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert described == json.loads(golden.read_text("utf-8"))


def test_instructions_name_a_tool_of_every_guest() -> None:
    guests = [name for name in SURFACES if name != "backstory"]
    text = instructions(guests)
    assert [name for name in guests if not any(tool in text for tool in SURFACES[name].tools)] == []


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_schemas_are_json_schema_2020_12_of_objects(tool: Tool) -> None:
    described = tool.describe()
    for schema in (described["inputSchema"], described.get("outputSchema", {"type": "object"})):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert described["inputSchema"]["additionalProperties"] is False


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_tool_and_parameter_is_explained(tool: Tool) -> None:
    described = tool.describe()
    assert tool.title
    assert tool.description.endswith(".")
    assert all(schema.get("description") for schema in described["inputSchema"]["properties"].values())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_session", {"limit": HUGE, "offset": HUGE}),
        ("get_more_results", {"query": "a", "limit": HUGE, "offset": HUGE}),
        ("search_by_file", {"file_path": "a.py", "limit": HUGE}),
        ("search_by_concept", {"concept": "a", "limit": HUGE}),
        ("retrieve_context", {"query": "a", "limit": HUGE}),
        ("context_session_list", {"limit": HUGE}),
        ("context_get", {"limit": HUGE, "offset": HUGE}),
        ("context_search", {"query": "a", "limit": HUGE, "offset": HUGE}),
        ("context_semantic_search", {"query": "a", "topK": HUGE}),
        ("context_find_related", {"key": "a", "maxDepth": HUGE, "limit": HUGE}),
        ("context_analyze", {"maxDepth": HUGE}),
        ("context_timeline", {"includeItems": True, "itemsPerPeriod": HUGE}),
        ("context_summarize", {"maxLength": HUGE}),
        ("context_delegate", {"taskType": "synthesize", "input": {"maxLength": HUGE}}),
        ("context_delegate", {"taskType": "analyze", "input": {"maxDepth": HUGE}}),
    ],
)
def test_what_no_document_bounds_takes_any_number(core: Core, tool: str, arguments: dict[str, Any]) -> None:
    caller_of(core)("context_save", key="a", value="AUTH-1 is in src/a.py")
    assert not TOOLS[tool].call(core, arguments).is_error


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_what_only_reads_destroys_nothing(tool: Tool) -> None:
    hints = tool.describe()["annotations"]
    assert not (hints["readOnlyHint"] and hints["destructiveHint"])
    assert hints["openWorldHint"] is False


def test_replies_are_what_the_output_schemas_say(core: Core, tmp_path: Path) -> None:
    core.caller.directory = str(tmp_path)
    one, two = (core.through("projectmemory").memories.save(text).id for text in ("One.", "Two."))
    doomed = TOOLS["context_save"].call(core, {"key": DOOMED, "value": "Not for long."}).structured or {}
    known = Known(one, two, doomed["sessionId"], str(tmp_path), chunked_answer(caller_of(core)))
    core.caller.session = None
    calls = example_calls(known)
    assert {name for name, _ in calls} == set(TOOLS) - OFF_BY_DEFAULT
    for name, arguments in calls:
        reply = TOOLS[name].call(core, arguments)
        assert not reply.is_error, (name, reply.text)
        if "outputSchema" not in TOOLS[name].describe():
            assert reply.structured is None
            continue
        Draft202012Validator(TOOLS[name].describe()["outputSchema"]).validate(reply.structured)
        assert (json.loads(reply.text) == reply.structured) == (name not in SHAPED)


def test_the_emptiest_and_the_largest_replies_are_what_the_output_schemas_say(
    core: Core, tmp_path: Path
) -> None:
    core.caller.directory = directory = str(tmp_path)
    session = caller_of(core)("context_save", key="large", value="Another item has this key.")["sessionId"]
    for name, arguments in (*emptiest_calls(directory, session), *largest_calls(directory, session)):
        reply = TOOLS[name].call(core, arguments)
        assert not reply.is_error, (name, reply.text[:500])
        Draft202012Validator(TOOLS[name].describe()["outputSchema"]).validate(reply.structured)
        if name in SHAPED:
            text, structured = leaves(json.loads(reply.text)), leaves(reply.structured)
            assert not text - structured, "clients may show either"
            if name != "recall_conversations":  # whose text leaves out the arguments that a model gave itself
                assert text == structured


def leaves(value: Any) -> Counter[str]:
    """Every text and number in it, however it is arranged."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return sum(map(leaves, inner), Counter[str]())
    return Counter([json.dumps(value)])


def test_no_two_surfaces_share_a_tools_name() -> None:
    assert len(TOOLS) == sum(len(surface.tools) for surface in SURFACES.values())


def test_surfaces_are_picked_by_name() -> None:
    assert list(load_surfaces(["projectmemory"])) == ["projectmemory"]
    with pytest.raises(InvalidInput, match="There is no surface 'nonsense'") as caught:
        load_surfaces(["projectmemory", "nonsense"])
    assert "projectmemory" in caught.value.hint


REFUSED = [
    ("context_save", {"key": "k", "value": " "}, "value is empty."),
    ("context_get", {"keyPattern": "("}, "keyPattern is not a regular expression"),
    ("context_branch_session", {"branchName": " "}, "branchName is empty."),
    ("context_cache_file", {"filePath": " ", "content": "x"}, "filePath is not the name of a file."),
    ("context_integrate_tool", {"toolName": " ", "eventType": "e", "data": {}}, "toolName is empty."),
    ("context_integrate_tool", {"toolName": "t", "eventType": " ", "data": {}}, "eventType is empty."),
    ("context_export", {"outputPath": "../out"}, "outputPath must not contain"),
    ("context_import", {"filePath": "../in"}, "filePath must not contain"),
    (
        "context_import",
        {"filePath": "f", "merge": True, "sessionName": "n"},
        "sessionName is for a new session",
    ),
    ("save_context", {"context_text": " "}, "context_text is empty."),
    ("replace_context", {"id": "i", "context_text": " "}, "context_text is empty."),
    ("store_reflection", {"content": " "}, "content is empty."),
    ("search_by_file", {"file_path": " "}, "file_path is empty."),
    ("search_by_concept", {"concept": " "}, "concept is empty."),
    ("recall_conversations", {"search_query": "!!"}, "search_query has no word to look for"),
    ("export_individual_conversations", {"output_dir": "../out"}, "output_dir must not contain"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSED)
def test_a_refusal_of_core_names_the_argument_as_its_surface_does(
    core: Core, name: str, arguments: dict[str, Any], message: str
) -> None:
    core.caller.session = core.through("memory-keeper").sessions.start("work").id
    assert message in TOOLS[name].call(core, arguments).text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *((name, arguments) for name, arguments, _ in REFUSED),
        ("context_merge_sessions", {"sourceSessionId": "x", "conflictResolution": "keep_current"}),
        ("context_delete", {"key": "x"}),
        ("context_session_start", {"continueFrom": "x"}),
        ("context_restore_checkpoint", {"name": "x"}),
    ],
)
def test_a_call_that_is_refused_begins_no_session(core: Core, name: str, arguments: dict[str, Any]) -> None:
    assert TOOLS[name].call(core, arguments).is_error
    assert caller_of(core)("context_session_list")["total"] == 0


PATHS = [(tool, param) for tool in TOOLS.values() for param in tool.params if param.path is not None]
TOO_LONG = ("a" * 256, "/tmp/" + "ü" * 128, "/d" * 2_049, "b" * 70_000, "c\\" * 3_000)


def test_every_parameter_that_is_a_path_is_known_as_one() -> None:
    named = [
        param.wire
        for tool in TOOLS.values()
        for param in tool.params
        if param.name.endswith(("path", "dir", "directory"))
    ]
    assert sorted(named) == sorted(param.wire for _, param in PATHS if param.wire != "project")


@pytest.mark.parametrize(("tool", "param"), PATHS, ids=lambda each: each.name)
def test_a_path_that_no_file_system_takes_is_refused_and_named(tool: Tool, param: Param) -> None:
    for path in TOO_LONG:
        with pytest.raises(InvalidInput, match=f"{param.wire} is too long for a path"):
            decode((param,), {param.wire: path})


def test_a_path_with_a_thousand_directories_is_refused_by_its_argument_s_name(
    core: Core, tmp_path: Path
) -> None:
    said, deep = [{"role": "user", "content": "Log in"}], f"{tmp_path}{'/a' * 1_000}"
    refused = caller_of(core)("store_session", conversation=said, format="messages", sessionsDir=deep)
    assert "sessionsDir is too deep" in json.dumps(refused)


def test_a_path_as_long_as_a_file_system_takes_is_no_error_of_ours(core: Core) -> None:
    call, long = caller_of(core), "/".join(["d" * 255] * 15)
    assert call("reflect_on_past", query="x", project=long)["results"] == []
    assert "There is no project" in call("status", working_directory=long)["error"]
    assert call("context_session_start", name="x", projectDir="C:" + "\\a" * 1_000)["sessionId"]
