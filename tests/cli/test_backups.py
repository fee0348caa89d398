"""Backup, restore and integrity, with servers running and with files that are not ours."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ..processes import run, save, serving

KEPT, LATER = "The staging server is called heron.", "Lunch is at noon."


def texts(home: Path) -> list[str]:
    done = run("search", "staging", "lunch", "--json", home=home)
    return sorted(result["text"] for result in json.loads(done.stdout)["results"])


def backup(home: Path, file: Path) -> None:
    done = run("backup", str(file), "--json", home=home)
    assert json.loads(done.stdout) == {"file": str(file), "bytes": file.stat().st_size}


def test_what_was_backed_up_comes_back(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    save(home, LATER)
    before = file.read_bytes()
    done = run("restore", str(file), "--json", home=home)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["holds"]["memories"] == 1
    assert texts(home) == [KEPT]
    assert file.read_bytes() == before
    assert run("restore", report["kept"], home=home).returncode == 0
    assert texts(home) == [LATER, KEPT]
    assert run("integrity", home=home).returncode == 0


def test_restoring_into_an_empty_home(tmp_path: Path) -> None:
    save(tmp_path / "old", KEPT)
    backup(tmp_path / "old", tmp_path / "copy.db")
    done = run("restore", str(tmp_path / "copy.db"), "--json", home=tmp_path / "new")
    assert json.loads(done.stdout)["kept"] is None
    assert texts(tmp_path / "new") == [KEPT]


def test_a_running_server_goes_on_with_the_restored_store(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    with serving(home, "serve") as server:
        server.greet()
        server.call("save_context", context_text=LATER)
        assert run("restore", str(file), home=home).returncode == 0
        assert server.call("retrieve_context", query="staging server lunch")["results"] == [KEPT]
        server.call("save_context", context_text="Saved after the restore.")
    assert run("integrity", home=home).returncode == 0
    assert json.loads(run("status", "--json", home=home).stdout)["holds"]["memories"] == 2


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE entry (n INTEGER)")


def text_file(path: Path) -> None:
    path.write_text("not a database")


def damaged_store(path: Path) -> None:
    save(path.parent / "other", *[f"{KEPT} {n}" for n in range(30)])
    run("backup", str(path), home=path.parent / "other")
    content = bytearray(path.read_bytes())
    content[4096 * 4 : 4096 * 5] = b"\xff" * 4096
    path.write_bytes(content)


def missing(path: Path) -> None:
    pass


@pytest.mark.parametrize("make", [foreign_database, text_file, damaged_store, missing])
def test_what_is_no_sound_store_is_refused_and_changes_nothing(tmp_path: Path, make: object) -> None:
    assert callable(make)
    home, file = tmp_path / "home", tmp_path / "file.db"
    save(home, KEPT)
    make(file)
    done = run("restore", str(file), home=home)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert str(file.name) in done.stderr
    assert texts(home) == [KEPT]
    assert not (home / "backups").exists()
    assert list(home.glob("restore-*")) == []


def test_a_store_in_use_is_no_backup(tmp_path: Path) -> None:
    with serving(tmp_path / "busy", "serve") as server:
        server.greet()
        server.call("save_context", context_text=KEPT)
        done = run("restore", str(tmp_path / "busy" / "store.db"), home=tmp_path / "home")
    assert done.returncode == 2
    assert "is in use" in done.stderr


def test_a_backup_never_overwrites(tmp_path: Path) -> None:
    file = tmp_path / "precious.txt"
    file.write_text("mine")
    done = run("backup", str(file), home=tmp_path / "home")
    assert done.returncode == 2
    assert file.read_text() == "mine"
