"""The reference implementation of TOON, from npm, reads what we write."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backstory.guests.codearchitect.toon import LARGEST_NUMBER, is_table, session_content
from backstory.guests.codearchitect.turns import SessionTurn

from ..missing import NPM_PACKAGES, skip_without

HERE = Path(__file__).parent
REFERENCE = HERE / "node_modules" / "@toon-format" / "toon"

Decode = Callable[[str], Any]

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.lists(
    st.sampled_from(
        ['"', "\\", "\n", "\t", "\r", "[", "]", "{", "}", ":", ",", "|", "-", " ", "#", "0", "1", "e", "."]
    )
).map("".join)
CELLS = TEXTS | st.none() | st.booleans() | st.integers(-LARGEST_NUMBER, LARGEST_NUMBER)
NAMES = st.sampled_from(["name", "a b", "", "x-y", "1st", "größe", 'q"q', "tab\t", "true"])


@st.composite
def tables(draw: st.DrawFn) -> list[SessionTurn]:
    fields = ["content", *draw(st.lists(NAMES, max_size=2, unique=True))]
    rows = st.builds(SessionTurn, TEXTS, st.fixed_dictionaries(dict.fromkeys(fields, CELLS)))
    return draw(st.lists(rows, min_size=1, max_size=4))


@pytest.fixture(scope="module")
def decode() -> Iterator[Decode]:
    """CI must have the package; elsewhere it may be missing."""
    node = shutil.which("node")
    if node is None or not REFERENCE.exists():
        skip_without("TOON from npm", NPM_PACKAGES)
    script = [node, str(HERE / "toon_decode.mjs")]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to_node, from_node = process.stdin, process.stdout

        def decode(document: str) -> Any:
            to_node.write(json.dumps(document) + "\n")
            to_node.flush()
            return json.loads(from_node.readline())

        yield decode
        to_node.close()


@given(tables())
@example(
    [
        SessionTurn("user", {"content": "a\tb"}),
        SessionTurn("assistant", {"content": "- [2]: {x}\r\n```\n---"}),
    ]
)
@example(
    [
        SessionTurn("", {"content": ""}),
        SessionTurn("null", {"content": "null"}),
        SessionTurn("1e5", {"content": "-0"}),
    ]
)
def test_the_reference_reads_back_every_table(decode: Decode, turns: list[SessionTurn]) -> None:
    assert is_table(turns)
    document, notation = session_content(turns, "toon")
    assert notation == "toon"
    assert decode(document) == {"messages": [turn.as_json() for turn in turns]}
