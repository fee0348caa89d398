"""`backstory import`, as a process over a home of our own."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ..importers.invented import engram, memory_keeper
from ..typed import typed

SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hLaB3d"


@pytest.fixture
def user(tmp_path: Path) -> Path:
    (tmp_path / "user").mkdir()
    return tmp_path / "user"


def environment(user: Path) -> dict[str, str]:
    return {"HOME": str(user), "USERPROFILE": str(user), "BACKSTORY_EMBEDDINGS": "off"}


def archive(path: Path, *texts: str) -> Path:
    messages = [
        {"uuid": f"m{n}", "sender": "human", "text": text, "created_at": "2026-01-02T03:04:05Z"}
        for n, text in enumerate(texts)
    ]
    conversations = [{"uuid": "u-1", "name": "Walrus", "chat_messages": messages}]
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("conversations.json", json.dumps(conversations))
    return path


def asked(user: Path, *words: str) -> Any:
    done = typed(*words, "--json", home=user.parent / "ours", **environment(user))
    # a search without results ends with 1
    assert done.returncode in ((0, 1) if words[0] == "search" else (0,)), done.stderr
    return json.loads(done.stdout)


def test_an_archive_is_imported_once_and_a_newer_one_adds_to_it(user: Path) -> None:
    first = archive(user / "first.zip", f"the walrus token is {SECRET}")
    told = asked(user, "import", "claude-ai", str(first))
    assert (told["kinds"]["conversations"]["new"], told["redacted"]) == (1, 1)
    assert asked(user, "import", "claude-ai", str(first))["kinds"]["conversations"]["unchanged"] == 1
    second = archive(user / "second.zip", f"the walrus token is {SECRET}", "and the walrus sings")
    assert asked(user, "import", "claude-ai", str(second))["kinds"]["conversations"]["updated"] == 1
    assert asked(user, "import", "claude-ai", str(first))["kinds"]["conversations"]["unchanged"] == 1
    first.unlink()
    asked(user, "sync")
    found = json.dumps(asked(user, "search", "walrus"))
    assert "sings" in found
    assert "aB3dE6" not in found
    asked(user, "forget", "--assistant", "claude-ai", "--yes")
    assert "sings" not in json.dumps(asked(user, "search", "walrus"))
    again = asked(user, "import", "claude-ai", str(second))["kinds"]["conversations"]
    assert again["skipped"] == {"deleted here": 1}


def test_a_store_is_listed_looked_at_and_imported(user: Path) -> None:
    path = memory_keeper(user / "mcp-data" / "memory-keeper")
    (found,) = asked(user, "import")["found"]
    assert (found["program"], found["path"], found["kinds"]["items"]) == ("memory-keeper", str(path), 4)
    dry = asked(user, "import", "memory-keeper", "--dry-run")
    assert dry["kinds"]["items"]["new"] == 3
    assert "PostgreSQL" in dry["kinds"]["items"]["examples"]
    assert asked(user, "search", "PostgreSQL")["results"] == []
    done = typed("import", "memory-keeper", str(path), home=user.parent / "ours", **environment(user))
    assert done.returncode == 0, done.stderr
    assert "4 items" in done.stdout
    assert "1 journal entry " in done.stdout
    assert "3 new; 1 skipped: deleted in MCP Memory Keeper" in done.stdout
    assert asked(user, "import", "memory-keeper")["kinds"]["items"]["unchanged"] == 3


def test_what_was_imported_is_forgotten_and_unarchived_as_anything_else(user: Path) -> None:
    path = engram(user / ".engram")
    asked(user, "import", "engram", "--with-deleted")
    archived = asked(user, "unarchive")["archived"]
    (gone,) = [each["name"] for each in archived if "Gone" in each["text"]]
    assert asked(user, "unarchive", gone)["restored"] == [gone]
    asked(user, "forget", gone, "--yes")
    asked(user, "forget", "--assistant", "engram", "--yes")
    again = asked(user, "import", "engram", str(path), "--with-deleted")["kinds"]
    assert again["prompt logs"]["skipped"] == {"deleted here": 1}
    assert again["observations"]["skipped"] == {"deleted here": 1}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "mastodon", "{0}/x.zip"), "There is no importer 'mastodon'"),
        (("import", "chatgpt", "{0}/missing.zip"), "There is no file"),
        (("import", "chatgpt", "{0}/text.zip"), "not JSON"),
        (("import", "chatgpt", "{0}/claude.zip"), "archive of another service"),
    ],
)
def test_what_cannot_be_imported_says_why(user: Path, words: tuple[str, ...], said: str) -> None:
    (user / "text.zip").write_text("no archive", "utf-8")
    archive(user / "claude.zip", "the walrus sings")
    done = typed(*(word.format(user) for word in words), home=user.parent / "ours", **environment(user))
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert asked(user, "status")["history_problems"] == {}
