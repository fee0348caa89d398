"""Backstory's own seven tools: lean answers over everything that is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.core.calls import Call as ToolCallContext
from backstory.core.memories import MemoryDraft
from backstory.core.statements.deriving import derive_next
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Trust
from backstory.domain.tokens import count_tokens
from backstory.server.offer import instructions
from backstory.surfaces import all_tools, callable_tools, load_surfaces
from backstory.tools import Reply

from ..doubles import DAWN, SteppedClock, make_conversation, make_memory, make_messages
from ..planted import PLANTED, plant
from ..repositories import commit
from .test_poisoning import POSES, is_live

TOOLS = callable_tools(load_surfaces())
OWN = load_surfaces(["backstory"])

Ask = Callable[..., str]


def call(core: Core, tool: str, **arguments: Any) -> Reply:
    return TOOLS[tool].call(core, arguments)


@pytest.fixture
def ask(core: Core) -> Ask:
    def ask(tool: str, **arguments: Any) -> str:
        reply = call(core, tool, **arguments)
        assert not reply.is_error, reply.text
        assert reply.structured is None
        return reply.text

    return ask


@pytest.fixture
def refused(core: Core) -> Ask:
    def refused(tool: str, **arguments: Any) -> str:
        reply = call(core, tool, **arguments)
        assert reply.is_error
        return reply.text

    return refused


def keep(core: Core, id: str, *texts: str, days_ago: float = 0, **changes: Any) -> None:
    at = DAWN - timedelta(days=days_ago)
    talk = make_conversation(id, created_at=at, updated_at=at, **{"surface": "claude-code"} | changes)
    where = {"project": talk.project, "surface": talk.surface, "created_at": at, "trust": talk.trust}
    core.engine.store.conversations.add(talk, make_messages(id, *texts, **where), [])


def saved_id(text: str) -> str:
    return text.split()[1]


@pytest.mark.requirement("backstory.tools")
def test_the_tools_cost_a_client_little() -> None:
    described = [tool.describe() for tool in all_tools(OWN).values()]
    assert [each["name"] for each in described] == [
        "recall", "remember", "open", "brief", "sessions", "done", "forget",
    ]  # fmt: skip
    assert all("outputSchema" not in each for each in described)
    listing = json.dumps({"tools": described}, separators=(",", ":"), ensure_ascii=False)
    assert count_tokens(listing) <= 1_500
    assert count_tokens(instructions(OWN)) <= 120


@pytest.mark.requirement("backstory.always-loaded")
def test_three_tools_are_loaded_at_once() -> None:
    loaded = [each for each, tool in all_tools(OWN).items() if "_meta" in tool.describe()]
    assert loaded == ["recall", "remember", "brief"]
    assert all_tools(OWN)["recall"].describe()["_meta"] == {"anthropic/alwaysLoad": True}


@pytest.mark.requirement("backstory.instructions")
def test_the_instructions_name_the_tools_of_the_families_that_are_on() -> None:
    lean = instructions(["backstory"])
    assert all(name in lean for name in all_tools(OWN))
    both = instructions(["backstory", "memory-keeper"])
    assert "memory-keeper" in both
    assert "recall: search memory" in both
    for family in load_surfaces():
        if family == "backstory":
            continue
        alone = instructions([family])
        named = [name for name in all_tools(load_surfaces([family])) if name in alone]
        assert named, family
        assert "recall:" not in alone


@pytest.mark.requirement("backstory.prefix")
def test_a_prefix_stands_before_these_tools_alone(core: Core) -> None:
    surfaces = load_surfaces(["backstory", "projectmemory"], prefix="backstory_")
    tools = callable_tools(surfaces)
    assert "backstory_recall" in tools
    assert "recall" not in tools
    assert {"save_context", "hook"} <= tools.keys()
    assert tools["backstory_recall"].describe()["name"] == "backstory_recall"
    assert not tools["backstory_remember"].call(core, {"text": "It works."}).is_error
    assert "backstory_recall: search memory" in instructions(surfaces, "backstory_")
    assert "recall" in all_tools(load_surfaces())


@pytest.mark.requirement("backstory.recall.one-ranking")
def test_memories_and_conversations_are_recalled_together(core: Core, ask: Ask) -> None:
    keep(
        core, "claude-code:12a546d1-83a7-49a6-abba-5400db340b43", "Which cookie do we set at login?",
        "We settled on a SameSite cookie for the login.", days_ago=3, project="/work/shop", title="Login",
    )  # fmt: skip
    id = saved_id(ask("remember", text="The login cookie lives for 15 minutes", kind="decision"))
    lines = ask("recall", query="login cookie").splitlines()
    assert f"{id}  2026-03-01  p, decision" in lines
    assert "  The login cookie lives for 15 minutes" in lines
    (head,) = [line for line in lines if "claude-code" in line]
    assert head.startswith("12a546d1#2  2026-02-26  shop, claude-code")
    assert "  We settled on a SameSite cookie for the login." in lines
    assert "#1 user: Which cookie do we set at login?" in ask("open", id="12a546d1#2")


@pytest.mark.requirement("backstory.recall.narrowed")
def test_recall_is_narrowed(core: Core, ask: Ask, refused: Ask, clock: SteppedClock) -> None:
    keep(core, "codex:1", "Where is the heron?", "The heron is in src/pond.py.", surface="codex", days_ago=9)
    keep(core, "gemini-cli:1", "A heron?", "A heron at /q.", surface="gemini-cli", project="/q")
    ask("remember", text="A heron decision", kind="decision")
    ask("remember", text="A heron fact")
    call(core, "save_context", context_text="A heron text")

    def found(**narrow: Any) -> set[str]:
        answer = ask("recall", query="heron", limit=20, **narrow)
        words = {
            "decision": "A heron decision",
            "fact": "A heron fact",
            "text": "A heron text",
            "codex": "src/pond.py",
            "q": "at /q",
        }
        return {name for name, text in words.items() if text in answer}

    assert found(kind="decision") == {"decision"}
    assert found(kind="fact") == {"fact", "text"}
    assert found(kind="conversation") <= {"codex", "q"}
    assert found(assistant="codex") == {"codex"}
    assert found(project="q") == {"q"}
    assert found(file="pond.py") == {"codex"}
    assert found(until="yesterday") == {"codex"}
    assert "codex" not in found(since="7d")
    assert "codex" not in found(since="a couple of days ago")
    assert found(until="the day before yesterday") == {"codex"}
    assert "Known: " in refused("recall", query="heron", assistant="hal")
    assert "Nothing is known of a project 'nowhere'" in refused("recall", query="heron", project="nowhere")
    assert "until is before since" in refused("recall", query="heron", since="today", until="yesterday")
    assert "since 'soon' is not a time" in refused("recall", query="heron", since="soon")
    assert "query is empty" in refused("recall", query=" ")


@pytest.mark.requirement("backstory.recall.narrowed")
def test_what_is_about_a_file_is_recalled_whatever_answers_better(core: Core, ask: Ask) -> None:
    for number in range(150):
        ask("remember", text=f"A heron, the heron of pond {number}")
    ask("remember", text="Among much else src/pond.py says a word or two of where any heron may be by now")
    assert "src/pond.py" in ask("recall", query="the heron of pond", file="pond.py")
    assert "src/pond.py" in ask("recall", query="how are releases signed?", file="pond.py")
    assert "src/pond.py" not in ask("recall", query="the heron of pond", file="lake.py")
    assert "query is empty" in call(core, "recall", query=" ", file="pond.py").text
    assert "file is empty" in call(core, "recall", query="heron", file=" ").text


@pytest.mark.requirement("backstory.recall.running")
@pytest.mark.parametrize("conversation", ["now", ""])
def test_the_running_conversation_is_not_recalled(core: Core, conversation: str) -> None:
    keep(core, "claude-code:now", "Where is the heron?", "Looking for the heron.", title="Heron")
    keep(core, "claude-code:sub", "Find the heron", "No heron.", kind="subagent", parent="claude-code:now")
    here = core._replace(caller=Caller(project="/p", assistant="claude-code", conversation=conversation))
    assert call(here, "recall", query="heron").text == "Nothing found."
    assert "heron" in call(core, "recall", query="heron").text


@pytest.mark.requirement("backstory.recall.sure")
def test_what_is_not_sure_is_said_to_be_only_near(core: Core, ask: Ask) -> None:
    ask("remember", text="The heron lives in the pond near the old mill")
    answer = ask("recall", query="quarterly invoices pond")
    assert answer.startswith("Nothing sure; nearest:\n")
    assert "heron" in answer
    for bird in ("egret", "stork", "ibis", "crane"):
        ask("remember", text=f"The {bird} stays away from the pond")
    assert ask("recall", query="quarterly invoices pond").count("pond\n") == 4  # a full page, not fewer
    assert ask("recall", query="zebra") == "Nothing found."
    assert not ask("recall", query="heron pond old mill").startswith("Nothing sure")


@pytest.mark.requirement("backstory.recall.superseded")
def test_a_later_decision_stands_before_the_one_it_replaces_and_is_named_there(core: Core, ask: Ask) -> None:
    keep(core, "claude-code:old", "Which queue?", "We decided on Kafka as the queue for orders.", days_ago=9)
    keep(core, "codex:new", "The queue again.", "We decided on Redis as the queue for orders.", days_ago=2)
    keep(core, "codex:mail", "And mail?", "We decided on Postfix as the relay of all mail.", days_ago=1)
    derive_next(core.engine.store)
    lines = ask("recall", query="what did we decide on as the queue for orders").splitlines()
    first, second = (next(line for line in lines if line.startswith(name)) for name in ("new#", "old#"))
    assert lines.index(first) < lines.index(second)
    assert "superseded by new#2" in second
    assert "\n".join(lines).count("superseded") == 1
    reflected = json.loads(
        call(core, "reflect_on_past", query="which queue for orders, Kafka", min_score=0).text
    )
    marks = {each["conversation_id"]: each.get("superseded_by") for each in reflected["results"]}
    assert marks["claude-code:old"] == "codex:new:1"
    assert marks["codex:new"] is None
    was = saved_id(ask("remember", text="Tax rates live in the table rates", kind="decision"))
    core.engine.now = lambda: DAWN + timedelta(days=3)
    now = saved_id(ask("remember", text="Tax rates come from the table tax_rates", kind="decision"))
    answer = ask("recall", query="where do tax rates live, in the table rates?")
    assert answer.index(now[:8]) < answer.index(was[:8])
    assert answer.count("superseded by") == 1


@pytest.mark.requirement("backstory.recall.one-ranking")
def test_the_first_conversation_shows_what_its_next_best_messages_say(core: Core, ask: Ask) -> None:
    """But not what only asks, what only announces, or what somebody else wrote."""
    first, second = "12a546d1-83a7-49a6-abba-5400db340b43", "7acd37a8-2745-4b58-a8a9-46164b22ad9e"
    keep(
        core, f"claude-code:{first}", "Where does the walrus ledger write its backup?",
        "The walrus ledger backup is written by a job called nightly.",
        "> The walrus ledger backup is a forgery.",
        "Let me look at the walrus ledger backup.",
        "The walrus ledger backup goes to the bucket cold-store.",
    )  # fmt: skip
    keep(core, f"claude-code:{second}", "Paint the shed.", "A ledger stands in the shed.", "No ledger burns.")
    lines = ask("recall", query="where does the walrus ledger write its backup?").splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("12a546d1#"))
    shown = "\n".join(lines[head : head + 3])
    assert "called nightly" in shown
    assert "cold-store" in shown
    assert "Let me look" not in shown
    assert "forgery" not in shown
    assert "\n  #" in shown
    assert not any(line.startswith("  #") for line in lines[head + 3 :])


@pytest.mark.requirement("backstory.recall.tokens")
@pytest.mark.parametrize(
    "text", ["heron word " * 80, "heron 数据库迁移失败因为锁没有释放" * 30, "heron " + "a1b2c3d4-" * 90]
)
@pytest.mark.parametrize(("limit", "most"), [(5, 900), (20, 3_000)])
def test_a_page_of_hits_costs_no_more_than_promised(
    core: Core, ask: Ask, text: str, limit: int, most: int
) -> None:
    store = core.engine.store
    with store.transaction():
        for n in range(12):
            id = f"claude-code:{n:08x}-83a7-49a6-abba-5400db340b43"
            keep(
                core,
                id,
                "Question",
                *(f"{n} {place} {text}" for place in range(4)),
                project="/a/project-with-a-rather-long-name-for-a-project",
            )
        store.memories.put([make_memory(f"{n:024x}", f"{n} {text}", trust=Trust.IMPORTED) for n in range(12)])
    answer = ask("recall", query="heron", limit=limit)
    assert 0 < count_tokens(answer) <= most


@pytest.mark.requirement("backstory.recall.trust")
@pytest.mark.parametrize("pose", ["a system tag", "our own tag", "a line of the assistant"])
def test_what_others_wrote_is_marked_and_neutral_everywhere(core: Core, ask: Ask, pose: str) -> None:
    text = f"The heron says: {POSES[pose]}"
    core.engine.store.memories.put([make_memory("m1", text, trust=Trust.IMPORTED, category="task")])
    keep(core, "claude-code:1", text, f"heron {text}", title=text, branch=text[:50])
    answer = ask("recall", query="heron says")
    assert "imported, not the user's words" in answer
    answers = [answer, ask("open", id="m1"), ask("open", id="claude-code:1"), ask("sessions"), ask("brief")]
    answers.append(ask("remember", text="The heron says: something else entirely"))
    assert not any(is_live(each.replace("<backstory project", "")) for each in answers[:4])
    assert answers[4].count("</backstory>") == 1


@pytest.mark.requirement("backstory.recall.fresh")
@pytest.mark.usefixtures("ann")
def test_a_memory_about_files_says_whether_they_changed(core: Core, tmp_path: Path) -> None:
    root = commit(tmp_path / "shop", {"auth.py": "one\n"})
    here = core._replace(caller=Caller(project=str(root), directory=str(root)))
    id = saved_id(call(here, "remember", text="Herons are checked here", files=["auth.py"]).text)
    assert "  fresh\n" in call(here, "recall", query="herons checked").text
    commit(root, {"auth.py": "two\n"})
    assert "auth.py changed since (1 commit)" in call(here, "recall", query="herons checked").text
    assert "auth.py changed since (1 commit)" in call(here, "open", id=id).text
    assert "is not a file of the project" in call(here, "remember", text="x", files=["none.py"]).text


@pytest.mark.requirement("backstory.remember.saves")
def test_one_thing_is_remembered_once(core: Core, ask: Ask, refused: Ask) -> None:
    first = ask("remember", text="Deploys are on Tuesdays", kind="preference")
    assert first.startswith("Saved ")
    assert first.endswith(" (preference).")
    assert ask("remember", text="Deploys are on Tuesdays").startswith(f"Known already as {saved_id(first)}.")
    assert "text is empty" in refused("remember", text=" ")
    assert "kind must be one of" in refused("remember", text="x", kind="poem")


@pytest.mark.requirement("backstory.remember.similar")
def test_similar_memories_are_offered_for_correction(ask: Ask) -> None:
    old = saved_id(ask("remember", text="The login token expires after 15 minutes"))
    answer = ask("remember", text="The login token expires after 60 minutes")
    assert answer.splitlines()[1:] == [
        "Similar; if this corrects one, call again with replaces:",
        f"  {old}  The login token expires after 15 minutes",
    ]


@pytest.mark.requirement("backstory.remember.replaces")
def test_a_memory_of_any_family_is_corrected_in_place(core: Core, ask: Ask) -> None:
    text = call(core, "save_context", context_text="Port 8080").text
    id = json.loads(text)["id"]
    item = json.loads(call(core, "context_save", key="host", value="alpha", category="note").text)
    assert ask("remember", text="Port 9090", replaces=id) == f"Corrected {id} (fact)."
    ask("remember", text="beta", replaces=item["id"], kind="decision")
    assert json.loads(call(core, "retrieve_context", query="port").text)["results"] == ["Port 9090"]
    got = json.loads(call(core, "context_get", key="host").text)["items"][0]
    assert (got["value"], got["category"]) == ("beta", "decision")
    assert "before:\n  2026-03-01  Port 8080" in ask("open", id=id)


@pytest.mark.requirement("backstory.remember.secrets")
def test_a_secret_is_refused(core: Core, refused: Ask) -> None:
    planted = plant(PLANTED["aws access key"], 1)
    answer = refused("remember", text=f"The key is {planted.text}")
    assert "possible secret" in answer
    assert not any(secret in answer for secret in planted.secrets)
    assert core.engine.store.memories.find(Filter(), Page()) == []


@pytest.mark.requirement("backstory.open.memory")
def test_a_long_memory_opens_page_by_page(core: Core, ask: Ask, refused: Ask) -> None:
    text = "\n".join(f"Line {n} of the long memory." for n in range(900))
    id = saved_id(ask("remember", text=text))
    shown, at = [], 1
    while True:
        head, *lines = ask("open", id=id, at=at).splitlines()
        assert head.startswith(f"{id}  2026-03-01  p, fact")
        assert count_tokens("\n".join(lines)) <= 2_000
        is_last = not lines[-1].startswith("next: at=")
        shown += lines if is_last else lines[:-1]
        if is_last:
            break
        at = int(lines[-1].split("=")[1].split()[0])
    assert "\n".join(shown).replace("\n\n", "\n") == text
    assert "There is no memory or conversation 'nothing'" in refused("open", id="nothing")


@pytest.mark.requirement("backstory.open.conversation")
def test_a_conversation_opens_from_a_message_on(core: Core, ask: Ask) -> None:
    keep(core, "codex:1", *(f"message {n}" for n in range(1, 31)), surface="codex", title="Thirty")
    lines = ask("open", id="codex:1", at=5, limit=3).splitlines()
    assert lines == [
        "codex:1  2026-03-01  p, codex", "Thirty", "#5 user: message 5", "#6 assistant: message 6",
        "#7 user: message 7", "next: at=8 of 30",
    ]  # fmt: skip
    assert ask("open", id="codex:1", at=-1).splitlines()[-1] == "end (30 messages)"
    keep(core, "codex:2", *("word " * 3_000 for _ in range(9)))
    page = ask("open", id="codex:2", limit=50)
    assert count_tokens(page) <= 2_000
    assert "more characters: open codex:2:0]" in page


@pytest.mark.requirement("backstory.brief")
def test_a_brief_says_where_work_stands(core: Core, ask: Ask, refused: Ask) -> None:
    assert ask("brief") == "Nothing is known yet of the project p."
    ask("remember", text="Rotate the signing key", kind="task")
    assert "Rotate the signing key" in ask("brief")
    assert count_tokens(ask("brief")) <= 400
    assert "max_tokens must be at least 100" in refused("brief", max_tokens=99)
    assert "max_tokens must be at most 600" in refused("brief", max_tokens=601)


@pytest.mark.requirement("backstory.sessions")
def test_sessions_are_listed(core: Core, ask: Ask, refused: Ask) -> None:
    assert ask("sessions") == "No sessions of p."
    keep(
        core,
        "claude-code:12a546d1-83a7-49a6-abba-5400db340b43",
        "One.",
        "Yes.",
        title="The first",
        branch="main",
    )
    keep(core, "codex:9", "Two.", project="/a/shop", surface="codex", days_ago=1, title="The second")
    assert ask("sessions") == "12a546d1  2026-03-01  p, claude-code, main  The first (2)"
    assert ask("sessions", project="*", limit=1).splitlines()[1].startswith("1 more")
    assert ask("sessions", project="shop", assistant="codex", since="last week").endswith("The second (1)")
    keep(core, "codex:8", "Three.", project="/b/shop", surface="codex")
    assert "/a/shop, /b/shop" in refused("sessions", project="shop")


@pytest.mark.requirement("backstory.done")
def test_a_task_of_any_family_is_done_for_all(core: Core, ask: Ask, refused: Ask) -> None:
    item = json.loads(call(core, "context_save", key="ship", value="Ship it", category="task").text)
    assert ask("done", id=item["id"], note="In 1.2") == f"{item['id']} is done."
    got = json.loads(call(core, "context_get", key="ship", includeMetadata=True).text)["items"][0]
    assert (got["value"], got["metadata"]["status"]) == ("Done: Ship it\nIn 1.2", "done")
    assert "Ship it" not in ask("brief")
    decision = saved_id(ask("remember", text="SQLite", kind="decision"))
    assert "is a decision, not a task" in refused("done", id=decision)


@pytest.mark.requirement("backstory.forget")
def test_a_memory_of_any_family_is_forgotten(core: Core, ask: Ask, refused: Ask) -> None:
    id = json.loads(call(core, "save_context", context_text="The heron").text)["id"]
    assert ask("forget", id=id) == f"Forgotten. Until 2026-03-31 it can be restored: backstory unarchive {id}"
    assert json.loads(call(core, "retrieve_context", query="heron").text)["results"] == []
    assert ask("recall", query="heron") == "Nothing found."
    core.forgetting.restore(id)
    assert ask("forget", id=id, for_good=True).startswith("Erased for good.")
    assert core.forgetting.restore(id) == []
    keep(core, "codex:1", "Hello.")
    assert "backstory forget codex:1" in refused("forget", id="codex:1")


@pytest.mark.requirement("backstory.forget.asks")
@pytest.mark.parametrize(("answer", "is_gone"), [(True, True), (False, False), (None, True)])
def test_the_user_is_asked_before_a_memory_is_forgotten(
    core: Core, ask: Ask, answer: bool | None, is_gone: bool
) -> None:
    id = saved_id(ask("remember", text="The heron lives here"))
    asked: list[str] = []

    def confirm(question: str) -> bool | None:
        asked.append(question)
        return answer

    reply = call(core.during(ToolCallContext(confirm=confirm)), "forget", id=id)
    assert "The heron lives here" in asked[0]
    assert reply.text.startswith("Forgotten" if is_gone else "The user said no")
    assert (core.engine.store.memories.find(Filter(), Page()) == []) == is_gone


@pytest.mark.requirement("backstory.shared")
def test_what_one_family_saves_the_others_find(core: Core, ask: Ask) -> None:
    ask("remember", text="The egret nests in the willow", kind="decision")
    assert "egret" in call(core, "retrieve_context", query="egret").text
    assert "egret" in call(core, "context_search", query="egret").text
    assert "egret" in call(core, "reflect_on_past", query="egret willow nests", min_score=0.1).text
    call(core, "save_context", context_text="The stork nests on the chimney")
    core.through("session-mgmt").memories.save_item(MemoryDraft("The crane nests in the reeds"))
    assert "stork" in ask("recall", query="stork")
    assert "crane" in ask("recall", query="crane reeds")


@pytest.mark.requirement("backstory.hook")
def test_a_hook_gets_the_brief_when_a_session_starts(core: Core, ask: Ask) -> None:
    assert "hook" not in all_tools(OWN)
    start = {"event": "SessionStart", "source": "startup"}
    assert ask("hook", **start) == ""
    ask("remember", text="Rotate the signing key", kind="task")
    output = json.loads(ask("hook", **start))["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "Rotate the signing key" in output["additionalContext"]
    assert "Rotate the signing key" in ask("hook", **start, session_id="abc")
    assert ask("hook", event="SessionStart", source="resume", session_id="abc") == ""
    assert ask("hook", event="Stop", session_id="abc") == ""
    assert core.caller.conversation == "abc"


@pytest.mark.requirement("backstory.hook")
def test_a_run_of_codex_that_nobody_attends_is_told_nothing(core: Core, ask: Ask, tmp_path: Path) -> None:
    ask("remember", text="Rotate the signing key", kind="task")
    log = tmp_path / "rollout.jsonl"
    for source, is_told in (("exec", False), ("cli", True)):
        log.write_text(json.dumps({"type": "session_meta", "payload": {"source": source}}) + "\n")
        assert bool(ask("hook", event="SessionStart", session_id=source, transcript=str(log))) == is_told
    assert ask("hook", event="SessionStart", session_id="s", transcript=str(tmp_path / "none")) != ""


@pytest.mark.requirement("backstory.hook")
def test_a_checkpoint_is_taken_before_a_compaction(core: Core, ask: Ask) -> None:
    assert ask("hook", event="PreCompact", session_id="abc") == ""
    core.through("memory-keeper").memories.save_item(MemoryDraft("Rotate the signing key"))
    assert ask("hook", event="PreCompact", session_id="abc") == ""
    (checkpoint,) = core.engine.store.checkpoints.find("memory-keeper")
    assert checkpoint.name.startswith("before compaction ")
    assert checkpoint.items == 1


@pytest.mark.requirement("backstory.hook")
def test_a_checkpoint_before_a_compaction_has_what_others_saved_in_the_session_too(
    core: Core, ask: Ask
) -> None:
    core.through("session-mgmt").sessions.start("begun by init")
    call(core, "store_reflection", content="Herons are shy")
    call(core, "context_save", key="k", value="Rotate the signing key")
    ask("hook", event="PreCompact", session_id="abc")
    restored = call(core, "context_restore_checkpoint").text
    assert json.loads(restored)["restoredItems"] == 1
    (other,) = core.engine.store.checkpoints.find("session-mgmt")
    assert other.items == 1
