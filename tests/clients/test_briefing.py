"""Real assistants tell a model where the project stands: the brief is in the first request that a stub gets."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backstory.clients.hook import KEEP
from backstory.core.brief.files import BriefFiles

from ..patience import PATIENCE_S, until
from ..processes import serving
from .assistants import Person
from .stub_model import Model, stub_model

MEMORY = "We chose port 9090 because 8080 was taken."
ATTENDED = {"BACKSTORY_BRIEF": "on", "BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S)}
"""A test is a run that nobody attends, on a machine that may be busy."""


OWN_TOOLS = {"recall", "remember", "open", "brief", "sessions", "done", "forget"}
LOADED = {"recall", "remember", "brief"}
"""Those that Claude Code shows a model before it asks for any."""
PROMPTS = {"resume", "recall", "handoff", "decide", "why"}
INSTRUCTIONS = "where we left off"


def person_with_memory(folder: Path, program: str) -> Person:
    """Whose server saved a decision, and rendered the brief of it."""
    person = Person(folder, program)
    (person.project / ".git").mkdir()
    variables = {"BACKSTORY_PROJECT": str(person.project)}
    with serving(person.data, "serve", variables=variables) as server:
        server.greet()
        server.call("context_save", key="port", value=MEMORY, category="decision")
        until(lambda: BriefFiles(person.data).all() != [])
    return person


def wait_for_hooks(person: Person, name: str) -> None:
    """However busy the machine is: a client gives ours two seconds."""
    for path in (person.home / name, *person.data.rglob("hooks.json")):
        if path.exists():
            path.write_text(re.sub(r'"timeout": \d\n', f'"timeout": {PATIENCE_S:.0f}\n', path.read_text()))


def configure_codex(person: Person, model: Model) -> None:
    config = person.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        'model = "stub"\nmodel_provider = "stub"\n[model_providers.stub]\nname = "stub"\nwire_api = "responses"\n'
        f'env_key = "STUB_KEY"\nbase_url = "{model.url}"\n'
    )


def test_codex_tells_the_model_once_its_hooks_are_trusted(tmp_path: Path) -> None:
    person = person_with_memory(tmp_path, "codex")
    (person.data / "config.toml").write_text('brief = "on"\n')  # Codex gives its servers few variables
    with stub_model() as model:
        configure_codex(person, model)
        person.backstory("install", "codex")
        wait_for_hooks(person, ".codex/hooks.json")
        words = ("exec", "--skip-git-repo-check", "--json", "hello")
        person.ask(*words, STUB_KEY="k")
        assert MEMORY not in model.requests[0]
        person.ask(*words, "--dangerously-bypass-hook-trust", STUB_KEY="k")
        assert MEMORY in next(request for request in model.requests[1:] if "hello" in request)
    assert learned(person) == []


def test_codex_shows_the_model_the_seven_tools_and_the_instructions(tmp_path: Path) -> None:
    person = person_with_memory(tmp_path, "codex")
    with stub_model() as model:
        configure_codex(person, model)
        person.backstory("install", "codex")
        person.ask("exec", "--skip-git-repo-check", "--json", "hello", STUB_KEY="k")
        request = json.loads(model.requests[0])
    (ours,) = [each["tools"] for each in request["tools"] if each.get("name") == "mcp__backstory"]
    assert {tool["name"] for tool in ours} == OWN_TOOLS
    assert INSTRUCTIONS in model.requests[0]


def test_gemini_cli_tells_the_model(tmp_path: Path) -> None:
    person = person_with_memory(tmp_path, "gemini")
    settings = person.home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    person.backstory("install", "gemini-cli")
    settings.write_text(settings.read_text().replace('"timeout": 500', f'"timeout": {PATIENCE_S * 1000:.0f}'))
    with stub_model() as model:
        variables = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": model.url, **ATTENDED}
        person.ask("--skip-trust", "-p", "hello", "-o", "json", **variables)
        assert any(MEMORY in request for request in model.requests)
    assert learned(person) == []


def learned(person: Person) -> list[str]:
    """What we said ourselves among the messages that a sync reads."""
    person.backstory("sync")
    with closing(sqlite3.connect(person.data / "store.db")) as store:
        texts = [text for (text,) in store.execute("SELECT text FROM entry WHERE kind = 'message'")]
    assert any("hello" in text for text in texts)
    return [text for text in texts if MEMORY in text or "<backstory" in text or KEEP in text]


def claude(person: Person, model: Model, *words: str) -> list[dict[str, Any]]:
    """Its events: the first says what is there, the last how it ended."""
    said = person.ask(
        "-p",
        *words,
        "--output-format",
        "stream-json",
        "--verbose",
        ANTHROPIC_BASE_URL=model.url,
        ANTHROPIC_API_KEY="sk-stub",
        CLAUDE_CODE_MAX_RETRIES="0",
        **ATTENDED,
    )
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def test_claude_code_shows_the_seven_tools_the_prompts_and_the_instructions(tmp_path: Path) -> None:
    person = person_with_memory(tmp_path, "claude")
    person.backstory("install", "claude-code")
    with stub_model() as model:
        events = claude(person, model, "hello")
        first = next(request for request in model.requests if "hello" in request)
    (start,) = [each for each in events if each.get("subtype") == "init"]
    assert ours(start["tools"]) == OWN_TOOLS
    assert ours(start["slash_commands"]) == PROMPTS
    assert ours(tool.get("name", "") for tool in json.loads(first)["tools"]) == LOADED
    assert INSTRUCTIONS in first


def ours(names: Iterable[str]) -> set[str]:
    prefix = "mcp__backstory__"
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


@pytest.mark.parametrize("form", [(), ("--plugin",)])
def test_claude_code_tells_the_model(tmp_path: Path, form: tuple[str, ...]) -> None:
    person = person_with_memory(tmp_path, "claude")
    person.backstory("install", "claude-code", *form)
    wait_for_hooks(person, ".claude/settings.json")
    with stub_model() as model:
        session = claude(person, model, "hello")[-1]["session_id"]
        first = next(request for request in model.requests if "hello" in request)
        assert "<backstory project=" in first
        assert MEMORY in first
        asked = len(model.requests)
        claude(person, model, "/compact", "--resume", session)
        assert any(KEEP in request for request in model.requests[asked:])
    assert learned(person) == []
