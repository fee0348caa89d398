"""Gandalf's envelope, its project tools and get_server_version, as its document and the rulings promise them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backstory import __version__
from backstory.core import Core
from backstory.core.calls import Call as ToolCall
from backstory.domain.errors import (
    BackstoryError,
    InvalidInput,
    NotAllowed,
    NotFound,
    StorageFull,
    TimedOut,
    Unavailable,
)
from backstory.surfaces import all_tools, load_surfaces
from backstory.tools import Reply
from backstory.tools.budget import ANSWER_BYTES

from ..doubles import DAWN
from ..processes import serving

GANDALF = load_surfaces(["gandalf"])["gandalf"]
TOOLS = all_tools({"gandalf": GANDALF})


@pytest.fixture
def project(core: Core, tmp_path: Path) -> Path:
    """A repository that is the caller's project."""
    root = tmp_path / "my-project"
    (root / "src").mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    for name, text in (
        ("src/main.py", "x" * 2048),
        ("README.md", "read"),
        ("web.js", "y"),
        ("notes.log", "z"),
    ):
        (root / name).write_text(text)
        os.utime(root / name, (DAWN.timestamp(), DAWN.timestamp()))
    (root / ".gitignore").write_text("*.log\n")
    core.caller.directory = str(root)
    return root


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True)


def ask(core: Core, tool: str, **arguments: Any) -> dict[str, Any]:
    reply = TOOLS[tool].call(core, arguments)
    assert not reply.is_error, reply.text
    assert reply.structured is not None
    return reply.structured


def refused(core: Core, tool: str, **arguments: Any) -> str:
    reply = TOOLS[tool].call(core, arguments)
    assert reply.is_error
    return reply.text


@pytest.mark.requirement("gandalf.tools")
def test_the_five_tools_are_there() -> None:
    assert sorted(TOOLS) == [
        "export_individual_conversations",
        "get_project_info",
        "get_server_version",
        "list_project_files",
        "recall_conversations",
    ]


@pytest.mark.requirement("gandalf.parameters")
@pytest.mark.parametrize(
    ("tool", "documented"),
    [
        (
            "recall_conversations",
            {
                "fast_mode": ("boolean", True),
                "days_lookback": ("integer", 30),
                "limit": ("integer", 60),
                "min_score": ("number", 1.0),
                "conversation_types": ("array", None),
                "tools": ("array", None),
                "search_query": ("string", None),
                "user_prompt": ("string", None),
                "tags": ("array", None),
            },
        ),
        ("get_project_info", {"include_stats": ("boolean", True)}),
        (
            "list_project_files",
            {
                "file_types": ("array", None),
                "max_files": ("integer", 1000),
                "use_relevance_scoring": ("boolean", True),
            },
        ),
        (
            "export_individual_conversations",
            {
                "format": ("string", "json"),
                "limit": ("integer", 20),
                "output_dir": ("string", None),
                "conversation_filter": ("string", None),
                "workspace_filter": ("string", None),
            },
        ),
        ("get_server_version", {}),
    ],
)
def test_parameters_are_the_documented_ones_and_none_is_required(
    tool: str, documented: dict[str, tuple[str, Any]]
) -> None:
    schema = TOOLS[tool].describe()["inputSchema"]
    assert "required" not in schema
    for name, (kind, default) in documented.items():
        assert (schema["properties"][name]["type"], schema["properties"][name].get("default")) == (
            kind,
            default,
        )
    added = set(schema["properties"]) - set(documented)
    assert added <= {"offset", "include_subagents"}


@pytest.mark.requirement("gandalf.errors.text", "gandalf.errors.codes")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("It is wrong."), "INVALID_PARAMS"),
        (NotAllowed("It is wrong."), "ACCESS_DENIED"),
        (TimedOut("It is wrong."), "TIMEOUT"),
        (Unavailable("It is wrong."), "INTERNAL_ERROR"),
        (StorageFull("It is wrong."), "INTERNAL_ERROR"),
        (BackstoryError("It is wrong."), "INTERNAL_ERROR"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_a_failure_is_its_message_as_text_with_its_code(error: BackstoryError, code: str) -> None:
    assert GANDALF.fail(error) == Reply(f"It is wrong. [{code}]", is_error=True, error=error)


@pytest.mark.requirement("gandalf.errors.codes")
def test_what_is_not_there_is_not_found(core: Core, tmp_path: Path) -> None:
    core.caller.directory = str(tmp_path / "nowhere")
    assert refused(core, "list_project_files").endswith("[NOT_FOUND]")
    assert GANDALF.fail(NotFound("file", "x")).text == "There is no file 'x'. [NOT_FOUND]"


@pytest.mark.requirement("gandalf.errors.arguments")
@pytest.mark.parametrize(
    ("tool", "name", "value"),
    [
        ("recall_conversations", "fast_mode", "yes"),
        ("recall_conversations", "days_lookback", 0),
        ("recall_conversations", "days_lookback", 61),
        ("recall_conversations", "limit", 0),
        ("recall_conversations", "limit", 101),
        ("recall_conversations", "min_score", -0.1),
        ("recall_conversations", "min_score", 5.1),
        ("recall_conversations", "conversation_types", ["gossip"]),
        ("recall_conversations", "tools", ["emacs"]),
        ("recall_conversations", "search_query", 7),
        ("recall_conversations", "search_query", "?!"),
        ("recall_conversations", "tags", ["--"]),
        ("recall_conversations", "nonsense", 1),
        ("get_project_info", "include_stats", 1),
        ("list_project_files", "file_types", [f".{n}" for n in range(21)]),
        ("list_project_files", "file_types", ["."]),
        ("list_project_files", "file_types", ["../x"]),
        ("list_project_files", "max_files", 0),
        ("list_project_files", "max_files", 10_001),
        ("list_project_files", "use_relevance_scoring", "no"),
        ("export_individual_conversations", "format", "pdf"),
        ("export_individual_conversations", "limit", 0),
        ("export_individual_conversations", "limit", 101),
        ("export_individual_conversations", "output_dir", ""),
        ("get_server_version", "verbose", True),
    ],
)
def test_wrong_arguments_are_refused_by_name(
    core: Core, project: Path, tool: str, name: str, value: Any
) -> None:
    text = refused(core, tool, **{name: value})
    assert name in text.lower()
    assert text.endswith("[INVALID_PARAMS]")


@pytest.mark.requirement("gandalf.info.shape", "gandalf.info.timestamp")
def test_project_info_has_the_documented_shape(core: Core, project: Path) -> None:
    git(project, "add", ".")
    git(project, "-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "-m", "x")
    info = ask(core, "get_project_info")
    assert info["project"] == {"name": "my-project", "root": str(project), "valid": True}
    commit = info["git"].pop("commit")
    assert len(commit) == 40
    assert info["git"] == {
        "is_git_repo": True,
        "current_branch": "main",
        "repo_root": str(project),
        "is_detached": False,
        "is_worktree": False,
        "is_bare": False,
    }
    assert info["statistics"] == {"files": 4, "directories": 1}
    assert info["metadata"] == {"timestamp": DAWN.timestamp(), "sanitized": False}


@pytest.mark.requirement("gandalf.info.text", "gandalf.envelope")
def test_the_text_of_project_info_is_flat(core: Core, project: Path) -> None:
    text = json.loads(TOOLS["get_project_info"].call(core, {}).text)
    assert text["project_root"] == str(project)
    assert text["project_name"] == "my-project"
    assert text["current_branch"] == "main"
    assert text["statistics"] == {"files": 4, "directories": 1}


@pytest.mark.requirement("gandalf.info.stats")
def test_statistics_are_left_out_on_demand(core: Core, project: Path) -> None:
    assert "statistics" not in ask(core, "get_project_info", include_stats=False)
    assert '"statistics"' not in TOOLS["get_project_info"].call(core, {"include_stats": False}).text


@pytest.mark.requirement("gandalf.info.stats")
@pytest.mark.skipif(os.name == "nt", reason="links need a permission there")
def test_statistics_count_the_files_that_are_listed(core: Core, project: Path) -> None:
    git(project, "add", ".")
    (project / "web.js").unlink()
    (project / "src" / "link.py").symlink_to("main.py")
    (project / "elsewhere").symlink_to(project.parent)
    assert ask(core, "get_project_info")["statistics"] == {"files": 3, "directories": 1}
    assert ask(core, "list_project_files")["total_files"] == 3


@pytest.mark.requirement("gandalf.info.git")
def test_no_repository_and_a_detached_head_are_said(core: Core, project: Path, tmp_path: Path) -> None:
    git(project, "-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "--allow-empty", "-m", "x")
    git(project, "checkout", "--quiet", "--detach")
    told = ask(core, "get_project_info")["git"]
    assert told["is_detached"] is True
    assert told["current_branch"] is None
    (tmp_path / "plain").mkdir()
    core.caller.directory = str(tmp_path / "plain")
    assert ask(core, "get_project_info")["git"] == {
        "is_git_repo": False,
        "current_branch": None,
        "repo_root": None,
    }


@pytest.mark.requirement("gandalf.info.git")
def test_a_machine_without_git_says_so(core: Core, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project / "src"))
    told = ask(core, "get_project_info")["git"]
    assert told["current_branch"] == "main"
    assert "not installed" in told["notice"]


@pytest.mark.requirement("gandalf.info.valid")
def test_a_project_that_vanished_is_not_valid(core: Core, tmp_path: Path) -> None:
    core.caller.directory = str(tmp_path / "gone")
    assert ask(core, "get_project_info")["project"] == {
        "name": "gone",
        "root": str(tmp_path / "gone"),
        "valid": False,
    }


@pytest.mark.requirement("gandalf.info.sanitized")
@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_path_that_is_no_text_is_shown_otherwise_and_said_to_be(core: Core, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    core.caller.directory = str(odd)
    info = ask(core, "get_project_info")
    assert info["project"]["name"] == "caf\ufffd"
    assert info["metadata"]["sanitized"] is True
    assert info["project"]["valid"] is True


@pytest.mark.requirement("gandalf.list.shape", "gandalf.list.ignored", "gandalf.list.scores")
def test_files_are_listed_with_scores_the_best_first(core: Core, project: Path) -> None:
    listed = ask(core, "list_project_files")
    assert [file["path"] for file in listed["files"]] == ["src/main.py", "web.js", "README.md", ".gitignore"]
    assert listed["total_files"] == 4
    assert listed["processing_time"] > 0
    first = listed["files"][0]
    assert (first["size"], first["priority"]) == (2048, "high")
    assert all(0 <= file["score"] <= 1 for file in listed["files"])
    assert {file["priority"] for file in listed["files"]} <= {"high", "medium", "low"}


@pytest.mark.requirement("gandalf.list.activity")
def test_the_commits_that_were_counted_are_shown(core: Core, project: Path) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x"]
    at = {"GIT_COMMITTER_DATE": DAWN.isoformat()}
    git(project, "add", "web.js")
    subprocess.run(
        ["git", *who, "commit", "--quiet", "-m", "x"], cwd=project, env=os.environ | at, check=True
    )
    files = {file["path"]: file for file in ask(core, "list_project_files")["files"]}
    assert files["web.js"]["commits"] == 1
    assert "commits" not in files["src/main.py"]


@pytest.mark.requirement("gandalf.list.file-types")
@pytest.mark.parametrize("types", [[".py", ".js"], ["py", "JS"]])
def test_file_types_narrow_with_or_without_their_dot(core: Core, project: Path, types: list[str]) -> None:
    listed = ask(core, "list_project_files", file_types=types)
    assert [file["path"] for file in listed["files"]] == ["src/main.py", "web.js"]
    assert listed["total_files"] == 2


@pytest.mark.requirement("gandalf.list.max-files")
def test_max_files_cuts_and_the_rest_is_paged(core: Core, project: Path) -> None:
    first = ask(core, "list_project_files", max_files=3)
    assert len(first["files"]) == 3
    assert (first["total_files"], first["next_offset"]) == (4, 3)
    rest = ask(core, "list_project_files", max_files=3, offset=3)
    assert [file["path"] for file in rest["files"]] == [".gitignore"]
    assert "next_offset" not in rest


@pytest.mark.requirement("gandalf.list.unscored")
def test_without_scoring_files_come_by_path(core: Core, project: Path) -> None:
    listed = ask(core, "list_project_files", use_relevance_scoring=False)
    assert listed["files"] == [
        {"path": ".gitignore", "size": 6},
        {"path": "README.md", "size": 4},
        {"path": "src/main.py", "size": 2048},
        {"path": "web.js", "size": 1},
    ]


@pytest.mark.requirement("gandalf.budget")
def test_a_listing_too_large_for_an_answer_says_how_to_read_on(core: Core, project: Path) -> None:
    folder = project / ("long-" * 40)
    folder.mkdir()
    for n in range(500):
        (folder / f"{n}.py").touch()
    seen: list[str] = []
    offset = 0
    while True:
        reply = TOOLS["list_project_files"].call(core, {"offset": offset})
        assert len(reply.text.encode()) < ANSWER_BYTES + 1_000
        assert reply.structured is not None
        seen += [file["path"] for file in reply.structured["files"]]
        if "next_offset" not in reply.structured:
            break
        offset = reply.structured["next_offset"]
    assert len(seen) == len(set(seen)) == 504


@pytest.mark.requirement("gandalf.version")
def test_the_version_is_our_own_and_the_negotiated_protocol(core: Core) -> None:
    told = ask(core.during(ToolCall(protocol="2025-06-18")), "get_server_version")
    assert told == {
        "server_version": __version__,
        "protocol_version": "2025-06-18",
        "server_name": "backstory",
    }


@pytest.mark.requirement("gandalf.version")
@pytest.mark.parametrize(
    ("offered", "negotiated"),
    [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")],
)
def test_a_handshake_decides_the_protocol_version(tmp_path: Path, offered: str, negotiated: str) -> None:
    with serving(tmp_path, "serve") as server:
        client = {"name": "test", "version": "1"}
        hello = {"protocolVersion": offered, "capabilities": {}, "clientInfo": client}
        assert server.ask("initialize", hello)["protocolVersion"] == negotiated
        assert server.call("get_server_version")["protocol_version"] == negotiated


@pytest.mark.requirement("gandalf.version")
def test_without_a_handshake_each_request_says_its_version(tmp_path: Path) -> None:
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
    with serving(tmp_path, "serve") as server:
        told = server.ask("tools/call", {"name": "get_server_version", "arguments": {}, "_meta": meta})
        assert told["structuredContent"]["protocol_version"] == "2026-07-28"


@pytest.mark.requirement("gandalf.effects")
def test_all_but_the_export_only_read() -> None:
    reading = {name for name, tool in TOOLS.items() if tool.effect.read_only}
    assert reading == set(TOOLS) - {"export_individual_conversations"}
    assert not TOOLS["export_individual_conversations"].effect.destructive
