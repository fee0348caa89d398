"""Statements: what conversations leave behind, who said it, and what became of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from backstory.core import Core
from backstory.core.ask import Inquiry
from backstory.core.statements.deriving import derive_next
from backstory.core.statements.extraction import RULES, sayings_of
from backstory.core.statements.relations import StatedText, StatementRelation, relation
from backstory.core.statements.settling import ConversationCourse, settle
from backstory.domain.records import Message, Trace, Trust
from backstory.domain.statements import (
    MessageSaying,
    PlacedSaying,
    Saying,
    Speaker,
    StatementKind,
    StatementState,
)
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


def test_a_task_ends_with_an_update_that_names_only_its_number() -> None:
    def created(number: int, subject: str) -> ToolCall:
        result = CallResult(f"Task #{number} created successfully: {subject}")
        return ToolCall("TaskCreate", given={"subject": subject}, result=result)

    done = [ToolCall("TaskUpdate", given={"taskId": str(n), "status": "completed"}) for n in (1, 2)]
    calls = [created(1, "Write the parser"), created(2, "Test it"), created(3, "Ship it")]
    stated_turns = sayings_of(turns(("user", "Go."), ("calls", calls), ("calls", done)))
    placed = [
        PlacedSaying("c", id, int(id), DAWN, Trust.OWN, saying)
        for id, some in stated_turns.items()
        for saying in some
    ]
    states = {each.placed.saying.text: each.state for each in settle(placed, ConversationCourse())}
    assert states == {
        "Write the parser": StatementState.DONE,
        "Test it": StatementState.DONE,
        "Ship it": StatementState.OPEN,
    }


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
        ("Let\u2019s keep per-call construction.", "decision"),
        ("We'll use argon2 then, as it is in the standard already.", "decision"),
        ("Never put secrets into fixtures.", "preference"),
        ("No, I want tabs in makefiles.", "preference"),
        ("No, never push tags by hand.", "preference"),
        ("From now on changelog lines go under Unreleased.", "preference"),
        ("The workers must not touch the cache.", "preference"),
        ("Use pnpm instead of npm for the docs site.", "decision"),
        ("We no longer support Python 3.10.", "decision"),
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


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: callback was never called!",  # describes
        "The watcher starts and never gets to the second file.",
        "Why do we pin the runner instead of using the newest image?",  # asks
        "Should we just call it Harbour?",
        "wait why shouldn't the seeds be loaded first",
        "Maybe we don't need the second queue.",  # thinks aloud
        "I guess we'll use the other parser for that.",
        "okay well let's use that.",  # points at something that it does not name
        "go with the fix",
        "Make sure you always do this.",
        "I prefer ...",
        "Make sure the dialog covers the whole window.",  # work, not a rule
        "No, that looks fine to me.",
        "Just say hello",
        "Nope, I don't see it in the sidebar.",
    ],
)
def test_a_sentence_that_asks_guesses_describes_or_points_states_nothing(text: str) -> None:
    assert stated(("user", text), ("assistant", "Fine.")) == []


@pytest.mark.parametrize(
    "text",
    [
        "The gallery deliberately avoids the plugin because it would load on every page.",
        "The script now reads the lock file instead of asking npm, because that is faster.",
        "What they tried (all failed):",
        "The crash came up when the code tried to read a field that the record didn't have.",
        "Root cause found:",
    ],
)
def test_an_assistant_that_explains_or_introduces_states_nothing(text: str) -> None:
    assert stated(("user", "How does it work?"), ("assistant", text)) == []


def test_a_long_answer_in_own_words_or_one_about_the_session_is_no_decision() -> None:
    def asked(question: str, answer: str, *options: str) -> ToolCall:
        given = {"questions": [{"question": question, "options": [{"label": each} for each in options]}]}
        return ToolCall("AskUserQuestion", given=given, result=CallResult(f'"{question}"="{answer}"'))

    chosen = asked("Which queue?", "Redis streams", "Redis streams", "Kafka")
    short = asked("Which port?", "9090, as in staging", "8080", "8081")
    talk = asked("Which file?", "there is one already at the root of the other repository", "A new one")
    steering = asked("What would you like to do with this task?", "Work on the task", "Work on the task")
    assert stated(("calls", [chosen, short, talk, steering])) == [
        ("decision", "Which queue? Redis streams"),
        ("decision", "Which port? 9090, as in staging"),
    ]


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
    answer = "We decided on PostgreSQL for billing."
    spoken = turns(("user", "What did we decide?"), ("assistant", "I will look."), ("assistant", answer))
    assert [each.text for each in sayings_of(spoken)["2"]] == [answer]
    assert not sayings_of([spoken[0], spoken[1], spoken[2]._replace(recites=True)])
    assert not sayings_of([spoken[0], spoken[1]._replace(recites=True), spoken[2]])


def test_statements_that_only_a_log_can_tell_survive_a_change_of_the_rules(core: Core) -> None:
    messages = keep(core, "c:1", "Let's keep per-call construction of clients.", "Done.")
    green = Saying(Kind.CHECK, "pytest -q", Speaker.LOG, subject="pytest", outcome="pass")
    old = Saying(Kind.NEXT_STEP, "A step of former rules.", Speaker.ASSISTANT)
    store = core.engine.store
    store.conversations.restate("c:1", [MessageSaying(messages[1].id, each) for each in (green, old)], 1)
    derive_next(store)
    assert [each.saying.text for each in store.sayings.of("c:1")] == [messages[0].text, green.text]


EDIT = ("tool", "Edit src/a.py")


def left_open(core: Core, *spoken: tuple[str, str], id: str = "c:1") -> list[tuple[str, str]]:
    """The state after a conversation of `("user", text)`, `("assistant", text)` and `("tool", call)`."""
    talk = make_conversation(id, created_at=DAWN, updated_at=DAWN)
    messages: list[Message] = []
    place = -1
    for number, (role, text) in enumerate(spoken):
        place += role != "tool"
        messages.append(Message(f"{id}/{number}", id, max(place, 0), role, text, "/p", "codex", DAWN))
    traces = [Trace(each.id, "written", "src/a.py") for each in messages if each.text == EDIT[1]]
    core.engine.store.conversations.add(talk, messages, traces)
    return [(each.kind.value, each.text) for each in core.state.of("/p").statements if each.holds]


def test_a_session_ends_in_what_it_waits_for_or_was_about_to_do(core: Core) -> None:
    asked = left_open(
        core,
        ("user", "Fix the parser."),
        EDIT,
        ("assistant", "The parser is fixed. Should I push the parser branch?"),
    )
    assert asked == [("question", "Should I push the parser branch?")]
    core.engine.store.conversations.delete(["c:1"])
    cut_off = left_open(core, ("user", "Open a PR."), ("assistant", "I'm branching from main now."), EDIT)
    assert cut_off == [("next_step", "I'm branching from main now.")]
    core.engine.store.conversations.delete(["c:1"])
    unanswered = left_open(core, ("user", "Hi."), ("assistant", "Hello."), ("user", "Now fix the parser."))
    assert unanswered == [("next_step", "Now fix the parser.")]


@pytest.mark.parametrize(
    ("closing", "is_open"),
    [
        ("Thank you.", False),
        ("Great, thanks a lot!", False),
        ("Perfect. See you tomorrow", False),
        ("Great, now deploy it", True),
        ("ok", True),
    ],
)
def test_thanks_at_the_end_ask_for_nothing(core: Core, closing: str, is_open: bool) -> None:
    ended = left_open(core, ("user", "Fix it."), ("assistant", "It is fixed."), ("user", closing))
    assert bool(ended) is is_open


def test_a_conversation_that_goes_on_leaves_no_former_end_behind(core: Core) -> None:
    spoken = (("user", "Fix the parser."), ("assistant", "I'm branching from main now."), EDIT)
    assert left_open(core, *spoken) == [("next_step", "I'm branching from main now.")]
    more = left_open(core, *spoken, ("assistant", "It is fixed. Should I push the parser branch?"))
    assert more == [("question", "Should I push the parser branch?")]


@pytest.mark.parametrize(
    ("prompt", "is_open"),
    [
        ("Remind me: which queue did we choose?", False),
        ("Why does the parser skip blank lines?", False),
        ("Can you add a queue to the parser?", True),
        ("Add a queue to the parser.", True),
    ],
)
def test_a_session_that_only_asks_waits_for_nothing(core: Core, prompt: str, is_open: bool) -> None:
    answer = "Nothing in the parser answers that. Should I look at the older parser branches?"
    assert bool(left_open(core, ("user", prompt), ("assistant", answer))) is is_open
    core.engine.store.conversations.delete(["c:1"])
    worked = left_open(core, ("user", prompt), EDIT, ("assistant", answer))
    assert ("question", "Should I look at the older parser branches?") in worked


def test_probes_do_not_push_out_what_an_earlier_session_left_open(core: Core) -> None:
    left_open(core, ("user", "Hi."), ("assistant", "Hello."), ("user", "Now fix the parser."))
    for number in range(10):
        last = left_open(core, ("user", "Reply with PASS."), ("assistant", "PASS"), id=f"probe:{number}")
    assert last == [("next_step", "Now fix the parser.")]


@pytest.mark.parametrize(
    "spoken",
    [
        (("user", "Reply with exactly PASS."), ("assistant", "PASS")),
        (("user", "How are you?"), ("assistant", "Fine! What would you like to work on today?")),
        (("user", "Reply with the exact marker."),),
        (("user", "/exit"),),
    ],
)
def test_a_trivial_session_leaves_nothing_behind(core: Core, spoken: tuple[tuple[str, str], ...]) -> None:
    assert left_open(core, *spoken) == []


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


def test_a_stored_title_that_says_nothing_is_replaced_when_the_rules_change(core: Core) -> None:
    keep(core, "c:1", "@[System]:\nName the planets.", "Mercury and the others.")
    store = core.engine.store
    (talk,) = store.conversations.get(["c:1"])
    store.conversations.add(talk._replace(title="@[System]:"), [], [])
    derive_next(store)
    (talk,) = store.conversations.get(["c:1"])
    assert (talk.title, talk.rules) == ("Name the planets.", RULES)
    assert derive_next(store) == 0


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
    derive_next(core.engine.store)
    hits = core.lookup.find(Inquiry("Which decision was made on PostgreSQL for billing?"), 5).hits
    assert (hits[0].kind, hits[0].passage, hits[0].confirmations) == ("decision", first, 10)
    assert hits[0].name.endswith("#1")
    assert [hit.kind for hit in hits[1:]] == ["conversation"] * 4


def test_recall_shows_what_superseded_a_decision_before_it(core: Core) -> None:
    keep(core, "c:1", "We use Kafka as the queue for orders.", "Noted.", days_ago=3)
    keep(core, "c:2", "We use Redis as the queue for orders.", "Noted.", days_ago=1)
    derive_next(core.engine.store)
    hits = core.lookup.find(Inquiry("What is the queue for orders?", kind="decision"), 5).hits
    assert [(hit.passage, hit.later) for hit in hits] == [
        ("We use Redis as the queue for orders.", ""),
        ("We use Kafka as the queue for orders.", hits[0].name),
    ]


def test_recall_shows_no_statement_that_is_saved_dismissed_or_about_something_else(core: Core) -> None:
    keep(core, "c:1", "We use Kafka as the queue for orders.", "Noted.", days_ago=3)
    derive_next(core.engine.store)

    def kinds(query: str) -> list[str]:
        return [hit.kind for hit in core.lookup.find(Inquiry(query), 5).hits]

    assert kinds("What is the queue for orders?") == ["decision"]
    assert kinds("Which orders did guests place?") == ["conversation"]
    core.state.dismiss(core.state.of("/p").holding(Kind.DECISION)[0].id)
    assert kinds("What is the queue for orders?") == ["conversation"]
    saved = make_memory("m1", "The queue for orders is Kafka.", category="fact")
    core.engine.store.memories.put([saved])
    assert kinds("What is the queue for orders?") == ["fact", "conversation"]


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


def test_a_decision_that_was_given_up_later_is_dropped(core: Core) -> None:
    keep(core, "c:1", "We use Kafka as the queue for orders.", "Noted.", days_ago=3)
    given_up = "I tried Kafka as the queue for orders, but it failed under load."
    keep(core, "c:2", "How did it go?", given_up, "Fine.", days_ago=1)
    old, new = (each for each in core.state.of("/p").statements if each.kind in (Kind.DECISION, Kind.DROPPED))
    assert (old.state, old.superseded_by) == (StatementState.DROPPED, new.id)
    brief = core.briefing.brief().text
    assert "We use Kafka" not in brief
    assert given_up in brief


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


def test_a_long_pause_keeps_what_the_last_session_left_open_and_work_passes_it_by(core: Core) -> None:
    asked = "The exporter is written. Should I publish the exporter package?"
    keep(core, "c:1", "Write the exporter.", asked, days_ago=300)
    question = "Should I publish the exporter package?"
    assert states(core)[question] is StatementState.OPEN
    assert question in core.briefing.brief().text
    keep(core, "c:2", "Rename the parser.", "The parser is called reader now.", days_ago=200)
    assert states(core)[question] is StatementState.STALE
    assert question not in core.briefing.brief().text


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


def test_what_was_dismissed_supersedes_nothing_and_does_not_come_back_in_other_words(core: Core) -> None:
    keep(core, "c:1", "We use Kafka as the queue for orders.", "Noted.", days_ago=3)
    keep(core, "c:2", "We use Redis as the queue for orders.", "Noted.", days_ago=2)
    keep(core, "c:3", "We use Redis as the queue for orders.", "Noted.", days_ago=1)
    _, reversal = (each for each in core.state.of("/p").statements if each.kind is Kind.DECISION)
    core.state.dismiss(reversal.id)
    (decision,) = core.state.of("/p").holding(Kind.DECISION)
    assert decision.text == "We use Kafka as the queue for orders."


def test_what_an_assistant_tells_its_app_is_no_ending(core: Core) -> None:
    closing = (
        'The guide is in the repository now.\n\n::git-push{cwd="/p" branch="guide"}\n::git-commit{cwd="/p"}'
    )
    left = left_open(core, ("user", "Add a guide."), EDIT, ("assistant", closing))
    assert [text for _, text in left] == ["The guide is in the repository now."]
