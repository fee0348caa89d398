"""How sure `recall` is: memories of the own project, statements of users, unknown words, deadlines."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backstory.core import Caller, Core, Engine
from backstory.core.projects.related import EVERY_PROJECT
from backstory.search.minilm import MiniLM
from backstory.store import Store

from ..doubles import DAWN, SteppedClock, make_settings
from .test_backstory import call, keep

PAIRS = [
    ("We use uv, not poetry, because lock files merge badly", "which package manager do we use"),
    ("Prices are integer cents everywhere", "how do we store money amounts"),
    ("Always write commit subjects in the imperative mood", "what style should my git messages have"),
    ("Deploys go out on Tuesdays only, never before a weekend", "when do we release to production"),
    ("Anna reviews everything that touches billing", "who has to approve changes to invoices"),
    ("We chose Postgres over Mongo since the reports need joins", "which database did we pick"),
    ("Frontend tests run with vitest; jest is gone", "what is our javascript test runner"),
    ("Secrets live in Vault and are injected at start", "where are credentials kept"),
    ("Use four spaces, no tabs, 100 columns at most", "what are the formatting rules"),
    ("The API is versioned by a header rather than by the path", "how do clients choose an API version"),
    ("Dark mode is postponed until the design system lands", "why is there no night theme yet"),
    ("Errors go to Sentry with the request id attached", "where do exceptions get reported"),
]
"""A decision, and a question about it in other words."""

STATEMENTS = [
    ("The staging database lives on port 6543.", "Which port does the staging database live on?"),
    ("Deploys go out on Thursdays at noon.", "When do deploys go out, on which day at noon?"),
    ("We pin ruff to 0.6 in every repository.", "To which version do we pin ruff in every repository?"),
    ("Ann owns the billing service.", "Who owns the billing service?"),
    ("The nightly backup starts at 03:15.", "When does the nightly backup start?"),
    ("Feature flags live in flags.toml.", "Where do the feature flags live?"),
    ("Our API limit is 200 calls a minute.", "What is our API limit of calls a minute?"),
    ("The mobile app targets Android 12.", "Which Android does the mobile app target?"),
    ("Invoices are numbered per year.", "How are invoices numbered?"),
    ("The search index is rebuilt on Sundays.", "When is the search index rebuilt?"),
    ("Logs are kept for thirty days.", "For how many days are logs kept?"),
    ("The design review is led by Priya.", "Who leads the design review?"),
]
"""What a user said, and the same asked in its words."""


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def saving(store: Store, model: MiniLM | None, *decisions: str) -> Core:
    core = Core(Engine(make_settings(), store, model), Caller(project="/p"))
    for text in decisions:
        call(core, "remember", text=text, kind="decision")
    return core


def asking(core: Core, query: str) -> str:
    if core.engine.backlog is not None:
        core.engine.backlog.drain()
        core.engine.backlog.close()
    return call(core, "recall", query=query).text


@pytest.mark.requirement("backstory.recall.sure")
@pytest.mark.parametrize("has_vectors", [False, True])
@pytest.mark.parametrize(("decision", "question"), PAIRS)
def test_a_decision_of_the_own_project_is_shown_before_chats_of_others(
    store: Store, model: MiniLM, decision: str, question: str, has_vectors: bool
) -> None:
    other = next(text for text, asked in reversed(PAIRS) if asked != question)
    core = saving(store, model if has_vectors else None, decision, other)
    keep(
        core, "claude-code:bread", "How do I bake bread?", "Mix flour, then let it rest.", project="/kitchen"
    )
    answer = asking(core, question)
    assert decision in answer
    assert answer.find(decision) < (answer.find("bread#") if "bread#" in answer else len(answer))


@pytest.mark.requirement("backstory.recall.sure")
def test_a_chat_of_another_project_is_not_sure_beside_a_memory_of_the_own(store: Store) -> None:
    core = saving(store, None, "We use uv, not poetry, because lock files merge badly")
    question = "which package manager do we use"
    said = "It depends which package manager we use for this, apt or another manager."
    keep(core, "claude-code:apt", "Which package manager?", said, project="/kitchen")
    answer = call(core, "recall", query=question).text
    assert answer.startswith("Nothing sure; nearest:\n")
    assert answer.find("uv, not poetry") < answer.find("apt#")
    elsewhere = call(core, "recall", query=question, project=EVERY_PROJECT).text
    assert "apt#" in elsewhere.splitlines()[0]


@pytest.mark.requirement("backstory.recall.sure")
def test_only_decisions_and_preferences_that_the_filters_allow_are_added(core: Core) -> None:
    call(core, "remember", text="We use uv, not poetry", kind="decision")
    call(core, "remember", text="The cat sleeps on the sill", kind="fact")
    assert call(core, "recall", query="zebra stripes").text.endswith("We use uv, not poetry")
    for filters in (
        {"kind": "task"},
        {"kind": "conversation"},
        {"project": EVERY_PROJECT},
        {"until": "2020"},
    ):
        assert call(core, "recall", query="zebra stripes", **filters).text.startswith("Nothing found.")
    elsewhere = core._replace(caller=Caller(project="/q"))
    assert call(elsewhere, "recall", query="zebra stripes").text == "Nothing found."
    assert call(core, "recall", query="zzqxjk wvutq").text == "Nothing found."


@pytest.mark.requirement("backstory.recall.sure")
def test_at_most_three_decisions_stand_before_other_unsure_results(store: Store) -> None:
    core = saving(store, None, *(f"The {place} gets lamps" for place in ("hall", "yard", "barn", "shed")))
    keep(core, "claude-code:lamp", "Which lamps hum?", "Old lamps hum when it is damp.")
    answer = call(core, "recall", query="do lamps attract moths and other insects at night").text
    assert answer.startswith("Nothing sure; nearest:\n")
    assert answer[: answer.find("lamp#")].count("decision") == 3


@pytest.mark.requirement("backstory.recall.sure")
@pytest.mark.parametrize(("statement", "question"), STATEMENTS)
def test_a_statement_of_a_user_is_recalled_before_who_asks_for_it(
    core: Core, statement: str, question: str
) -> None:
    keep(core, "claude-code:stated", statement, "Noted.", days_ago=9)
    for number in range(3):
        keep(core, f"claude-code:asked{number}", question, "I could not find anything about that.")
    assert call(core, "recall", query=question).text.splitlines()[0].startswith("stated#")


@pytest.mark.requirement("backstory.recall.sure")
def test_a_word_that_no_text_has_is_not_recalled_as_sure(store: Store, model: MiniLM) -> None:
    core = saving(store, model)
    keep(core, "claude-code:near", "rewritenew question", "rewritenew answer")
    assert asking(core, "rewriteold").startswith(("Nothing sure; nearest:", "Nothing found."))


@pytest.mark.requirement("backstory.recall.sure")
def test_a_deadline_in_a_question_does_not_hide_what_was_said_later(core: Core, clock: SteppedClock) -> None:
    call(core, "remember", text="The audit report must be done before December", kind="task")
    answer = call(core, "recall", query="what must be done before December").text
    assert "audit report" in answer
    assert "Understood" not in answer


@pytest.mark.requirement("backstory.recall.sure")
def test_a_day_and_a_project_in_one_question_are_not_dropped_together(core: Core) -> None:
    for name in ("shop", "blog"):
        talk = ("Why did the walrus import fail?", f"The walrus import of the {name} ran out of memory.")
        keep(core, f"claude-code:{name}", *talk, days_ago=9, project=f"/home/me/{name}")
    day = f"{DAWN - timedelta(days=2):%Y-%m-%d}"
    answer = call(core, "recall", query=f"why did the walrus import fail on {day} in the shop project").text
    assert "shop#" in answer
    assert "blog#" not in answer
    assert "searched without" in answer
