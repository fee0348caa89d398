"""Stores of the other programs whose tools we have too: ProjectMemory, CodeArchitect, session-mgmt, Gandalf."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.errors import InvalidInput, Unavailable, Unreadable
from backstory.domain.filters import ConversationFilter
from backstory.domain.records import Conversation
from backstory.domain.when import iso
from backstory.importers import Choices, run_import

from ..conftest import Call
from ..repositories import commit, commit_as_stranger, git
from .invented import SECRET, codearchitect, gandalf, projectmemory, session_mgmt
from .running import Counts, counts, memories, memory, places, run

pytestmark = pytest.mark.parametrize("open_store", ["sqlite"], indirect=True)


def conversations(core: Core) -> list[Conversation]:
    found = core.engine.store.conversations.find(ConversationFilter())
    return sorted(found, key=lambda each: each.title)


def said(core: Core, conversation: Conversation) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in core.engine.store.messages.of(conversation.id)]


def test_projectmemory_belongs_to_the_folder_it_lies_in(core: Core, tmp_path: Path, call: Call) -> None:
    path = projectmemory(tmp_path / "shop")
    assert counts(run(core, "projectmemory", path)) == {"contexts": Counts(new=2, skipped=1)}
    found = memory(core, "Tuesdays")
    assert (found.project, iso(found.created_at)) == (str(tmp_path / "shop"), "2026-01-02T03:04:06.000Z")
    assert "We deploy on Tuesdays." in call("retrieve_context", query="deploy")["results"]


def test_codearchitect_sessions_come_with_every_message(core: Core, tmp_path: Path) -> None:
    codearchitect(tmp_path)
    outcome = run(core, "codearchitect", tmp_path / "shop")
    assert counts(outcome) == {"stored sessions": Counts(new=2, skipped=1)}
    old, walrus = conversations(core)
    assert (walrus.title, walrus.project) == ("Walrus", str(tmp_path / "shop"))
    assert said(core, walrus)[1][1] == '{"role": "assistant", "content": {"plan": ["swim"]}}'
    assert said(core, old) == [("user", "Which day?"), ("assistant", "Tuesday.")]


@pytest.mark.parametrize("damaged", [b"\xff\xfe" + "Walrus".encode("utf-16-le"), bytes(range(128, 256)) * 4])
def test_a_codearchitect_session_whose_full_text_is_damaged_comes_as_its_summary(
    core: Core, tmp_path: Path, damaged: bytes
) -> None:
    folder = codearchitect(tmp_path) / "2026-01-02" / "walrus"
    (folder / "full.md").write_bytes(damaged)
    assert counts(run(core, "codearchitect", tmp_path / "shop"))["stored sessions"].skipped == 2
    (folder / "summary.md").write_text("# Walrus\n\nUser: Which animal?\n\nAI: A walrus.\n", "utf-8")
    assert counts(run(core, "codearchitect", tmp_path / "shop"))["stored sessions"].new == 1
    assert [text for talk in conversations(core) for _, text in said(core, talk) if "walrus" in text] == [
        "A walrus."
    ]


def test_a_session_that_its_own_project_knows_is_the_same(core: Core, tmp_path: Path, call: Call) -> None:
    path = codearchitect(tmp_path)
    git(tmp_path / "shop", "init", "-q")
    core.caller.directory = core.caller.project = str(tmp_path / "shop")
    assert len(call("get_session")["sessions"]) == 3
    before = len(conversations(core))
    assert counts(run(core, "codearchitect", path))["stored sessions"].new == 0
    assert len(conversations(core)) == before


@pytest.mark.usefixtures("ann")
def test_what_came_with_a_repository_is_not_imported(core: Core, tmp_path: Path) -> None:
    path = codearchitect(tmp_path)
    commit(tmp_path / "shop", {"README.md": "x"})
    file = path / "2025-11-20" / "full.md"
    commit_as_stranger(tmp_path / "shop", str(file.relative_to(tmp_path / "shop")), file.read_text("utf-8"))
    outcome = run(core, "codearchitect", path)
    (reason,) = set(outcome.kinds["stored sessions"].skipped) - {"has no text"}
    assert "came with the repository" in reason


@pytest.mark.parametrize("name", ["file.txt", "empty"])
def test_what_is_no_tree_of_sessions_is_refused(core: Core, tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises((InvalidInput, Unreadable)):
        run(core, "codearchitect", tmp_path / name)


def test_session_mgmt_drops_what_both_generations_hold(core: Core, tmp_path: Path, call: Call) -> None:
    path = session_mgmt(tmp_path)
    assert counts(run(core, "session-mgmt", path)) == {
        "sessions": Counts(new=1),
        "reflections": Counts(new=2, skipped=1),
        "conversations": Counts(new=1),
    }
    both = memory(core, "in both tables")
    assert (both.tags, both.project, dict(both.metadata)) == (("x",), "shop", {"category": "skills"})
    (session,) = core.engine.store.sessions.find("session-mgmt", after=None, before=None)
    assert (session.project, iso(session.created_at)) == ("/home/ada/shop", "2026-01-02T03:00:00.000Z")
    (conversation,) = conversations(core)
    assert said(core, conversation) == [("summary", "# Checkpoint\nQuality 27")]
    assert call("reflection_stats")["total_reflections"] == 2


def test_a_log_that_cannot_be_replayed_is_left_out_and_named(core: Core, tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    path, other = session_mgmt(tmp_path / "one"), session_mgmt(tmp_path / "other")
    leave_in_log(other)
    shutil.copy(other.with_name(f"{other.name}.wal"), path.parent)
    outcome = run(core, "session-mgmt", path)
    (reason,) = outcome.kinds["last changes"].skipped
    assert "import again" in reason
    assert counts(outcome)["reflections"].new == 2


def leave_in_log(path: Path) -> None:
    """As an owner does that runs, or crashed."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("UPDATE reflections SET content = 'a heron' WHERE id = 'r-1'")
    assert path.with_name(f"{path.name}.wal").stat().st_size


def test_what_waits_in_the_log_comes_too(core: Core, tmp_path: Path) -> None:
    path = session_mgmt(tmp_path)
    leave_in_log(path)
    assert "last changes" not in run(core, "session-mgmt", path).kinds
    assert memory(core, "heron")


def test_without_duckdb_the_answer_says_what_to_install(
    core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session_mgmt(tmp_path)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(Unavailable, match=r"\[duckdb\]"):
        run(core, "session-mgmt", path)
    assert memories(core) == []


def test_gandalf_exports_come_in_each_form_and_only_with_messages(core: Core, tmp_path: Path) -> None:
    outcome = run(core, "gandalf", gandalf(tmp_path))
    assert counts(outcome) == {"conversations": Counts(new=2, skipped=1)}
    assert outcome.kinds["conversations"].skipped == {"the file holds no messages": 1}
    tuesdays, walrus = conversations(core)
    assert (walrus.title, walrus.project) == ("Walrus", "/home/ada/shop")
    assert said(core, tuesdays) == [
        ("user", "Which day?"),
        ("assistant", "# Not a head\n\nTuesday."),
        ("tool", "Read a.py\nRead b.py"),
    ]


def test_our_own_export_comes_back_in_every_form(core: Core, tmp_path: Path, call: Call) -> None:
    exports = gandalf(tmp_path)
    run(core, "gandalf", exports)
    before = {each.title: said(core, each) for each in conversations(core)}
    for form in ("json", "md", "txt"):
        call("export_individual_conversations", format=form, output_dir=str(tmp_path / form))
    ids = [each.id for each in conversations(core)]
    core.engine.store.conversations.delete(ids)
    for form in ("json", "md", "txt"):
        assert counts(run(core, "gandalf", tmp_path / form))["conversations"] == Counts(new=2), form
        found = {each.title: said(core, each) for each in conversations(core)}
        assert found == before
        core.engine.store.conversations.delete([each.id for each in conversations(core)])


def test_an_export_of_what_is_here_already_is_not_kept_twice(core: Core, tmp_path: Path) -> None:
    exports = gandalf(tmp_path)
    run(core, "gandalf", exports)
    (exports / "d.json").write_text(
        json.dumps({"id": "gandalf:cursor:c-1", "messages": [{"role": "user", "text": "Again"}]})
    )
    assert run(core, "gandalf", exports).kinds["conversations"].skipped == {
        "the file holds no messages": 1,
        "already read from the assistant's own history": 1,
    }
    assert SECRET not in str([said(core, each) for each in conversations(core)])


def test_the_exports_folder_is_found(core: Core, tmp_path: Path) -> None:
    (tmp_path / ".gandalf").mkdir()
    gandalf(tmp_path / ".gandalf")
    path, _ = run_import(core.engine, "gandalf", None, places(tmp_path), Choices())
    assert path == tmp_path / ".gandalf" / "exports"
