"""Adding a surface is adding its module: server, command line and documentation know it then."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backstory.server.offer import instructions
from backstory.surfaces import all_tools, load_surfaces

from ..processes import Server

TOY = '''
"""Toy: a shelf of sayings."""

from typing import Annotated, TypedDict

from backstory.core import Core
from backstory.core.ask import Inquiry
from backstory.domain.errors import BackstoryError
from backstory.domain.filters import Filter, Kind
from backstory.tools import ADDS, READS, ErrorTable, Surface, camel, dump
from backstory.tools.params import CoreName

ERRORS = ErrorTable({BackstoryError: "BROKEN"}, hints={"BROKEN": "Glue it."})


def word_error(error: BackstoryError) -> str:
    return dump({"toy": "no", "code": ERRORS.code(error), "why": error.message, "how": ERRORS.hint(error)})


surface = Surface("toy-shelf", about="Sayings.", word_error=word_error, success={"toy": "yes"}, wire=camel)


class Put(TypedDict):
    id: str


class Taken(TypedDict):
    sayings: list[str]


@surface.tool("Put a saying", ADDS)
def put_saying(core: Core, the_saying: Annotated[str, "What was said", CoreName("text")]) -> Put:
    """Put a saying on the shelf."""
    return {"id": core.memories.save(the_saying).id}


@surface.tool("Take sayings", READS)
def take_sayings(core: Core, asked_for: Annotated[str, "In any words", CoreName("query")]) -> Taken:
    """Take the sayings that fit."""
    ranking = core.ask.find(Inquiry(asked_for, where=Filter(kinds=(Kind.MEMORY,)), limit=3))
    return {"sayings": [memory.text for memory, _ in core.ask.memories(ranking, 3)]}
'''
RUN = """
import sys
import backstory.surfaces
backstory.surfaces.__path__.append(sys.argv.pop(1))
from backstory.__main__ import main
sys.exit(main())
"""


class Shelf:
    """The program with one more module among its surfaces."""

    def __init__(self, root: Path) -> None:
        (root / "more").mkdir()
        (root / "more" / "toy_shelf.py").write_text(TOY, "utf-8")
        self._command = [sys.executable, "-c", RUN, str(root / "more")]
        self._variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "BACKSTORY_HOME": str(root / "store"),
            "BACKSTORY_EMBEDDINGS": "off",
            "BACKSTORY_HISTORIES": "off",
        }

    def run(self, *words: str) -> Any:
        done = subprocess.run(
            [*self._command, *words, "--json"],
            env=self._variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    def serve(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, "serve", "--surfaces=toy-shelf"],
            env=self._variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(tmp_path_factory.mktemp("toy"))


def test_a_new_surface_is_served_and_spells_the_errors_of_core(shelf: Shelf) -> None:
    with shelf.serve() as process:
        server = Server(process)
        server.greet()
        listed = server.ask("tools/list", {})["tools"]
        assert [tool["name"] for tool in listed] == ["put_saying", "take_sayings"]
        assert list(listed[0]["inputSchema"]["properties"]) == ["theSaying"]
        assert server.call("put_saying", theSaying="Haste makes waste")["toy"] == "yes"
        assert server.call("take_sayings", askedFor="waste")["sayings"] == ["Haste makes waste"]
        refused = server.ask("tools/call", {"name": "put_saying", "arguments": {"theSaying": " "}})
        told = json.loads(refused["content"][0]["text"])
        assert (told["code"], told["why"]) == ("BROKEN", "theSaying is empty.")
        assert process.stdin is not None
        process.stdin.close()


def test_a_new_surface_is_known_to_the_command_line(shelf: Shelf) -> None:
    surfaces = {surface["name"]: surface for surface in shelf.run("tools")["surfaces"]}
    assert [tool["name"] for tool in surfaces["toy-shelf"]["tools"]] == ["put_saying", "take_sayings"]
    assert surfaces["toy-shelf"]["about"] == "Sayings."
    assert "toy-shelf" in json.dumps(shelf.run("doctor", "--surfaces=toy-shelf"))


def test_the_instructions_name_existing_tools_of_every_guest() -> None:
    guests = {name: surface for name, surface in load_surfaces().items() if name != "backstory"}
    assert len(guests) == 5
    for name, guest in guests.items():
        guide = instructions([name]).partition(f"{name}: ")[2].partition(". ")[0]
        named = re.findall(r"\bwith (\w+)", guide)
        assert named, name
        assert {*named} <= {*all_tools({name: guest})}
