"""Memory Keeper's file cache: context_cache_file and context_file_changed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Core
from backstory.guests.memory_keeper.file_cache import LARGEST_READ
from backstory.store import Store
from backstory.surfaces import load_surfaces

from ..conftest import Call, OpenCore, caller_of
from ..doubles import HashedWords, SteppedClock

requirement = pytest.mark.requirement


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def code(reply: dict[str, Any]) -> str:
    found: str = reply["error"]["code"]
    return found


@requirement("keeper-copies.file.parameters")
@pytest.mark.parametrize(
    ("tool", "types", "required"),
    [
        (
            "context_cache_file",
            {"filePath": "string", "content": "string", "metadata": None},
            ["filePath", "content"],
        ),
        ("context_file_changed", {"filePath": "string", "currentContent": "string"}, ["filePath"]),
    ],
)
def test_parameters_are_the_documented_ones(tool: str, types: dict[str, str], required: list[str]) -> None:
    schema = load_surfaces(["memory-keeper"])["memory-keeper"].tools[tool].describe()["inputSchema"]
    assert {name: each.get("type") for name, each in schema["properties"].items()} == types
    assert schema["required"] == required


@requirement("keeper-copies.file.cache")
def test_caching_answers_with_id_path_hash_and_size(call: Call) -> None:
    reply = call("context_cache_file", filePath="/p/src/ü.py", content="größe\n")
    assert isinstance(reply.pop("id"), str)
    assert reply == {"filePath": "/p/src/ü.py", "hash": sha256("größe\n"), "size": 8}


@requirement("keeper-copies.file.path")
@pytest.mark.parametrize(
    "path", ["src/a.py", "./src/a.py", "src/../src//a.py", "/p/x/../src/a.py", "../p/src/a.py"]
)
def test_a_path_is_normalised_against_the_project(call: Call, path: str) -> None:
    assert call("context_cache_file", filePath=path, content="a")["filePath"] == "/p/src/a.py"
    assert call("context_file_changed", filePath="src/a.py", currentContent="a")["changed"] is False


@requirement("keeper-copies.file.path")
@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_what_names_no_file_is_refused(call: Call, path: str) -> None:
    assert code(call("context_cache_file", filePath=path, content="a")) == "INVALID_PARAMS"
    assert code(call("context_file_changed", filePath=path, currentContent="a")) == "INVALID_PARAMS"


@requirement("keeper-copies.file.again")
def test_caching_again_replaces_for_the_session(call: Call, clock: SteppedClock) -> None:
    first = call("context_cache_file", filePath="a", content="one")
    clock.step()
    assert call("context_cache_file", filePath="a", content="two")["id"] == first["id"]
    assert call("context_file_changed", filePath="a", currentContent="two") == {
        "changed": False,
        "previousHash": sha256("two"),
        "currentHash": sha256("two"),
        "lastCached": "2026-03-01T09:30:01.000Z",
    }


@requirement("keeper-copies.file.metadata")
@pytest.mark.parametrize("metadata", [{"lines": 12}, "reviewed", [1, 2]])
def test_metadata_is_kept_and_shown(call: Call, metadata: Any) -> None:
    call("context_cache_file", filePath="a", content="one", metadata=metadata)
    assert call("context_file_changed", filePath="a", currentContent="one")["metadata"] == metadata


@requirement("keeper-copies.file.changed")
def test_a_changed_content_is_told_with_both_hashes(call: Call) -> None:
    call("context_cache_file", filePath="a", content="one")
    assert call("context_file_changed", filePath="a", currentContent="two") == {
        "changed": True,
        "previousHash": sha256("one"),
        "currentHash": sha256("two"),
        "lastCached": "2026-03-01T09:30:00.000Z",
    }


@requirement("keeper-copies.file.never-cached")
def test_a_file_that_was_never_cached_counts_as_changed(call: Call, store: Store) -> None:
    reply = call("context_file_changed", filePath="a", currentContent="")
    assert reply == {"changed": True, "currentHash": sha256("")}
    assert store.sessions.find("memory-keeper", after=None, before=None) == []


@requirement("keeper-copies.file.reads")
def test_without_a_content_the_file_is_read(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "real.txt"
    file.write_bytes(b"as it was\r\n")
    call("context_cache_file", filePath=str(file), content="as it was\r\n")
    assert call("context_file_changed", filePath=str(file))["changed"] is False
    file.write_bytes(b"\xff\xfe not text")
    reply = call("context_file_changed", filePath=str(file))
    assert reply["changed"] is True
    assert reply["currentHash"] == hashlib.sha256(b"\xff\xfe not text").hexdigest()


@requirement("keeper-copies.file.errors")
def test_a_file_that_is_not_there_is_file_not_found(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "missing", tmp_path / "file" / "below"):
        assert code(call("context_file_changed", filePath=str(path))) == "FILE_NOT_FOUND"


@requirement("keeper-copies.file.errors")
def test_what_is_no_regular_file_is_refused(call: Call, tmp_path: Path) -> None:
    assert code(call("context_file_changed", filePath=str(tmp_path))) == "INVALID_PARAMS"


@requirement("keeper-copies.file.errors")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(call: Call, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert code(call("context_file_changed", filePath=str(tmp_path / "pipe"))) == "INVALID_PARAMS"


@requirement("keeper-copies.file.errors")
def test_a_file_that_is_too_large_is_refused(call: Call, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(LARGEST_READ + 1)
    assert code(call("context_file_changed", filePath=str(large))) == "INVALID_PARAMS"
    assert call("context_file_changed", filePath=str(large), currentContent="a")["changed"] is True


@requirement("keeper-copies.file.errors")
def test_a_file_that_may_not_be_read_is_a_permission_error(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    # root, who runs the tests in a container, may read everything
    monkeypatch.setattr("backstory.guests.memory_keeper.file_cache.os.stat", refuse)
    assert code(call("context_file_changed", filePath=str(tmp_path / "secret"))) == "PERMISSION_ERROR"


@requirement("keeper-copies.file.session")
def test_a_session_compares_with_its_own_files_then_its_ancestors_then_the_latest(
    call: Call, core: Core, open_core: OpenCore, store: Store, clock: SteppedClock
) -> None:
    def is_changed(content: str) -> bool:
        changed: bool = later("context_file_changed", filePath="a", currentContent=content)["changed"]
        return changed

    call("context_cache_file", filePath="a", content="one")
    parent = core.caller.session
    clock.step(1)
    call("context_session_start", name="unrelated")
    call("context_cache_file", filePath="a", content="two")
    later = caller_of(open_core(store, HashedWords()))
    assert not is_changed("two")  # also before it has a session
    assert is_changed("one")
    later("context_session_start", name="next day", continueFrom=parent)
    assert not is_changed("one")
    later("context_cache_file", filePath="a", content="three")
    assert not is_changed("three")
