"""Which of Memory Keeper's tools a server offers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.guests.memory_keeper.tools import surface
from backstory.surfaces import callable_tools, load_surfaces
from backstory.tools.profiles import ProfileChoice

from ..processes import run, serving

requirement = pytest.mark.requirement
KEEPER = ("--surfaces", "memory-keeper", "--histories", "off", "--embeddings", "off")


def listed(profile: str, config: Path = Path("/nowhere")) -> tuple[set[str], list[str]]:
    """The tools of a profile, and the warnings."""
    surfaces = load_surfaces(["memory-keeper"], profile=ProfileChoice(profile, config))
    return set(surfaces["memory-keeper"].tools), surfaces.profile_warnings()


@requirement("keeper-more.profiles")
def test_the_profiles_have_the_tools_of_the_original() -> None:
    minimal, standard, full = (listed(name)[0] for name in ("minimal", "standard", "full"))
    assert (len(minimal), len(standard), len(full)) == (8, 22, 39)
    assert minimal < standard < full == set(surface.tools)
    assert "context_delete" not in standard
    assert listed("")[0] == full


@requirement("keeper-more.profiles")
def test_a_profile_narrows_this_surface_only() -> None:
    surfaces = load_surfaces(profile=ProfileChoice("minimal", Path("/nowhere")))
    sizes = {name: len(each.tools) for name, each in surfaces.items()}
    assert sizes == {name: len(each.tools) for name, each in load_surfaces().items()} | {"memory-keeper": 8}


@requirement("keeper-more.profiles")
@pytest.mark.parametrize(
    ("words", "variables", "count"),
    [
        (("--profile", "standard"), {}, 22),
        ((), {"TOOL_PROFILE": "minimal"}, 8),
        (("--profile", "standard"), {"TOOL_PROFILE": "minimal"}, 22),
        ((), {"MCP_MAX_TOKENS": "9", "MCP_TOKEN_SAFETY_BUFFER": "1"}, 39),
    ],
)
@requirement("keeper-more.settings")
def test_the_command_line_and_the_environment_choose(
    tmp_path: Path, words: tuple[str, ...], variables: dict[str, str], count: int
) -> None:
    with serving(tmp_path, *KEEPER, *words, variables=variables) as server:
        server.greet()
        assert len(server.ask("tools/list", {})["tools"]) == count


@requirement("keeper-more.profiles.config")
def test_a_profile_of_the_users_file_is_served_and_the_file_stays_as_it_is(tmp_path: Path) -> None:
    config = tmp_path / "profiles.json"
    text = json.dumps({"profiles": {"mine": ["context_save", "context_get"], "minimal": ["context_get"]}})
    config.write_text(text)
    variables = {"TOOL_PROFILE": "mine", "TOOL_PROFILE_CONFIG": str(config)}
    with serving(tmp_path / "home", *KEEPER, variables=variables) as server:
        server.greet()
        tools = server.ask("tools/list", {})["tools"]
        assert {tool["name"] for tool in tools} == {"context_save", "context_get"}
    assert listed("minimal", config) == ({"context_get"}, [])
    assert config.read_text() == text


@requirement("keeper-more.profiles.config")
def test_the_file_in_the_users_home_can_change_the_usual_profile(tmp_path: Path) -> None:
    config = tmp_path / "nobody" / ".mcp-memory-keeper" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"profiles": {"full": ["context_save"]}}))
    with serving(tmp_path, *KEEPER) as server:
        server.greet()
        assert len(server.ask("tools/list", {})["tools"]) == 1


@requirement("keeper-more.profiles.config")
@pytest.mark.parametrize(
    ("written", "profile", "count", "warning"),
    [
        ("{", "minimal", 8, "cannot be read as JSON"),
        ("[]", "minimal", 8, "has no object `profiles`"),
        ('{"profiles": {"minimal": "context_get"}}', "minimal", 8, "is not a list of names"),
        ('{"profiles": {"mine": ["context_get", "context_share"]}}', "mine", 1, "context_share"),
        ('{"profiles": {"mine": ["context_share"]}}', "mine", 39, "minimal (8), standard (22), full (39)"),
        ('{"profiles": {}}', "nobody", 39, "There is no profile 'nobody'."),
    ],
)
def test_a_file_or_name_that_is_no_use_is_a_warning(
    tmp_path: Path, written: str, profile: str, count: int, warning: str
) -> None:
    config = tmp_path / "config.json"
    config.write_text(written)
    tools, warnings = listed(profile, config)
    assert len(tools) == count
    assert any(warning in each for each in warnings)


@requirement("keeper-more.profiles.config")
def test_warnings_go_to_standard_error(tmp_path: Path) -> None:
    served = run("serve", *KEEPER, "--profile", "nobody", home=tmp_path)
    assert "There is no profile 'nobody'." in served.stderr
    assert served.stdout == ""


@requirement("keeper-more.profiles.disabled")
def test_a_tool_outside_the_profile_says_so_when_it_is_called(core: Core) -> None:
    surfaces = load_surfaces(["memory-keeper"], profile=ProfileChoice("minimal", Path("/nowhere")))
    reply = callable_tools(surfaces)["context_link"].call(core, {"no": "matter"})
    assert reply.is_error
    error = json.loads(reply.text)["error"]
    assert (error["code"], "'minimal'" in error["message"]) == ("TOOL_DISABLED", True)
    assert "TOOL_PROFILE=full" in error["details"]["hint"]
