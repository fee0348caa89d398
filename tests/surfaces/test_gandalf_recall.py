"""recall_conversations: every parameter changes the answer, and every score says why."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Core, Engine
from backstory.core.calls import Call as Progress
from backstory.domain.records import Conversation, Message, Trace
from backstory.domain.sources import SourceState
from backstory.surfaces import load_surfaces
from backstory.tools.budget import ANSWER_BYTES

from ..conftest import caller_of
from ..doubles import DAWN, make_conversation
from ..processes import serving

TOOL = load_surfaces(["gandalf"])["gandalf"].tools["recall_conversations"]
Json = dict[str, Any]


def keep(
    core: Core,
    id: str,
    *texts: str,
    days_ago: float = 0.5,
    files: Sequence[str] = (),
    thought: str = "",
    **changes: Any,
) -> Conversation:
    """A conversation as a sync would keep it: question and answer in turn, then what tools did."""
    at = DAWN - timedelta(days=days_ago)
    talk = make_conversation(id, created_at=at, updated_at=at, surface="claude-code")._replace(**changes)
    said = [("user" if n % 2 == 0 else "assistant", f"{id}/{n}", text) for n, text in enumerate(texts)]
    rest = [
        (role, f"{id}/#{role}", text)
        for role, text in (("thinking", thought), ("tool", " ".join(files)))
        if text
    ]
    messages = [
        Message(message, id, seq, role, text, talk.project, talk.surface, at)
        for seq, (role, message, text) in enumerate([*said, *rest])
    ]
    traces = [Trace(f"{id}/#tool", "written", path) for path in files]
    core.engine.store.conversations.add(talk, messages, traces)
    return talk


def recall(core: Core, **arguments: Any) -> Json:
    reply = TOOL.call(core, arguments)
    assert not reply.is_error, reply.text
    assert reply.structured is not None
    return reply.structured


def ids(told: Json) -> list[str]:
    return [each["id"] for each in told["conversations"]]


@pytest.fixture
def three(core: Core) -> Core:
    keep(core, "auth", "How do we do authentication?", "With a JWT token.", subject="architecture")
    keep(
        core,
        "deploy",
        "The deploy fails.",
        "The token expired.",
        days_ago=5,
        subject="debugging",
        surface="codex",
    )
    keep(core, "lunch", "What is for lunch?", "Soup.", days_ago=20, surface="cursor")
    return core


@pytest.mark.requirement("gandalf.recall.days")
def test_what_the_look_back_leaves_out_is_counted_when_nothing_else_is_found(three: Core) -> None:
    keep(three, "old", "Why does the walrus sleep?", "It is cold.", days_ago=200)
    keep(three, "older", "Does the walrus sleep?", "Yes.", days_ago=300)
    for days, wider in ((30, True), (60, False)):
        (notice,) = recall(three, search_query="walrus", days_lookback=days)["notices"]
        assert notice.startswith("2 older conversations match")
        assert ("days_lookback 60" in notice) == wider
    assert "notices" not in recall(three, search_query="token", min_score=0)
    assert "older" not in str(recall(three, search_query="zebra"))
    assert "older" not in str(recall(three, search_query="walrus", conversation_types=["debugging"]))
    (notice,) = recall(three, search_query="walrus", tags=["cold"])["notices"]
    assert notice.startswith("1 older conversation matches")


@pytest.mark.requirement("gandalf.recall.fields")
def test_files_that_were_written_come_before_those_that_were_only_read(core: Core) -> None:
    talk = keep(core, "both", "Change it.", "Done.", files=["/p/src/changed.py"], project="/p")
    message = Message("both/#more", "both", 9, "tool", "reads", "/p", talk.surface, talk.created_at)
    reads = [Trace("both/#more", "read", path) for path in ["/elsewhere/a.py"] * 3 + ["/p/b.py"]]
    core.engine.store.conversations.add(talk, [message], reads)
    (shown,) = recall(core, search_query="change")["conversations"]
    assert shown["files"] == ["src/changed.py", "/elsewhere/a.py"]
    assert shown["file_count"] == 3
    long = [f"/p/{'folder/' * 6}{name}.py" for name in "ab"]
    keep(core, "long", "Rename it.", "Done.", files=long, project="/p")
    (shown,) = recall(core, search_query="rename")["conversations"]
    assert (len(shown["files"]), shown["file_count"]) == (1, 2)


@pytest.mark.requirement("gandalf.recall.structure", "gandalf.recall.text", "gandalf.envelope")
def test_structure_and_text_have_their_documented_shapes(three: Core) -> None:
    reply = TOOL.call(three, {"search_query": "token", "min_score": 0})
    told, text = reply.structured, json.loads(reply.text)
    assert told is not None
    assert set(told) == {"summary", "conversations", "context", "tool_results"}
    summary = told["summary"]
    assert summary.pop("processing_time") > 0
    assert summary == {"total_conversations": 2, "available_tools": ["claude-code", "codex"]}
    assert told["context"] == {
        "keywords": ["token"],
        "filters_applied": {
            "fast_mode": True,
            "days_lookback": 30,
            "min_score": 0,
            "limit": 60,
            "search_query": "token",
        },
    }
    assert told["tool_results"] == {
        "claude-code": {"total_conversations": 1},
        "codex": {"total_conversations": 1},
    }
    assert text["total_conversations"] == 2
    assert text["conversations"] == told["conversations"]
    assert not {"available_tools", "filters_applied"} & set(text)


@pytest.mark.requirement("gandalf.recall.fields", "gandalf.recall.explained")
def test_a_conversation_tells_all_that_is_promised(core: Core) -> None:
    keep(
        core,
        "auth",
        "How do we do authentication?",
        "With a JWT token.",
        days_ago=2,
        files=["/p/src/auth.py", "/p/src/jwt.py"],
        subject="architecture",
        title="Authentication",
    )
    (told,) = recall(core, search_query="token")["conversations"]
    assert told == {
        "id": "auth",
        "title": "Authentication",
        "tool": "claude-code",
        "trust": "own",
        "project": "/p",
        "created_at": "2026-02-27T09:30:00.000Z",
        "updated_at": "2026-02-27T09:30:00.000Z",
        "message_count": 2,
        "conversation_type": "architecture",
        "relevance_score": 4.8,
        "score_parts": {"answer": 1.5, "keywords": 1.0, "recency": 0.8, "files": 1.0, "type": 0.5},
        "snippet": "With a JWT token.",
        "files": ["src/auth.py", "src/jwt.py"],
    }


@pytest.mark.requirement("gandalf.recall.defaults")
def test_without_arguments_the_last_month_is_told_above_a_score_of_one(core: Core) -> None:
    keep(core, "new", "Hello?")
    keep(core, "old but worked on", "Fix it.", days_ago=29, files=["/p/a.py"])
    keep(core, "old", "Hello?", days_ago=29)
    keep(core, "too old", "Fix it.", days_ago=31, files=["/p/a.py"], subject="debugging")
    assert ids(recall(core)) == ["old but worked on", "new"]


@pytest.mark.requirement("gandalf.recall.days")
def test_days_lookback_is_honoured(three: Core) -> None:
    assert set(ids(recall(three, days_lookback=60, min_score=0))) == {"auth", "deploy", "lunch"}
    assert set(ids(recall(three, days_lookback=6, min_score=0))) == {"auth", "deploy"}
    assert ids(recall(three, days_lookback=1, min_score=0)) == ["auth"]


@pytest.mark.requirement("gandalf.recall.limit", "gandalf.recall.total", "gandalf.recall.paging")
def test_limit_cuts_but_the_total_counts_all(three: Core) -> None:
    told = recall(three, limit=2, min_score=0)
    assert (len(told["conversations"]), told["summary"]["total_conversations"]) == (2, 3)
    assert told["summary"]["next_offset"] == 2
    assert sum(each["total_conversations"] for each in told["tool_results"].values()) == 3
    rest = recall(three, limit=2, min_score=0, offset=2)
    assert sorted(ids(told) + ids(rest)) == ["auth", "deploy", "lunch"]
    assert "next_offset" not in rest["summary"]


@pytest.mark.requirement("gandalf.recall.min-score")
def test_min_score_leaves_out_what_is_below(three: Core) -> None:
    scores = {each["id"]: each["relevance_score"] for each in recall(three, min_score=0)["conversations"]}
    assert scores == {"auth": 1.5, "deploy": 1.3, "lunch": 0.5}
    assert ids(recall(three, min_score=1.3)) == ["auth", "deploy"]
    assert ids(recall(three, min_score=5)) == []


@pytest.mark.requirement("gandalf.recall.types")
def test_conversation_types_narrow(three: Core) -> None:
    assert ids(recall(three, conversation_types=["debugging", "problem_solving"])) == ["deploy"]
    assert set(ids(recall(three, conversation_types=["general", "architecture"], min_score=0))) == {
        "auth",
        "lunch",
    }


@pytest.mark.requirement("gandalf.recall.tools")
def test_tools_narrow_and_an_assistant_without_history_is_said_to_have_none(three: Core) -> None:
    told = recall(three, tools=["cursor", "windsurf"], min_score=0)
    assert ids(told) == ["lunch"]
    assert told["tool_results"]["cursor"] == {"total_conversations": 1}
    assert told["tool_results"]["windsurf"] == {
        "total_conversations": 0,
        "note": "No history of it was found on this machine.",
    }
    assert told["summary"]["available_tools"] == ["cursor"]


@pytest.mark.requirement("gandalf.recall.unreadable")
def test_what_was_found_but_cannot_be_read_is_never_a_silent_zero(core: Core) -> None:
    for n in range(2):
        core.engine.store.sync.put(
            SourceState(f"/w/{n}.pb", "windsurf", 1, 1, problem="It is encrypted.", read_at=DAWN)
        )
    core.engine.store.sync.put(SourceState("/c/a.jsonl", "claude-code", 1, 1, read_at=DAWN))
    told = recall(core)
    assert told["tool_results"] == {
        "claude-code": {"total_conversations": 0},
        "windsurf": {
            "total_conversations": 0,
            "problems": [{"problem": "It is encrypted.", "files": 2}],
        },
    }
    assert told["summary"]["available_tools"] == ["claude-code", "windsurf"]


@pytest.mark.requirement("gandalf.recall.unreadable")
def test_conversations_that_are_encrypted_are_listed_and_counted(core: Core) -> None:
    store = core.engine.store
    store.sync.put(SourceState("/w/1.pb", "windsurf", 1, 1, read_at=DAWN))
    store.conversations.add(make_conversation("one", surface="windsurf", completeness="encrypted"), [], [])
    told = recall(core, min_score=0)
    assert [(each["id"], each["completeness"], each["message_count"]) for each in told["conversations"]] == [
        ("one", "encrypted", 0)
    ]
    assert told["tool_results"]["windsurf"] == {"total_conversations": 1, "unread": {"encrypted": 1}}
    assert recall(core, min_score=5)["tool_results"]["windsurf"]["unread"] == {"encrypted": 1}


@pytest.mark.requirement("gandalf.recall.stored-sessions")
def test_sessions_that_were_stored_through_us_are_recalled_too(core: Core) -> None:
    keep(core, "stored", "We chose Postgres.", surface="codearchitect")
    told = recall(core, search_query="postgres")
    assert [each["tool"] for each in told["conversations"]] == ["codearchitect"]
    assert told["tool_results"] == {"codearchitect": {"total_conversations": 1}}
    assert ids(recall(core, tools=["cursor"])) == []


@pytest.mark.requirement("gandalf.recall.stored-sessions", "gandalf.recall.types")
def test_sessions_that_were_stored_or_put_there_by_hand_have_their_type(core: Core, tmp_path: Path) -> None:
    core.caller.directory = str(tmp_path)
    call = caller_of(core)
    call("store_session", conversation=[{"role": "user", "content": "The parser crashes with an error."}])
    call("store_session", conversation="User: Design the layers of the service.\nAI: Three of them.")
    by_hand = tmp_path / ".codearchitect" / "sessions" / "2026-02-27" / "by-hand"
    by_hand.mkdir(parents=True)
    (by_hand / "full.md").write_text("User: Debug the failing build\n\nAssistant: Done.\n")
    call("get_session")
    for type, count in (("debugging", 2), ("architecture", 1), ("general", 0)):
        assert len(ids(recall(core, conversation_types=[type]))) == count, type


@pytest.mark.requirement("gandalf.recall.query")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("token", {"auth", "deploy"}),
        ("jwt token", {"auth"}),
        ("authentication token", {"auth"}),  # in different messages
        ("deploy lunch", {"deploy", "lunch"}),  # found by one of them
        ('"jwt token"', {"auth"}),
        ('"token jwt"', set()),
        ("soup OR jwt", {"auth", "lunch"}),
        ("token -jwt", {"deploy"}),
        ("failing", {"deploy"}),  # stems
        ("how did the deploy", {"deploy"}),
        ("nowhere", set()),
        ("null", set()),
        ("' OR 1=1 --", set()),
    ],
)
def test_search_query_keeps_only_what_is_found_for_it(three: Core, query: str, found: set[str]) -> None:
    assert set(ids(recall(three, search_query=query, min_score=0))) == found


@pytest.mark.requirement("gandalf.recall.query")
@pytest.mark.parametrize("query", ["photosynthesis", "zzqxjk wvut", "Wetter in Hamburg"])
def test_a_query_that_is_like_nothing_finds_nothing_even_in_one_conversation(core: Core, query: str) -> None:
    keep(core, "only", "How is the zebra?", "The zebra sleeps in the shed.")
    assert ids(recall(core, search_query=query, min_score=0)) == []
    assert recall(core, search_query=query, min_score=0)["summary"]["total_conversations"] == 0
    assert ids(recall(core, search_query="shed of the zebra", min_score=0)) == ["only"]


@pytest.mark.requirement("gandalf.recall.query")
def test_a_title_is_searched_too(core: Core) -> None:
    keep(core, "named", "Hello?", title="The Zebra plan")
    assert ids(recall(core, search_query="zebra hello")) == ["named"]
    assert ids(recall(core, search_query="zebr")) == []


@pytest.mark.requirement("gandalf.recall.query")
def test_tool_use_and_thinking_are_searched_too(core: Core) -> None:
    keep(core, "quiet", "Go on.", files=["/p/heron.py"], thought="Perhaps an egret.")
    assert ids(recall(core, search_query="heron egret")) == ["quiet"]


@pytest.mark.requirement("gandalf.recall.tags")
def test_tags_keep_what_holds_one_of_them(three: Core) -> None:
    told = recall(three, tags=["jwt", "soup"], min_score=0)
    assert set(ids(told)) == {"auth", "lunch"}
    assert told["context"]["keywords"] == ["jwt", "soup"]
    assert ids(recall(three, tags=["jwt", "soup"], search_query="lunch", min_score=0)) == ["lunch"]
    assert ids(recall(three, tags=["soup"], search_query="deploy lunch", min_score=0)) == ["lunch"]


@pytest.mark.requirement("gandalf.recall.structure")
def test_every_word_that_is_looked_for_is_a_keyword(three: Core) -> None:
    told = recall(three, search_query="token OR soup heron OR soup", tags=["token"])
    assert told["context"]["keywords"] == ["token", "soup", "heron"]


@pytest.mark.requirement("gandalf.recall.prompt")
def test_a_prompt_gives_keywords_and_leaves_nothing_out(three: Core) -> None:
    told = recall(three, user_prompt="Why does the deploy not like the token, please?", min_score=0)
    assert told["context"]["keywords"] == ["deploy", "token"]
    parts = {each["id"]: each["score_parts"].get("keywords", 0) for each in told["conversations"]}
    assert parts["deploy"] == 1.0
    assert parts["auth"] < 0.1  # has one of the two words, and answers far less well
    assert ids(told) == ["deploy", "auth", "lunch"]


@pytest.mark.requirement("gandalf.recall.prompt", "gandalf.recall.min-score")
@pytest.mark.parametrize("least", [{}, {"min_score": 0.9}, {"min_score": 1.3}, {"min_score": 1.999}])
@pytest.mark.parametrize("prompt", ["Why does the deploy not like the token?", "Who wrote lib/jwt.py?"])
def test_a_prompt_takes_nothing_below_the_least_score(core: Core, least: Json, prompt: str) -> None:
    keep(core, "deploy", "The deploy does not like the token.", "Renew it.", files=["/p/a.py"], days_ago=3)
    keep(core, "jwt", "Who wrote it?", files=["/q/lib/jwt.py"], project="/q", subject="debugging")
    keep(core, "old", "Design the herons.", files=["/p/h.py"], subject="architecture", days_ago=20)
    keep(core, "talk", "Hello?", subject="technical", days_ago=5)
    keep(core, "small talk", "Hello?", days_ago=5)
    unasked, asked = recall(core, **least), recall(core, **least, user_prompt=prompt)
    assert {*ids(unasked)} <= {*ids(asked)}
    for each in asked["conversations"]:
        assert each["relevance_score"] >= least.get("min_score", 1.0)
        assert each["relevance_score"] == pytest.approx(sum(each["score_parts"].values()), abs=1e-9)


@pytest.mark.requirement("gandalf.recall.scores")
@pytest.mark.parametrize(
    ("days_ago", "recency"),
    [(0.9, 1.0), (1.1, 0.8), (6.9, 0.8), (7.1, 0.5), (29.9, 0.5), (30.1, 0.2), (59, 0.2)],
)
def test_recency_goes_down_in_the_promised_steps(core: Core, days_ago: float, recency: float) -> None:
    keep(core, "one", "Hello?", days_ago=days_ago)
    (told,) = recall(core, days_lookback=60, min_score=0)["conversations"]
    assert told["score_parts"] == {"recency": recency}


@pytest.mark.requirement("gandalf.recall.scores")
def test_files_count_more_in_this_project_and_when_they_are_named(core: Core) -> None:
    keep(core, "here", "Fix it.", files=["/p/src/auth.py"])
    keep(core, "elsewhere", "Fix it.", files=["/q/lib/jwt.py"], project="/q")
    keep(core, "talk", "Fix it.")

    def parts(**arguments: Any) -> dict[str, float]:
        told = recall(core, min_score=0, **arguments)["conversations"]
        return {each["id"]: each["score_parts"].get("files", 0) for each in told}

    assert parts() == {"here": 1.0, "elsewhere": 0.5, "talk": 0.0}
    named = parts(user_prompt="What did we do in lib/jwt.py?")
    assert named == {"here": 0.0, "elsewhere": 1.0, "talk": 0.0}  # as far as it answers
    unnamed = parts(user_prompt="e.g. in nothing.py")
    assert unnamed["here"] > unnamed["elsewhere"] > unnamed["talk"] == 0


@pytest.mark.requirement("gandalf.recall.scores")
def test_an_old_answer_stands_above_a_fresh_mention(core: Core) -> None:
    keep(
        core, "answer", "Which queue do we use?", "We decided on Kafka as the queue, for replay.", days_ago=50
    )
    keep(core, "mention", "Look at the queue of tickets.", "There are nine tickets.", files=["/p/a.py"])
    keep(core, "again", "Which queue do we use?", "I don't know.", files=["/p/a.py"])
    for asked in ({"user_prompt": "Which queue do we use?"}, {"search_query": "which queue do we use"}):
        told = recall(core, days_lookback=60, min_score=0, **asked)["conversations"]
        assert told[0]["id"] == "answer"
        assert told[0]["snippet"] == "We decided on Kafka as the queue, for replay."
        assert told[0]["score_parts"]["answer"] == 1.5
        parts = {each["id"]: each["score_parts"] for each in told}
        assert parts["again"].get("keywords", 0) < 0.1  # its words are but the question's


@pytest.mark.requirement("gandalf.recall.scores")
def test_age_decides_between_equal_answers_and_lifts_no_worse_one(core: Core) -> None:
    answer = "The staging database listens on port 6543."
    keep(core, "old", "Where is staging?", answer, days_ago=50)
    keep(core, "new", "Where is staging?", answer, days_ago=3)
    keep(core, "mention", "Restart staging.", "I restarted it.")
    keep(core, "unrelated", "Which soup is there?", "Lentils.")
    asked = "Which port does the staging database listen on?"
    told = recall(core, days_lookback=60, min_score=0, user_prompt=asked)
    assert ids(told) == ["new", "old", "mention", "unrelated"]
    parts = [each["score_parts"] for each in told["conversations"]]
    assert parts[0]["recency"] > 0.6  # of 0.8, as far as it answers
    assert parts[2]["recency"] < 0.1  # of 1.0
    assert parts[3]["recency"] == 0


@pytest.mark.requirement("gandalf.recall.query", "gandalf.recall.scores")
def test_what_holds_every_word_of_a_query_reaches_the_usual_score_however_old_it_is(core: Core) -> None:
    keep(core, "answer", "Fix the login.", "I fixed the authentication bug in the authentication module.")
    keep(core, "old", "Please review authentication", "Looks good.", days_ago=25)
    keep(core, "older", "Which tests has the authentication?", "None so far.", days_ago=55)
    keep(core, "other", "Center the box.", "Use flexbox.")
    told = recall(core, search_query="authentication", days_lookback=60)
    assert ids(told) == ["answer", "old", "older"]
    assert all(each["relevance_score"] >= 1 for each in told["conversations"])
    assert ids(recall(core, search_query="authentication")) == ["answer", "old"]


@pytest.mark.requirement("gandalf.recall.scores")
def test_a_score_is_the_sum_of_its_parts(three: Core) -> None:
    for each in recall(three, min_score=0, user_prompt="token soup authentication")["conversations"]:
        assert each["relevance_score"] == pytest.approx(sum(each["score_parts"].values()), abs=1e-9)


@pytest.mark.requirement("gandalf.recall.subagents")
def test_a_subagent_speaks_for_its_parent(core: Core) -> None:
    keep(core, "main", "Please look for herons.", days_ago=3)
    keep(core, "helper", "Found an egret.", kind="subagent", parent="main", files=["/p/bird.py"])
    keep(core, "below", "And a stork.", kind="subagent", parent="helper")
    keep(
        core,
        "orphan",
        "Somebody else may have seen an egret alone by the lake.",
        kind="subagent",
        parent="never seen",
    )
    told = recall(core, search_query="egret")
    assert ids(told) == ["main", "orphan"]
    main = told["conversations"][0]
    assert (main["snippet"], main["files"], main["subagents"]) == ("Found an egret.", ["bird.py"], 2)
    assert main["score_parts"]["recency"] == 1.0
    assert ids(recall(core, search_query="herons egret stork")) == ["main"]
    assert set(ids(recall(core))) == {"main", "orphan"}
    apart = recall(core, search_query="egret", include_subagents=True)
    assert set(ids(apart)) == {"helper", "orphan"}
    assert {each.get("parent") for each in apart["conversations"]} == {"main", "never seen"}


@pytest.mark.requirement("gandalf.recall.subagents")
def test_a_parent_that_was_silent_for_long_is_recalled_through_its_subagent(core: Core) -> None:
    keep(core, "main", "Please look.", days_ago=50)
    keep(core, "helper", "Found an egret.", kind="subagent", parent="main")
    assert ids(recall(core, search_query="egret")) == ["main"]
    assert ids(recall(core)) == ["main"]


@pytest.mark.requirement("gandalf.recall.subagents")
def test_a_ring_of_parents_does_no_harm(core: Core) -> None:
    keep(core, "a", "An egret.", kind="fork", parent="b")
    keep(core, "b", "A heron.", kind="fork", parent="a")
    assert len(ids(recall(core, search_query="egret"))) == 1


@pytest.mark.requirement("gandalf.recall.snippet")
def test_a_snippet_is_cut_around_the_match(core: Core) -> None:
    keep(core, "long", f"{'before ' * 300} the egret {'after ' * 300}")
    (told,) = recall(core, search_query="egrets")["conversations"]
    assert "egret" in told["snippet"]
    assert told["snippet"].startswith("…before")
    assert told["snippet"].endswith("…")
    assert len(told["snippet"]) < 260


@pytest.mark.requirement("gandalf.recall.snippet")
def test_without_words_a_snippet_is_what_the_user_said_first(core: Core) -> None:
    keep(core, "one", "First question\nin two lines", "An answer.")
    assert recall(core)["conversations"][0]["snippet"] == "First question\nin two lines"


@pytest.mark.requirement("gandalf.recall.snippet", "gandalf.recall.fields")
def test_no_conversation_is_without_a_title_and_words(core: Core) -> None:
    (greeting, answer) = (
        Message(f"m/{n}", "m", n, "assistant", f"Go {n}.", "/p", "codex", DAWN) for n in (0, 1)
    )
    core.engine.store.conversations.add(
        make_conversation("m", surface="codex", title=""), [greeting, answer], []
    )
    (told,) = recall(core)["conversations"]
    assert (told["title"], told["snippet"]) == ("codex, 2026-03-01 09:30", "Go 0.")


@pytest.mark.requirement("gandalf.recall.gone")
def test_what_vanished_is_still_found_and_said_to_be_gone(core: Core) -> None:
    keep(core, "gone", "An egret.", is_gone=True, completeness="partial")
    (told,) = recall(core, search_query="egret")["conversations"]
    assert (told["source_gone"], told["completeness"]) == (True, "partial")


@pytest.mark.requirement("gandalf.recall.files-cut")
def test_many_files_are_counted_and_the_most_touched_shown(core: Core) -> None:
    keep(core, "busy", "Go.", files=[f"/p/{n:02}.py" for n in range(30)])
    (told,) = recall(core)["conversations"]
    assert (len(told["files"]), told["file_count"]) == (2, 30)


@pytest.mark.requirement("gandalf.budget")
def test_an_answer_that_would_be_too_large_is_paged(core: Core) -> None:
    for n in range(60):
        files = [f"/p/{'long-' * 20}{n}-{m}.py" for m in range(20)]
        keep(core, f"c{n:02}", "Go on.", files=files)
    seen: list[str] = []
    offset = 0
    while True:
        reply = TOOL.call(core, {"offset": offset})
        assert len(reply.text.encode()) < ANSWER_BYTES + 2_000
        assert reply.structured is not None
        seen += ids(reply.structured)
        if "next_offset" not in reply.structured["summary"]:
            break
        offset = reply.structured["summary"]["next_offset"]
    assert seen == sorted(seen)
    assert len(seen) == 60


@pytest.mark.requirement("gandalf.recall.order")
def test_equal_scores_are_in_order_of_time_and_then_of_id(core: Core) -> None:
    for id, days in (("b", 0.5), ("a", 0.5), ("c", 0.2)):
        keep(core, id, "An egret.", days_ago=days)
    assert ids(recall(core, search_query="egret")) == ["c", "a", "b"]
    assert recall(core)["conversations"] == recall(core)["conversations"]


@pytest.mark.requirement("gandalf.recall.strings")
def test_memories_are_no_conversations(core: Core) -> None:
    core.through("projectmemory").memories.save("An egret that was saved.")
    assert recall(core, search_query="egret", min_score=0)["summary"]["total_conversations"] == 0


def say(home: Path, id: str, text: str) -> None:
    """As Claude Code would write it down."""
    folder = home / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "user",
        "uuid": id,
        "sessionId": id,
        "cwd": "/p",
        "timestamp": datetime.now(UTC).isoformat(),
        "message": {"role": "user", "content": text},
    }
    (folder / f"{id}.jsonl").write_text(json.dumps(line) + "\n")


FIRST, SECOND = (f"5f0c8f4e-0000-4000-8000-00000000000{number}" for number in (1, 2))


class Histories:
    """A sync that records the requested runs. The server's own would read new files at any time."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def is_first(self) -> bool:
        return False

    def run_first(self, call: Progress) -> None:
        self.asked.append("first")

    def run_recent(self, call: Progress) -> None:
        self.asked.append("recent")

    def run_now(self, call: Progress) -> dict[str, str]:
        self.asked.append("now")
        return {}

    def read_turn(self, transcript: str) -> None:
        self.asked.append("turn")

    def read_recent(self, readers: Sequence[str], project: str, wait_s: float) -> None:
        self.asked.append("start")

    def wake(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.requirement("gandalf.recall.fast-mode")
def test_fast_mode_answers_from_the_index_and_false_brings_it_up_to_date_first(core: Core) -> None:
    histories = Histories()
    engine = Engine(core.engine.settings, core.engine.store, None, background=lambda engine: histories)
    for is_fast, asked in ((True, []), (False, ["now"])):
        told = recall(core._replace(engine=engine), fast_mode=is_fast)
        assert told["context"]["filters_applied"]["fast_mode"] is is_fast
        assert histories.asked == asked


@pytest.mark.requirement("gandalf.recall.fast-mode")
def test_without_fast_mode_what_was_just_said_is_found(tmp_path: Path) -> None:
    say(tmp_path / "user", FIRST, "Where do egrets live?")
    variables = {"HOME": str(tmp_path / "user"), "BACKSTORY_EMBEDDINGS": "off"}
    with serving(tmp_path / "data", "serve", variables=variables) as server:
        for id in (FIRST, SECOND):
            say(tmp_path / "user", id, "Where do egrets live?")
            told = server.call("recall_conversations", search_query="egrets", min_score=0, fast_mode=False)
            assert f"claude-code:{id}" in ids(told)


@pytest.mark.requirement("gandalf.recall.first-time", "session-mgmt-search.reflect.first-time")
@pytest.mark.parametrize(
    ("tool", "arguments", "found"),
    [
        ("recall_conversations", {}, lambda answer: answer["summary"]["total_conversations"]),
        ("export_individual_conversations", {}, lambda answer: answer["exported_files"]),
        ("reflect_on_past", {"query": "egrets"}, lambda answer: answer["total_found"]),
        ("quick_search", {"query": "egrets"}, lambda answer: answer["total_count"]),
        ("get_more_results", {"query": "egrets", "offset": 0}, lambda answer: answer["total_available"]),
        ("search_by_file", {"file_path": "egrets.py"}, lambda answer: answer["total_found"]),
        ("search_by_concept", {"concept": "egrets"}, lambda answer: answer["total_found"]),
        ("reflection_stats", {}, lambda answer: answer["total_conversations"]),
    ],
)
def test_the_very_first_call_knows_the_histories(
    tool: str, arguments: Json, found: Callable[[Json], int], tmp_path: Path
) -> None:
    say(tmp_path / "user", FIRST, "Where do egrets live, by egrets.py?")
    variables = {"HOME": str(tmp_path / "user"), "BACKSTORY_EMBEDDINGS": "off"}
    with serving(tmp_path / "data", "serve", variables=variables) as server:
        assert found(server.call(tool, **arguments)) == 1
