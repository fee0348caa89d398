"""The doctor finds what is wrong and says what to do."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backstory.clients.catalogue import CLIENTS
from backstory.problems import FOLDER

from ..patience import until
from ..processes import save, serving
from ..typed import typed


def examine(home: Path, *words: str, **variables: str) -> tuple[int, dict[str, Any]]:
    done = typed("doctor", "--json", *words, home=home, **variables)
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_a_sound_installation_passes(tmp_path: Path) -> None:
    save(tmp_path, "Lunch is at noon.")
    typed("embed", home=tmp_path)
    code, checks = examine(tmp_path)
    assert code == 0
    names = [
        "python",
        "sqlite",
        "variables",
        "permissions",
        "space",
        "home",
        "tools",
        "store",
        "integrity",
        "backups",
        "waiting",
        "histories",
        "background",
        "embeddings",
    ]
    assert [name for name in checks if name not in {*CLIENTS, "clients"}] == names
    absent = checks.pop("clients")
    assert (absent["state"], absent["message"].startswith("not on this machine: ")) == ("info", True)
    assert checks.pop("histories")["state"] == "info"
    assert {check["state"] for check in checks.values()} == {"ok"}


def test_a_damaged_store_fails(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"x" * 8192)
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["store"]["state"] == "fail"
    assert "restore" in checks["store"]["advice"]


def test_a_page_that_is_damaged_fails(tmp_path: Path) -> None:
    save(tmp_path, *[f"Lunch is at noon. {n}" for n in range(30)])
    with closing(sqlite3.connect(tmp_path / "store.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a page in the log would hide the damage
    content = bytearray((tmp_path / "store.db").read_bytes())
    content[4096 * 4 : 4096 * 5] = b"\xff" * 4096
    (tmp_path / "store.db").write_bytes(content)
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["integrity"]["state"] == "fail"


@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_a_store_that_others_may_read_is_a_warning(tmp_path: Path) -> None:
    save(tmp_path, "Lunch is at noon.")
    (tmp_path / "store.db").chmod(0o644)
    code, checks = examine(tmp_path)
    assert code == 0
    assert checks["permissions"]["state"] == "warn"
    assert "chmod go=" in checks["permissions"]["advice"]


def test_an_endpoint_that_does_not_answer_fails(tmp_path: Path) -> None:
    code, checks = examine(
        tmp_path,
        "--embeddings=endpoint",
        "--embeddings-url=http://127.0.0.1:9/v1",
        "--embeddings-model=none",
        "--embeddings-timeout-s=1",
    )
    assert code == 1
    assert checks["embeddings"]["state"] == "fail"


def test_embeddings_that_are_off_and_a_wrong_surface_are_seen(tmp_path: Path) -> None:
    code, checks = examine(tmp_path, "--embeddings=off", "--surfaces=nothing")
    assert code == 1
    assert checks["embeddings"]["state"] == "warn"
    assert checks["tools"]["state"] == "fail"


def test_a_variable_that_is_no_setting_is_said_and_stops_nothing(tmp_path: Path) -> None:
    done = typed("doctor", "--json", "--embeddings=off", home=tmp_path, BACKSTORY_WORKERZ="4")
    (check,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "variables"]
    assert done.returncode == 0
    assert check["state"] == "warn"
    assert "BACKSTORY_WORKERZ" in check["message"]


def test_what_fails_behind_the_answers_of_a_server_is_seen_by_status_and_doctor(tmp_path: Path) -> None:
    nobody = ("--embeddings=endpoint", "--embeddings-url=http://127.0.0.1:9/v1", "--embeddings-model=none")
    with serving(tmp_path, "serve", *nobody) as server:
        server.greet()
        server.call("save_context", context_text="Lunch is at noon.")
        until((tmp_path / FOLDER / "embedding.json").exists)
        found = server.call("retrieve_context", query="lunch")
        assert found["results"] == ["Lunch is at noon."]
        assert found["notices"][0].startswith("Searched by words alone: ")
    status = json.loads(typed("status", "--json", home=tmp_path).stdout)
    assert [problem["worker"] for problem in status["problems"]] == ["embedding"]
    assert "New texts are found by their words alone at the moment" in typed("status", home=tmp_path).stdout
    _, checks = examine(tmp_path)
    assert checks["background"]["state"] == "warn"
    typed("embed", home=tmp_path)
    assert json.loads(typed("status", "--json", home=tmp_path).stdout)["problems"] == []


def test_every_client_is_listed_with_its_entry_and_whether_it_answers(tmp_path: Path) -> None:
    person = tmp_path / "person"
    for name in (".cursor", ".kiro", ".codex", ".continue", ".cline"):
        (person / name).mkdir(parents=True)
    variables = {"HOME": str(person), "PATH": "", "XDG_CONFIG_HOME": str(person / ".config")}
    home = tmp_path / "data"
    typed("install", "cursor", "codex", "continue", "cline", home=home, **variables)
    cline = person / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    cline.write_text(cline.read_text().replace('"serve"', '"no-such-command"'))
    (person / ".kiro" / "settings").mkdir()
    (person / ".kiro" / "settings" / "mcp.json").write_text("{,}")
    code, checks = examine(home, "--project", str(person), **variables)
    assert code == 1
    states = {name: checks[name]["state"] for name in ("cursor", "continue", "cline", "codex", "kiro")}
    assert states == {"cursor": "ok", "continue": "ok", "cline": "fail", "codex": "warn", "kiro": "warn"}
    assert "Installed in" not in checks["kiro"]["message"]
    assert "line 1, column 2" in checks["kiro"]["message"]
    assert "does not answer" in checks["cline"]["message"]
    assert "hooks are not trusted" in checks["codex"]["message"]
    assert checks["cursor"]["message"].endswith("hooks: in place")
    # the home is the project here, and its file is named once
    assert checks["cursor"]["message"].count("mcp.json") == 1
    assert "zed" in checks["clients"]["message"]
