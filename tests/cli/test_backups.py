"""Backup, restore and integrity, with servers running and with files that are not ours."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import open_store
from backstory.domain.filters import Filter, Page
from backstory.store.sqlite import SqliteStore
from backstory.store.sqlite.pool import LOOK_EVERY_S

from ..doubles import make_memory, make_settings
from ..patience import until
from ..processes import save, serving
from ..server.team import listening, token
from ..typed import typed

KEPT, LATER = "The staging server is called heron.", "Lunch is at noon."


def texts(home: Path) -> list[str]:
    done = typed("search", "staging", "lunch", "--json", home=home)
    return sorted(result["text"] for result in json.loads(done.stdout)["results"])


def backup(home: Path, file: Path) -> None:
    done = typed("backup", str(file), "--json", home=home)
    body = json.loads(done.stdout)
    assert body == {"file": str(file), "bytes": file.stat().st_size, "rows": body["rows"]}
    assert body["rows"] > 0


def test_what_was_backed_up_comes_back(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    save(home, LATER)
    before = file.read_bytes()
    done = typed("restore", str(file), "--json", home=home)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["holds"]["memories"] == 1
    assert texts(home) == [KEPT]
    assert file.read_bytes() == before
    assert (
        "Restored 2 memories and 0 conversations from " in typed("restore", report["kept"], home=home).stdout
    )
    assert texts(home) == [LATER, KEPT]
    assert typed("integrity", home=home).returncode == 0


def test_restoring_into_an_empty_home(tmp_path: Path) -> None:
    save(tmp_path / "old", KEPT)
    backup(tmp_path / "old", tmp_path / "copy.db")
    done = typed("restore", str(tmp_path / "copy.db"), "--json", home=tmp_path / "new")
    assert json.loads(done.stdout)["kept"] is None
    assert texts(tmp_path / "new") == [KEPT]


def test_a_running_server_goes_on_with_the_restored_store(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    with serving(home, "serve") as server:
        server.greet()
        server.call("save_context", context_text=LATER)
        assert typed("restore", str(file), home=home).returncode == 0
        assert server.call("retrieve_context", query="staging server lunch")["results"] == [KEPT]
        server.call("save_context", context_text="Saved after the restore.")
    assert typed("integrity", home=home).returncode == 0
    assert json.loads(typed("status", "--json", home=home).stdout)["holds"]["memories"] == 2


def test_nothing_that_was_acknowledged_is_lost_when_servers_are_busy(tmp_path: Path) -> None:
    """It is in the restored store, or in the copy of the former one."""
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    acknowledged: list[str] = []
    is_over = threading.Event()

    def keep_saving(number: int) -> None:
        with serving(home, "serve") as server:
            server.greet()
            for count in itertools.count():
                if is_over.is_set():
                    return
                answer = server.ask(
                    "tools/call",
                    {"name": "save_context", "arguments": {"context_text": f"note {number} {count}"}},
                )
                if not answer["isError"]:
                    acknowledged.append(answer["structuredContent"]["id"])

    writers = [threading.Thread(target=keep_saving, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    copies = []
    for wanted in (20, 40, 60):
        while len(acknowledged) < wanted:
            assert any(writer.is_alive() for writer in writers)
        done = typed("restore", str(file), "--json", home=home)
        assert done.returncode == 0, done.stderr
        copies.append(Path(json.loads(done.stdout)["kept"]))
    count = len(acknowledged)
    while len(acknowledged) < count + 10:
        assert all(writer.is_alive() for writer in writers)
    is_over.set()
    for writer in writers:
        writer.join()
    held = set().union(*map(ids, [home / "store.db", *copies]))
    assert set(acknowledged) - held == set()
    assert typed("integrity", home=home).returncode == 0


def ids(path: Path) -> set[str]:
    with closing(SqliteStore(path)) as store:
        return {memory.id for memory in store.memories.find(Filter(), Page())}


@pytest.mark.parametrize("left", [b"", b"SQLite format 3\0 and then nothing"])
def test_a_damaged_store_is_replaced_and_kept_as_it_is(tmp_path: Path, left: bytes) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    (home / "store.db").write_bytes(left)
    refused = typed("status", home=home)
    assert refused.returncode == 1
    assert "backstory restore" in refused.stderr
    done = typed("restore", str(file), "--json", home=home)
    assert done.returncode == 0, done.stderr
    assert Path(json.loads(done.stdout)["kept"]).read_bytes() == left
    assert texts(home) == [KEPT]


def test_a_server_with_a_session_goes_on_in_a_store_without_it(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    with serving(home, "serve") as server:
        server.greet()
        server.call("context_save", key="a", value="Saved before.")
        assert typed("restore", str(file), home=home).returncode == 0
        assert server.call("context_save", key="b", value="Saved after.")["key"] == "b"
        assert [item["key"] for item in server.call("context_get")["items"]] == ["b"]


def test_status_and_doctor_tell_of_the_backups(tmp_path: Path) -> None:
    save(tmp_path, KEPT)
    before = json.loads(typed("status", "--json", home=tmp_path).stdout)["backups"]
    assert before == {"are_made": True, "count": 0, "bytes": 0, "files": []}
    assert typed("backup", home=tmp_path).returncode == 0
    told = json.loads(typed("status", "--json", home=tmp_path).stdout)["backups"]
    (file,) = told["files"]
    assert (told["count"], told["bytes"]) == (1, file["bytes"])
    assert Path(file["file"]).stat().st_size == file["bytes"]
    assert "automatic backups are off" in typed("status", "--backups", "off", home=tmp_path).stdout
    checks = json.loads(typed("doctor", "--json", home=tmp_path).stdout)["checks"]
    assert [check["state"] for check in checks if check["name"] == "backups"] == ["ok"]


def test_a_running_server_makes_a_backup_each_day(tmp_path: Path) -> None:
    save(tmp_path, KEPT)
    with closing(SqliteStore(tmp_path / "store.db")) as store, store.transaction():
        store.database.change("UPDATE migration SET applied_at = applied_at - 100000000")
    with serving(tmp_path, "serve") as server:
        server.greet()
        server.call("retrieve_context", query="staging")
        until(lambda: any((tmp_path / "backups").glob("store-*-daily.db")))
    (file,) = (tmp_path / "backups").iterdir()
    assert len(ids(file)) == 1


def test_a_team_server_backs_up_its_tokens_each_day(tmp_path: Path) -> None:
    token(tmp_path, "alice")
    with closing(SqliteStore(tmp_path / "team.db")) as store, store.transaction():
        store.database.change("UPDATE migration SET applied_at = applied_at - 100000000")
    with listening(tmp_path, "--http-auth", "token"):
        until(lambda: any((tmp_path / "backups").glob("team-*-daily.db")))
    (file,) = (tmp_path / "backups").iterdir()
    with closing(SqliteStore(file, is_copy=True)) as copy:
        assert [each.person for each in copy.team.tokens()] == ["alice"]


def test_a_mistyped_path_makes_nothing(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for words in (("backup",), ("backup", str(elsewhere / "copy.db"))):
        done = typed(*words, home=home)
        assert done.returncode == 2
        assert "nothing was written" in done.stderr
    save(home, KEPT)
    assert typed("backup", str(elsewhere / "copy.db"), home=home).returncode == 2
    assert not elsewhere.exists()


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE entry (n INTEGER)")


def text_file(path: Path) -> None:
    path.write_text("not a database")


def damaged_store(path: Path) -> None:
    save(path.parent / "other", *[f"{KEPT} {n}" for n in range(30)])
    typed("backup", str(path), home=path.parent / "other")
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
    done = typed("restore", str(file), home=home)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert str(file.name) in done.stderr
    assert texts(home) == [KEPT]
    assert not (home / "backups").exists()
    assert list(home.glob(".*")) == []


def test_a_store_in_use_is_no_backup(tmp_path: Path) -> None:
    with serving(tmp_path / "busy", "serve") as server:
        server.greet()
        server.call("save_context", context_text=KEPT)
        done = typed("restore", str(tmp_path / "busy" / "store.db"), home=tmp_path / "home")
    assert done.returncode == 2
    assert "is in use" in done.stderr


def test_a_backup_never_overwrites(tmp_path: Path) -> None:
    file = tmp_path / "precious.txt"
    file.write_text("mine")
    done = typed("backup", str(file), home=tmp_path / "home")
    assert done.returncode == 2
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda path: os.truncate(path, 0)], ids=["deleted", "emptied"]
)
def test_servers_of_a_store_that_is_lost_say_so_until_it_is_restored(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    save(home, KEPT)
    backup(home, file)
    with serving(home, "serve") as one, serving(home, "serve") as other:
        for server in (one, other):
            server.greet()
            assert server.call("retrieve_context", query="staging server")["results"] == [KEPT]
        damage(home / "store.db")
        time.sleep(2 * LOOK_EVERY_S)  # a read may use the lost file for so long
        for server, tool, arguments in (
            (one, "save_context", {"context_text": "Lost?"}),
            (other, "retrieve_context", {"query": "staging server"}),
            (other, "context_save", {"key": "a", "value": "Lost?"}),
        ):
            answer = server.ask("tools/call", {"name": tool, "arguments": arguments})
            assert answer["isError"]
            assert "backstory restore" in answer["content"][0]["text"]
        assert typed("restore", str(file), home=home).returncode == 0
        one.call("save_context", context_text=LATER)
        assert LATER in other.call("retrieve_context", query="lunch at noon")["results"]
    assert typed("integrity", home=home).returncode == 0


ALICE, OPS = "user-alice", "team-ops"


@pytest.fixture
def team_home(tmp_path: Path) -> Path:
    """The data directory of a team server, which has no store of one user's own."""
    home = tmp_path / "home"
    for space in ("team", ALICE, OPS):
        with closing(open_store(make_settings(home), space)) as store:
            store.memories.put([make_memory(space, f"The staging server of {space} is called heron.")])
    return home


def damage(file: Path) -> None:
    """The store opens, and a page of it is nonsense."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'entry_surface'"
        ).fetchone()
    content = bytearray(file.read_bytes())
    content[4096 * (page - 1) : 4096 * page] = b"\xff" * 4096
    file.write_bytes(content)


def test_every_store_of_a_team_server_is_backed_up_and_each_comes_back(team_home: Path) -> None:
    body = json.loads(typed("backup", "--json", home=team_home).stdout)
    files = {space: Path(made["file"]) for space, made in body["spaces"].items()}
    assert files.keys() == {"team", ALICE, OPS}
    assert files[ALICE].parent == team_home / "spaces" / f"{ALICE}.files" / "backups"
    assert files["team"].parent == team_home / "backups"
    assert [ids(file) for file in files.values()] == [{space} for space in files]
    live = team_home / "spaces" / f"{ALICE}.db"
    live.unlink()
    done = typed("restore", str(files[ALICE]), "--space", ALICE, home=team_home)
    assert done.returncode == 0, done.stderr
    assert ids(live) == {ALICE}
    assert not (team_home / "store.db").exists()


def test_one_store_of_a_team_server_is_backed_up_to_a_file(team_home: Path, tmp_path: Path) -> None:
    done = typed("backup", str(tmp_path / "copy.db"), "--space", OPS, home=team_home)
    assert done.returncode == 0, done.stderr
    assert ids(tmp_path / "copy.db") == {OPS}
    wrong = typed("backup", "--space", "user-alyce", home=team_home)
    assert wrong.returncode != 0
    assert ALICE in wrong.stderr
    assert not list(team_home.glob("spaces/user-alyce*"))


def test_no_backup_of_a_tenant_becomes_the_own_store_unasked(team_home: Path) -> None:
    body = json.loads(typed("backup", "--space", ALICE, "--json", home=team_home).stdout)
    done = typed("restore", body["file"], home=team_home)
    assert done.returncode != 0
    assert f"--space {ALICE}" in done.stderr
    assert not (team_home / "store.db").exists()
    for wrong in ("user-alyce", f"../spaces/{ALICE}"):
        assert typed("restore", body["file"], "--space", wrong, home=team_home).returncode != 0
    assert not list(team_home.glob("spaces/user-alyce*"))


def test_damage_to_a_store_of_a_team_server_is_found(team_home: Path) -> None:
    assert typed("integrity", home=team_home).returncode == 0
    checks = json.loads(typed("doctor", "--json", home=team_home).stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "team stores"]
    assert (check["state"], "3 stores" in check["message"]) == ("ok", True)
    damage(team_home / "spaces" / f"{ALICE}.db")
    done = typed("integrity", "--json", home=team_home)
    assert done.returncode == 1
    states = {Path(each["store"]).stem: each["ok"] for each in json.loads(done.stdout)["stores"]}
    assert states == {"store": True, "team": True, ALICE: False, OPS: True}
    assert f"--space {ALICE}" in typed("integrity", home=team_home).stdout
    checks = json.loads(typed("doctor", "--json", home=team_home).stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "team stores"]
    assert check["state"] == "fail"
    assert ALICE in check["message"]


def test_a_backup_that_is_not_sound_is_not_kept(tmp_path: Path) -> None:
    save(tmp_path, KEPT)
    assert typed("backup", home=tmp_path).returncode == 0
    before = list((tmp_path / "backups").iterdir())
    damage(tmp_path / "store.db")
    done = typed("backup", home=tmp_path)
    assert done.returncode != 0
    assert "not sound" in done.stderr or "damaged" in done.stderr
    assert list((tmp_path / "backups").iterdir()) == before
    assert typed("restore", str(before[0]), home=tmp_path).returncode == 0, (
        "though the present store is damaged"
    )
    assert texts(tmp_path) == [KEPT]
