"""Real assistants tell a model what is known about a file before they change it, and stay quiet when Backstory is gone."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from backstory.clients.hook_means import DOORS
from backstory.core.brief.files import BriefFiles

from ..core.test_failures import failed, log_of, passed
from ..patience import until
from ..processes import serving
from ..repositories import git
from .assistants import Person
from .stub_model import Model, ToolUse, stub_model
from .test_briefing import ATTENDED, claude, configure_codex, wait_for_hooks

WALRUS = "We decided that src/walrus.py reads parquet files in batches of 500 rows, because larger ones exhaust memory."
PELICAN = "The pelican exporter writes arrow tables with four threads, since more of them stall the disk."
"""No decision, and so not in the brief."""
ASKED = "With how many threads does the pelican exporter write arrow tables?"
NOTE = "backstory file="
TROUBLE = re.compile(r"hook[^\n]{0,80}(?:fail|error|problem|not connected|ENOENT)", re.IGNORECASE)


@contextmanager
def person_at_work(folder: Path, program: str) -> Iterator[Person]:
    """Whose server saved a decision about a file, and runs while the assistant does."""
    person = Person(folder, program)
    (person.project / "src").mkdir()
    (person.project / "src" / "walrus.py").write_text("SIZE = 500\n")
    git(person.project, "init", "-q")
    project = str(person.project.resolve())
    variables = {"BACKSTORY_HISTORIES": "off", "BACKSTORY_BRIEF": "on"}
    words = ("serve", "--surfaces", "backstory", "--project", project)
    with serving(person.data, *words, variables=variables) as server:
        server.greet()
        for text, kind in ((PELICAN, "fact"), (WALRUS, "decision")):
            server.ask("tools/call", {"name": "remember", "arguments": {"text": text, "kind": kind}})
        files = BriefFiles(person.data)
        until(lambda: "src/walrus.py" in files.read(files.path(project)).get("files", {}))
        until(lambda: any((person.data / DOORS).glob("*")))
        (person.data / "config.toml").write_text('brief = "on"\n')
        yield person


def learned(person: Person) -> list[str]:
    """What hooks said among the messages that a sync reads back."""
    person.backstory("sync")
    with closing(sqlite3.connect(person.data / "store.db")) as store:
        texts = [text for (text,) in store.execute("SELECT text FROM entry WHERE kind = 'message'")]
    assert any(ASKED in text for text in texts)
    return [
        text for text in texts if PELICAN in text or "backstory file=" in text or "backstory project=" in text
    ]


def later(model: Model, text: str) -> bool:
    return any(text in request for request in model.requests)


def test_claude_code_is_told_of_a_file_before_it_writes_it_and_of_a_prompt(tmp_path: Path) -> None:
    with person_at_work(tmp_path, "claude") as person:
        person.backstory("install", "claude-code")
        wait_for_hooks(person, ".claude/settings.json")
        path = str(person.project / "src" / "walrus.py")
        write = ToolUse("Write", {"file_path": path, "content": "SIZE = 600\n"})
        with stub_model(write) as model:
            session = claude(person, model, ASKED, "--allowedTools", "Write,Read")[-1]["session_id"]
            assert later(model, NOTE)
            assert later(model, PELICAN)
        rows = json.loads(person.backstory("injected", "--session", session, "--json"))["injected"]
        events = [row["event"] for row in rows[::-1]]
        assert events == ["SessionStart", "UserPromptSubmit", "PreToolUse"]
        assert learned(person) == []


def test_codex_is_told_of_a_file_before_it_patches_it_and_of_a_prompt(tmp_path: Path) -> None:
    with person_at_work(tmp_path, "codex") as person, stub_model(*codex_patch()) as model:
        configure_codex(person, model)
        person.backstory("install", "codex")
        wait_for_hooks(person, ".codex/hooks.json")
        flags = (
            "--skip-git-repo-check",
            "--json",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
        )
        person.ask("exec", *flags, ASKED, STUB_KEY="k")
        assert later(model, NOTE)
        assert later(model, PELICAN)
        assert learned(person) == []


def codex_patch() -> tuple[ToolUse, ...]:
    patch = "*** Begin Patch\n*** Update File: src/walrus.py\n@@\n-SIZE = 500\n+SIZE = 600\n*** End Patch"
    return (ToolUse("exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}),)


COPILOT = {
    "COPILOT_OFFLINE": "true",
    "COPILOT_PROVIDER_TYPE": "anthropic",
    "COPILOT_PROVIDER_API_KEY": "k",
    "COPILOT_MODEL": "claude-sonnet-4.5",
}


def test_copilot_cli_is_told_of_its_project_and_of_a_file(tmp_path: Path) -> None:
    with person_at_work(tmp_path, "copilot") as person:
        person.backstory("install", "copilot-cli")
        path = str(person.project / "src" / "walrus.py")
        edit = ToolUse("edit", {"path": path, "old_str": "SIZE = 500", "new_str": "SIZE = 600"})
        with stub_model(edit) as model:
            variables = {**COPILOT, "COPILOT_PROVIDER_BASE_URL": model.url, **ATTENDED}
            person.ask("-p", ASKED, "--allow-all-tools", "--trust-folder", **variables)
            assert later(model, "<backstory project=")
            assert later(model, NOTE)
            assert later(model, PELICAN)
        assert learned(person) == []
        person.backstory("uninstall", "copilot-cli")
        assert not (person.home / ".copilot" / "hooks" / "backstory.json").exists()


def test_qwen_code_is_told_of_its_project_and_of_a_prompt(tmp_path: Path) -> None:
    with person_at_work(tmp_path, "qwen") as person:
        settings = person.home / ".qwen" / "settings.json"
        settings.parent.mkdir()
        text = '{\n  "$version": 4, // mine\n  "security": {"auth": {"selectedType": "anthropic"}}\n}'
        settings.write_text(text)
        person.backstory("install", "qwen-code")
        with stub_model() as model:
            variables = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_MODEL": "stub"}
            person.ask("-p", ASKED, **variables, **ATTENDED)
            assert later(model, "backstory project=")  # it writes &lt; before it
            assert later(model, PELICAN)
        assert learned(person) == []
        person.backstory("uninstall", "qwen-code")
        assert settings.read_text() == text


def test_opencode_is_told_of_its_project_but_not_when_it_names_a_session(tmp_path: Path) -> None:
    with person_at_work(tmp_path, "opencode") as person, stub_model() as model:
        config = person.home / ".config" / "opencode" / "opencode.json"
        config.parent.mkdir(parents=True)
        provider = {"anthropic": {"options": {"baseURL": f"{model.url}/v1", "apiKey": "k"}}}
        named = {"$schema": "https://opencode.ai/config.json", "model": "anthropic/claude-sonnet-4-5"}
        text = json.dumps({**named, "provider": provider, "autoupdate": False})
        config.write_text(text)
        person.backstory("install", "opencode")
        person.ask("run", ASKED, PWD=str(person.project), **ATTENDED)
        naming = [request for request in model.requests if "title generator" in request]
        assert naming
        assert not any("backstory project=" in request for request in naming)
        assert later(model, "<backstory project=")
        assert learned(person) == []
        person.backstory("uninstall", "opencode")
        assert config.read_text() == text
        assert not (config.parent / "plugins" / "backstory.js").exists()


ERROR = "ModuleNotFoundError: No module named 'walrus_yaml'"
FAILING = f'echo "{ERROR}"; exit 1'
SOLVED = "and solved: `make check` passed after `uv add walrus_yaml`."


def solve_before(person: Person) -> None:
    """An earlier session of Claude Code met the error and solved it."""
    calls = (failed("make check", ERROR), passed("uv add walrus_yaml"), passed("make check", "1 passed"))
    log = person.home / ".claude" / "projects" / "-p" / "11111111-1111-4111-8111-111111111111.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(log_of("one", calls, directory=str(person.project.resolve())))
    person.backstory("sync")


def run_claude(person: Person, model: Model) -> None:
    claude(person, model, ASKED, "--allowedTools", "Bash")


def run_codex(person: Person, model: Model) -> None:
    flags = ("--skip-git-repo-check", "--dangerously-bypass-hook-trust")
    person.ask("exec", *flags, "--dangerously-bypass-approvals-and-sandbox", ASKED, STUB_KEY="k")


def run_copilot(person: Person, model: Model) -> None:
    variables = {**COPILOT, "COPILOT_PROVIDER_BASE_URL": model.url, **ATTENDED}
    person.ask("-p", ASKED, "--allow-all-tools", "--trust-folder", **variables)


def run_qwen(person: Person, model: Model) -> None:
    variables = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_MODEL": "stub"}
    person.ask("-p", ASKED, "--yolo", "--auth-type", "anthropic", **variables, **ATTENDED)


RUNS: dict[str, tuple[str, ToolUse, Callable[[Person, Model], None]]] = {
    "claude-code": ("claude", ToolUse("Bash", {"command": FAILING, "description": "check"}), run_claude),
    "codex": ("codex", ToolUse("exec_command", {"cmd": FAILING}), run_codex),
    "copilot-cli": ("copilot", ToolUse("bash", {"command": FAILING, "description": "check"}), run_copilot),
    "qwen-code": (
        "qwen",
        ToolUse("run_shell_command", {"command": FAILING, "is_background": False}),
        run_qwen,
    ),
}


@pytest.mark.parametrize("client", RUNS)
def test_after_a_failed_command_the_model_is_told_what_solved_it_before(tmp_path: Path, client: str) -> None:
    program, use, run = RUNS[client]
    with person_at_work(tmp_path, program) as person, stub_model(use) as model:
        if client == "codex":
            configure_codex(person, model)
        solve_before(person)
        person.backstory("install", client)
        wait_for_hooks(person, ".codex/hooks.json" if client == "codex" else ".claude/settings.json")
        run(person, model)
        assert later(model, ERROR)
        assert later(model, SOLVED)


@pytest.mark.parametrize("missing", ["server", "python", "store"])
def test_claude_code_shows_no_error_of_a_hook(tmp_path: Path, missing: str) -> None:
    with person_at_work(tmp_path, "claude") as person:
        person.backstory("install", "claude-code")
    break_installation(
        person, missing, [person.home / ".claude.json", person.home / ".claude" / "settings.json"]
    )
    path = str(person.project / "src" / "walrus.py")
    write = ToolUse("Write", {"file_path": path, "content": "SIZE = 600\n"})
    with stub_model(write) as model:
        events = claude(person, model, ASKED, "--allowedTools", "Write")
    assert events[-1]["subtype"] == "success"
    assert not TROUBLE.search(json.dumps(events, ensure_ascii=False))


@pytest.mark.parametrize("missing", ["server", "python", "store"])
def test_codex_shows_no_error_of_a_hook(tmp_path: Path, missing: str) -> None:
    with person_at_work(tmp_path, "codex") as person, stub_model(*codex_patch()) as model:
        configure_codex(person, model)
        person.backstory("install", "codex")
        break_installation(
            person, missing, [person.home / ".codex" / "config.toml", person.home / ".codex" / "hooks.json"]
        )
        flags = (
            "--skip-git-repo-check",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
        )
        shown = person.ask("exec", *flags, ASKED, STUB_KEY="k")
        assert not TROUBLE.search(shown), shown


def break_installation(person: Person, missing: str, configured: list[Path]) -> None:
    """As after `rm -r .venv`: what the files name is no more there."""
    if missing == "store":
        (person.data / "store.db").write_bytes(b"no database at all " * 500)
        return
    for path in configured:
        if path.exists():
            wanted = path.read_text().replace(sys.executable, "/gone/python")
            path.write_text(wanted if missing == "python" else wanted.replace("serve", "no-such-command"))
