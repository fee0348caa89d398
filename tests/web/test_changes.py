"""Memories are corrected, done, forgotten and brought back on their page; conversations are forgotten with a receipt."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.kinds import MemoryKind

from .conftest import Pages, open_sample, serve_pages
from .sample import MAIN, SUBAGENT

NEW = "We take PostgreSQL as the queue."


def text(pages: Pages, id: str = "decision") -> str:
    found: str = pages.json(f"/memory/{id}")["memory"]["text"]
    return found


def found(pages: Pages, words: str) -> set[str]:
    return {each["id"] for each in pages.json(f"/search?q={words}")["results"]}


def test_an_edit_keeps_what_was_said_before_and_can_be_undone(own_pages: Pages) -> None:
    before = text(own_pages)
    answer = own_pages.post("/edit", id="decision", text=NEW)
    assert (answer.status, answer.headers["Location"]) == (303, "/memory/decision")
    assert text(own_pages) == NEW
    (former,) = own_pages.json("/memory/decision")["history"]
    assert former["text"] == before
    assert own_pages.post("/undo", id="decision", place=str(former["place"])).status == 303
    assert text(own_pages) == before
    assert [each["text"] for each in own_pages.json("/memory/decision")["history"]] == [NEW, before]


def test_what_superseded_a_memory_takes_its_place_and_leaves_it_in_the_history(own_pages: Pages) -> None:
    before = text(own_pages)
    answer = own_pages.post("/supersede", id="decision", text=NEW)
    assert (answer.status, answer.headers["Location"]) == (303, "/memory/decision")
    assert text(own_pages) == NEW
    assert [each["text"] for each in own_pages.json("/memory/decision")["history"]] == [before]
    assert own_pages.json("/memory/decision")["memory"]["kind"] == "decision"
    assert own_pages.post("/supersede", id="decision", text=" ").status == 400
    assert text(own_pages) == NEW


def test_what_is_forgotten_is_gone_until_it_is_brought_back(own_pages: Pages) -> None:
    assert "decision" in found(own_pages, "RabbitMQ")
    moved = own_pages.post("/forget", id="decision").headers["Location"]
    assert own_pages.get("/memory/decision").status == 404
    assert "decision" not in found(own_pages, "RabbitMQ")
    assert "Undo" in own_pages.get(moved).text
    assert own_pages.post("/restore", id="decision").status == 303
    assert "decision" in found(own_pages, "RabbitMQ")


def test_what_is_forgotten_for_good_leaves_a_receipt_and_nothing_else(own_pages: Pages) -> None:
    receipt = own_pages.post("/forget?format=json", id="decision", for_good="1").json
    assert receipt["removed"]["memories"] == 1
    assert own_pages.post("/restore", id="decision").status == 404
    assert own_pages.json("/memories")["forgotten"] == []


def test_a_conversation_is_forgotten_with_its_subagents(own_pages: Pages) -> None:
    answer = own_pages.post("/forget-conversation", id=MAIN)
    assert answer.status == 200
    assert "Forgotten for good" in answer.text
    for id in (MAIN, SUBAGENT):
        assert own_pages.get(f"/conversation/{id}").status == 404
    assert not any(id.startswith("codex") for id in found(own_pages, "redis"))


def test_a_task_is_done_once(own_pages: Pages) -> None:
    core: Core = own_pages.core
    task = core.remembering.remember("Write the migration", MemoryKind.TASK).memory
    assert own_pages.json(f"/memory/{task.id}")["can_be_done"]
    own_pages.post("/done", id=task.id, note="in one file")
    assert not own_pages.json(f"/memory/{task.id}")["can_be_done"]
    assert "in one file" in text(own_pages, task.id)
    assert own_pages.post("/done", id="decision").status == 400


@pytest.mark.parametrize("path", ["/edit", "/undo", "/done", "/forget", "/restore", "/forget-conversation"])
def test_a_change_of_nothing_is_refused(pages: Pages, path: str) -> None:
    assert pages.post(path, id="nobody", text="x").status == 404
    assert pages.get(path).status == 405


def test_an_empty_text_changes_nothing(pages: Pages) -> None:
    assert pages.post("/edit", id="decision", text="  ").status == 400
    assert pages.json("/memory/decision")["history"] == []


def test_a_read_only_page_changes_nothing(tmp_path: Path) -> None:
    core = open_sample(tmp_path)
    for pages in serve_pages(core, is_read_only=True):
        assert "read-only" in pages.get("/").text
        for path in ("/edit", "/forget", "/forget-conversation"):
            assert pages.post(path, id="decision", text="x").status == 403
        assert 'method="post"' not in pages.get("/memory/decision").text
        assert pages.json("/memory/decision")["history"] == []
    core.engine.close()
