"""A tool: one call, one reply in the words of its surface."""

from __future__ import annotations

import json
from typing import Annotated, TypedDict

import pytest

from backstory.core import Core
from backstory.domain.errors import BackstoryError, NotFound
from backstory.tools import READS, Surface, camel


class Echo(TypedDict):
    said: str


def word_error(error: BackstoryError) -> str:
    return f"Alas: {error}"


@pytest.fixture
def parrot() -> Surface:
    surface = Surface("parrot", about="Repeats.", word_error=word_error, success={"ok": True}, wire=camel)

    @surface.tool("Repeat", READS)
    def repeat(core: Core, what_to_say: Annotated[str, "Anything"]) -> Echo:
        """Say it
        again."""
        if what_to_say == "crash":
            raise ZeroDivisionError
        if what_to_say == "missing":
            raise NotFound("word", what_to_say)
        return {"said": f"{what_to_say} through {core.surface}"}

    return surface


def test_a_success_is_the_surfaces_constants_and_the_reply_as_text_and_as_structure(
    parrot: Surface, core: Core
) -> None:
    reply = parrot.tools["repeat"].call(core, {"whatToSay": "hé"})
    assert reply.structured == {"ok": True, "said": "hé through parrot"}
    assert reply.text == '{"ok":true,"said":"hé through parrot"}'
    assert not reply.is_error


def test_a_failure_is_worded_by_the_surface_and_has_no_structure(parrot: Surface, core: Core) -> None:
    reply = parrot.tools["repeat"].call(core, {"whatToSay": "missing"})
    assert reply.text == "Alas: There is no word 'missing'."
    assert reply.structured is None
    assert reply.is_error


def test_wrong_arguments_are_a_failure_in_the_same_words(parrot: Surface, core: Core) -> None:
    assert parrot.tools["repeat"].call(core, {}).text == "Alas: whatToSay is required."
    unknown = parrot.tools["repeat"].call(core, {"whatToSay": "x", "how": "loud"})
    assert unknown.text == "Alas: how is not a known argument. Known arguments: whatToSay."


def test_a_bug_passes_through_to_the_edge(parrot: Surface, core: Core) -> None:
    with pytest.raises(ZeroDivisionError):
        parrot.tools["repeat"].call(core, {"whatToSay": "crash"})


def test_a_tool_describes_itself(parrot: Surface) -> None:
    described = parrot.tools["repeat"].describe()
    assert described["name"] == "repeat"
    assert described["title"] == described["annotations"]["title"] == "Repeat"
    assert described["description"] == "Say it again."
    assert described["annotations"]["readOnlyHint"] is True
    assert described["annotations"]["openWorldHint"] is False
    assert list(described["inputSchema"]["properties"]) == ["whatToSay"]
    assert list(described["outputSchema"]["properties"]) == ["ok", "said"]
    json.dumps(described)


def test_a_surface_has_no_two_tools_of_one_name(parrot: Surface) -> None:
    def repeat(core: Core) -> Echo:
        raise NotImplementedError

    with pytest.raises(ValueError, match="already has a tool repeat"):
        parrot.tool("Repeat", READS)(repeat)
