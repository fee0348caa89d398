"""Briefs in files: as new as the store, and gone with what they told of."""

from __future__ import annotations

import json
import stat
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.background import Background
from backstory.core.brief.files import GIVEN, BriefFiles, Briefs
from backstory.core.forgetting.erasure import Erasure
from backstory.core.forgetting.removal import ForgetRequest
from backstory.domain.census import ProjectActivity
from backstory.domain.records import Injection
from backstory.domain.when import to_ms

from ..conftest import OpenStore
from ..doubles import DAWN, make_conversation, make_memory, make_messages
from ..patience import until

SAID = ("Port 8080 is taken. Let's go with 9090.", "Done.")


def keep(core: Core, project: Path, id: str = "c:1", days_ago: float = 1) -> None:
    at = DAWN - timedelta(days=days_ago)
    project.mkdir(exist_ok=True)
    talk = make_conversation(id, created_at=at, updated_at=at, project=str(project), surface="claude-code")
    where = {"project": talk.project, "surface": talk.surface, "created_at": at}
    core.engine.store.conversations.add(talk, make_messages(id, *SAID, **where), [])


def files(core: Core) -> BriefFiles:
    return BriefFiles(core.engine.settings.home)


def refresh(core: Core) -> int:
    return Briefs(core.engine).refresh()


def test_what_changed_is_rendered_and_nothing_else(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "shop")
    keep(core, tmp_path / "blog", "c:2")
    assert refresh(core) == 2
    assert refresh(core) == 0
    keep(core, tmp_path / "shop", "c:3", days_ago=0.5)
    assert refresh(core) == 1
    path = files(core).path(str(tmp_path / "shop"))
    body = json.loads(path.read_text("utf-8"))
    assert body["project"] == str(tmp_path / "shop")
    assert "Let's go with 9090." in body["text"]
    assert "Last sessions:" not in body["continued"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_store_that_nobody_changed_is_not_looked_through(
    core: Core, open_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    briefs, store = Briefs(core.engine), core.engine.store
    looks: list[int] = []
    real = store.entries.activity

    def activity(project: str | None = None) -> list[ProjectActivity]:
        looks.append(1)
        return real(project)

    monkeypatch.setattr(store.entries, "activity", activity)

    def refreshed() -> tuple[int, bool]:
        looks.clear()
        return briefs.refresh(), bool(looks)

    unchanged = (0, store.version() is None)  # PostgreSQL cannot tell
    keep(core, tmp_path / "shop")
    assert [refreshed() for _ in range(3)] == [(1, True), unchanged, unchanged]
    open_store().memories.put([make_memory("m", project=str(tmp_path / "shop"))])  # as another process does
    assert [refreshed() for _ in range(2)] == [(1, True), unchanged]
    for path in files(core).all():
        path.unlink()
    assert [refreshed() for _ in range(2)] == [(1, True), unchanged]
    core.engine.now = lambda: DAWN + timedelta(days=31)
    assert refreshed() == (0, True)
    assert files(core).all() == []


def test_old_projects_without_open_tasks_have_none(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "old", days_ago=31)
    keep(core, tmp_path / "open", "c:2", days_ago=31)
    task = make_memory("t", "Ship it.", category="task", project=str(tmp_path / "open"))
    at = DAWN - timedelta(days=31)
    core.engine.store.memories.put([task._replace(created_at=at, updated_at=at)])
    assert refresh(core) == 1
    assert files(core).all() == [files(core).path(str(tmp_path / "open"))]


def test_what_is_no_directory_here_has_none(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    core.engine.store.memories.put([make_memory("m", project="/p")])
    assert refresh(core) == 0


def test_projects_that_the_user_excepts_lose_theirs(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "shop")
    assert refresh(core) == 1
    core.engine.settings = core.engine.settings.changed(brief_off=(str(tmp_path / "shop"),))
    assert refresh(core) == 0
    assert files(core).all() == []


def test_a_brief_goes_with_what_it_told_of(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "shop")
    refresh(core)
    Erasure(core.engine).forget(ForgetRequest(conversations=("c:1",)))
    assert files(core).all() == []
    assert refresh(core) == 0


def test_a_memory_that_can_come_back_is_in_no_brief_either(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "shop")
    core.engine.store.memories.put(
        [make_memory("d", "We chose Go.", category="decision", project=str(tmp_path / "shop"))]
    )
    refresh(core)
    path = files(core).path(str(tmp_path / "shop"))
    assert "We chose Go." in path.read_text("utf-8")
    core.forgetting.forget("d")
    assert files(core).all() == []
    refresh(core)
    assert "We chose Go." not in path.read_text("utf-8")


def test_a_brief_that_was_rendered_by_other_rules_is_rendered_again(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "shop")
    refresh(core)
    (path,) = files(core).all()
    body = json.loads(path.read_text("utf-8"))
    version, _, rest = body["basis"].partition(":")
    files(core).write(body["project"], body | {"basis": f"{int(version) - 1}:{rest}", "text": "told before"})
    assert refresh(core) == 1
    assert "told before" not in path.read_text("utf-8")


def test_a_damaged_file_is_written_anew(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "shop")
    refresh(core)
    files(core).path(str(tmp_path / "shop")).write_text("{")
    assert refresh(core) == 1


def test_activity_counts_memories_and_conversations_of_each_project(core: Core) -> None:
    store = core.engine.store
    store.conversations.add(make_conversation("c:1", project="/a", updated_at=DAWN), [], [])
    for number in range(2):
        at = DAWN + timedelta(seconds=number)
        store.memories.put([make_memory(f"m{number}", project="/a", created_at=at, updated_at=at)])
    (activity,) = store.entries.activity()
    assert activity == ("/a", 3, DAWN + timedelta(seconds=1))
    assert store.entries.activity("/a") == [activity]
    assert store.entries.activity("/b") == []


def test_a_running_server_renders_them(tmp_path: Path, core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backstory.core.background.START_AFTER_S", 0.0)
    keep(core, tmp_path / "shop")
    engine = core.engine
    engine.settings = engine.settings.changed(histories=("off",), backups="off")
    background = Background(engine, lambda: pytest.fail("no history is read"))
    background.wake()
    try:
        until(lambda: files(core).all() != [])
    finally:
        background.close()


def decided(core: Core, project: str = "/p") -> None:
    core.engine.store.memories.put([make_memory("d", "We chose Go.", category="decision", project=project)])


def test_a_session_is_told_once_and_again_after_each_compaction(core: Core) -> None:
    assert core.briefing.opening("s", "startup") == ""
    decided(core)
    assert "We chose Go." in core.briefing.opening("s", "startup")
    assert core.briefing.opening("s", "resume") == ""
    assert "We chose Go." in core.briefing.opening("other", "startup")
    for _ in range(2):
        assert "We chose Go." in core.briefing.opening("s", "compact")


def test_a_session_is_told_nothing_where_the_user_wants_none_or_nothing_is_new(core: Core) -> None:
    decided(core)
    settings = core.engine.settings
    for changes in ({"brief": "off"}, {"brief_off": ("/p",)}):
        core.engine.settings = settings.changed(**changes)
        assert core.briefing.opening("s", "startup") == ""
    core.engine.settings = settings
    core.engine.now = lambda: DAWN + timedelta(days=31)
    assert core.briefing.opening("s", "startup") == ""


def noted(core: Core, session: str, project: str, text: str, at: datetime = DAWN) -> None:
    """As the hook writes it."""
    folder = files(core).folder / GIVEN
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / session).open("a") as file:
        file.write(json.dumps({"at": to_ms(at), "project": project, "text": text}) + "\n")


def told(core: Core) -> list[tuple[str, str]]:
    return [(each.session, each.text) for each in core.engine.store.injections.newest(10)]


def test_what_the_hook_told_is_kept_once_and_in_order(core: Core) -> None:
    noted(core, "s", "/p", "First.")
    refresh(core)
    noted(core, "s", "/p", "After a compaction.", DAWN + timedelta(hours=1))
    for _ in range(2):
        refresh(core)
    assert told(core) == [("s", "After a compaction."), ("s", "First.")]


def test_what_tools_told_is_kept_too(core: Core) -> None:
    decided(core)
    core.caller.conversation = "s"
    text = core.briefing.brief_for_session().text
    core.briefing.brief_for_session("nowhere")
    assert told(core) == [("s", text)]


def test_what_a_session_was_told_goes_with_its_conversation(core: Core) -> None:
    long_ago = DAWN - timedelta(days=40)
    for session in ("known", "unknown"):
        core.engine.store.injections.put(Injection(session, long_ago, "/p", "Text."))
    conversation = make_conversation("codex:known", native_id="known", project="/p")
    core.engine.store.conversations.add(conversation, [], [])
    refresh(core)
    assert told(core) == [("known", "Text.")]


@pytest.mark.parametrize("for_good", [True, False])
def test_a_forgotten_memory_is_in_no_text_that_sessions_of_its_project_were_told(
    core: Core, for_good: bool
) -> None:
    decided(core)
    noted(core, "s", "/p", "We chose Go.")
    core.engine.store.injections.put(Injection("t", DAWN, "/p", "We chose Go."))
    core.engine.store.injections.put(Injection("t", DAWN + timedelta(hours=1), "/q", "Other."))
    core.forgetting.forget("d", for_good=for_good)
    refresh(core)
    assert told(core) == [("t", "Other.")]


def test_a_forgotten_conversation_is_in_no_text_that_was_told(core: Core, tmp_path: Path) -> None:
    keep(core, tmp_path / "shop")
    core.engine.store.injections.put(Injection("t", DAWN, str(tmp_path / "shop"), "Port 8080 was taken."))
    Erasure(core.engine).forget(ForgetRequest(conversations=("c:1",)))
    assert told(core) == []
