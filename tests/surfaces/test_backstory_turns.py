"""Turns of users, 40 that need memory and 20 that do not, and the tool that answers each with the reason (turns.tsv).

No model runs here. What can be held is that names, descriptions and instructions have the words by which a model that must look for
a tool finds the right one: Codex shows it the instructions alone and ranks descriptions by the words it searches for."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from backstory.server.offer import instructions
from backstory.surfaces import all_tools, load_surfaces

TOOLS = all_tools(load_surfaces(["backstory"]))
NONE = "-"


class Turn(NamedTuple):
    said: str
    tool: str
    searched: str
    """Words with which a model would search for a tool."""
    why: str


TURNS = [
    Turn(*line.split("\t"))
    for line in Path(__file__).with_name("turns.tsv").read_text("utf-8").splitlines()[1:]
]
NEEDY = [turn for turn in TURNS if turn.tool != NONE]


def words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower())}


def described(name: str) -> set[str]:
    tool = TOOLS[name].describe()
    parameters = tool["inputSchema"]["properties"]
    about = " ".join(f"{each} {schema.get('description', '')}" for each, schema in parameters.items())
    return words(f"{name} {tool['description']} {about}")


@pytest.mark.requirement("backstory.turns")
def test_there_are_forty_turns_that_need_memory_and_twenty_that_do_not() -> None:
    assert (len(NEEDY), len(TURNS) - len(NEEDY)) == (40, 20)
    assert Counter(turn.tool for turn in NEEDY).keys() == TOOLS.keys()
    assert all(turn.why for turn in TURNS)
    assert len({turn.said for turn in TURNS}) == 60


@pytest.mark.requirement("backstory.turns")
@pytest.mark.parametrize("turn", NEEDY, ids=lambda turn: turn.said)
def test_whoever_searches_tools_finds_the_right_one_among_the_first(turn: Turn) -> None:
    held = {name: described(name) for name in TOOLS}
    rarity = Counter(word for each in held.values() for word in each)
    asked = words(turn.searched)
    scores = {name: sum(1 / rarity[word] for word in asked & each) for name, each in held.items()}
    better = [name for name, score in scores.items() if score > scores[turn.tool]]
    assert scores[turn.tool] > 0
    assert len(better) < 3, (turn.searched, scores)


@pytest.mark.requirement("backstory.turns")
def test_the_instructions_say_when_to_take_which() -> None:
    told = instructions(["backstory"])
    for name in TOOLS:
        assert name in told
    for when in (
        "where we left off",
        "before asking the user",
        "undoing a past decision",
        "previous sessions",
        "lasting",
        "never secrets",
    ):
        assert when in told


@pytest.mark.requirement("backstory.turns")
@pytest.mark.parametrize("turn", [turn for turn in TURNS if turn.tool == NONE], ids=lambda turn: turn.said)
def test_nothing_that_is_said_of_the_tools_invites_to_a_turn_that_needs_no_memory(turn: Turn) -> None:
    """No tool says of itself what such a turn asks for: neither to run, edit, format nor explain anything (`write` stands in one as what was not written)."""
    verbs = words(turn.said) & words(
        "run edit rename fix add format commit explain translate install sort create undo indent"
    )
    assert not any(verbs & words(TOOLS[name].description) for name in TOOLS)
