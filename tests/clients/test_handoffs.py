"""A conversation with one real assistant goes on in another: each resumes the session that we wrote, sends its turns to a stub
model, and a sync afterwards has nothing twice."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from .assistants import Person
from .stub_model import Model, stub_model

ASKED = "Count the herons in the west pond, please."
GO_ON = "And now those of the east pond."
QUOTED = '"'  # OpenCode puts a prompt of its command line between quotation marks


def _configure(person: Person, program: str, model: Model) -> dict[str, str]:
    """Point an assistant at the stub; the variables that it needs."""
    match program:
        case "claude":
            return {
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": "sk-stub",
                "CLAUDE_CODE_MAX_RETRIES": "0",
            }
        case "codex":
            config = person.home / ".codex" / "config.toml"
            config.parent.mkdir(exist_ok=True)
            config.write_text(
                'model = "stub"\nmodel_provider = "stub"\n[model_providers.stub]\nname = "stub"\n'
                f'wire_api = "responses"\nenv_key = "STUB_KEY"\nbase_url = "{model.url}"\n'
            )
            return {"STUB_KEY": "k"}
        case "gemini":
            settings = person.home / ".gemini" / "settings.json"
            settings.parent.mkdir(exist_ok=True)
            settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
            return {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": model.url}
        case "qwen":
            return {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "stub"}
        case "copilot":
            return {
                "COPILOT_PROVIDER_BASE_URL": model.url,
                "COPILOT_PROVIDER_API_KEY": "k",
                "COPILOT_MODEL": "stub",
            }
        case "opencode":
            config = person.home / ".config" / "opencode" / "opencode.json"
            config.parent.mkdir(parents=True, exist_ok=True)
            provider = {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": model.url, "apiKey": "k"},
                "models": {"stub": {"name": "stub"}},
            }
            config.write_text(json.dumps({"model": "stub/stub", "provider": {"stub": provider}}))
            return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    raise AssertionError(program)


ONCE: dict[str, Callable[[str], tuple[str, ...]]] = {
    "claude": lambda prompt: ("-p", prompt),
    "codex": lambda prompt: ("exec", "--skip-git-repo-check", prompt),
    "gemini": lambda prompt: ("--skip-trust", "-p", prompt),
    "qwen": lambda prompt: ("--auth-type", "openai", "-p", prompt),
    "copilot": lambda prompt: ("-p", prompt),
    "opencode": lambda prompt: ("run", prompt),
}
"""How each answers one prompt and ends."""
AGAIN: dict[str, Callable[[list[str], str], tuple[str, ...]]] = {
    "claude": lambda words, prompt: (*words, "-p", prompt),
    "codex": lambda words, prompt: ("exec", "--skip-git-repo-check", *words, prompt),
    "gemini": lambda words, prompt: ("--skip-trust", *words, "-p", prompt),
    "qwen": lambda words, prompt: ("--auth-type", "openai", *words, "-p", prompt),
    "copilot": lambda words, prompt: (*words, "-p", prompt),
    "opencode": lambda words, prompt: ("run", *words, prompt),
}
"""The same in a session, by the words with which we would resume it at a terminal."""
READERS = {
    "claude": "claude-code",
    "codex": "codex",
    "gemini": "gemini-cli",
    "qwen": "qwen-code",
    "copilot": "copilot",
    "opencode": "opencode",
}


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder in which one assistant was asked something, by the name of its program."""
    folders: dict[str, Path] = {}

    def history(program: str) -> Path:
        if program not in folders:
            folder = tmp_path_factory.mktemp(program)
            person = Person(folder, program)
            with stub_model() as model:
                variables = _configure(person, program, model)
                person.run(program, *ONCE[program](ASKED), **variables)
            folders[program] = folder
        return folders[program]

    return history


@pytest.mark.parametrize("target", ONCE)
@pytest.mark.parametrize("source", ONCE)
def test_a_conversation_goes_on_in_another_assistant_and_is_learned_once(
    histories: Callable[[str], Path], tmp_path: Path, source: str, target: str
) -> None:
    folder = tmp_path / "person"
    shutil.copytree(histories(source), folder, symlinks=True)
    person = Person(folder, target)
    with stub_model() as model:
        variables = _configure(person, target, model)
        person.backstory("sync")
        (known,) = _conversations(person)
        said = person.backstory(
            "resume", known, "--in", READERS[target], "--directory", str(person.project), "--json"
        )
        plan = json.loads(said[said.index("{") : said.rindex("}") + 1])
        assert plan["method"] == "native"
        for words in plan["prepare"]:
            person.run(*words, **variables)
        person.run(target, *AGAIN[target](plan["command"][1:], GO_ON), **variables)
    request = next(request for request in model.requests if GO_ON in request)
    assert ASKED in request
    assert "[Backstory] This conversation was held in" in request
    person.backstory("sync")
    texts = _texts(person)
    assert [text for text in texts if ASKED in text] == [ASKED]
    assert not any("[Backstory]" in text for text in texts)
    if target == "gemini":
        return  # Gemini CLI 0.61 keeps nothing of what is said with -p in a session that it took in
    assert [text for text in texts if GO_ON in text] == [GO_ON]
    assert set(_conversations(person)) == {known, f"{READERS[target]}:{plan['session']}"}
    assert plan["session"] in person.backstory("show", known)


def _conversations(person: Person) -> list[str]:
    return _values(person, "SELECT id FROM conversation WHERE kind IN ('main', 'fork')")


def _texts(person: Person) -> list[str]:
    texts = _values(person, "SELECT text FROM entry WHERE kind = 'message' AND role IN ('user', 'assistant')")
    return [text.strip(QUOTED) for text in texts]


def _values(person: Person, sql: str) -> list[str]:
    with closing(sqlite3.connect(person.data / "store.db")) as store:
        return [value for (value,) in store.execute(sql)]
