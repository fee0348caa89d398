"""What the user keeps out: `exclude`, `.backstoryignore`, `<private>`, and `backstory exclude`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ..processes import Json, serving
from ..typed import typed


class User:
    """A home with Claude Code's logs, and projects beside it."""

    def __init__(self, root: Path) -> None:
        self.home = root / "user"
        self.store = root / "ours"
        self.projects = root / "work"
        self._count = 0

    def project(self, name: str) -> Path:
        path = self.projects / name
        (path / ".git").mkdir(parents=True)
        (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return path

    def log(self, cwd: Path, *turns: Any, folder: str = "") -> Path:
        """A session of Claude Code; a turn is a text, or the content blocks of a message."""
        self._count += 1
        session = f"22222222-0000-4000-8000-{self._count:012}"
        slug = "".join(letter if letter.isalnum() else "-" for letter in str(cwd))
        file = self.home / ".claude" / "projects" / (folder or slug) / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [_line(session, number, cwd, turn) for number, turn in enumerate(turns)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return file

    def run(self, *words: str, **variables: str) -> Json:
        done = typed(*words, "--json", home=self.store, **self.environment(), **variables)
        assert done.returncode == 0, done.stderr
        body: Json = json.loads(done.stdout)
        return body

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "USERPROFILE": str(self.home), "BACKSTORY_EMBEDDINGS": "off"}

    def stored(self) -> bytes:
        return b"\0".join(path.read_bytes() for path in self.store.rglob("*") if path.is_file()).lower()


def _line(session: str, number: int, cwd: Path, content: Any) -> Json:
    role = "assistant" if number % 2 else "user"
    if isinstance(content, str) and role == "assistant":
        content = [{"type": "text", "text": content}]
    return {
        "type": role,
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "timestamp": f"2026-03-04T03:04:{number:02}.000Z",
        "cwd": str(cwd),
        "message": {"id": f"m{number}", "role": role, "content": content, "model": "m"},
    }


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.mark.parametrize("rule", ["{}", "{}/**", "*/acme", "acme"])
def test_nothing_of_an_excluded_project_is_stored(user: User, rule: str) -> None:
    secret, other = user.project("acme"), user.project("shop")
    user.log(secret, "the quokka is blue", "Yes.")
    user.log(other, "the numbat is red", "Yes.")
    told = user.run("sync", BACKSTORY_EXCLUDE=rule.format(secret))["assistants"]["claude-code"]
    assert (told["conversations"], told["excluded"]) == (1, 1)
    assert b"quokka" not in user.stored()
    assert b"numbat" in user.stored()


def test_a_log_that_is_filed_under_an_excluded_directory_is_not_opened(user: User) -> None:
    secret = user.project("acme")
    file = user.log(secret, "the quokka is blue")
    file.unlink()
    file.symlink_to("/dev/full")  # reading it never ends
    assert user.run("sync", BACKSTORY_EXCLUDE=str(secret))["assistants"]["claude-code"]["excluded"] == 1


def test_a_project_is_kept_out_by_what_its_log_records_and_stays_out_as_it_grows(user: User) -> None:
    below = user.project("acme") / "deep"
    below.mkdir()
    file = user.log(below, "the quokka is blue", "Yes.", folder="elsewhere")
    exclude = {"BACKSTORY_EXCLUDE": str(user.projects / "acme")}
    assert user.run("sync", **exclude)["assistants"]["claude-code"]["conversations"] == 0
    with file.open("a") as log:
        log.write(json.dumps(_line(file.stem, 2, below, "the numbat is red")) + "\n")
    assert user.run("sync", **exclude)["assistants"]["claude-code"]["conversations"] == 0
    assert not [word for word in (b"quokka", b"numbat") if word in user.stored()]
    # and it is read when the rule goes
    assert user.run("sync")["assistants"]["claude-code"]["conversations"] == 1


def test_a_directory_whose_name_only_begins_alike_is_read(user: User) -> None:
    user.log(user.project("acme-plans"), "the numbat is red")
    told = user.run("sync", BACKSTORY_EXCLUDE=str(user.projects / "acme"))["assistants"]["claude-code"]
    assert (told["conversations"], told["excluded"]) == (1, 0)


def test_an_ignore_file_hides_files_and_with_a_star_the_project(user: User) -> None:
    project = user.project("shop")
    edit = {
        "type": "tool_use",
        "id": "t1",
        "name": "Write",
        "input": {"file_path": str(project / "secrets" / "quokka.env"), "content": "numbat"},
    }
    user.log(project, "write it", [edit, {"type": "text", "text": "Written."}])
    (project / ".backstoryignore").write_text("secrets/\n")
    assert user.run("sync")["assistants"]["claude-code"]["conversations"] == 1
    assert b"quokka" not in user.stored()
    assert b"numbat" not in user.stored()
    (project / ".backstoryignore").write_text("*\n")
    user.log(project, "the wombat is green")
    assert user.run("sync")["assistants"]["claude-code"]["excluded"] == 1
    assert b"wombat" not in user.stored()


def test_private_passages_are_stored_nowhere_also_across_blocks_and_in_titles(user: User) -> None:
    project = user.project("shop")
    user.log(
        project,
        [
            {"type": "text", "text": "<private>\nthe quokka is blue"},
            {"type": "text", "text": "so is the bilby</private>\nWhy does the cache miss?"},
        ],
        "Because <private>of the numbat</private> it is cold.",
        "and <private>the wombat",
    )
    told = user.run("sync")["assistants"]["claude-code"]
    assert (told["conversations"], told["private"]) == (1, 3)
    stored = user.stored()
    assert not [word for word in (b"quokka", b"bilby", b"numbat", b"wombat") if word in stored]
    assert b"it is cold" in stored
    (row,) = user.run("sessions")["sessions"]
    assert row["title"] == "Why does the cache miss?"


def test_excluding_a_path_forgets_what_was_read_of_it_and_keeps_the_file(user: User) -> None:
    secret, other = user.project("acme"), user.project("shop")
    user.log(secret, "the quokka is blue", "Yes.")
    user.log(other, "the numbat is red", "Yes.")
    user.run("sync")
    config = user.store / "config.toml"
    config.write_text('# mine\nbackups = "off"\n')
    asked = typed("exclude", str(secret), home=user.store, **user.environment())
    assert asked.returncode == 2
    assert "quokka" in asked.stderr
    assert config.read_text() == '# mine\nbackups = "off"\n'
    done = user.run("exclude", str(secret), "--yes", "--backups")
    assert (done["forgotten"], done["exclude"]) == (1, [str(secret)])
    assert b"quokka" not in user.stored()
    assert b"numbat" in user.stored()
    assert config.read_text().endswith('# mine\nbackups = "off"\n')
    assert user.run("sync")["assistants"]["claude-code"]["excluded"] == 1
    user.run("exclude", "*/clients/x", "--yes")
    assert tomllib.loads(config.read_text())["exclude"] == [str(secret), "*/clients/x"]
    user.run("exclude", str(secret), "--remove")
    assert user.run("exclude") == {"exclude": ["*/clients/x"]}


def test_nothing_is_saved_into_an_excluded_project(user: User) -> None:
    project = user.project("acme")
    environment = user.environment() | {"BACKSTORY_EXCLUDE": "acme", "BACKSTORY_PROJECT": str(project)}
    with serving(user.store, variables=environment) as server:
        server.greet()
        call = {"name": "remember", "arguments": {"text": "The quokka is blue."}}
        refusal = server.ask("tools/call", call)
    assert refusal["isError"]
    assert "excluded" in refusal["content"][0]["text"]
    assert b"quokka" not in user.stored()
