"""Real assistants tell a model where the project stands: the brief is in the first request that a stub gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.core.briefs import BriefFiles

from ..patience import PATIENCE_S, until
from ..processes import serving
from .assistants import Person
from .stub_model import Model, stub_model

MEMORY = "We chose port 9090 because 8080 was taken."
ATTENDED = {"BACKSTORY_BRIEF": "on", "BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S)}
"""A test is a run that nobody attends, on a machine that may be busy."""


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
            path.write_text(path.read_text().replace('"timeout": 2\n', f'"timeout": {PATIENCE_S}\n'))


def claude(person: Person, model: Model, *words: str) -> dict[str, str]:
    said = person.ask(
        "-p",
        *words,
        "--output-format",
        "json",
        ANTHROPIC_BASE_URL=model.url,
        ANTHROPIC_API_KEY="sk-stub",
        CLAUDE_CODE_MAX_RETRIES="0",
        **ATTENDED,
    )
    answer: dict[str, str] = json.loads(said)
    return answer


@pytest.mark.parametrize("form", [(), ("--plugin",)])
def test_claude_code_tells_the_model(tmp_path: Path, form: tuple[str, ...]) -> None:
    person = person_with_memory(tmp_path, "claude")
    person.backstory("install", "claude-code", *form)
    wait_for_hooks(person, ".claude/settings.json")
    with stub_model() as model:
        session = claude(person, model, "hello")["session_id"]
        first = next(request for request in model.requests if "hello" in request)
        assert "<backstory project=" in first
        assert MEMORY in first
        asked = len(model.requests)
        claude(person, model, "/compact", "--resume", session)
        assert any("Keep in the summary: decisions" in request for request in model.requests[asked:])
