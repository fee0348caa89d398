"""`backstory devices`, as a person on two machines types it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.core.devices.folder import SUBFOLDER
from backstory.domain.filters import Filter, Page

from ..conftest import open_sqlite
from ..doubles import make_conversation, make_memory, make_messages
from ..processes import Json
from ..typed import typed

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OFF = {"BACKSTORY_EMBEDDINGS": "off", "BACKSTORY_HISTORIES": "off", "BACKSTORY_BACKUPS": "off"}


class TypedMachine:
    """A home of its own on this machine, and the commands typed there."""

    def __init__(self, top: Path, name: str) -> None:
        self.name = name
        self.top = top / name
        self.home = self.top / "data"
        self.home.mkdir(parents=True)

    def type(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return typed(f"--home={self.home}", "devices", *words, home=self.top, **OFF | variables)

    def json(self, *words: str, **variables: str) -> Json:
        done = self.type(*words, "--json", **variables)
        assert done.returncode == 0, done.stderr
        body: Json = json.loads(done.stdout)
        return body

    def refusal(self, *words: str, status: int = 1, **variables: str) -> str:
        done = self.type(*words, **variables)
        assert (done.returncode, done.stdout) == (status, ""), (done.stdout, done.stderr)
        return done.stderr

    def save(self, id: str, text: str) -> None:
        store = open_sqlite(self.home / "store.db")
        store.memories.put([make_memory(id, text)])
        store.close()

    def texts(self) -> list[str]:
        store = open_sqlite(self.home / "store.db")
        try:
            return sorted(memory.text for memory in store.memories.find(Filter(), Page()))
        finally:
            store.close()


@pytest.fixture
def laptop(tmp_path: Path) -> TypedMachine:
    return TypedMachine(tmp_path, "laptop")


@pytest.fixture
def desktop(tmp_path: Path) -> TypedMachine:
    return TypedMachine(tmp_path, "desktop")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "carried").mkdir()
    return tmp_path / "carried"


def code_file(tmp_path: Path, code: str) -> str:
    path = tmp_path / "code"
    path.write_text(code)
    return str(path)


def met(laptop: TypedMachine, desktop: TypedMachine, folder: Path) -> str:
    """Both machines take part; the recovery code."""
    code: str = laptop.json("init", str(folder), "--name", "laptop")["code"]
    desktop.json("join", str(folder), "--name", "desktop", "--code-file", code_file(folder.parent, code))
    return code


def files_of(*places: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for place in places for path in place.rglob("*") if path.is_file()}


def test_a_memory_saved_on_one_machine_is_on_the_other_after_both_synced(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path, tmp_path: Path
) -> None:
    laptop.save("m", "Deploy on Tuesdays.")
    made = laptop.json("init", str(folder), "--name", "laptop")
    assert made["folder"] == str(folder)
    assert made["carry"] == "conversations"
    assert made["device"]["name"] == "laptop"
    joined = desktop.json(
        "join", str(folder), "--name", "desktop", "--code-file", code_file(tmp_path, made["code"])
    )
    assert joined["received"]["memories"] == 1
    assert desktop.texts() == ["Deploy on Tuesdays."]
    desktop.save("n", "Written on the desktop.")
    sent = desktop.json("sync")
    assert (sent["sent"]["memories"], sent["received"]["memories"], sent["waiting"], sent["skipped"]) == (
        1,
        0,
        [],
        [],
    )
    received = laptop.json("sync")
    assert (received["received"]["memories"], received["devices"]) == (1, 2)
    assert laptop.texts() == ["Deploy on Tuesdays.", "Written on the desktop."]
    status = laptop.json("status")
    assert status["folder"] == str(folder)
    assert status["unsent"] == 0
    assert [(each["name"], each["memories"], each["missing"]) for each in status["devices"]] == [
        ("desktop", 1, 0)
    ]
    assert not any(b"Tuesdays" in raw for raw in files_of(folder).values())


def test_forgetting_reaches_the_other_machine_and_the_folder(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path
) -> None:
    laptop.save("5f0c1d2e3a4b5c6d7e8f9a0b", "a planted word: zanzibar")
    met(laptop, desktop, folder)
    laptop.json("sync")
    before = files_of(folder)
    done = typed(
        "forget", "5f0c1d2e3a4b5c6d7e8f9a0b", "--yes", f"--home={laptop.home}", home=laptop.top, **OFF
    )
    assert done.returncode == 0, done.stderr
    assert "desktop" in done.stdout  # it has not heard of it yet
    assert laptop.json("sync")["sent"]["forgotten"] == 1
    assert not before.keys() - {str(folder / SUBFOLDER / "vault-1.json")} <= files_of(folder).keys()
    assert desktop.json("sync")["received"]["forgotten"] == 1
    assert desktop.texts() == []
    assert not any(b"zanzibar" in raw for raw in files_of(laptop.home, desktop.home).values())


@pytest.mark.parametrize("words", [("sync",), ("status",), ("leave",), ("remove", "x")])
def test_without_a_vault_every_command_says_how_to_make_one(
    laptop: TypedMachine, words: tuple[str, ...]
) -> None:
    assert "devices init" in laptop.refusal(*words)


def test_a_wrong_code_changes_nothing_here_or_there(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path, tmp_path: Path
) -> None:
    code: str = laptop.json("init", str(folder))["code"]
    desktop.save("n", "mine")
    before = files_of(folder, desktop.home)
    other = TypedMachine(tmp_path, "other")
    (tmp_path / "elsewhere").mkdir()
    wrong: str = other.json("init", str(tmp_path / "elsewhere"))["code"]
    assert "not the code" in desktop.refusal("join", str(folder), "--code-file", code_file(tmp_path, wrong))
    assert "not a recovery code" in desktop.refusal(
        "join", str(folder), "--code-file", code_file(tmp_path, code[:-2]), status=2
    )
    assert "--code-file" in desktop.refusal("join", str(folder), status=2)
    after = files_of(folder, desktop.home)
    assert {path: raw for path, raw in after.items() if "store.db" not in path} == {
        path: raw for path, raw in before.items() if "store.db" not in path
    }
    assert desktop.texts() == ["mine"]


def test_a_passphrase_opens_the_vault_too(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path, tmp_path: Path
) -> None:
    phrase, wrong = tmp_path / "phrase", tmp_path / "wrong"
    phrase.write_text("correct horse battery staple\n")
    wrong.write_text("incorrect horse")
    laptop.save("m", "text")
    laptop.json("init", str(folder), "--passphrase-file", str(phrase))
    assert "not the passphrase" in desktop.refusal("join", str(folder), "--passphrase-file", str(wrong))
    assert desktop.json("join", str(folder), "--passphrase-file", str(phrase))["received"]["memories"] == 1


def test_a_second_vault_in_one_folder_is_refused(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path
) -> None:
    laptop.json("init", str(folder))
    assert "devices join" in desktop.refusal("init", str(folder))


def test_a_missing_folder_leaves_everything_unsent(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path, tmp_path: Path
) -> None:
    met(laptop, desktop, folder)
    laptop.save("m", "text")
    folder.rename(tmp_path / "unplugged")
    assert "does not exist" in laptop.refusal("sync")
    status = laptop.json("status")
    assert status["unsent"] == 1
    assert "does not exist" in status["skipped"][0]["why"]
    (tmp_path / "unplugged").rename(folder)
    assert laptop.json("sync")["sent"]["memories"] == 1


def test_a_dry_run_writes_nothing(laptop: TypedMachine, desktop: TypedMachine, folder: Path) -> None:
    met(laptop, desktop, folder)
    laptop.save("m", "text")
    before = files_of(folder)
    body = laptop.json("sync", "--dry-run")
    assert body["dry_run"]
    assert body["sent"]["memories"] == 1
    assert files_of(folder) == before


def test_a_data_directory_in_a_synchronised_folder_is_refused_and_reported(
    tmp_path: Path, folder: Path
) -> None:
    machine = TypedMachine(tmp_path / "Dropbox", "laptop")
    error = machine.refusal("init", str(folder))
    assert "Dropbox" in error
    assert "database" in error
    assert files_of(folder) == {}
    done = typed("doctor", "--json", f"--home={machine.home}", home=machine.top, **OFF)
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["home"]["state"] == "fail"
    assert "Dropbox" in checks["home"]["message"]


def test_a_folder_that_overlaps_the_data_directory_is_refused(laptop: TypedMachine) -> None:
    for place in (laptop.home, laptop.home / "inside", laptop.home.parent):
        assert "overlap" in laptop.refusal("init", str(place), status=2)


def test_removing_a_machine_keeps_what_it_wrote_and_a_new_key_shuts_it_out(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path, tmp_path: Path
) -> None:
    met(laptop, desktop, folder)
    desktop.save("n", "Written on the desktop.")
    desktop.json("sync")
    third = TypedMachine(tmp_path, "third")
    body = laptop.json("remove", "desktop", "--rekey")
    assert laptop.texts() == ["Written on the desktop."]
    assert "new key" in desktop.refusal("sync")
    joined = third.json("join", str(folder), "--code-file", code_file(tmp_path, body["code"]))
    assert joined["received"]["memories"] == 1
    assert joined["skipped"] == []
    assert laptop.json("status")["devices"] == [] or "desktop" not in {
        each["name"] for each in laptop.json("status")["devices"]
    }


def test_a_machine_that_left_keeps_its_store_and_can_join_again(
    laptop: TypedMachine, desktop: TypedMachine, folder: Path, tmp_path: Path
) -> None:
    laptop.save("m", "text")
    code = met(laptop, desktop, folder)
    desktop.json("leave")
    assert desktop.texts() == ["text"]
    assert "devices init" in desktop.refusal("sync")
    assert not (desktop.home / "devices.json").exists()
    again = desktop.json("join", str(folder), "--code-file", code_file(tmp_path, code))
    assert again["sent"]["memories"] == 0
    assert desktop.texts() == ["text"]


def test_the_code_is_shown_on_a_terminal_only(laptop: TypedMachine, folder: Path) -> None:
    laptop.json("init", str(folder))
    assert "terminal" in laptop.refusal("code", status=2)


def test_without_the_package_the_answer_says_how_to_install_it(
    laptop: TypedMachine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nacl", None)
    monkeypatch.setitem(sys.modules, "nacl.bindings", None)
    error = laptop.refusal("init", str(folder))
    assert "PyNaCl" in error
    assert "[devices]" in error
    assert files_of(folder) == {}


def fake_ssh(place: Path, remote: TypedMachine) -> str:
    """An `ssh` that runs the command here, in the remote's home; for PATH."""
    place.mkdir()
    ssh = place / "ssh"
    command = f"{sys.executable} -m backstory"
    ssh.write_text(
        f'#!/bin/sh\n[ "$1" = me@remote ] || exit 255\nshift\n[ "$1" = backstory ] || exit 127\nshift\n'
        f'export HOME={remote.top} BACKSTORY_HOME={remote.home}\nexec {command} "$@"\n'
    )
    ssh.chmod(ssh.stat().st_mode | stat.S_IXUSR)
    return f"{place}:{os.environ['PATH']}"


def test_pulling_brings_over_what_another_machine_has_once(
    laptop: TypedMachine, desktop: TypedMachine, tmp_path: Path
) -> None:
    path = fake_ssh(tmp_path / "bin", desktop)
    desktop.save("m", "On the remote.")
    desktop.save("k", f"The key is {SECRET}.")
    store = open_sqlite(desktop.home / "store.db")
    store.conversations.put(make_conversation("codex:c"), make_messages("codex:c", "said there"))
    store.close()
    tried = laptop.json("pull", "me@remote", "--dry-run", PATH=path)
    assert tried["received"]["memories"] == 3
    assert laptop.texts() == []
    first = laptop.json("pull", "me@remote", PATH=path)
    assert (first["received"]["memories"], first["received"]["conversations"]) == (2, 1)
    assert laptop.texts()[0] == "On the remote."
    assert SECRET not in laptop.texts()[1]
    again = laptop.json("pull", "me@remote", PATH=path)
    assert (again["received"]["memories"], again["received"]["conversations"]) == (0, 0)
    by_command = TypedMachine(tmp_path, "third")
    via = f"{tmp_path}/bin/ssh me@remote"
    assert by_command.json("pull", "--via", via, "--trust", "imported")["received"]["memories"] == 2


def test_what_was_pulled_and_deleted_here_does_not_come_back(
    laptop: TypedMachine, desktop: TypedMachine, tmp_path: Path
) -> None:
    path = fake_ssh(tmp_path / "bin", desktop)
    desktop.save("5f0c1d2e3a4b5c6d7e8f9a0b", "On the remote.")
    laptop.json("pull", "me@remote", PATH=path)
    typed("forget", "5f0c1d2e3a4b5c6d7e8f9a0b", "--yes", f"--home={laptop.home}", home=laptop.top, **OFF)
    store = open_sqlite(desktop.home / "store.db")
    (memory,) = store.memories.find(Filter(), Page())
    store.memories.put(
        [memory._replace(text="Edited there.", updated_at=memory.updated_at.replace(year=2099))]
    )
    store.close()
    laptop.json("pull", "me@remote", PATH=path)
    assert laptop.texts() == []


def test_a_pull_that_cannot_be_made_says_why(
    laptop: TypedMachine, desktop: TypedMachine, tmp_path: Path
) -> None:
    path = fake_ssh(tmp_path / "bin", desktop)
    assert "255" in laptop.refusal("pull", "nobody@remote", PATH=path)
    assert "not installed" in laptop.refusal("pull", "--via", "sh -c 'exit 127'")
    assert "not a host" in laptop.refusal("pull", "--", "-oProxyCommand=x", status=2)
    assert "HOST" in laptop.refusal("pull", status=2)
