"""`backstory admin tenants`: sizes, limits, copies and exact deletions, with files and with PostgreSQL."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from backstory.domain.filters import Filter, Page

from ..conftest import open_sqlite
from ..typed import typed
from .team import Json, Web, bearer, listening, token

TEXTS = {"alice": "Alice keeps a walrus.", "bob": "Bob keeps a heron."}


def admin(home: Path, *words: str) -> Json:
    done = typed("admin", "tenants", *words, "--json", home=home)
    assert done.returncode == 0, done.stderr
    body: Json = json.loads(done.stdout)
    return body


def names(home: Path) -> list[str]:
    return [each["tenant"] for each in admin(home, "list")["tenants"]]


def recalled(web: Web, who: Json, query: str) -> str:
    text: str = web.call("recall", {"query": query}, **bearer(who))["content"][0]["text"]
    return text


@pytest.fixture
def tokens(home: Path) -> dict[str, Json]:
    """Of two users, each with one memory, and no server that runs."""
    made = {user: token(home, user, "--scope", "write") for user in TEXTS}
    with listening(home, "--http-auth", "token") as web:
        for user, text in TEXTS.items():
            assert not web.call("remember", {"text": text}, **bearer(made[user]))["isError"]
    return made


def test_tenants_are_listed_and_measured(home: Path, tokens: dict[str, Json]) -> None:
    assert names(home) == ["user-alice", "user-bob"]
    (alice,) = admin(home, "size", "user-alice")["tenants"]
    assert (alice["memories"], alice["messages"]) == (1, 0)
    assert alice["used_bytes"] >= len(TEXTS["alice"])
    assert len(admin(home, "size")["tenants"]) == 2
    wrong = typed("admin", "tenants", "size", "alice", home=home)
    assert (wrong.returncode != 0, "user-alice" in wrong.stderr) == (True, True)


def test_an_export_is_a_whole_store_in_one_file(home: Path, tokens: dict[str, Json], tmp_path: Path) -> None:
    file = tmp_path / "alice.db"
    assert admin(home, "export", "user-alice", str(file))["ok"]
    with closing(open_sqlite(file)) as store:
        assert [each.text for each in store.memories.find(Filter(), Page())] == [TEXTS["alice"]]
    again = typed("admin", "tenants", "export", "user-alice", str(file), home=home)
    assert (again.returncode, "already exists" in again.stderr) == (2, True)
    link, elsewhere = tmp_path / "link.db", tmp_path / "elsewhere.db"
    link.symlink_to(elsewhere)
    linked = typed("admin", "tenants", "export", "user-alice", str(link), home=home)
    assert (linked.returncode, "already exists" in linked.stderr) == (2, True)
    assert (link.is_symlink(), elsewhere.exists()) == (True, False)


def test_a_deletion_asks_first_and_then_takes_all_of_one_tenant_and_nothing_of_another(
    home: Path, tokens: dict[str, Json]
) -> None:
    admin(home, "quota", "user-alice", "500")
    refused = typed("admin", "tenants", "delete", "user-alice", home=home)
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert names(home) == ["user-alice", "user-bob"]
    gone = admin(home, "delete", "user-alice", "--yes")
    assert (gone["deleted"], gone["memories"], gone["valid_tokens"]) == (True, 1, 1)
    assert names(home) == ["user-bob"]
    assert typed("admin", "tenants", "delete", "user-alice", "--yes", home=home).returncode != 0
    assert not list(home.glob("spaces/user-alice*"))
    with listening(home, "--http-auth", "token") as web:
        assert "walrus" not in recalled(web, tokens["alice"], "walrus")
        assert "heron" in recalled(web, tokens["bob"], "heron")
    made_anew = {each["tenant"]: each["quota_mb"] for each in admin(home, "list")["tenants"]}
    assert made_anew == {"user-alice": None, "user-bob": None}


def test_a_server_that_has_the_tenant_open_brings_nothing_back(home: Path, tokens: dict[str, Json]) -> None:
    with listening(home, "--http-auth", "token") as web:
        assert "walrus" in recalled(web, tokens["alice"], "walrus")
        admin(home, "delete", "user-alice", "--yes")
        assert "Alice keeps" not in recalled(web, tokens["alice"], "walrus")
        assert "heron" in recalled(web, tokens["bob"], "heron")


def test_members_of_a_deleted_space_are_gone(home: Path) -> None:
    typed("admin", "members", "add", "ops", "ann", home=home)
    ann = token(home, "ann", "--scope", "write")
    with listening(home, "--http-auth", "token") as web:
        web.call("remember", {"text": "For ops."}, "/mcp/ops", **bearer(ann))
    admin(home, "delete", "team-ops", "--yes")
    assert json.loads(typed("admin", "members", "--json", home=home).stdout) == {"members": []}


def test_a_quota_and_a_retention_are_of_one_tenant(home: Path, tokens: dict[str, Json]) -> None:
    admin(home, "quota", "user-alice", "0.00001")
    admin(home, "retention", "user-bob", "30")
    listed = {
        each["tenant"]: (each["quota_mb"], each["retention_days"]) for each in admin(home, "list")["tenants"]
    }
    assert listed == {"user-alice": (0.00001, None), "user-bob": (None, 30.0)}
    with listening(home, "--http-auth", "token") as web:
        full = web.call("remember", {"text": "One more."}, **bearer(tokens["alice"]))
        assert (full["isError"], "limit" in full["content"][0]["text"]) == (True, True)
        assert not web.call("remember", {"text": "One more."}, **bearer(tokens["bob"]))["isError"]
    assert admin(home, "quota", "user-alice", "none")["quota_mb"] is None
    for word in ("0", "-1", "nan", "many", "inf"):
        wrong = typed("admin", "tenants", "quota", "user-alice", word, home=home)
        assert (wrong.returncode, "MB" in wrong.stderr) == (2, True)


def test_without_tenants_a_look_makes_nothing(tmp_path: Path) -> None:
    assert names(tmp_path) == []
    assert list(tmp_path.glob("*.db")) == []
