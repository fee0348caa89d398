"""Real assistants one after the other, each closed 0.2 s after its answer: each next one has the rules of all before it in its
first request, without a call."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from ..patience import PATIENCE_S, until
from ..repositories import git
from .assistants import Person
from .stub_model import Model, stub_model
from .test_briefing import ATTENDED, configure_codex
from .test_moments import COPILOT, person_at_work
from .test_quiet import configure

CLOSED_AFTER_S = 0.2
GONE_S = 10.0
NAMES = {
    "claude": "claude-code",
    "codex": "codex",
    "gemini": "gemini-cli",
    "opencode": "opencode",
    "copilot": "copilot-cli",
    "qwen": "qwen-code",
}
WORDS = {
    "claude": ("-p",),
    "codex": ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
    "gemini": ("--skip-trust", "-p"),
    "opencode": ("run",),
    "copilot": ("--allow-all-tools", "--trust-folder", "-p"),
    "qwen": ("-p",),
}
RULES = {
    "claude": "From now on, always use tabs in the Makefile of this project.",
    "codex": "From now on, always run make lint before you commit.",
    "gemini": "From now on, never use mocks in the tests of the exporter.",
    "opencode": "From now on, always write dates as ISO 8601 in the reports.",
    "copilot": "From now on, never rename a column without a migration.",
    "qwen": "From now on, always name test files after the module under test.",
}
SIDE_REQUESTS = ("title generator", "complexity_score")
"""In requests that name a session or choose a model, which get no brief."""


def variables(program: str, model: Model) -> dict[str, str]:
    anthropic = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-stub"}
    own = {
        "claude": {**anthropic, "CLAUDE_CODE_MAX_RETRIES": "0"},
        "codex": {"STUB_KEY": "k"},
        "gemini": {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": model.url},
        "opencode": {},
        "copilot": {**COPILOT, "COPILOT_PROVIDER_BASE_URL": model.url},
        "qwen": {**anthropic, "ANTHROPIC_MODEL": "stub"},
    }
    return own[program] | ATTENDED


def first_request(person: Person, model: Model, program: str) -> str:
    """What the model is asked first by an assistant that is told its rule, and closed after the answer."""
    before, rule = len(model.requests), RULES[program]
    process = subprocess.Popen(
        [program, *WORDS[program], rule],
        env=person.environment(**variables(program, model)),
        cwd=person.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def requests() -> list[str]:
        own = (each for each in model.requests[before:] if rule in each)
        return [each for each in own if not any(mark in each for mark in SIDE_REQUESTS)]

    until(lambda: bool(requests()) or process.poll() is not None)
    for stop, wait_s in ((process.terminate, CLOSED_AFTER_S), (process.kill, GONE_S)):
        with suppress(subprocess.TimeoutExpired):
            process.wait(wait_s)
            break
        stop()
    process.wait(PATIENCE_S)
    return requests()[0]


def have_patience(person: Person) -> None:
    """However busy the machine is: clients give a hook some seconds."""
    written = (*person.home.rglob("*.json"), *person.home.rglob("backstory.js"))
    for path in [path for path in written if str(person.data) in path.read_text("utf-8", "replace")]:
        text = re.sub(r'("timeout(?:Sec)?": )[25]\b', rf"\g<1>{PATIENCE_S:.0f}", path.read_text())
        text = re.sub(r'("?timeout"?: )5000\b', rf"\g<1>{PATIENCE_S * 1000:.0f}", text)
        path.write_text(text)


@pytest.mark.parametrize(
    "programs",
    [
        ("claude", "codex", "gemini", "opencode"),
        ("opencode", "codex", "claude", "gemini"),
        ("gemini", "opencode", "codex", "claude"),
        ("copilot", "qwen", "claude", "opencode"),
    ],
    ids="-".join,
)
def test_each_next_assistant_knows_what_those_before_were_told(
    tmp_path: Path, programs: tuple[str, ...]
) -> None:
    person = Person(tmp_path, programs[0])
    git(person.project, "init", "-q")
    with stub_model() as model:
        configure(person, model)
        configure_codex(person, model)
        for program in programs:
            person.install(program)
            person.backstory("install", NAMES[program], "--yes")
        (person.data / "config.toml").write_text('brief = "on"\n')  # Codex gives its hooks few variables
        have_patience(person)
        for place, program in enumerate(programs):
            request = first_request(person, model, program)
            unknown = [before for before in programs[:place] if RULES[before] not in request]
            assert unknown == [], program


FACTS = {
    ".claude/projects/{slug}/memory/MEMORY.md": ("- {}\n", "The quokka cache listens on port 7007"),
    ".codex/memories/MEMORY.md": ("# Group\ncwd: {project}\n## Logs\n{}\n", "The quokka log rotates at noon"),
    ".gemini/GEMINI.md": ("## Gemini Added Memories\n- {}\n", "The user reads reports in French"),
    ".qwen/QWEN.md": ("## Qwen Added Memories\n- {}\n", "The user wants numbers with two decimals"),
}
"""Memory files of four programs: what is around a fact, and the fact."""


def test_what_other_programs_noted_is_in_the_first_request_of_opencode(tmp_path: Path) -> None:
    with person_at_work(tmp_path, "opencode") as person, stub_model() as model:
        project = str(person.project.resolve())
        slug = "".join(letter if letter.isalnum() else "-" for letter in project)
        for name, (around, fact) in FACTS.items():
            path = person.home / name.format(slug=slug)
            path.parent.mkdir(parents=True)
            path.write_text(around.format(fact, project=project))
        configure(person, model)
        person.backstory("install", "opencode", "--yes")
        have_patience(person)
        request = first_request(person, model, "opencode")
    assert [fact for _, fact in FACTS.values() if fact not in request] == []
