"""Replicas before one PostgreSQL, each with a disk of its own: what one of them acknowledged, any other returns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backstory.app import open_engine, read_settings
from backstory.core.forgetting.erasure import Erasure
from backstory.core.forgetting.removal import ForgetRequest
from backstory.domain.filters import Filter, Page

from .. import postgres_server
from ..typed import typed
from .team import Web, bearer, listening, token

Json = dict[str, Any]
REPLICAS = ("first", "second", "third")
TALK = "User: Why does the importer stall?\nAssistant: The queue of kelpworm is full.\n"


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[list[Path]]:
    """Data directories of servers that share nothing but the database."""
    with postgres_server.own_database("replicas") as url:
        homes = [tmp_path / name for name in REPLICAS]
        for home in homes:
            home.mkdir()
            (home / "config.toml").write_text(f"database_url = {json.dumps(url)}\n", "utf-8")
        yield homes


@pytest.fixture
def alice(homes: list[Path]) -> dict[str, str]:
    return bearer(token(homes[0], "alice", "--scope", "admin", "--space", "ops"))


@pytest.fixture
def replicas(homes: list[Path]) -> Iterator[list[Web]]:
    with ExitStack() as stack:
        yield [stack.enter_context(listening(home, "--http-auth", "token")) for home in homes]


def content(web: Web, tool: str, arguments: Json, headers: dict[str, str], path: str = "/mcp") -> Json:
    result = web.call(tool, arguments, path, **headers)
    assert not result["isError"], result
    answer: Json = result["structuredContent"]
    return answer


def secret(headers: dict[str, str]) -> str:
    return headers["Authorization"].removeprefix("Bearer ")


def files_below(home: Path) -> list[Path]:
    """What is on a replica's disk besides its configuration and its logs."""
    return [
        file.relative_to(home)
        for file in home.rglob("*")
        if file.is_file() and file.name != "config.toml" and "logs" not in file.parts
    ]


def test_a_session_that_one_replica_stored_every_other_lists_and_returns(
    homes: list[Path], replicas: list[Web], alice: dict[str, str]
) -> None:
    stored = [
        content(web, "store_session", {"conversation": TALK, "topic": "Importer"}, alice) for web in replicas
    ]
    names = [each["filename"] for each in stored]
    assert names == ["importer", "importer-1", "importer-2"], "a name is given once among all replicas"
    for web in replicas:
        listing = content(web, "get_session", {}, alice)
        assert {row["filename"] for row in listing["sessions"]} == set(names)
        for name in names:
            session = content(web, "get_session", {"filename": name}, alice)["session"]
            assert [turn["content"] for turn in session["messages"]] == [
                "Why does the importer stall?",
                "The queue of kelpworm is full.",
            ]
    assert not any(map(files_below, homes))
    shown = json.dumps([stored, content(replicas[0], "get_session", {}, alice)])
    assert not any(str(home) in shown for home in homes)


def test_a_large_session_is_returned_whole_by_another_replica(
    replicas: list[Web], alice: dict[str, str]
) -> None:
    turns = [{"role": "user", "content": f"{number} " + "x" * 1_000_000} for number in range(3)]
    arguments = {"conversation": turns, "format": "messages", "topic": "Large"}
    assert "warning" not in content(replicas[0], "store_session", arguments, alice)
    session = content(replicas[1], "get_session", {"filename": "large"}, alice)["session"]
    assert [turn["content"] for turn in session["messages"]] == [turn["content"] for turn in turns]


def test_sessions_of_a_tenant_are_its_own(replicas: list[Web], alice: dict[str, str]) -> None:
    content(replicas[0], "store_session", {"conversation": TALK, "topic": "Importer"}, alice, "/mcp/ops")
    assert content(replicas[1], "get_session", {}, alice)["total"] == 0
    assert content(replicas[1], "get_session", {}, alice, "/mcp/ops")["total"] == 1


def test_a_forgotten_session_is_gone_from_every_replica(
    homes: list[Path], replicas: list[Web], alice: dict[str, str]
) -> None:
    content(replicas[0], "store_session", {"conversation": TALK, "topic": "Importer"}, alice)
    with closing(open_engine(read_settings({"home": str(homes[1])}), "user-alice")) as engine:
        (session,) = engine.store.conversations.ids()
        Erasure(engine).forget(ForgetRequest(conversations=[session]))
    assert content(replicas[2], "get_session", {}, alice)["total"] == 0


def test_an_export_of_one_replica_is_imported_and_downloaded_from_another(
    homes: list[Path], replicas: list[Web], alice: dict[str, str]
) -> None:
    first, second, third = replicas
    own = alice | {"Mcp_Session_Id": first.greet(**alice)}
    content(first, "context_session_start", {"name": "Tides"}, own)
    content(first, "context_save", {"key": "gate", "value": "The lock opens at kelpworm."}, own)
    named = content(first, "context_export", {"outputPath": "backups/tides.json"}, own)["filePath"]
    unnamed = content(first, "context_export", {"format": "csv"}, own)["filePath"]
    assert named == "backups/tides.json"
    for path in (named, unnamed):
        imported = content(second, "context_import", {"filePath": path}, alice)
        assert imported["imported"]["items"] == 1
        downloaded = third.send(f"/web/exported/{path}", Cookie=f"backstory_login={secret(alice)}")
        assert "The lock opens at kelpworm." in downloaded.body
    content(first, "store_session", {"conversation": TALK, "topic": "Importer"}, alice)
    files = content(first, "export_individual_conversations", {"format": "md"}, alice)
    (file,) = files["files"]
    path = f"/web/exported/{files['output_directory']}/{file}"
    assert "kelpworm is full" in third.send(path, Cookie=f"backstory_login={secret(alice)}").body
    again = content(second, "export_individual_conversations", {"format": "md"}, alice)
    assert again["files"] != [file], "a name is given once among all replicas"
    assert not any(map(files_below, homes))


def test_an_export_goes_when_a_memory_or_conversation_in_it_is_forgotten(
    homes: list[Path], replicas: list[Web], alice: dict[str, str]
) -> None:
    first, second, _ = replicas
    own = alice | {"Mcp_Session_Id": first.greet(**alice)}
    content(first, "context_session_start", {"name": "Tides"}, own)
    content(first, "context_save", {"key": "gate", "value": "The lock opens at kelpworm."}, own)
    content(first, "context_export", {"outputPath": "tides.csv", "format": "csv"}, own)
    content(first, "context_session_start", {"name": "Ebb"}, own)
    content(first, "context_export", {"outputPath": "ebb.json"}, own)
    content(first, "store_session", {"conversation": TALK, "topic": "Importer"}, alice)
    content(first, "export_individual_conversations", {}, alice)
    with closing(open_engine(read_settings({"home": str(homes[1])}), "user-alice")) as engine:
        (session,) = engine.store.conversations.ids()
        (memory,) = engine.store.memories.find(Filter(), Page())
        removed = Erasure(engine).forget(ForgetRequest(memories=Filter(ids=(memory.id,)))).removed
        assert removed["stored exports"] == 1
        assert Erasure(engine).forget(ForgetRequest(conversations=[session])).removed["stored exports"] == 1
    assert second.call("context_import", {"filePath": "tides.csv"}, **alice)["isError"]
    content(second, "context_import", {"filePath": "ebb.json"}, alice)
    url = read_settings({"home": str(homes[0])}).database_url
    with psycopg.connect(url.replace("//member:", "//postgres:"), autocommit=True) as database:
        rows = database.execute("SELECT path FROM backstory.stored_export").fetchall()
        database.execute("CHECKPOINT")
        sql = "SELECT pg_relation_filepath('backstory.stored_export'), current_setting('data_directory')"
        ((file, folder),) = database.execute(sql).fetchall()
    assert rows == [("ebb.json",)]
    assert b"tides.csv" not in (Path(folder) / file).read_bytes()


def test_sessions_and_exports_follow_their_store_to_another_database(
    homes: list[Path], replicas: list[Web], alice: dict[str, str], tmp_path: Path
) -> None:
    content(replicas[0], "store_session", {"conversation": TALK, "topic": "Importer"}, alice)
    own = alice | {"Mcp_Session_Id": replicas[0].greet(**alice)}
    content(replicas[0], "context_session_start", {"name": "Ebb"}, own)
    content(replicas[0], "context_save", {"key": "gate", "value": "Shut."}, own)
    content(replicas[0], "context_export", {"outputPath": "ebb.json"}, own)
    url = read_settings({"home": str(homes[0])}).database_url
    copied = tmp_path / "copied"
    moved = typed("migrate", "--from", url, "--to", f"sqlite:///{copied}/store.db", home=homes[1])
    assert moved.returncode == 0, moved.stderr
    with listening(copied, "--http-auth", "token") as web:
        session = content(web, "get_session", {"filename": "importer"}, alice)["session"]
        assert session["messages"][1]["content"] == "The queue of kelpworm is full."
        assert content(web, "context_import", {"filePath": "ebb.json"}, alice)["imported"]["items"] == 1
