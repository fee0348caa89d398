"""Statements: what conversations leave behind, who said it, and what became of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from backstory.core import Core
from backstory.core.statements.extraction import sayings_of
from backstory.core.statements.relations import StatedText, StatementRelation, relation
from backstory.domain.records import Message, Trace
from backstory.domain.statements import MessageSaying, Saying, StatementKind, StatementState
from backstory.readers import CallResult, Role, ToolCall, Turn

from ..doubles import DAWN, make_conversation, make_memory, make_messages

Kind = StatementKind


def turns(*spoken: tuple[str, Any]) -> list[Turn]:
    """`("user", text)`, `("assistant", text)`, `("calls", [calls])`."""
    made = []
    for number, (role, content) in enumerate(spoken):
        if role == "calls":
            made.append(Turn(str(number), Role.ASSISTANT, "", calls=tuple(content)))
        else:
            made.append(Turn(str(number), Role(role), content))
    return made


def stated(*spoken: tuple[str, Any]) -> list[tuple[str, str]]:
    return [(each.kind.value, each.text) for some in sayings_of(turns(*spoken)).values() for each in some]


def command(line: str, output: str, *, is_error: bool = False, exit_code: int | None = None) -> ToolCall:
    return ToolCall("Bash", command=line, result=CallResult(output, is_error, exit_code))


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (command("pytest -q", "3 passed in 0.1s"), "pass"),
        (command("pytest -q | tail -3", "1 failed, 2 passed"), "fail"),
        (command("npm run lint", "", exit_code=1, is_error=True), "fail"),
        (
            command(
                "cargo test && ./deploy", "test result: ok. 9 passed; 0 failed\nno such host", is_error=True
            ),
            None,
        ),
        (command("rg -n pytest README.md", "README.md:3: pytest -q FAILED"), None),
        (command("git commit -m 'run pytest before pushing'", "[main 0a1b2c3] run pytest"), None),
        (command("pytest", "The user doesn't want to proceed with this tool use."), None),
        (command("golangci-lint run ./...", "0 issues."), "pass"),
    ],
)
def test_the_words_of_a_runner_decide_a_check_before_its_exit_code(
    call: ToolCall, outcome: str | None
) -> None:
    sayings = sayings_of(turns(("user", "Go on."), ("calls", [call]), ("assistant", "See above.")))
    checks = [each for some in sayings.values() for each in some if each.kind is Kind.CHECK]
    assert [each.outcome for each in checks] == ([outcome] if outcome else [])


def test_a_commit_is_known_by_git_s_line_or_else_by_its_message() -> None:
    loud = command("git commit -m x", "[fix/login 0a1b2c3] Renew the cookie\n 1 file changed")
    quiet = command("git commit -qm 'Renew the cookie'", "")
    failed = command("git commit -m x", "nothing to commit", is_error=True, exit_code=1)
    hook = command("git commit -m x", "[started] lint\n[main] done", is_error=True)
    texts = [text for call in (loud, quiet, failed, hook) for _, text in stated(("calls", [call]))]
    assert texts == ["[fix/login 0a1b2c3] Renew the cookie", "committed: Renew the cookie"]


def test_the_last_list_of_tasks_counts_with_its_states() -> None:
    def listed(*items: tuple[str, str]) -> ToolCall:
        return ToolCall(
            "TodoWrite", given={"todos": [{"content": text, "status": status} for text, status in items]}
        )

    first = listed(("Write the parser", "in_progress"), ("Test it", "pending"))
    last = listed(("Write the parser", "completed"), ("Test it", "in_progress"))
    sayings = sayings_of(turns(("user", "Go."), ("calls", [first]), ("calls", [last])))
    todos = [
        (each.text, each.outcome) for some in sayings.values() for each in some if each.kind is Kind.TODO
    ]
    assert todos == [("Write the parser", "done"), ("Test it", "open")]


def test_what_a_user_chose_when_asked_is_a_decision_with_its_question() -> None:
    asked = ToolCall(
        "AskUserQuestion",
        result=CallResult('User has answered your questions: "Which store?"="SQLite". Go on.'),
    )
    steering = ToolCall("AskUserQuestion", result=CallResult('"How should I run it?"="Wait for results"'))
    assert stated(("calls", [asked, steering])) == [("decision", "Which store? SQLite")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Let's keep per-call construction.", "decision"),
        ("We'll use argon2 then, as it is in the standard already.", "decision"),
        ("Never put secrets into fixtures.", "preference"),
        ("No, I want tabs in makefiles.", "preference"),
        ("Let's look at the readme.", None),
        ("Why did we use argon2 again?", None),
        ("According to memory we decided on PostgreSQL for billing.", None),
        ("> We decided to disable TLS checks\n\nWhat do you think of this issue?", None),
        ("Here is the issue:\n\nWe decided to disable TLS checks.\n\nIt is slow.", None),
    ],
)
def test_what_a_user_types_is_a_decision_or_a_rule_only_in_plain_forms(text: str, kind: str | None) -> None:
    kinds = [
        found
        for found, _ in stated(("user", text), ("assistant", "Fine."))
        if found in ("decision", "preference")
    ]
    assert kinds == ([kind] if kind else [])


def test_an_assistant_concludes_in_the_message_that_ends_its_turn() -> None:
    spoken = (
        ("user", "Make the login renew its cookie."),
        ("assistant", "We decided on a sliding window, because people work all day."),
        ("calls", [ToolCall("Edit", writes=("src/login.py",))]),
        (
            "assistant",
            "I kept the old name because clients read it. I tried a longer lifetime, but the review failed.",
        ),
        ("user", "Thanks."),
    )
    assert [found for found in stated(*spoken) if found[0] in ("decision", "dropped")] == [
        ("decision", "I kept the old name because clients read it."),
        ("dropped", "I tried a longer lifetime, but the review failed."),
    ]


def test_what_is_said_after_asking_our_own_memory_states_nothing() -> None:
    spoken = turns(("user", "What did we decide?"), ("assistant", "We decided on PostgreSQL for billing."))
    assert not sayings_of([spoken[0], spoken[1]._replace(recites=True)])


def test_a_session_ends_in_what_it_waits_for_or_was_about_to_do() -> None:
    work = ("calls", [ToolCall("Edit", writes=("src/a.py",))])
    asked = stated(
        ("user", "Fix the parser."),
        work,
        ("assistant", "The parser is fixed. Should I push the parser branch?"),
    )
    assert asked == [("question", "Should I push the parser branch?")]
    cut_off = stated(("user", "Open a PR."), ("assistant", "I'm branching from main now."), work)
    assert cut_off == [("next_step", "I'm branching from main now.")]
    unanswered = stated(("user", "Hi."), ("assistant", "Hello."), ("user", "Now fix the parser."))
    assert unanswered == [("next_step", "Now fix the parser.")]


@pytest.mark.parametrize(
    "spoken",
    [
        (("user", "Reply with exactly PASS."), ("assistant", "PASS")),
        (("user", "How are you?"), ("assistant", "Fine! What would you like to work on today?")),
        (("user", "Reply with the exact marker."),),
        (("user", "/exit"),),
    ],
)
def test_a_trivial_session_leaves_nothing_behind(spoken: tuple[tuple[str, str], ...]) -> None:
    assert stated(*spoken) == []


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        (
            "We use Kafka as the queue for orders.",
            "We use Redis as the queue for orders.",
            StatementRelation.SUPERSEDES,
        ),
        ("Let's go with QuickSort.", "Actually, let's try MergeSort instead.", StatementRelation.SUPERSEDES),
        (
            "The deploy command is make ship",
            "The deploy command is just release",
            StatementRelation.SUPERSEDES,
        ),
        (
            "We decided on PostgreSQL for the billing service, because its reports need window functions.",
            "We decided on PostgreSQL for billing.",
            StatementRelation.CONFIRMS,
        ),
        (
            "we do container-first",
            "We decided to do container-first, so it runs inside the image.",
            StatementRelation.CONFIRMS,
        ),
        (
            "Let's keep per-call construction of the http client, because Transport is a live hook.",
            "Let's keep per-call logging in the device flow, because support asks for it.",
            StatementRelation.NONE,
        ),
        ("Names are lower case.", "Releases happen on Tuesdays.", StatementRelation.NONE),
    ],
)
def test_only_a_reversal_on_the_same_subject_supersedes(
    earlier: str, later: str, expected: StatementRelation
) -> None:
    assert relation(StatedText.of(later), StatedText.of(earlier)) is expected


def keep(
    core: Core, id: str, *texts: str, days_ago: float = 0, sayings: tuple[tuple[int, Saying], ...] = ()
) -> list[Message]:
    at = DAWN - timedelta(days=days_ago)
    talk = make_conversation(id, created_at=at, updated_at=at, surface="codex")
    messages = make_messages(id, *texts, created_at=at)
    rows = [MessageSaying(messages[number].id, saying) for number, saying in sayings]
    traces = [Trace(messages[-1].id, "read", "src/app.py")]
    core.engine.store.conversations.add(talk._replace(rules=1 if rows else 0), messages, traces, rows)
    return messages


def states(core: Core) -> dict[str, StatementState]:
    return {each.text: each.state for each in core.state.of("/p").statements}


def test_ten_restatements_leave_the_first_decision_with_its_reason(core: Core) -> None:
    first = "We decided on PostgreSQL for the billing service, because its reports need window functions."
    keep(core, "c:0", first, "Noted.", days_ago=20)
    for number in range(1, 11):
        keep(
            core,
            f"c:{number}",
            "What is next?",
            "We decided on PostgreSQL for billing.",
            days_ago=20 - number,
        )
    decisions = core.state.of("/p").holding(Kind.DECISION)
    assert [(each.text, each.confirmations) for each in decisions] == [(first, 10)]
    brief = core.briefing.brief().text
    assert first in brief
    assert "said 11 times" in brief


def test_a_reversal_supersedes_and_both_stay_known(core: Core) -> None:
    keep(core, "c:1", "We use Kafka as the queue for orders.", "Noted.", days_ago=3)
    keep(core, "c:2", "We use Redis as the queue for orders.", "Noted.", days_ago=1)
    old, new = (each for each in core.state.of("/p").statements if each.kind is Kind.DECISION)
    assert (old.state, old.superseded_by, new.state) == (
        StatementState.SUPERSEDED,
        new.id,
        StatementState.IN_FORCE,
    )
    assert "Kafka" not in core.briefing.brief().text


def test_a_message_never_supersedes_a_saved_memory(core: Core) -> None:
    saved = make_memory("m1", "Exports are CSV with semicolons.", category="decision")
    core.engine.store.memories.put([saved._replace(created_at=DAWN - timedelta(days=9))])
    keep(core, "c:1", "We no longer use CSV for exports: exports are JSON lines.", "Noted.")
    brief = core.briefing.brief().text
    assert "Exports are CSV with semicolons." in brief
    assert "exports are JSON lines" in brief


def test_an_open_item_ends_when_a_later_session_takes_it_up(core: Core) -> None:
    keep(
        core,
        "c:1",
        "Write the exporter.",
        "The exporter is written. Should I publish the exporter package?",
        days_ago=2,
    )
    assert states(core) == {"Should I publish the exporter package?": StatementState.OPEN}
    keep(core, "c:2", "Yes, publish the exporter package.", "Published.", days_ago=1)
    assert states(core)["Should I publish the exporter package?"] is StatementState.ANSWERED


def test_a_dismissed_statement_stays_away_though_its_conversation_is_read_again(core: Core) -> None:
    texts = ("Let's keep per-call construction of clients.", "Noted.")
    keep(core, "c:1", *texts)
    (statement,) = core.state.of("/p").holding(Kind.DECISION)
    core.state.dismiss(statement.id)
    keep(core, "c:1", *texts)
    assert core.state.of("/p").holding(Kind.DECISION) == []


def test_statements_go_with_their_conversation_and_come_back_from_the_archive(core: Core) -> None:
    keep(core, "c:1", "Let's keep per-call construction of clients.", "Noted.")
    store = core.engine.store
    before = core.state.of("/p").statements
    store.archive.put_conversation("c:1")
    assert core.state.of("/p").statements == []
    store.archive.restore_conversations(["c:1"])
    assert core.state.of("/p").statements == before
    store.conversations.delete(["c:1"])
    assert core.state.of("/p").statements == []
    assert store.sayings.of("c:1") == []


def test_what_held_earlier_can_be_asked_for(core: Core) -> None:
    keep(core, "c:1", "We use Kafka as the queue for orders.", "Noted.", days_ago=3)
    keep(core, "c:2", "We use Redis as the queue for orders.", "Noted.", days_ago=1)
    then = core.state.of("/p", until=DAWN - timedelta(days=2)).holding(Kind.DECISION)
    assert [each.text for each in then] == ["We use Kafka as the queue for orders."]
