"""export_individual_conversations: whole conversations in files that harm nobody."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Core
from backstory.core.calls import Call, Cancelled
from backstory.core.projects import workspace_hash
from backstory.domain.records import Message
from backstory.domain.sources import SourceState
from backstory.surfaces import load_surfaces

from ..doubles import DAWN, make_conversation

TOOL = load_surfaces(["gandalf"])["gandalf"].tools["export_individual_conversations"]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links and modes")
SAID = (
    ("user", "How do we do auth?\n\nBriefly, 日本語 🦉."),
    ("thinking", "They want\nJWT."),
    ("tool", "read /p/src/auth.py"),
    ("assistant", "With a token.\n\n```py\nprint(1)\n```"),
    ("summary", "Auth was explained."),
)


def keep(core: Core, id: str, said: tuple[tuple[str, str], ...] = SAID, **changes: Any) -> None:
    talk = make_conversation(id, surface="claude-code")._replace(**changes)
    messages = [
        Message(f"{id}/{seq}", id, seq, role, text, talk.project, talk.surface, DAWN)
        for seq, (role, text) in enumerate(said)
    ]
    core.engine.store.conversations.add(talk, messages, [])


def export(core: Core, **arguments: Any) -> dict[str, Any]:
    reply = TOOL.call(core, arguments)
    assert not reply.is_error, reply.text
    assert reply.structured is not None
    return reply.structured


def refused(core: Core, **arguments: Any) -> str:
    reply = TOOL.call(core, arguments)
    assert reply.is_error
    return reply.text


def written(told: dict[str, Any]) -> list[Path]:
    return [Path(told["output_directory"]) / name for name in told["files"]]


@pytest.fixture
def usual(tmp_path: Path) -> Path:
    return tmp_path / ".gandalf" / "exports"


@pytest.mark.requirement("gandalf.export.reply", "gandalf.export.directory", "gandalf.export.defaults")
def test_by_default_json_files_are_written_to_the_usual_directory(core: Core, usual: Path) -> None:
    for n in range(25):
        keep(core, f"c{n:02}", (("user", "Hi."),))
    told = export(core)
    assert told.pop("processing_time") > 0
    files = told.pop("files")
    assert told == {
        "exported_files": 20,
        "output_directory": str(usual),
        "export_format": "json",
        "total_conversations": 25,
    }
    assert sorted(path.name for path in usual.iterdir()) == sorted(files)
    assert len(set(files)) == 20
    assert all(name.endswith(".json") for name in files)


@pytest.mark.requirement("gandalf.export.json", "gandalf.export.full-text")
def test_json_holds_everything(core: Core) -> None:
    keep(core, "claude-code:1", title="Auth", branch="main", model="m-1", subject="architecture")
    (path,) = written(export(core))
    assert json.loads(path.read_text("utf-8")) == {
        "id": "claude-code:1",
        "title": "Auth",
        "tool": "claude-code",
        "project": "/p",
        "workspace": workspace_hash("/p"),
        "created_at": "2026-03-01T09:30:00.000Z",
        "updated_at": "2026-03-01T09:30:00.000Z",
        "conversation_type": "architecture",
        "kind": "main",
        "branch": "main",
        "model": "m-1",
        "completeness": "full",
        "trust": "own",
        "files": [],
        "messages": [
            {"role": role, "text": text, "created_at": "2026-03-01T09:30:00.000Z"} for role, text in SAID
        ],
    }


@pytest.mark.requirement("gandalf.export.markdown")
@pytest.mark.parametrize("format", ["md", "markdown"])
def test_markdown_marks_who_speaks_and_what_was_only_thought_or_done(core: Core, format: str) -> None:
    keep(core, "c", title="Auth")
    told = export(core, format=format)
    assert told["export_format"] == format
    (path,) = written(told)
    assert path.suffix == ".md"
    text = path.read_text("utf-8")
    assert text.startswith("# Auth\n\n- id: c\n- tool: claude-code\n")
    at = "(2026-03-01T09:30:00.000Z)"
    assert f"## User {at}\n\n{SAID[0][1]}\n" in text
    assert f"## Thinking {at}\n\n> They want\n> JWT.\n" in text
    assert f"## Tool {at}\n\n> read /p/src/auth.py\n" in text
    assert f"## Assistant {at}\n\n{SAID[3][1]}\n" in text
    assert f"## Summary {at}\n\n{SAID[4][1]}\n" in text


@pytest.mark.requirement("gandalf.export.txt")
def test_plain_text_marks_the_same(core: Core) -> None:
    keep(core, "c", title="Auth")
    (path,) = written(export(core, format="txt"))
    text = path.read_text("utf-8")
    assert path.suffix == ".txt"
    assert text.startswith("Auth\n====\n")
    for (_, said), name in zip(SAID, ("User", "Thinking", "Tool", "Assistant", "Summary"), strict=True):
        assert f"\n[2026-03-01T09:30:00.000Z] {name}:\n{said}\n" in text


@pytest.mark.requirement("gandalf.export.full-text")
def test_a_long_conversation_is_written_whole(core: Core) -> None:
    keep(core, "c", (("user", "x" * 2_000_000 + " the end"),))
    for format in ("json", "md", "txt"):
        (path,) = written(export(core, format=format))
        assert "x" * 2_000_000 + " the end" in path.read_text("utf-8")


@pytest.mark.requirement("gandalf.export.all-tools")
def test_conversations_with_every_assistant_are_exported(core: Core) -> None:
    for name in ("claude-code", "cursor", "codex", "codearchitect"):
        keep(core, f"{name}:1", surface=name)
    tools = {json.loads(path.read_text("utf-8"))["tool"] for path in written(export(core))}
    assert tools == {"claude-code", "cursor", "codex", "codearchitect"}


@pytest.mark.requirement("gandalf.export.subagents")
def test_subagents_are_in_the_file_of_what_started_them(core: Core) -> None:
    keep(core, "main")
    keep(core, "helper", (("user", "Look for egrets."),), kind="subagent", parent="main")
    keep(core, "deeper", (("user", "And storks."),), kind="subagent", parent="helper")
    keep(core, "orphan", kind="subagent", parent="unknown")
    told = export(core)
    assert told["exported_files"] == 2
    whole = {body["id"]: body for body in (json.loads(path.read_text("utf-8")) for path in written(told))}
    (helper,) = whole["main"]["subagents"]
    assert helper["messages"][0]["text"] == "Look for egrets."
    assert helper["subagents"][0]["id"] == "deeper"
    (path,) = written(export(core, format="md", conversation_filter="main"))
    assert "Look for egrets." in path.read_text("utf-8")


@pytest.mark.requirement("gandalf.export.subagents")
def test_a_fork_that_matches_is_written_though_what_started_it_does_not(core: Core) -> None:
    keep(core, "main", title="Herons")
    keep(core, "fork", (("user", "And storks?"),), title="Storks", kind="fork", parent="main")
    (path,) = written(export(core, conversation_filter="Storks"))
    assert json.loads(path.read_text("utf-8"))["id"] == "fork"


@pytest.mark.requirement("gandalf.export.limit")
def test_limit_takes_the_last_updated(core: Core) -> None:
    for n in range(3):
        keep(core, f"c{n}", updated_at=DAWN.replace(day=1 + n), title=f"Talk {n}")
    told = export(core, limit=2)
    assert (told["exported_files"], told["total_conversations"]) == (2, 3)
    assert sorted(json.loads(path.read_text("utf-8"))["id"] for path in written(told)) == ["c1", "c2"]


@pytest.mark.requirement("gandalf.export.conversation-filter")
def test_conversation_filter_is_a_part_of_the_title_in_any_case(core: Core) -> None:
    keep(core, "a", title="OAuth set-up")
    keep(core, "b", title="Lunch")
    assert export(core, conversation_filter="auth")["exported_files"] == 1
    assert export(core, conversation_filter="AUTH SET")["exported_files"] == 1
    assert export(core, conversation_filter="auth%")["exported_files"] == 0


@pytest.mark.requirement("gandalf.export.workspace-filter")
@pytest.mark.parametrize("given", ["5d41402abc4b2a76", "-work-app"])
def test_workspace_filter_takes_what_the_assistant_calls_it(core: Core, tmp_path: Path, given: str) -> None:
    """An editor a hash, whose conversations are in one database with all others; Claude Code the path's own name."""
    storage = tmp_path / "User" / "workspaceStorage" / "5d41402abc4b2a76"
    storage.mkdir(parents=True)
    (storage / "workspace.json").write_text('{"folder": "file:///work/app"}')
    database = storage / "state.vscdb"
    core.engine.store.sync.put(SourceState(str(database), "cursor", 1, 1, read_at=DAWN))
    log = tmp_path / "projects" / "-work-app" / "a.jsonl"
    editor, folder = f"{tmp_path}/User/globalStorage/state.vscdb#a", "/work/app"
    keep(core, "in the editor", project="/work", directory=folder, source=editor)
    keep(core, "in the terminal", project="/elsewhere", source=str(log))
    keep(core, "other", project="/work", directory="/work/other", source=f"{editor}b")
    (path,) = written(export(core, workspace_filter=given))
    expected = "in the editor" if given == storage.name else "in the terminal"
    assert json.loads(path.read_text("utf-8"))["id"] == expected


@pytest.mark.requirement("gandalf.export.workspace-filter")
@pytest.mark.parametrize("given", [workspace_hash("/work/My App"), "/work/My App", "my app"])
def test_workspace_filter_takes_the_hash_the_path_or_the_name(core: Core, given: str) -> None:
    keep(core, "a", project="/work/My App")
    keep(core, "b", project="/work/other")
    (path,) = written(export(core, workspace_filter=given))
    assert json.loads(path.read_text("utf-8"))["id"] == "a"


@pytest.mark.requirement("gandalf.export.made-when-written")
def test_nothing_is_made_when_nothing_matches(core: Core, usual: Path) -> None:
    keep(core, "a")
    told = export(core, conversation_filter="no such title")
    assert told["exported_files"] == 0
    assert told["notices"] == ["No conversation matches; nothing was written."]
    assert not usual.parent.exists()


@pytest.mark.requirement("gandalf.export.directory")
def test_a_directory_can_be_named_absolute_or_below_the_usual_one(
    core: Core, tmp_path: Path, usual: Path
) -> None:
    keep(core, "a")
    told = export(core, output_dir=str(tmp_path / "some" / "where"))
    assert told["output_directory"] == str(tmp_path / "some" / "where")
    assert len(list((tmp_path / "some" / "where").iterdir())) == 1
    assert export(core, output_dir="mine")["output_directory"] == str(usual / "mine")


@pytest.mark.requirement("gandalf.export.safe-paths")
@pytest.mark.parametrize("given", ["../out", "a/../../out", "/tmp/../etc"])
def test_a_path_that_leads_out_is_refused(core: Core, given: str) -> None:
    keep(core, "a")
    assert refused(core, output_dir=given).endswith("[ACCESS_DENIED]")


@posix_only
@pytest.mark.requirement("gandalf.export.safe-paths")
def test_a_link_out_of_the_usual_directory_is_refused(core: Core, usual: Path, tmp_path: Path) -> None:
    keep(core, "a")
    usual.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (usual / "link").symlink_to(tmp_path / "outside")
    assert "symbolic link" in refused(core, output_dir="link")
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.requirement("gandalf.export.safe-paths")
def test_a_file_in_the_place_of_the_directory_is_refused(core: Core, tmp_path: Path) -> None:
    keep(core, "a")
    (tmp_path / "file").write_text("mine")
    assert "not a directory" in refused(core, output_dir=str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.requirement("gandalf.export.safe-names")
@pytest.mark.parametrize(
    "title",
    [
        "../../etc/passwd", "con", "a/b\\c:d*e?f\"g<h>i|j", "\0\n\r\t", "", ".hidden", "x" * 500, "漢字" * 200,
        "trailing. ", "-rf", "🦉🦉🦉",
    ],
)  # fmt: skip
def test_file_names_are_safe_on_every_platform(core: Core, usual: Path, title: str) -> None:
    keep(core, "a", title=title)
    (path,) = written(export(core))
    assert path.parent == usual
    assert path.is_file()
    assert path.name.startswith("2026-03-01-")
    assert len(path.name.encode()) < 200
    assert not set(path.name) & set('/\\:*?"<>|\0\n\r\t ')


@pytest.mark.requirement("gandalf.export.never-overwrites")
def test_conversations_of_one_title_and_repeated_exports_get_files_of_their_own(
    core: Core, usual: Path
) -> None:
    keep(core, "a", title="Same")
    keep(core, "b", title="Same")
    first, second = written(export(core)), written(export(core))
    assert len({*first, *second}) == 4
    for path in first:
        path.write_text("edited by hand")
    export(core)
    assert [path.read_text() for path in first] == ["edited by hand"] * 2
    assert len(list(usual.iterdir())) == 6


@posix_only
@pytest.mark.requirement("gandalf.export.never-overwrites")
def test_a_link_in_the_place_of_a_file_is_left_alone(core: Core, usual: Path, tmp_path: Path) -> None:
    keep(core, "a")
    (name,) = export(core)["files"]
    (usual / name).unlink()
    (usual / name).symlink_to(tmp_path / "victim")
    (other,) = written(export(core))
    assert other.name != name
    assert not (tmp_path / "victim").exists()
    assert (usual / name).is_symlink()


@posix_only
@pytest.mark.requirement("gandalf.export.private-files")
def test_nobody_else_can_read_what_was_exported(core: Core, usual: Path) -> None:
    keep(core, "a")
    (path,) = written(export(core))
    assert [each.stat().st_mode & 0o777 for each in (path, usual)] == [0o600, 0o700]


@posix_only
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.requirement("gandalf.errors.codes")
def test_a_directory_that_may_not_be_written_is_said_to_be(core: Core, tmp_path: Path) -> None:
    keep(core, "a")
    (tmp_path / "locked").mkdir(mode=0o500)
    assert refused(core, output_dir=str(tmp_path / "locked")).endswith("[ACCESS_DENIED]")


@pytest.mark.requirement("gandalf.export.whole-files")
def test_an_export_that_is_withdrawn_leaves_only_whole_files(core: Core, usual: Path) -> None:
    for id in ("a", "b", "c"):
        keep(core, id)
    seen: list[float] = []
    call = Call(progress=lambda done, total, message: seen.append(done), is_cancelled=lambda: len(seen) == 2)
    with pytest.raises(Cancelled):
        TOOL.call(core.during(call), {})
    assert len([json.loads(path.read_text("utf-8")) for path in usual.iterdir()]) == 2
