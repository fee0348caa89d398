"""What each page shows, as HTML and as JSON."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from datetime import timedelta
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from backstory.cli import search as command
from backstory.core import Caller, Core
from backstory.core.ask import Inquiry
from backstory.core.brief.files import GIVEN, BriefFiles
from backstory.core.statements.deriving import derive_next
from backstory.domain.filters import ConversationFilter
from backstory.domain.kinds import MemoryKind
from backstory.domain.records import Injection, Trace
from backstory.domain.when import to_ms
from backstory.web.page_query import PageQuery
from backstory.web.pages import statements
from backstory.web.pages.conversation import PAGE_ENTRIES
from backstory.web.pages.files import PAGE_FILES
from backstory.web.pages.timeline import PAGE_EVENTS

from ..doubles import DAWN, make_conversation, make_memory, make_messages
from ..repositories import commit
from .conftest import Pages
from .sample import HARMFUL, MAIN, MARKDOWN, PLANTED, SHOP, SUBAGENT

PAGES = [
    "/",
    "/search?q=queue",
    "/conversations",
    f"/conversation/{MAIN}",
    "/memories",
    "/memory/decision",
    "/files",
    "/file?path=src/queue.py",
    "/timeline",
    "/graph",
    "/graph?about=RabbitMQ",
    "/inbox",
    "/injected",
    "/usage",
    "/stats",
    "/health",
]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_a_title_one_heading_and_a_twin_in_json(pages: Pages, path: str) -> None:
    html = pages.get(path).text
    assert re.search(r"<title>[^<]+ · Backstory</title>", html)
    assert len(re.findall(r"<h1\b", html)) == 1
    assert pages.json(path)


def test_home_shows_what_was_last_and_how_busy_it_was(pages: Pages) -> None:
    body = pages.json("/")
    assert {each["project"] for each in body["projects"]} >= {"/work/shop", "/work/blog"}
    assert {each["assistant"] for each in body["assistants"]} == {"codex", "claude-code"}
    assert body["year"]["total"] > 10
    assert SUBAGENT not in [each["id"] for each in body["recent"]]


def test_home_says_where_each_project_stands_and_how_to_go_on(own_pages: Pages) -> None:
    remembering = own_pages.core.remembering
    remembering.remember("Delete the redis container", MemoryKind.TASK, project=SHOP)
    shop = next(each for each in own_pages.json("/")["states"] if each["project"] == SHOP)
    assert [each["text"] for each in shop["open_tasks"]] == ["Delete the redis container"]
    assert [each["memory"] for each in shop["decisions"]] == ["decision"]
    assert shop["next_steps"] == []  # the user only said thank you
    assert (shop["last"]["id"], shop["last"]["resume"]) == (MAIN, "cd /work/shop && codex resume main")
    html = own_pages.get("/").text
    assert "Open tasks" in html
    assert 'data-copy="cd /work/shop &amp;&amp; codex resume main"' in html


def test_a_hit_says_why_it_stands_where_it_does(pages: Pages) -> None:
    body = pages.json("/search?q=which+queue+keeps+orders")
    best = body["results"][0]
    assert {"words", "meaning", "coverage"} <= set(best["why"]["parts"])
    assert best["why"]["score"] > 0
    html = pages.get("/search?q=which+queue+keeps+orders").text
    assert f"words {best['why']['parts']['words']:.2f}" in html
    assert "<mark>orders</mark>" in html


def test_a_search_is_narrowed_by_kind_assistant_project_time_and_file(pages: Pages) -> None:
    def ids(more: str) -> set[str]:
        return {each["id"] for each in pages.json(f"/search?q=queue+orders+worker{more}")["results"]}

    assert ids("&kind=memory") == {"decision"}
    assert "decision" not in ids("&kind=conversation")
    assert ids("&assistant=codex&file=src/queue.py") <= {
        f"{MAIN}:{seq}:{role}" for seq in range(5) for role in ("user", "assistant", "tool", "thinking")
    }
    assert ids("&file=src/nowhere.py") == set()
    assert ids("&until=2020-01-01") == set()
    day = f"{DAWN:%Y-%m-%d}"
    assert "decision" in ids(f"&since={day}&until={day}")
    assert ids("&project=/work/blog") <= {"plain", "claude-code:blog:0:user", "claude-code:blog:1:assistant"}


def test_a_facet_has_no_number_and_leads_to_results(pages: Pages) -> None:
    html = pages.get("/search?q=queue").text
    facets = html[html.index('<details class="facets"') :]
    links = re.findall(r'<li><a href="(/search[^"]+)">.*?</li>', facets)
    assert len(links) >= 4
    assert 'class="n"' not in facets
    for link in links:
        assert pages.json(unescape(link))["results"], link


def test_a_conversation_is_replayed_with_its_tools_thoughts_and_subagents(pages: Pages) -> None:
    body = pages.json(f"/conversation/{MAIN}")
    assert [each["role"] for each in body["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "thinking",
        "tool",
        "user",
    ]
    (tool,) = [each["tools"][0] for each in body["messages"] if each["role"] == "tool"]
    assert (tool["name"], tool["about"]) == ("Edit", "src/queue.py")
    assert [(line["kind"], line["text"]) for line in tool["lines"]][-2:] == [
        ("gone", "import redis"),
        ("new", "import pika"),
    ]
    assert [each["number"] for each in body["prompts"]] == [1, 3, 5]
    assert [each["id"] for each in body["started"]] == [SUBAGENT]
    assert [each["id"] for each in pages.json(f"/conversation/{SUBAGENT}")["parents"]] == [MAIN]
    assert body["resume"] == "cd /work/shop && codex resume main"
    html = pages.get(f"/conversation/{MAIN}").text
    assert "<strong>broker</strong>" in html
    assert 'id="m4"' in html


def test_a_part_of_a_conversation_leads_to_the_earlier_and_the_later(pages: Pages) -> None:
    body = pages.json(f"/conversation/{MAIN}?from=2&size=2")
    assert (body["first"], body["last"]) == (2, 3)
    assert body["earlier"] == {"from": 1, "size": 1}
    assert body["later"] == {"from": 4}
    part = pages.get(f"/conversation/{MAIN}?from=4&part=1").text
    assert "<html" not in part
    assert 'id="m5"' in part


def test_a_part_of_a_conversation_ends_after_many_calls_and_none_is_left_out(own_pages: Pages) -> None:
    talk = make_conversation("codex:busy", project=SHOP)
    messages = [
        message._replace(id=f"busy:{seq}:{number}", seq=seq, role="tool" if number else "assistant")
        for seq in range(9)
        for number, message in enumerate(make_messages(talk.id, *["Look."] * 50, project=SHOP))
    ]
    own_pages.core.engine.store.conversations.add(talk, messages, [])
    parts, later = [], {"from": 1}
    while later:
        body = own_pages.json(f"/conversation/{talk.id}?{urlencode(later)}")
        assert len(body["messages"]) <= PAGE_ENTRIES
        parts.append((body["first"], body["last"]))
        later = body["later"]
    assert parts == [(1, 2), (3, 4), (5, 6), (7, 8), (9, 9)]
    body = own_pages.json(f"/conversation/{talk.id}?at=9")
    assert body["first"] <= 9 == body["last"]
    back, earlier = [], {"from": 9}
    while earlier:
        body = own_pages.json(f"/conversation/{talk.id}?{urlencode(earlier)}")
        back.append((body["first"], body["last"]))
        earlier = body["earlier"]
    assert back == [(9, 9), (7, 8), (5, 6), (3, 4), (1, 2)]


def test_a_conversation_is_taken_away_as_one_file(pages: Pages) -> None:
    html = pages.get(f"/export/{MAIN}?as=html")
    assert "attachment" in html.headers["Content-Disposition"]
    assert "Only the worker." in html.text  # the subagent's
    assert "<link" not in html.text
    assert "<script" not in html.text
    assert "# Choosing a queue" in pages.get(f"/export/{MAIN}?as=md").text


def test_a_shared_conversation_names_no_user(own_pages: Pages) -> None:
    home = "/Users/mirabel/app"
    talk = make_conversation("codex:listing", project=home, directory=home, title="Look into /Users/mirabel")
    listing = "```\n-rw-r--r--  1 mirabel  staff  12 Jun  7 06:53 a.py\n```\nAll by mirabel."
    messages = make_messages(talk.id, f"List {home}.", listing, project=home)
    own_pages.core.engine.store.conversations.add(
        talk, messages, [Trace(messages[1].id, "read", f"{home}/a.py")]
    )
    html = own_pages.get(f"/export/{talk.id}?as=html").text
    assert "mirabel" not in html
    assert "List ~/app." in html
    assert "1 user     group  12 Jun" in html


@pytest.mark.parametrize(
    "path",
    [
        "/",
        f"/conversation/{HARMFUL}",
        "/search?q=click+bold",
        f"/export/{HARMFUL}?as=html",
        "/conversations",
        "/memories",
        "/memory/harm",
        "/files",
        "/timeline",
        "/graph",
        "/stats",
        "/health",
    ],
)
def test_no_text_becomes_html(pages: Pages, path: str) -> None:
    html = pages.get(path).text
    assert PLANTED not in html
    assert "<img src=x" not in html
    assert 'href="javascript' not in html
    assert "<b>bold" not in html
    assert '<img src="http' not in html


def test_what_is_asked_is_shown_back_as_text(pages: Pages) -> None:
    for name in ("q", "project", "assistant", "file", "since"):
        html = pages.get(f"/search?q=x&{name}=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").text
        assert "<script>alert" not in html
    assert MARKDOWN not in pages.get("/search?q=%5Bclick%5D(javascript:window.harmed=1)").text


@pytest.mark.parametrize(
    "path",
    [
        "/search?q=x&page=0",
        "/search?q=x&page=a",
        "/search?q=x&kind=b",
        "/search?q=x&since=soon",
        f"/search?q={'x' * 3000}",
    ],
)
def test_an_address_that_makes_no_sense_is_refused_with_a_reason(pages: Pages, path: str) -> None:
    answer = pages.get(f"{path}&format=json")
    assert answer.status == 400
    assert answer.json["error"]


def test_what_is_not_there_is_missing(pages: Pages) -> None:
    assert pages.get("/conversation/nobody").status == 404
    assert pages.get("/nowhere").status == 404


def test_a_file_tells_who_touched_it_and_its_story(pages: Pages) -> None:
    body = pages.json(f"/file?path=src/queue.py&project={SHOP}")
    events = body["story"]["events"]
    assert {each["session"] for each in events if each["session"]} == {MAIN}
    assert [each["at"] for each in events] == sorted(each["at"] for each in events)
    html = pages.get(f"/file?path=src/queue.py&project={SHOP}").text
    numbers = [each["number"] for each in events if each["number"]]
    assert numbers
    assert all(f"/conversation/codex%3Amain?at={number}#m{number}" in html for number in numbers)
    assert pages.json("/file?path=src/queue.py&project=/work/blog")["story"]["events"] == []
    assert [(each["id"], each["written"], each["number"]) for each in body["sessions"]] == [(MAIN, 1, 4)]
    assert "src/queue.py" in [each["path"] for each in pages.json("/files?name=QUEUE")["files"]]


def test_the_timeline_has_conversations_and_memories_of_every_assistant_by_day(pages: Pages) -> None:
    (day,) = pages.json("/timeline")["days"]
    assert {each["kind"] for each in day["events"]} == {"conversation", "memory"}
    assert {each["who"] for each in day["events"]} >= {"codex", "claude-code", "memory-keeper"}
    (narrowed,) = pages.json("/timeline?assistant=codex")["days"]
    assert [each["id"] for each in narrowed["events"]] == [MAIN]


def test_the_graph_is_drawn_and_told_with_the_same_relations(pages: Pages) -> None:
    body = pages.json("/graph?about=queue")
    assert body["nodes"][0]["name"] == "queue"
    assert body["relations"]
    html = pages.get("/graph?about=queue").text
    assert html.count("<line ") == len(body["relations"]) == html.count('<tr class="entry">')
    assert pages.json("/graph?about=nobody")["missing"]
    things = [each["name"] for each in pages.json("/graph")["things"]]
    assert "queue" in things


def test_a_memory_without_a_key_is_no_thing_that_others_speak_of(own_pages: Pages) -> None:
    own_pages.core.engine.store.memories.put([make_memory("0f" * 12, "src/auth.py checks the cookie.")])
    names = [each["name"] for each in own_pages.json("/graph")["things"]]
    assert "0f" * 12 not in names
    assert "src/auth.py" in names


def test_stats_count_conversations_by_week_and_assistant(pages: Pages) -> None:
    body = pages.json("/stats")
    assert sum(sum(row["counts"]) for row in body["weeks"]["rows"]) == body["totals"]["conversations"] == 3
    assert body["totals"]["longest_streak"] == 1
    hours = sum(row["hours"] for row in body["weeks"]["rows"])
    assert body["totals"]["active_hours"] == hours == body["weeks"]["most_hours"] > 0
    assert pages.get("/stats").text.count('class="stack hours"') == 1


def test_health_tells_what_is_held_and_runs_the_doctor_when_asked(pages: Pages) -> None:
    body = pages.json("/health")
    assert body["holds"]["memories"] == 3
    assert body["doctor"] is None


def test_what_sessions_were_told_is_shown_word_for_word(own_pages: Pages) -> None:
    """Also what the hook noted a moment ago, and what is no more the brief of today."""
    engine = own_pages.core.engine
    files = BriefFiles(engine.settings.home)
    text = "Last: RabbitMQ was chosen <b>for</b> orders."
    files.write(SHOP, {"project": SHOP, "basis": "1", "last_at": 1, "text": text, "continued": ""})
    engine.store.injections.put(
        Injection("gone", DAWN, SHOP, "An earlier note.", "PreToolUse", "src/a.py", 0.9, used=True)
    )
    note = {"at": to_ms(DAWN) + 1, "project": SHOP, "text": text}
    (files.folder / GIVEN / "main").write_text(json.dumps(note) + "\n" + '{"at": 3')
    told = own_pages.json("/injected")
    assert [(each["project"], each["text"]) for each in told["briefs"]] == [(SHOP, text)]
    assert [(each["session"], each["text"]) for each in told["given"]] == [
        ("main", text),
        ("gone", "An earlier note."),
    ]
    assert told["given"][0]["conversation"]["id"] == MAIN
    assert told["given"][0]["tokens"] == told["briefs"][0]["tokens"] > 5
    html = own_pages.get("/injected").text
    assert "An earlier note." in html
    assert "before a change of src/a.py" in html
    assert "certainty 0.90" in html
    assert told["given"][1]["used"] is True
    assert "<b>for</b>" not in html
    here = own_pages.json(f"/conversation/{MAIN}")["injected"]
    assert [each["text"] for each in here] == [text]
    assert "Texts that Backstory added to this session" in own_pages.get(f"/conversation/{MAIN}").text
    assert own_pages.json(f"/conversation/{SUBAGENT}")["injected"] == []


def test_an_id_may_be_a_beginning_as_the_command_line_writes_it(own_pages: Pages) -> None:
    store = own_pages.core.engine.store
    store.conversations.add(make_conversation("codex:0192aaaa-bbbb", title="By its beginning"), [], [])
    store.memories.put([make_memory("5f0c1d2e3a4b5c6d7e8f9a0b", "A memory.")])
    assert own_pages.json("/conversation/0192aaaa")["conversation"]["id"] == "codex:0192aaaa-bbbb"
    assert own_pages.json("/memory/5f0c1d2e3a")["memory"]["text"] == "A memory."
    assert "<code>5f0c1d2e3a</code>" in own_pages.get("/memory/5f0c1d2e3a").text


def test_a_replay_names_each_day(own_pages: Pages) -> None:
    talk = make_conversation("codex:days", surface="codex")
    first, second = make_messages(talk.id, "evening", "morning")
    later = second._replace(created_at=first.created_at + timedelta(days=1))
    own_pages.core.engine.store.conversations.add(talk, [first, later], [])
    assert own_pages.get("/conversation/codex:days").text.count('<p class="day">') == 2


def test_a_decision_that_a_later_one_superseded_says_so(own_pages: Pages) -> None:
    earlier = make_memory("d1", "We decided to use Redis for the session cache.", category="decision")
    later = make_memory(
        "d2",
        "We decided to use Memcached for the session cache.",
        category="decision",
        updated_at=earlier.updated_at + timedelta(days=9),
    )
    own_pages.core.engine.store.memories.put([earlier, later])
    results = {
        each["id"]: each for each in own_pages.json("/search?q=decided+session+cache&kind=memory")["results"]
    }
    assert results["d1"]["superseded_by"]["id"] == "d2"
    assert results["d2"]["superseded_by"] is None
    assert 'href="/memory/d2">by what was decided' in own_pages.get("/search?q=decided+session+cache").text


def test_the_page_marks_as_superseded_what_the_ranking_marks(own_pages: Pages) -> None:
    """Two notes in the same words about two tickets: whoever asks for one ticket is not shown the other as its later version."""
    earlier = make_memory(
        "t1", "Ticket AUTH-1041 is decided: use Redis for the session cache.", category="decision"
    )
    later = make_memory(
        "t2",
        "Ticket AUTH-2077 is decided: use Memcached for the session cache.",
        category="decision",
        updated_at=earlier.updated_at + timedelta(days=9),
    )
    own_pages.core.engine.store.memories.put([earlier, later])
    for question in ("AUTH-1041", "ticket decided session cache"):
        ranking = own_pages.core.ask.find(Inquiry(question))
        entries = own_pages.core.ask.load(hit.entry for hit in ranking.hits)
        marks = {entries[old].id: entries[new].id for old, new in ranking.later.items()}
        results = own_pages.json(f"/search?q={question.replace(' ', '+')}")["results"]
        assert {each["id"]: each["superseded_by"]["id"] for each in results if each["superseded_by"]} == marks


def test_a_search_that_is_sure_of_nothing_says_so(pages: Pages) -> None:
    assert not pages.json("/search?q=zzzqqq+wwwvvv+xxxjjj+orders")["is_sure"]
    assert "No certain result" in pages.get("/search?q=zzzqqq+wwwvvv+xxxjjj+orders").text
    assert "No certain result" not in pages.get("/search?q=which+queue+keeps+orders").text


def test_a_search_that_nothing_has_to_do_with_shows_no_results_and_other_subjects(pages: Pages) -> None:
    answer = pages.json("/search?q=zzzqqq")
    assert (answer["results"], answer["total"]) == ([], 0)
    text = pages.get("/search?q=zzzqqq").text
    assert "No results" in text
    assert escape(answer["suggestions"][0], quote=False) in text.replace("&#34;", '"')


def test_a_conversation_without_a_title_is_known_by_its_assistant_and_its_day(own_pages: Pages) -> None:
    silent = make_conversation("codex:silent", title="", surface="codex", project=SHOP)
    own_pages.core.engine.store.conversations.add(silent, [], [])
    assert f"codex, {silent.created_at:%Y-%m-%d %H:%M}" in own_pages.get("/conversations").text
    assert f"codex, {silent.created_at:%Y-%m-%d %H:%M}" in own_pages.get("/conversation/codex:silent").text


ORDERED = {
    "own-sure": ("the lantern festival is in March, as ever", True),
    "own-unsure": (
        "a festival of commas, colons, brackets, quotes, slashes and many more odd signs that parsers must accept",
        True,
    ),
    # beside a sure answer of the own project no other is sure
    "other-lantern": ("the lantern festival is in March", False),
    "other-unsure": (
        "a festival of warnings on old compilers, linkers, shells, printers, phones and many more machines",
        False,
    ),
}


def test_the_page_the_command_line_and_recall_give_one_order(own_pages: Pages) -> None:
    core = own_pages.core
    core.engine.store.memories.put(
        [
            make_memory(
                id, text, project=core.caller.project if is_own else "/w/elsewhere", created_at=DAWN + timedelta(days=n)
            )
            for n, (id, (text, is_own)) in enumerate(ORDERED.items())
        ]
    )  # fmt: skip
    query = "when is the lantern festival"
    page = [each["id"] for each in own_pages.json(f"/search?q={query.replace(' ', '+')}")["results"]]
    parser = ArgumentParser()
    command.add_arguments(parser)
    typed = command.report(core, parser.parse_args([query, "--limit", "20"])).body["results"]
    recalled = [hit.id for hit in core.lookup.find(Inquiry(query), 20).hits]
    assert [id for id in page if id in ORDERED] == list(ORDERED)
    assert [each["id"] for each in typed] == page
    assert [id for id in recalled if id in ORDERED] == list(ORDERED)
    newest = own_pages.json(f"/search?q={query.replace(' ', '+')}&order=newest")["results"]
    assert [each["id"] for each in newest if each["id"] in ORDERED] == list(ORDERED)[::-1]
    oldest = command.report(core, parser.parse_args([query, "--limit", "20", "--order", "oldest"]))
    assert [each["id"] for each in oldest.body["results"] if each["id"] in ORDERED] == list(ORDERED)


def test_a_file_means_the_same_to_the_page_and_to_recall(own_pages: Pages) -> None:
    for path in ("src/queue.py", f"{SHOP}/src/queue.py", "queue.py", "lib/queue.py"):
        page = own_pages.json(f"/search?q=queue&file={path}")["results"]
        recalled = own_pages.core.lookup.find(Inquiry("queue", file=path), 20).hits
        assert [each.get("conversation_id", each["id"]) for each in page] == [hit.id for hit in recalled]
        assert bool(page) is (path != "lib/queue.py")


def test_only_files_are_listed_and_each_once(own_pages: Pages) -> None:
    talk = make_conversation("codex:files", project=SHOP, directory=SHOP)
    (said, *_) = messages = make_messages("codex:files", "Look.", "Done.", project=SHOP)
    paths = ("src/queue.py", f"{SHOP}/src/queue.py", "\\", "Sessions", "*.md", "src/", "/etc/app.conf")
    own_pages.core.engine.store.conversations.add(
        talk, messages, [Trace(said.id, "read", each) for each in paths]
    )
    listed = [(each["path"], each["project"]) for each in own_pages.json("/files")["files"]]
    assert [each for each in listed if each[1] == SHOP] == [("src/queue.py", SHOP), ("/etc/app.conf", SHOP)]
    assert own_pages.json("/conversation/codex:files")["files"] == ["/etc/app.conf", "src/queue.py"]
    sessions = own_pages.json(f"/file?path=src/queue.py&project={SHOP}")["sessions"]
    assert {each["id"] for each in sessions} == {MAIN, "codex:files"}
    assert own_pages.json("/file?path=src/queue.py&project=/work/blog")["sessions"] == []


def test_a_file_without_a_project_is_that_of_the_project_that_touched_it_last(own_pages: Pages) -> None:
    store = own_pages.core.engine.store
    for name, path in (("blog", "src/queue.py"), ("api", "web/src/queue.py")):
        project = f"/work/{name}"
        talk = make_conversation(f"codex:{name}", project=project, directory=project)
        messages = make_messages(talk.id, f"Mend the queue of the {name}.", "Done.", project=project)
        store.conversations.add(talk, messages, [Trace(messages[1].id, "written", path)])
    body = own_pages.json("/file?path=src/queue.py")
    others = {each["project"]: each["sessions"] for each in body["other_projects"]}
    assert {body["project"], *others} == {SHOP, "/work/blog", "/work/api"}
    assert others == dict.fromkeys(others, 1)
    assert {each["project"] for each in body["sessions"]} == {body["project"]}
    told = {each["session"] for each in body["story"]["events"] if each["session"]}
    assert told <= {each["id"] for each in body["sessions"]}
    html = own_pages.get("/file?path=src/queue.py").text
    assert all(f"project={quote(project, safe='')}" in html for project in others)
    assert [
        each["id"] for each in own_pages.json("/file?path=src/queue.py&project=/work/api")["sessions"]
    ] == ["codex:api"]


def test_a_file_counts_the_sessions_that_touched_it_and_not_those_of_a_longer_path(own_pages: Pages) -> None:
    talk = make_conversation("codex:copy", project=SHOP, directory=SHOP)
    messages = make_messages(talk.id, "Look.", "Done.", project=SHOP)
    own_pages.core.engine.store.conversations.add(
        talk, messages, [Trace(messages[0].id, "read", f"{SHOP}/old/src/queue.py")]
    )
    listed = {each["path"]: each["sessions"] for each in own_pages.json("/files")["files"]}
    for path in ("src/queue.py", "old/src/queue.py"):
        assert own_pages.json(f"/file?path={path}&project={SHOP}")["total"] == listed[path] == 1


def test_projects_of_one_name_are_told_apart(own_pages: Pages) -> None:
    for project in ("/old/site", "/new/site"):
        talk = make_conversation(f"codex:{project}", project=project)
        own_pages.core.engine.store.conversations.add(
            talk, make_messages(talk.id, "Hello.", project=project), []
        )
    html = own_pages.get("/conversations").text
    assert "<span>old/site</span>" in html
    assert "<span>new/site</span>" in html
    assert "<span>shop</span>" in html


def test_one_number_of_conversations_and_messages_everywhere(own_pages: Pages) -> None:
    core, listed = own_pages.core, own_pages.json("/conversations")
    health, stats = own_pages.json("/health")["holds"], own_pages.json("/stats")["totals"]
    census, commands = core.engine.store.census(), core.browsing.conversations(ConversationFilter())
    assert (
        listed["total"]
        == health["conversations"]
        == stats["conversations"]
        == census.conversations
        == commands.total
    )
    assert census.subagents == 1
    lengths = {each["id"]: each["messages"] for each in listed["conversations"]}
    assert lengths == {each.conversation.id: each.messages for each in commands.conversations}
    assert lengths[MAIN] == own_pages.json(f"/conversation/{MAIN}")["conversation"]["messages"] == 5
    of_subagent = own_pages.json(f"/conversation/{SUBAGENT}")["conversation"]["messages"]
    assert health["messages"] == stats["messages"] == census.messages == sum(lengths.values()) + of_subagent


def test_one_number_of_projects_everywhere(own_pages: Pages) -> None:
    before = own_pages.core.engine.store.census().projects
    talks = [
        make_conversation("codex:nowhere", project=""),
        make_conversation("codex:helper", project="/tmp/worktree", kind="subagent"),
        make_conversation("codex:elsewhere", project="/work/else"),
    ]
    for talk in talks:
        messages = make_messages(talk.id, "Hello.", project=talk.project)
        own_pages.core.engine.store.conversations.add(talk, messages, [])
    home, stats = own_pages.json("/"), own_pages.json("/stats")["totals"]
    assert (
        own_pages.json("/health")["holds"]["projects"]
        == stats["projects"]
        == len(home["projects"]) + home["more_projects"]
        == before + 1
    )
    assert own_pages.core.engine.store.census().projects == before + 1


def test_the_timeline_of_all_projects_has_chosen_none(own_pages: Pages) -> None:
    talk = make_conversation("codex:nowhere", project="")
    own_pages.core.engine.store.conversations.add(talk, make_messages(talk.id, "Hi.", project=""), [])
    assert "" not in own_pages.json("/timeline")["known_projects"]
    assert "selected" not in own_pages.get("/timeline").text


@pytest.mark.parametrize("path", ["/conversations", "/files", "/usage", "/timeline", "/memories"])
def test_a_filter_that_nobody_chose_says_all(own_pages: Pages, path: str) -> None:
    """Conversations and memories without a project are no choice: an empty value filters nothing."""
    own_pages.core.engine.store.memories.put([make_memory("homeless", project="")])
    talk = make_conversation("codex:nowhere", project="")
    own_pages.core.engine.store.conversations.add(talk, make_messages(talk.id, "Hi.", project=""), [])
    (select,) = re.findall(r'<select name="project".*?</select>', own_pages.get(path).text)
    assert select.count('value=""') == 1
    assert "selected" not in select


def test_statements_open_at_a_project_that_has_some(own_pages: Pages) -> None:
    talk = make_conversation("codex:rule", project="/work/rules")
    said = make_messages(talk.id, "Always run the slow `migrate` at night.", project="/work/rules")
    own_pages.core.engine.store.conversations.put(talk, said)
    while derive_next(own_pages.core.engine.store):
        pass
    elsewhere = Core(own_pages.core.engine, Caller(project="/nowhere"))
    body = statements.page(elsewhere, PageQuery({}, elsewhere.engine.now)).body
    assert body["project"] != "/nowhere"
    assert body["kinds"]
    assert own_pages.json("/statements")["project"] == SHOP  # it has conversations, and no statement


def test_a_long_list_of_files_has_pages(own_pages: Pages) -> None:
    talk = make_conversation("codex:many", project="/work/many", directory="/work/many")
    (said, *_) = messages = make_messages(talk.id, "Look.", "Done.", project=talk.project)
    paths = [f"src/part{number}.py" for number in range(PAGE_FILES + 5)]
    own_pages.core.engine.store.conversations.add(
        talk, messages, [Trace(said.id, "read", each) for each in paths]
    )
    address = "/files?project=/work/many"
    first, second = own_pages.json(address), own_pages.json(f"{address}&page=2")
    assert first["total"] == second["total"] == len(paths)
    assert sorted(each["path"] for each in first["files"] + second["files"]) == sorted(paths)
    (following,) = re.findall(r'rel="next" href="([^"]+)"', own_pages.get(address).text)
    assert own_pages.json(unescape(following))["files"] == second["files"]


def test_a_rule_of_the_inbox_shows_its_last_messages_and_folds_the_others(own_pages: Pages) -> None:
    for number in range(5):
        talk = make_conversation(f"codex:rule{number}", project="/work/rules")
        said = make_messages(talk.id, "Always run the slow `migrate` at night.", project="/work/rules")
        own_pages.core.engine.store.conversations.put(talk, said)
    while derive_next(own_pages.core.engine.store):
        pass
    html = own_pages.get("/inbox?project=/work/rules").text
    assert "2 earlier messages" in html


def test_the_next_page_of_the_timeline_keeps_what_was_chosen(own_pages: Pages) -> None:
    for number in range(PAGE_EVENTS + 1):
        own_pages.core.engine.store.memories.put([make_memory(f"m{number}", project=SHOP)])
    html = own_pages.get(f"/timeline?kind=memory&project={SHOP}&until=2030-01-01").text
    (older,) = re.findall(r'rel="next" href="([^"]+)"', html)
    assert "before=" in older
    following = own_pages.get(unescape(older))
    assert following.status == 200
    assert 'name="until" value="2030-01-01"' in following.text
    assert "<option selected>memory</option>" in following.text
    assert f'<option value="{SHOP}" selected>' in following.text


def test_commits_of_repositories_on_this_machine_are_on_the_timeline_of_all_projects(
    own_pages: Pages, tmp_path: Path
) -> None:
    repository = tmp_path / "teashop"
    commit(repository, {"kettle.py": "HOT = 1\n"})
    store = own_pages.core.engine.store
    for project in (str(repository), *(f"/gone/{number}" for number in range(20))):
        talk = make_conversation(f"codex:{project}", project=project)
        store.conversations.add(talk, make_messages(talk.id, "Hello.", project=project), [])
    events = [event for day in own_pages.json("/timeline")["days"] for event in day["events"]]
    assert ("commit", "files") in [(each["kind"], each["title"]) for each in events]


def test_memories_of_every_kind_are_listed_by_it(own_pages: Pages) -> None:
    remembering = own_pages.core.remembering
    for kind in MemoryKind:
        remembering.remember(f"An example of a {kind}.", kind, project=SHOP)
    for kind in MemoryKind:
        texts = [each["text"] for each in own_pages.json(f"/memories?kind={kind}")["memories"]]
        assert f"An example of a {kind}." in texts
        assert not [text for text in texts if text.startswith("An example") and str(kind) not in text]
