"""Real assistants show no error when something is wrong with Backstory: the server is gone, Python is gone, the store is damaged or
the disk is full."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .assistants import Person
from .stub_model import Model, stub_model
from .test_briefing import ATTENDED
from .test_moments import ASKED, COPILOT, break_installation, person_at_work

VISIBLE = re.compile(
    r"hooks?[^\n]{0,80}(?:fail|error|problem|not connected|ENOENT|timed? ?out)"
    r"|backstory[^\n]{0,80}(?:fail|error|ENOENT|disconnect)|plugin[^\n]{0,80}(?:fail|error)|F12|Traceback",
    re.IGNORECASE,
)
FULL_DISK_BYTES = 2_000_000


def gemini(person: Person, model: Model) -> str:
    variables = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": model.url, **ATTENDED}
    return person.ask("--skip-trust", "-p", ASKED, **variables)


def qwen(person: Person, model: Model) -> str:
    variables = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_MODEL": "stub"}
    return person.ask("-p", ASKED, **variables, **ATTENDED)


def copilot(person: Person, model: Model) -> str:
    variables = {**COPILOT, "COPILOT_PROVIDER_BASE_URL": model.url, **ATTENDED}
    return person.ask("-p", ASKED, "--allow-all-tools", "--trust-folder", **variables)


def opencode(person: Person, model: Model) -> str:
    return person.ask("run", ASKED, PWD=str(person.project), **ATTENDED)


CLIENTS = {
    "gemini-cli": ("gemini", gemini, (".gemini/settings.json",)),
    "qwen-code": ("qwen", qwen, (".qwen/settings.json",)),
    "copilot-cli": ("copilot", copilot, (".copilot/mcp-config.json", ".copilot/hooks/backstory.json")),
    "opencode": (
        "opencode",
        opencode,
        (".config/opencode/opencode.json", ".config/opencode/plugins/backstory.js"),
    ),
}
"""Client → its program, how it is asked, and the files that name Python and the server."""


def configure(person: Person, model: Model) -> None:
    provider = {"anthropic": {"options": {"baseURL": f"{model.url}/v1", "apiKey": "k"}}}
    texts = {
        ".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}},
        ".qwen/settings.json": {"$version": 4, "security": {"auth": {"selectedType": "anthropic"}}},
        ".config/opencode/opencode.json": {
            "model": "anthropic/claude-sonnet-4-5",
            "provider": provider,
            "autoupdate": False,
        },
    }
    for name, body in texts.items():
        path = person.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(body))


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes, for a data directory that has no room left."""
    folder = tmp_path / "data"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={FULL_DISK_BYTES}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("missing", ["server", "python", "store"])
@pytest.mark.parametrize("client", CLIENTS)
def test_no_error_is_shown(tmp_path: Path, client: str, missing: str) -> None:
    program, ask, files = CLIENTS[client]
    with stub_model() as model:
        with person_at_work(tmp_path, program) as person:
            configure(person, model)
            person.backstory("install", client)
        break_installation(person, missing, [person.home / name for name in files])
        shown = ask(person, model)
    assert "Good." in shown
    assert not VISIBLE.search(shown), shown


@pytest.mark.parametrize("client", CLIENTS)
def test_no_error_is_shown_on_a_full_disk(tmp_path: Path, client: str, full_disk: Path) -> None:
    program, ask, _ = CLIENTS[client]
    with stub_model() as model:
        with person_at_work(tmp_path, program) as person:
            configure(person, model)
            person.backstory("install", client)
        fill(full_disk)
        shown = ask(person, model)
    assert "Good." in shown
    assert not VISIBLE.search(shown), shown


def fill(folder: Path) -> None:
    """Until not one byte more fits."""
    with (folder / "ballast").open("wb", buffering=0) as file:
        for size in (65_536, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
