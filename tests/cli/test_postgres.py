"""The commands over a store in PostgreSQL: they work, or say what to use instead, and never show the password."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import open_store

from .. import pgbouncer, postgres_server
from ..doubles import make_memory, make_settings
from ..postgres_server import PASSWORD, own_database
from ..processes import serving
from ..typed import typed


@pytest.fixture
def variables() -> Iterator[dict[str, str]]:
    """Settings for a database of the test's own."""
    with own_database("commands") as url:
        yield {"BACKSTORY_DATABASE_URL": url, "BACKSTORY_EMBEDDINGS": "off"}


def test_what_one_server_saves_the_commands_find(tmp_path: Path, variables: dict[str, str]) -> None:
    with serving(tmp_path, "serve", variables=variables) as server:
        server.greet()
        server.call("save_context", context_text="JWT expires after 24h")
    found = typed("search", "jwt", "--json", home=tmp_path, **variables)
    assert "JWT expires after 24h" in found.stdout
    status = json.loads(typed("status", "--json", home=tmp_path, **variables).stdout)
    assert status["holds"]["memories"] == 1
    assert not (tmp_path / "store.db").exists()


@pytest.mark.parametrize("command", ["status", "doctor", "settings", "integrity"])
def test_the_password_is_never_shown(tmp_path: Path, variables: dict[str, str], command: str) -> None:
    for words in ([command], [command, "--json"]):
        done = typed(*words, home=tmp_path, **variables)
        assert done.returncode == 0, done.stderr
        assert PASSWORD not in done.stdout + done.stderr
    if command != "doctor":
        assert "postgresql://member:***@" in typed(command, home=tmp_path, **variables).stdout


@pytest.mark.parametrize(
    ("words", "advice"), [(("backup",), "pg_dump"), (("restore", "some.db"), "pg_restore")]
)
def test_copies_are_left_to_the_tools_of_the_database(
    tmp_path: Path, variables: dict[str, str], words: tuple[str, ...], advice: str
) -> None:
    done = typed(*words, home=tmp_path, **variables)
    assert done.returncode != 0
    assert advice in done.stderr
    assert PASSWORD not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_is_not_there_is_said_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://me:{PASSWORD}@127.0.0.1:1/nothing"
    done = typed("status", home=tmp_path, BACKSTORY_DATABASE_URL=url)
    assert done.returncode != 0
    assert "nothing on 127.0.0.1" in done.stderr
    assert PASSWORD not in done.stderr
    assert "Traceback" not in done.stderr


def test_damage_to_a_tenant_of_a_team_server_is_found(tmp_path: Path, variables: dict[str, str]) -> None:
    url = variables["BACKSTORY_DATABASE_URL"]
    with closing(open_store(make_settings(tmp_path, database_url=url), "user-alice")) as store:
        store.memories.put([make_memory("a")])
        with store.transaction():
            store.database.change("DELETE FROM entry_text")
    done = typed("integrity", home=tmp_path, **variables)
    assert done.returncode == 1
    assert "tenant user-alice is damaged" in done.stdout
    assert PASSWORD not in done.stdout
    checks = json.loads(typed("doctor", "--json", home=tmp_path, **variables).stdout)["checks"]
    assert {check["name"]: check["state"] for check in checks}["team stores"] == "fail"


@pytest.mark.parametrize(("pool_mode", "code"), [("transaction", 0), ("statement", 1)])
def test_the_doctor_tells_whether_a_pooler_keeps_tenants_apart(
    tmp_path: Path, variables: dict[str, str], pool_mode: str, code: int
) -> None:
    folder = Path(postgres_server.server().pgdata)
    with pgbouncer.pooler(folder, pool_mode=pool_mode, database="commands", user="member") as url:
        behind = variables | {"BACKSTORY_DATABASE_URL": url}
        done = typed("doctor", "--json", home=tmp_path, **behind)
        assert done.returncode == code, done.stdout
        assert ("does not keep a transaction together" in done.stdout) == bool(code)
        serving = typed("serve", home=tmp_path, **behind)
        assert (serving.returncode != 0) == bool(code)
