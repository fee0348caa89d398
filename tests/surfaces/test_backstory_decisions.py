"""Decisions through the tools: what repeats one confirms it, what only asks says nothing, and what corrects one is marked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backstory.core import Core
from backstory.core.statements.deriving import derive_next
from backstory.surfaces import all_tools, load_surfaces

from ..doubles import DAWN, make_conversation, make_messages

TOOLS = all_tools(load_surfaces(["backstory"]))
DECISION = "We decided on PostgreSQL for the billing service, because its reports need window functions."
QUESTION = "Which database did we choose for billing?"
RESTATEMENTS = (
    "We decided on PostgreSQL for billing.",
    "According to memory we decided on PostgreSQL for billing.",
    "As agreed, billing uses PostgreSQL.",
    "We use PostgreSQL for the billing service.",
    "Remember: PostgreSQL for billing.",
)


def use(core: Core, tool: str, **arguments: object) -> str:
    return TOOLS[tool].call(core, arguments).text


def hold(core: Core, number: int, *texts: str) -> None:
    """A conversation, each a day after the one before."""
    at = DAWN - timedelta(days=20 - number)
    talk = make_conversation(f"codex:{number}", created_at=at, updated_at=at, surface="codex")
    core.engine.store.conversations.add(
        talk, make_messages(talk.id, *texts, surface="codex", created_at=at), []
    )


def restate_ten_times(core: Core) -> None:
    for number in range(1, 11):
        hold(core, number, QUESTION, RESTATEMENTS[number % len(RESTATEMENTS)])
    while derive_next(core.engine.store):
        pass


def first_decision(brief: str) -> str:
    _, _, decisions = brief.partition("Decisions in force")
    return next(line for line in decisions.splitlines()[1:] if line.startswith("- "))


@pytest.mark.requirement("backstory.recall.superseded")
def test_a_saved_decision_stands_first_after_ten_restatements(core: Core) -> None:
    saved = use(core, "remember", text=DECISION, kind="decision")
    restate_ten_times(core)
    head, passage, *_ = use(core, "recall", query=QUESTION).splitlines()
    assert head.split()[0] in saved
    assert "superseded" not in head
    assert passage.strip() == DECISION
    assert DECISION in first_decision(use(core, "brief"))


@pytest.mark.requirement("backstory.recall.superseded")
def test_a_stated_decision_stands_first_after_ten_restatements(core: Core) -> None:
    hold(core, 0, DECISION, "Noted.")
    restate_ten_times(core)
    head, passage, *_ = use(core, "recall", query=QUESTION).splitlines()
    assert (head.split()[0], "superseded" in head) == ("0#1", False)
    assert passage.strip() == DECISION
    assert DECISION in first_decision(use(core, "brief"))


@pytest.mark.requirement("backstory.recall.superseded")
def test_a_statement_stands_behind_an_answer_that_is_more_certain(core: Core) -> None:
    hold(core, 0, "How are invoices numbered?", "Invoices are numbered by a sequence per country and year.")
    hold(core, 1, "Next point.", "We decided to print numbered invoices of one country on grey paper.")
    for number in range(2, 12):  # other subjects: certainty depends on how rare the words are
        hold(core, number, f"Check the {number}th gate.", f"Gate {number} is shut.")
    while derive_next(core.engine.store):
        pass
    answer = use(core, "recall", query="How are invoices numbered per country and year?")
    assert answer.splitlines()[0].split()[0] == "0#2", answer
    assert "grey paper" in answer


@pytest.mark.requirement("backstory.brief")
def test_sessions_that_only_ask_contribute_nothing(core: Core) -> None:
    hold(core, 0, DECISION, "Noted.")
    while derive_next(core.engine.store):
        pass
    before = core.state.of("/p").statements
    questions = (
        ("Which database did we choose for billing?", "You chose PostgreSQL for billing."),
        ("Didn't we decide on MySQL for billing?", "No, on PostgreSQL."),
        ("Should we use SQLite for billing instead?", "What would you gain by that?"),
    )
    for number, texts in enumerate(questions, start=1):
        hold(core, number, *texts)
    while derive_next(core.engine.store):
        pass
    after = core.state.of("/p")
    assert [each for each in after.statements if each.conversation == "codex:0"] == before
    assert {
        each.conversation for each in after.statements if each.kind in ("decision", "preference", "dropped")
    } == {"codex:0"}
    brief = use(core, "brief")
    assert "MySQL" not in brief
    assert DECISION in first_decision(brief)


@pytest.mark.requirement("backstory.recall.superseded")
def test_a_fact_that_a_later_one_corrects_is_marked(core: Core) -> None:
    former = use(core, "remember", text="The deploy command is make ship").split()[1]
    core.engine.now = lambda: DAWN + timedelta(days=1)
    latter = use(core, "remember", text="The deploy command is just release").split()[1]
    lines = use(core, "recall", query="What is the deploy command?").splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [head.split()[0] for head in heads] == [latter[:10], former[:10]]
    assert "superseded" not in heads[0]
    assert f"superseded by {latter[:10]}" in heads[1]
