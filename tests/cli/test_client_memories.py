"""What other programs remember, read as memories: through `backstory sync`, from a home and projects of our own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backstory.clients.hooks import SOURCE

from ..patience import PATIENCE_S
from ..processes import Json, serving
from ..typed import typed

SAMPLES = Path(__file__).resolve().parents[3] / "shared/data/client-memories"


class User:
    def __init__(self, root: Path) -> None:
        self.home = root / "user"
        self.store = root / "ours"
        self.project = root / "work" / "shop"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self._tick = 1_790_000_000

    def is_at_work(self) -> None:
        """Files are written now: nothing is told of a project in which nothing happened lately."""
        self._tick = int(time.time()) - 1_000

    @property
    def slug(self) -> str:
        return "".join(letter if letter.isalnum() else "-" for letter in str(self.project))

    @property
    def claude(self) -> Path:
        return self.home / ".claude" / "projects" / self.slug / "memory"

    def write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self._tick += 10
        os.utime(path, (self._tick, self._tick))
        return path

    def run(self, *words: str, **variables: str) -> Json:
        done = typed(*words, "--json", home=self.store, **self.environment(), **variables)
        assert done.returncode == 0, done.stderr
        body: Json = json.loads(done.stdout)
        return body

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "BACKSTORY_EMBEDDINGS": "off",
            "BACKSTORY_BACKUPS": "off",
            "BACKSTORY_PROJECT": str(self.project),
        }

    def sync(self, **variables: str) -> Json:
        reports: Json = self.run("sync", **variables)["client_memories"]
        return reports

    def texts(self) -> list[str]:
        return sorted(memory["text"] for memory in self.memories())

    def memories(self) -> list[Json]:
        listed: list[Json] = self.run("list", "--limit", "100")["memories"]
        return listed

    def stored(self) -> bytes:
        return b"\0".join(path.read_bytes() for path in self.store.rglob("*") if path.is_file()).lower()


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_memories_of_five_programs_are_found_in_their_project(user: User) -> None:
    user.write(user.claude / "MEMORY.md", "# Memory\n- [Style](style.md) — how\n- The quokka cache is cold\n")
    user.write(user.claude / "style.md", "---\nname: Style\ntype: feedback\n---\nUse tabs, never spaces.\n")
    user.write(
        user.home / ".codex/memories/MEMORY.md", f"# Group\ncwd: {user.project}\n## Deploys\nmake ship\n"
    )
    user.write(user.home / ".gemini/projects.json", json.dumps({"projects": {str(user.project): "shop"}}))
    user.write(user.home / ".gemini/tmp/shop/memory/MEMORY.md", "- Redis runs on 6380\n")
    user.write(
        user.home / ".gemini/GEMINI.md",
        "# Rules\n- be brief\n\n## Gemini Added Memories\n- Answer in French\n",
    )
    user.write(user.home / f".qwen/projects/{user.slug}/memory/MEMORY.md", "- Tests need Docker\n")
    user.write(user.project / ".serena/memories/done.md", "# Done\nRun make check.\n")
    reports = user.sync()
    assert {name: report["added"] for name, report in reports.items()} == {
        "claude-code": 2,
        "codex": 1,
        "gemini-cli": 2,
        "qwen-code": 1,
        "serena": 1,
    }
    assert user.texts() == [
        "# Done\nRun make check.",
        "## Deploys\nmake ship",
        "Answer in French",
        "Redis runs on 6380",
        "Style\n\nUse tabs, never spaces.",
        "Tests need Docker",
        "The quokka cache is cold",
    ]
    assert user.sync()["claude-code"] == {**reports["claude-code"], "added": 0, "unchanged": 2}
    held = user.run("status")["client_memories"]
    assert held["claude-code-memory"] == {"memories": 2, "files": 2, "problems": 0}


def test_a_memory_says_where_it_comes_from_when_and_how_far_it_is_trusted(user: User) -> None:
    user.write(user.claude / "MEMORY.md", "- The cache is cold\n")
    user.write(user.project / ".serena/memories/a.md", "Run make check.\n")
    user.sync()
    (own,) = [each for each in user.memories() if "cache" in each["text"]]
    (project,) = [each for each in user.memories() if "check" in each["text"]]
    shown = user.run("show", own["id"])
    assert shown["origins"] == [{"program": "claude-code-memory", "path": str(user.claude / "MEMORY.md")}]
    assert (own["project"], own["trust"], own["updated_at"][:10]) == (str(user.project), "own", "2026-09-21")
    assert project["trust"] == "project"


def test_changed_and_deleted_lines_are_followed_and_come_back(user: User) -> None:
    file = user.write(
        user.claude / "MEMORY.md", "- The cache is cold\n- Deploys go by make ship\n- Use tabs\n"
    )
    user.sync()
    ids = {each["text"]: each["id"] for each in user.memories()}
    user.write(file, "- The cache is cold in winter\n-   Deploys  go by make ship\n- Always use tabs\n")
    report = user.sync()["claude-code"]
    assert (report["changed"], report["added"], report["retired"]) == (2, 0, 0)
    now = {each["text"]: each["id"] for each in user.memories()}
    assert now == {
        "The cache is cold in winter": ids["The cache is cold"],
        "Deploys go by make ship": ids["Deploys go by make ship"],
        "Always use tabs": ids["Use tabs"],
    }
    history = user.run("show", ids["Use tabs"])["history"]
    assert [former["text"] for former in history] == ["Use tabs"]
    user.write(file, "- Always use tabs\n")
    assert user.sync()["claude-code"]["retired"] == 2
    assert user.texts() == ["Always use tabs"]
    user.write(file, "- Always use tabs\n- Deploys go by make ship\n")
    assert user.sync()["claude-code"]["returned"] == 1
    assert {each["text"]: each["id"] for each in user.memories()}["Deploys go by make ship"] == ids[
        "Deploys go by make ship"
    ]


def test_a_process_that_looks_elsewhere_retires_nothing(user: User, tmp_path: Path) -> None:
    work = tmp_path / "claude-at-work"
    note = user.write(work / "projects" / user.slug / "memory" / "MEMORY.md", "- The quokka cache is cold\n")
    user.write(user.claude / "MEMORY.md", "- Redis runs on 6380\n")
    user.sync(CLAUDE_CONFIG_DIR=str(work))
    assert len(user.texts()) == 2
    user.sync()
    assert len(user.texts()) == 2
    note.unlink()
    user.sync()
    assert user.texts() == ["Redis runs on 6380"]


def test_a_deleted_file_retires_its_memories_but_a_missing_root_does_not(user: User) -> None:
    user.write(user.claude / "MEMORY.md", "- The cache is cold\n")
    user.write(user.home / ".codex/memories/MEMORY.md", "- Use tabs\n")
    user.sync()
    (user.claude / "MEMORY.md").unlink()
    shutil.move(user.home / ".codex", user.home / "unmounted")
    assert user.sync()["claude-code"]["retired"] == 1
    assert user.texts() == ["Use tabs"]


def test_the_same_fact_in_two_programs_is_one_memory_with_two_origins(user: User) -> None:
    user.write(user.claude / "MEMORY.md", "- The cache is **cold**\n")
    user.write(user.home / ".gemini/projects.json", json.dumps({"projects": {str(user.project): "shop"}}))
    gemini = user.write(user.home / ".gemini/tmp/shop/memory/MEMORY.md", "* the cache is cold\n")
    user.sync()
    (memory,) = user.memories()
    origins = user.run("show", memory["id"])["origins"]
    assert [each["program"] for each in origins] == ["claude-code-memory", "gemini-memory"]
    # one of them changes: the other's fact stays what it was
    user.write(gemini, "* the cache is warm\n")
    user.sync()
    assert user.texts() == ["The cache is **cold**", "the cache is warm"]
    (user.claude / "MEMORY.md").unlink()
    user.sync()
    assert user.texts() == ["the cache is warm"]


def test_a_saved_memory_that_a_program_repeats_stays_as_it_is(user: User) -> None:
    with serving(user.store, variables=user.environment()) as server:
        server.greet()
        server.ask("tools/call", {"name": "remember", "arguments": {"text": "The cache is cold"}})
    file = user.write(user.claude / "MEMORY.md", "- the cache is cold\n")
    assert user.sync()["claude-code"]["added"] == 0
    assert user.texts() == ["The cache is cold"]
    user.write(file, "- nothing here\n")
    user.sync()
    assert user.texts() == ["The cache is cold", "nothing here"]


def test_a_forgotten_memory_is_not_read_back_from_any_program(user: User) -> None:
    file = user.write(user.claude / "MEMORY.md", "- The quokka is cold\n- Use tabs\n")
    user.sync()
    (memory,) = [each for each in user.memories() if "quokka" in each["text"]]
    user.run("forget", memory["id"], "--yes")
    user.write(file, "- The quokka is cold\n- Use tabs\n- More\n")
    user.write(user.home / f".qwen/projects/{user.slug}/memory/MEMORY.md", "- the quokka is cold\n")
    user.sync()
    assert user.texts() == ["More", "Use tabs"]
    assert b"quokka" not in user.stored()


def test_secrets_private_passages_and_excluded_projects_stay_out(user: User) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hLaB3d"
    user.write(user.claude / "MEMORY.md", f"- The token is {token}\n- a <private>quokka</private> b\n")
    report = user.sync()["claude-code"]
    assert (report["redacted"], report["private"]) == (1, 1)
    assert token.lower().encode() not in user.stored()
    assert b"quokka" not in user.stored()
    user.write(user.claude / "more.md", "The wombat is green.\n")
    assert user.sync(BACKSTORY_EXCLUDE=str(user.project))["claude-code"]["excluded"] == 2
    assert b"wombat" not in user.stored()
    assert len(user.texts()) == 2


def test_the_setting_chooses_programs_or_none(user: User) -> None:
    user.write(user.claude / "MEMORY.md", "- The cache is cold\n")
    assert user.sync(BACKSTORY_CLIENT_MEMORIES="none") == {}
    assert user.sync(BACKSTORY_CLIENT_MEMORIES="codex") == {}
    refusal = typed("sync", home=user.store, **user.environment(), BACKSTORY_CLIENT_MEMORIES="quokka")
    assert (refusal.returncode, "quokka" in refusal.stderr) == (2, True)


def test_a_large_file_and_a_link_out_of_its_root_are_not_read(user: User) -> None:
    user.write(user.claude / "large.md", "x" * 300_000)
    outside = user.write(user.home.parent / "outside.md", "The quokka is blue.")
    (user.claude / "link.md").symlink_to(outside)
    report = user.sync()["claude-code"]
    assert list(report["problems"]) == [str(user.claude / "large.md")]
    assert user.texts() == []


def test_the_project_of_a_folder_is_what_its_sessions_record(user: User) -> None:
    other = user.project.parent / "the-shop"
    other.mkdir()
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(other))
    folder = user.home / ".qwen" / "projects" / slug
    user.write(folder / "chats" / "1.jsonl", json.dumps({"cwd": str(other)}) + "\n")
    user.write(folder / "memory" / "MEMORY.md", "- Known\n")
    user.write(user.home / ".qwen/projects/-no-such-place/memory/MEMORY.md", "- Unknown\n")
    assert user.sync()["qwen-code"]["unplaced"] == 1
    assert {each["text"]: each["project"] for each in user.memories()} == {"Known": str(other), "Unknown": ""}


def test_a_running_server_reads_them_too(user: User) -> None:
    user.write(user.claude / "MEMORY.md", "- The quokka cache is cold\n")
    with serving(user.store, variables=user.environment()) as server:
        server.greet()
        found = server.ask("tools/call", {"name": "recall", "arguments": {"query": "quokka cache"}})
        assert "quokka cache is cold" in json.dumps(found)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of client memories are not here")
def test_real_files_give_as_many_memories_as_people_counted(user: User) -> None:
    for name in ("serena", "memory-bank", "kiro", "beads", "claude-code"):
        shutil.copytree(SAMPLES / name, user.project, dirs_exist_ok=True)
    added = {name: report["added"] for name, report in user.sync().items()}
    # three of the beads' issues have the same text
    assert added == {"claude-code": 4, "serena": 15, "memory-bank": 38, "kiro": 14, "beads": 34}


def test_a_copy_by_specstory_is_left_out_where_the_session_itself_was_read_or_forgotten(user: User) -> None:
    session = "33333333-0000-4000-8000-000000000001"
    line = {
        "type": "user",
        "uuid": "u1",
        "sessionId": session,
        "timestamp": "2026-03-04T05:06:07.000Z",
        "cwd": str(user.project),
        "message": {"role": "user", "content": "Why does the quokka miss?"},
    }
    user.write(user.claude.parent / f"{session}.jsonl", json.dumps(line) + "\n")
    copy = f"<!-- Claude Code Session {session} (2026-03-04 05:06:07Z) -->\n\n_**User (2026-03-04 05:06:07Z)**_\n\n"
    history = user.project / ".specstory" / "history"
    user.write(history / "2026-03-04_05-06-07Z.md", copy + "Why does the quokka miss?\n")
    other = copy.replace("0001", "0002")
    user.write(history / "2026-03-05_05-06-07Z.md", other + "Why does the numbat miss?\n")
    assert user.run("sync")["assistants"]["specstory"]["conversations"] == 1
    user.run("forget", f"claude-code:{session}", "--yes")
    user.write(history / "2026-03-04_05-06-07Z.md", copy + "Why does the quokka miss?\n\n---\n")
    assert user.run("sync")["assistants"]["specstory"]["conversations"] == 0
    assert b"quokka" not in user.stored()


def test_a_fact_that_one_program_noted_is_in_the_brief_but_not_in_that_programs(user: User) -> None:
    user.is_at_work()
    user.write(user.claude / "MEMORY.md", "- The quokka cache listens on port 7007\n")
    user.write(user.home / ".gemini/GEMINI.md", "## Gemini Added Memories\n- Answer in French\n")
    user.write(
        user.home / ".codex/memories/rollout_summaries/a.md", f"cwd: {user.project}\nA long summary.\n"
    )
    user.write(user.project / ".serena/memories/done.md", "# Done\nRun make check.\n")
    user.sync()
    told = {client: brief_of(user, client) for client in ("codex", "claude-code", "gemini-cli")}
    assert "The quokka cache listens on port 7007" in told["codex"]
    assert "Answer in French" in told["codex"]
    assert "Answer in French" in told["claude-code"]
    assert "quokka" not in told["claude-code"]
    assert "quokka" in told["gemini-cli"]
    assert "French" not in told["gemini-cli"]
    assert not any(words in told["codex"] for words in ("long summary", "make check"))


def test_a_fact_that_is_true_everywhere_reaches_a_brief_that_was_rendered_before(user: User) -> None:
    user.is_at_work()
    user.write(user.claude / "MEMORY.md", "- The quokka cache listens on port 7007\n")
    user.sync()
    user.write(user.home / ".qwen/QWEN.md", "## Qwen Added Memories\n- Reviews are done in Welsh\n")
    user.sync()
    assert "Reviews are done in Welsh" in brief_of(user, "codex")


def test_an_installation_reads_them_for_the_first_session(user: User) -> None:
    user.is_at_work()
    user.write(user.claude / "MEMORY.md", "- The quokka cache listens on port 7007\n")
    user.run("install", "codex", "--yes")
    assert "The quokka cache listens on port 7007" in brief_of(user, "codex")


def brief_of(user: User, client: str) -> str:
    """What a session of a client is told at its start."""
    event = {"hook_event_name": "SessionStart", "cwd": str(user.project), "session_id": f"s-{client}"}
    words = [sys.executable, "-I", "-S", str(SOURCE), client, str(user.store)]
    variables = {
        "BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S),
        "BACKSTORY_BRIEF": "on",
        **user.environment(),
    }
    done = subprocess.run(
        words, input=json.dumps(event), env=variables, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout
