"""One thing is put into a text of any layout and taken out again, and nothing else of it changes."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.clients.edits import apply, undo
from backstory.clients.formats import FORMATS, MISSING, Change, lookup, make, present, unmake
from backstory.domain.errors import Unreadable

from .texts import KEYS, VALUES, json_texts

ENTRY = {"command": "/opt/my tools/backstory", "args": ["serve"]}
CHANGE = Change(("mcpServers", "backstory"), ENTRY)
ELEMENT = Change(("hooks", "SessionStart"), {"hooks": [{"type": "command"}]}, is_element=True)
SERVERS = st.dictionaries(KEYS, VALUES, max_size=3)
ROOTS = st.dictionaries(KEYS.filter(lambda key: key not in ("mcpServers", "hooks")), VALUES, max_size=3)
CONFIGS = st.builds(
    lambda root, more: root | more,
    ROOTS,
    st.fixed_dictionaries(
        {},
        optional={"mcpServers": SERVERS, "hooks": st.dictionaries(st.just("SessionStart"), st.lists(VALUES))},
    ),
)
NO_TEXT = st.sampled_from(["", "\ufeff", "\n", "  \r\n"])


def comments(text: str) -> list[str]:
    """Those of a text whose strings have none."""
    return re.findall(r"//[^\r\n]*|/\*.*?\*/", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text), re.DOTALL)


def check_json(text: str, format_name: str, change: Change) -> None:
    format = FORMATS[format_name]
    before = format.parse(text) or {}
    after, entry = make(format, text, change)
    assert undo(after, entry.splices) == text
    found = lookup(format.parse(after), change.path)
    assert found[-1] == change.value if change.is_element else found == change.value
    cleaned = unmake(format, after, entry)
    again = format.parse(cleaned) or {}
    assert again == before
    if (
        entry.replaced is MISSING
    ):  # else its comments went with it, and come back only where nobody edited since
        assert comments(after) == comments(cleaned) == comments(text)


@given(json_texts(root=CONFIGS, comments=True, trailing=True) | NO_TEXT)
def test_an_entry_goes_into_json_with_comments_and_out_again(text: str) -> None:
    check_json(text, "jsonc", CHANGE)


@given(json_texts(root=CONFIGS, comments=True, trailing=True) | NO_TEXT)
def test_an_element_goes_into_an_array_and_out_again(text: str) -> None:
    check_json(text, "jsonc", ELEMENT)


@given(json_texts(root=CONFIGS, comments=False, trailing=False) | NO_TEXT, st.sampled_from([CHANGE, ELEMENT]))
def test_strict_json_stays_strict(text: str, change: Change) -> None:
    check_json(text, "json", change)
    after, _ = make(FORMATS["json"], text, change)
    assert lookup(json.loads(after.removeprefix("\ufeff")), change.path)


@given(json_texts(root=CONFIGS, comments=True, trailing=False), st.sampled_from([CHANGE, ELEMENT]))
def test_a_parser_without_trailing_commas_still_reads_it(text: str, change: Change) -> None:
    check_json(text, "json-comments", change)


TOML_LINES = st.lists(
    st.sampled_from(
        [
            "model = 'x'",
            "# note",
            "",
            "[features]",
            "[mcp_servers.other]",
            '[mcp_servers.other.env]\nA = "1"',
            'text = """\n[mcp_servers.backstory]\ncommand = 1\n"""',
            "many = [\n  [1],\n]",
            "[[list]]",
            "[mcp_servers.backstory]\ncommand = 'old' # mine\n[mcp_servers.backstory.env]\nB = '2'\n# end",
        ]
    ),
    unique=True,
    max_size=8,
)


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(
    TOML_LINES.map("\n".join).filter(is_toml),
    st.sampled_from(["", "\n", "\n\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.booleans(),
)
def test_a_table_goes_into_toml_and_out_again(text: str, ending: str, mark: str, is_windows: bool) -> None:
    text = mark + (text + ending).replace("\n", "\r\n" if is_windows else "\n")
    format, change = FORMATS["toml"], Change(("mcp_servers", "backstory"), ENTRY)
    before = format.parse(text)
    after, entry = make(format, text, change)
    assert undo(after, entry.splices) == text
    assert lookup(format.parse(after), change.path) == ENTRY
    assert format.parse(unmake(format, after, entry)) == before


YAML_TEXTS = [
    "",
    "\ufeff",
    "# only a comment\n",
    "GOOSE_MODEL: x",
    "extensions:\n",
    "extensions: {}\nGOOSE_MODEL: x\n",
    "extensions: {} # none yet",
    "extensions: # mine\n  # tools\n  developer:\n    text: |\n      # no comment\n\n    args: []\n\n# end\nz: 1\n",
    "extensions:\n    other:\n        cmd: a\n    # note\n    backstory:\n        cmd: old\n\n    third: 1",
    "a: &x\n  - 1\nextensions:\n  b: *x\n",
]
EXTENSION = {"type": "stdio", "cmd": "/x y", "args": ["serve"], "envs": {}, "enabled": True, "timeout": 300}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("text", YAML_TEXTS)
def test_a_member_goes_into_yaml_and_out_again(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    format, change = FORMATS["yaml"], Change(("extensions", "backstory"), EXTENSION)
    before = format.parse(text) or {}
    after, entry = make(format, text, change)
    assert undo(after, entry.splices) == text
    assert lookup(format.parse(after), change.path) == EXTENSION
    again = format.parse(unmake(format, after, entry)) or {}
    assert {key: value or None for key, value in again.items()} == {k: v or None for k, v in before.items()}
    assert re.findall(r"#.*", after) == re.findall(r"#.*", text)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("json", '{\n  "a": 1,\n}\n', "line 2, column 9: "),
        ("json", "{\n  // note\n}\n", "line 2, column 3: a comment"),
        ("json-comments", '{"a": [1,], /* */ "b": 2}', "line 1, column 9: "),
        ("jsonc", '\ufeff{"a" 1}', "line 1, column 6: a colon"),
        ("jsonc", '{"a": 1\r\n "b": 2}', "line 2, column 2: a comma"),
        ("jsonc", '{"a": "x\n"}', "line 1, column 9: "),
        ("jsonc", '{"a": NaN}', "line 1, column 7: NaN"),
        ("jsonc", "{} {}", "line 1, column 4: "),
        ("jsonc", "[]", "line 1, column 1: an object"),
        ("jsonc", '{"mcpServers": 3}', "line 1, column 16: an object"),
        ("jsonc", "[" * 100_000, "nested too deep"),
        ("toml", "a = 1\nb = \n", "line 2, column "),
        ("toml", "a = [", "line 1, column 6: "),
        ("toml", "mcpServers = {a = {command = 'x'}}", "by hand"),
        ("yaml", "a: [\n", "line 2, column 1: "),
        ("yaml", "- 1\n", "line 1, column 1: a mapping"),
        ("yaml", "mcpServers: {a: 1}", "line 1, column 13: "),
    ],
)
def test_a_file_that_cannot_be_changed_says_where(name: str, text: str, place: str) -> None:
    with pytest.raises(Unreadable, match=re.escape(place)):
        FORMATS[name].put(text, CHANGE.path, ENTRY)


def test_a_comment_after_the_last_entry_stays_with_it() -> None:
    text = '{\n  "mcpServers": {\n    "other": {} // mine\n  }\n}\n'
    after, _ = make(FORMATS["jsonc"], text, CHANGE)
    assert '"other": {}, // mine\n    "backstory": {\n      "command"' in after


def test_an_equal_element_is_there_already() -> None:
    text = json.dumps({"hooks": {"SessionStart": [1, ELEMENT.value]}})
    assert present(FORMATS["jsonc"], text, ELEMENT) == ELEMENT.value
    assert present(FORMATS["jsonc"], "{}", ELEMENT) is MISSING


def test_splices_are_undone_in_reverse() -> None:
    text = '{"a": 1}'
    after, first = make(FORMATS["json"], text, CHANGE)
    last, second = make(FORMATS["json"], after, ELEMENT)
    both = [*first.splices, *second.splices]
    assert apply(text, both) == last
    assert undo(last, both) == text
