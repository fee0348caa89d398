"""Adding a reader is adding its module: every list of assistants, command and tool knows it then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backstory.domain.errors import InvalidInput
from backstory.readers import load_readers, reader_names

TOY = '''
"""Toy: one line of text for each thing that was said."""

from collections.abc import Iterator

from backstory.readers import ConversationHeader, Cursor, Form, Piece, Places, Reader, Role, Source, Turn
from backstory.readers.formats.pieces import whole


def find(places: Places) -> Iterator[Source]:
    return (Source(path, Form.DOCUMENT, "/w/toys") for path in places.home.glob(".toy/*.txt"))


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    turns = [Turn(str(n), Role.USER, line) for n, line in enumerate(source.path.read_text().splitlines())]
    yield whole(ConversationHeader(source.path.stem, str(source.path), directory=source.directory), turns)


reader = Reader("toy-assistant", "Toy Assistant", find, read)
'''
RUN = """
import sys
import backstory.readers
backstory.readers.__path__.append(sys.argv.pop(1))
from backstory.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "toy_assistant.py").write_text(TOY, "utf-8")
    (tmp_path / "home" / ".toy").mkdir(parents=True)
    (tmp_path / "home" / ".toy" / "first.txt").write_text("Paint the wooden horse\nin blue\n", "utf-8")
    return tmp_path / "home"


def run(home: Path, *words: str) -> Any:
    settings = {"HOME": str(home), "BACKSTORY_HOME": str(home / "store"), "BACKSTORY_EMBEDDINGS": "off"}
    command = [sys.executable, "-c", RUN, str(home.parent / "more"), *words, "--json"]
    done = subprocess.run(
        command, env={"PATH": os.environ["PATH"], **settings}, capture_output=True, text=True, check=False
    )
    # a search without results ends with 1
    assert done.returncode in ((0, 1) if words[0] == "search" else (0,)), done.stderr
    return json.loads(done.stdout)


def test_a_new_reader_is_known_to_every_command_and_tool(home: Path) -> None:
    assistants = run(home, "sync")["assistants"]
    assert assistants["toy-assistant"]["turns"] == 2
    assert assistants["toy-assistant"]["title"] == "Toy Assistant"
    assert "toy-assistant" in json.dumps(run(home, "status"))
    assert "Paint the wooden horse" in json.dumps(run(home, "search", "wooden horse"))
    assert run(home, "sync", "--reader", "toy-assistant")["assistants"]["toy-assistant"]["unchanged"] == 1
    tools = {tool["name"]: tool for surface in run(home, "tools")["surfaces"] for tool in surface["tools"]}
    names = tools["recall_conversations"]["inputSchema"]["properties"]["tools"]["items"]["enum"]
    assert "toy-assistant" in names
    run(home, "forget", "--assistant", "toy-assistant", "--yes")
    assert "Paint the wooden horse" not in json.dumps(run(home, "search", "wooden horse"))


def test_every_reader_is_called_what_its_module_is() -> None:
    assert {name: reader.name for name, reader in load_readers().items()} == {n: n for n in reader_names()}


def test_every_reader_has_an_invented_home_and_what_it_reads_as() -> None:
    here = Path(__file__).parent
    for name in reader_names():
        assert (here / name / "expected.json").is_file()
        assert (here / name / "home").is_dir() or (here / name / "make.py").is_file()


def test_an_unknown_reader_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInput) as refused:
        load_readers(["claude"])
    assert "claude-code" in (refused.value.hint or "")


def test_the_documentation_names_every_reader() -> None:
    page = Path(__file__).parents[2] / "docs" / "histories.md"
    table = page.read_text("utf-8").partition("## What is stored")[0]
    listed = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert listed == reader_names()
