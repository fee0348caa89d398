"""Memories are corrected, done, forgotten and brought back on their page; conversations are forgotten with a receipt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.statements.deriving import derive_next
from backstory.domain.kinds import MemoryKind

from ..doubles import make_conversation, make_messages
from .conftest import Pages, open_sample, serve_pages
from .sample import MAIN, SHOP, SUBAGENT, conversation, message

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


def test_a_repeated_rule_is_accepted_as_a_memory_or_dismissed_for_good(own_pages: Pages) -> None:
    store = own_pages.core.engine.store
    rules = ("Never use sleeps in the browser tests.", "Always run the slow migrations at night.")
    for number in (1, 2):
        conversation = make_conversation(f"codex:rule-{number}", project="/work/rules", surface="codex")
        messages = make_messages(conversation.id, rules[0], "Understood.", rules[1], project="/work/rules")
        store.conversations.put(conversation, messages)
    while derive_next(store):
        pass
    first, second = own_pages.json("/inbox?project=/work/rules")["proposals"]
    assert {first["text"], second["text"]} == set(rules)
    assert own_pages.post("/dismiss", id=first["id"], project="/work/rules").status == 303
    answer = own_pages.post("/accept", id=second["id"], project="/work/rules", text="In other words.")
    saved = own_pages.json(answer.headers["Location"])["memory"]
    assert (saved["text"], saved["project"]) == ("In other words.", "/work/rules")
    assert own_pages.json("/inbox?project=/work/rules")["proposals"] == []
    assert own_pages.post("/accept", id=first["id"], project="/work/rules").status == 404


STATED = "Let's keep RabbitMQ as the broker of orders."


@pytest.fixture
def stating_pages(tmp_path: Path) -> Iterator[Pages]:
    core = open_sample(tmp_path)
    talk = conversation("codex:stated", "Brokers")
    said = [message(talk, 0, "user", STATED), message(talk, 1, "assistant", "Noted.")]
    core.engine.store.conversations.add(talk, said, [])
    yield from serve_pages(core)
    core.engine.close()


def stated(pages: Pages) -> dict[str, dict[str, str]]:
    """By text, what is shown of the project's statements."""
    groups = pages.json(f"/statements?project={SHOP}")["kinds"]
    return {each["text"]: each for group in groups for each in group["statements"]}


def test_a_dismissed_statement_is_gone_from_its_project(stating_pages: Pages) -> None:
    id = stated(stating_pages)[STATED]["id"]
    assert stating_pages.post("/dismiss-statement", id=id, project="/work/blog").status == 404
    assert STATED in stated(stating_pages)
    answer = stating_pages.post("/dismiss-statement", id=id, project=SHOP)
    assert (answer.status, answer.headers["Location"]) == (303, f"/statements?project={SHOP}")
    assert STATED not in stated(stating_pages)


def test_a_statement_is_saved_as_a_memory_of_its_kind(stating_pages: Pages) -> None:
    answer = stating_pages.post("/save-statement", id=stated(stating_pages)[STATED]["id"], project=SHOP)
    memory = stating_pages.json(answer.headers["Location"])["memory"]
    assert (memory["text"], memory["kind"], memory["project"]) == (STATED, "decision", SHOP)
    assert STATED not in stated(stating_pages)  # the memory stands for it
