"""The Store contract for histories: conversations that grow, what was done in them, and how far files were read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backstory.domain.entries import EntryVectors, TextFields
from backstory.domain.filters import ConversationFilter, Filter, Kind
from backstory.domain.records import Message, Trace, Trust
from backstory.domain.sources import SourceState
from backstory.domain.statements import MessageSaying, Saying, Speaker, StatementKind
from backstory.domain.when import to_ms
from backstory.domain.words import Unit
from backstory.store import Store

from ..conftest import OpenStore
from ..doubles import DAWN, make_conversation, make_memory, make_messages

if TYPE_CHECKING:
    from backstory.domain.entries import Numbers

TALK = make_conversation(
    "c1", source="/h/c1.jsonl", native_id="n1", directory="/p/sub", branch="main", parent="c0"
)


def tool(of: Message, text: str = "Edit src/auth.py") -> Message:
    return of._replace(id=f"{of.id}#tool", role="tool", text=text)


def holding(store: Store, word: str) -> set[str]:
    entries = store.entries.load(store.text.match(Unit((word,)), TextFields.VALUE).tolist())
    return {entry.id for entry in entries.values()}


def test_messages_are_added_to_those_there_are(store: Store) -> None:
    first, second, third = make_messages("c1", "one", "two", "three")
    store.conversations.add(TALK, [first, second], [])
    longer = TALK._replace(title="Longer", updated_at=DAWN + timedelta(days=1))
    store.conversations.add(longer, [third], [])
    assert store.messages.of("c1") == [first, second, third]
    assert store.conversations.get(["c1"]) == [longer]
    assert store.problems() == []


def test_a_message_that_comes_again_is_replaced_in_place(store: Store) -> None:
    first, second = make_messages("c1", "a walrus", "a penguin")
    store.conversations.add(TALK, [first, second], [])
    before = {entry.id: n for n, entry in store.entries.load(range(9)).items()}
    changed = second._replace(text="a puffin", seq=7)
    store.conversations.add(TALK, [changed], [])
    assert store.messages.of("c1") == [first, changed]
    assert {entry.id: n for n, entry in store.entries.load(range(9)).items()} == before
    assert (holding(store, "penguin"), holding(store, "puffin")) == (set(), {second.id})
    assert store.problems() == []


def test_the_last_of_equal_messages_in_one_call_wins(store: Store) -> None:
    message = make_messages("c1", "first")[0]
    store.conversations.add(TALK, [message, message._replace(text="second")], [])
    assert [each.text for each in store.messages.of("c1")] == ["second"]


def test_numbers_go_on_after_those_that_were_ever_used(store: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b")])
    used = set(store.entries.load(range(9)))
    store.memories.delete(Filter(ids=("b",)))
    store.conversations.add(TALK, make_messages("c1", "one", "two"), [])
    store.memories.put([make_memory("later")])
    numbers = {entry.id: n for n, entry in store.entries.load(range(20)).items()}
    assert len(set(numbers.values())) == 4
    assert not {numbers[id] for id in ("c1:0", "c1:1", "later")} & used


def test_only_what_was_said_waits_for_vectors(open_store: OpenStore) -> None:
    store = open_store()
    space = store.vectors.open_space("early")
    said = make_messages("c1", "question", "answer", "summed up")
    said[2] = said[2]._replace(role="summary")
    quiet = [said[0]._replace(id=f"c1:0#{role}", role=role) for role in ("tool", "thinking", "system")]
    store.conversations.add(TALK, [*said, *quiet], [])
    texts = {"question", "answer", "summed up"}
    for model in ("early", "late"):
        space = store.vectors.open_space(model)
        assert store.vectors.count_waiting(space) == 3
        waiting = store.vectors.claim(space, 10, lease_ms=0)
        assert {each.text for each in waiting} == texts
    assert holding(store, "question") == {"c1:0", *(message.id for message in quiet)}


def test_a_replaced_message_waits_again_only_when_its_text_changed(store: Store) -> None:
    first, second = make_messages("c1", "one", "two")
    space = store.vectors.open_space("model")
    store.conversations.add(TALK, [first, second], [])
    vectors = np.ones((1, 8), np.float32)
    waiting = store.vectors.claim(space, 10, lease_ms=0)
    store.vectors.put(space, [EntryVectors(each.entry, each.revision, vectors) for each in waiting])
    store.conversations.add(TALK, [first._replace(seq=5), second._replace(text="two, changed")], [])
    assert [each.text for each in store.vectors.claim(space, 10, lease_ms=0)] == ["two, changed"]


def test_a_message_is_embedded_with_the_name_of_its_speaker_and_the_day_if_it_has_one(store: Store) -> None:
    space = store.vectors.open_space("model")
    named, unnamed = make_messages("c1", "said", "replied")
    store.conversations.add(TALK, [named._replace(speaker="Ada"), unnamed], [])
    headings = {each.text: each.heading for each in store.vectors.claim(space, 10, lease_ms=0)}
    assert headings == {"said": "Ada 01 March 2026", "replied": ""}


def test_neighbours_are_what_was_said_before_and_after(store: Store) -> None:
    said = make_messages("c1", "alpha", "beta", "gamma")
    store.conversations.add(TALK, [*said, tool(said[0]), tool(said[2])], [])
    everything = store.entries.outlines(range(9), Filter())
    at = {(o.seq, o.role): o for o in everything}
    middle = at[1, "assistant"]
    beside = dict(store.entries.neighbours([middle], Filter()))
    assert beside == {at[0, "user"]: "alpha", at[2, "user"]: "gamma"}
    assert store.entries.neighbours([at[0, "tool"]], Filter()) == []


def test_traces_are_found_by_kind_and_newest_first(store: Store) -> None:
    early, late = make_messages("c1", "one", "two")
    traces = [
        Trace(tool(early).id, "read", "/p/src/auth.py"),
        Trace(tool(early).id, "command", "pytest -q tests"),
        Trace(tool(late).id, "error", "ImportError: no module named jwt"),
    ]
    store.conversations.add(TALK, [early, late, tool(early), tool(late)], traces)
    minute = timedelta(minutes=1)
    found = store.traces.find(Filter(), kinds=("command", "error"))
    assert [each[:4] for each in found] == [
        ("error", "ImportError: no module named jwt", "c1", DAWN + minute),
        ("command", "pytest -q tests", "c1", DAWN),
    ]
    assert [store.entries.load([each.entry])[each.entry].id for each in found] == [
        tool(late).id,
        tool(early).id,
    ]
    assert store.traces.find(Filter(), limit=1) == found[:1]
    assert store.traces.find(Filter(threads=("other",))) == []


def test_replacing_a_message_replaces_its_traces(store: Store) -> None:
    first, second = make_messages("c1", "one", "two")
    messages = [first, second, tool(first), tool(second)]
    old = [Trace(tool(first).id, "read", "/p/old.py"), Trace(tool(second).id, "read", "/p/stays.py")]
    store.conversations.add(TALK, messages, old)
    store.conversations.add(TALK, [tool(first)], [Trace(tool(first).id, "written", "/p/new.py")])
    assert {did.value for did in store.traces.find(Filter())} == {"/p/new.py", "/p/stays.py"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("src/auth.py", {"/p/src/auth.py", "C:\\p\\SRC\\Auth.py"}),
        ("auth.py", {"/p/src/auth.py", "C:\\p\\SRC\\Auth.py", "/p/lib/auth.py"}),
        ("SRC\\AUTH.PY", {"/p/src/auth.py", "C:\\p\\SRC\\Auth.py"}),
        ("/p/src/auth.py", {"/p/src/auth.py", "C:\\p\\SRC\\Auth.py"}),
        ("c/auth.py", set()),
        ("uth.py", set()),
        ("src", set()),
        ("", set()),
        ("/", set()),
    ],
)
def test_a_file_is_found_by_whole_parts_of_its_path(store: Store, path: str, found: set[str]) -> None:
    message = make_messages("c1", "one")[0]
    files = ["/p/src/auth.py", "C:\\p\\SRC\\Auth.py", "/p/lib/auth.py", "/p/src/myauth.py"]
    traces = [Trace(tool(message).id, "written", file) for file in files]
    command = Trace(tool(message).id, "command", "auth.py --all")
    store.conversations.add(TALK, [message, tool(message)], [*traces, command])
    assert {did.value for did in store.traces.touching(path, Filter())} == found


def test_files_of_a_conversation_come_the_most_touched_first(store: Store) -> None:
    messages = make_messages("c1", "one", "two")
    traces = [
        Trace(tool(messages[0]).id, "read", "/p/once.py"),
        Trace(tool(messages[0]).id, "read", "/p/twice.py"),
        Trace(tool(messages[1]).id, "written", "/p/twice.py"),
        Trace(tool(messages[1]).id, "command", "ls"),
    ]
    store.conversations.add(TALK, [*messages, *map(tool, messages)], traces)
    assert store.traces.files(["c1", "missing"]) == {"c1": ["/p/twice.py", "/p/once.py"]}


def test_messages_and_conversations_are_deleted_with_all_they_left(store: Store) -> None:
    message = make_messages("c1", "a walrus", "a penguin")
    other = make_messages("c2", "a walrus too")
    store.conversations.add(
        TALK, [*message, tool(message[0])], [Trace(tool(message[0]).id, "read", "/p/a.py")]
    )
    store.conversations.add(make_conversation("c2"), other, [])
    assert store.conversations.delete_messages("c1", ["c1:1", "c2:0", "missing"]) == 1
    assert store.conversations.delete_messages("c1") == 2
    assert store.conversations.get(["c1"]) == [TALK]
    assert store.traces.find(Filter()) == []
    assert holding(store, "walrus") == {"c2:0"}
    assert store.conversations.delete(["c1", "c2", "missing"]) == 2
    assert store.entries.count(Filter()) == 0
    assert store.problems() == []


def test_where_messages_stand(store: Store) -> None:
    messages = make_messages("c1", "one", "two", "three")
    assert store.messages.last_place("c1") == -1
    store.conversations.add(TALK, [*messages, tool(messages[2])], [])
    assert store.messages.last_place("c1") == 2
    assert store.messages.places("c1", ["c1:1", "c1:2#tool", "missing"]) == {"c1:1": 1, "c1:2#tool": 2}
    assert store.messages.places("c1") == {"c1:0": 0, "c1:1": 1, "c1:2": 2, "c1:2#tool": 2}
    assert store.messages.opening("c1", 1) == ["one"]
    assert store.messages.opening("c1", 5) == ["one", "three"]
    assert store.messages.first_said(["c1", "nobody's"], "user") == {"c1": "one"}


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        (ConversationFilter(), ["c", "b", "a"]),
        (ConversationFilter(ids=("a", "c", "missing")), ["c", "a"]),
        (ConversationFilter(surfaces=("codex",)), ["b"]),
        (ConversationFilter(projects=("/q",)), ["c"]),
        (ConversationFilter(kinds=("subagent",)), ["b"]),
        (ConversationFilter(parents=("a",)), ["b"]),
        (ConversationFilter(subjects=("debugging",)), ["c"]),
        (ConversationFilter(sources=("/h/a",)), ["b", "a"]),
        (ConversationFilter(updated_after=DAWN + HOUR), ["c", "b"]),
        (ConversationFilter(updated_before=DAWN + HOUR), ["a"]),
        (ConversationFilter(title_part="ÜBER"), ["c"]),
        (ConversationFilter(title_part="100%_"), []),
        (ConversationFilter(surfaces=("test",), updated_after=DAWN + HOUR), ["c"]),
    ],
)
def test_conversations_are_chosen_by_every_field(
    store: Store, which: ConversationFilter, ids: list[str]
) -> None:
    for talk in (
        make_conversation("a", source="/h/a"),
        make_conversation(
            "b", surface="codex", kind="subagent", parent="a", source="/h/a#1", updated_at=DAWN + HOUR
        ),
        make_conversation(
            "c",
            project="/q",
            subject="debugging",
            title="Notizen über Pinguine",
            source="/h/ab",
            updated_at=DAWN + 2 * HOUR,
        ),
    ):
        store.conversations.add(talk, [], [])
    assert [talk.id for talk in store.conversations.find(which)] == ids
    assert [talk.id for talk in store.conversations.find(which, limit=1, offset=1)] == ids[1:2]
    assert store.conversations.count(which) == len(ids)


def test_only_what_user_and_assistant_said_is_counted(store: Store) -> None:
    messages = make_messages("c1", "one", "two")
    others = [messages[0]._replace(id=role, role=role) for role in ("system", "summary", "thinking")]
    store.conversations.add(TALK, [*messages, *others, tool(messages[1])], [])
    store.memories.put([make_memory("m1", session="c1")])
    assert store.messages.count(["c1", "missing"]) == {"c1": 2}


SOURCE = SourceState(
    path="/h/a.jsonl",
    reader="codex",
    size=10,
    modified_ns=5,
    position=7,
    head="h",
    tail="t",
    state={"last": ["x"]},
    skipped={"cut line": 2},
    redacted=3,
    problem="It is encrypted.",
    read_at=DAWN,
)


def test_the_state_of_a_source_comes_back_whole(store: Store) -> None:
    store.sync.put(SOURCE)
    store.sync.put(SOURCE._replace(path="/h/b.jsonl", reader="zed"))
    assert store.sync.sources("codex") == {"/h/a.jsonl": SOURCE}
    assert list(store.sync.sources()) == ["/h/a.jsonl", "/h/b.jsonl"]
    store.sync.put(SOURCE._replace(position=9))
    assert store.sync.sources()["/h/a.jsonl"].position == 9


def test_a_stamp_tells_of_a_source_what_decides_whether_it_is_read_again(store: Store) -> None:
    store.sync.put(SOURCE)
    store.sync.put(
        SOURCE._replace(path="/h/b.jsonl", state={"mark": {"title": '"context":'}, "context": "c"})
    )
    store.sync.put(SOURCE._replace(path="/h/c.jsonl", state={"mark": {"context": "of another"}}))
    store.sync.put(SOURCE._replace(path="/h/d.jsonl", reader="zed"))
    stamps = store.sync.stamps("codex")
    assert {path: stamp.context for path, stamp in stamps.items()} == {
        "/h/a.jsonl": "",
        "/h/b.jsonl": "c",
        "/h/c.jsonl": "",
    }
    fields = ("path", "size", "modified_ns", "problem", "is_gone", "read_at")
    assert all(getattr(stamps[SOURCE.path], field) == getattr(SOURCE, field) for field in fields)


def test_what_is_read_from_a_vanished_source_says_so_until_it_is_back(store: Store) -> None:
    for id, source in {"whole": "/h/a.jsonl", "part": "/h/a.jsonl#key#1", "other": "/h/a.jsonl2"}.items():
        store.conversations.add(make_conversation(id, source=source), make_messages(id, "hello"), [])
    store.sync.put(SOURCE)
    store.sync.set_sources_gone(["/h/a.jsonl"], True)
    assert store.sync.conversations_in({"/h/a.jsonl"}, is_gone=False) == ["part", "whole"]
    assert store.sync.conversations_in({"/h/a.jsonl"}, is_gone=True) == []
    store.sync.set_gone(["part", "whole"], True)
    assert {talk.id for talk in store.conversations.find(ConversationFilter()) if talk.is_gone} == {
        "whole",
        "part",
    }
    assert store.sync.sources()["/h/a.jsonl"].is_gone
    assert store.messages.of("whole") == make_messages("whole", "hello")
    store.sync.put(SOURCE)
    assert any(talk.is_gone for talk in store.conversations.find(ConversationFilter())), (
        "it may be back with less"
    )
    assert store.sync.conversations_in({"/h/a.jsonl"}, is_gone=True) == ["part", "whole"]
    store.sync.set_gone(["part", "whole"], False)
    assert not any(talk.is_gone for talk in store.conversations.find(ConversationFilter()))
    assert store.sync.get("/h/a.jsonl") == SOURCE
    assert store.sync.get("/h/b.jsonl") is None


def test_a_source_that_is_restarted_is_read_from_its_beginning(store: Store) -> None:
    store.sync.put(SOURCE)
    store.sync.restart("/h/a.jsonl")
    assert store.sync.get("/h/a.jsonl") == SOURCE._replace(
        size=-1, position=0, state={"mark": {}, "stale": []}
    )


def test_it_is_known_which_files_told_a_message(store: Store) -> None:
    for id in ("c1", "c2"):
        store.conversations.add(make_conversation(id), make_messages(id, "one", "two"), [])
    one, two = (message.id for message in make_messages("c1", "one", "two"))
    store.witnesses.change("c1", [(one, 7), (two, 7), (two, -9), (two, 7)], [])
    store.witnesses.change("c2", [(make_messages("c2", "one")[0].id, 2**62)], [])
    assert store.witnesses.of("c1") == {one: {7}, two: {7, -9}}
    assert (store.witnesses.conversations([7, 2**62]), store.witnesses.conversations([-9])) == (
        ["c1", "c2"],
        ["c1"],
    )
    store.witnesses.change("c1", [(two, 0)], [(two, 7), (two, 5)])
    assert store.witnesses.of("c1") == {one: {7}, two: {0, -9}}
    store.conversations.delete_messages("c1", [one])
    assert store.witnesses.of("c1") == {two: {0, -9}}
    assert [store.witnesses.has_rows(id) for id in ("c1", "c2", "c3")] == [True, True, False]
    assert [store.witnesses.drop("c1", limit=9), store.witnesses.drop("c1", limit=9)] == [2, 0]
    assert (store.witnesses.of("c1"), store.witnesses.conversations([0, 2**62])) == ({}, ["c2"])
    assert store.messages.texts([one, two]) == {two: "two"}


def test_what_was_forgotten_stays_known_as_forgotten(store: Store) -> None:
    store.conversations.add(TALK, make_messages("c1", "a walrus"), [])
    assert store.sync.forget(["c1", "never seen"], DAWN) == 1
    assert store.sync.forget(["c1"], DAWN) == 0
    assert store.sync.forgotten(["c1", "c2", "never seen"]) == {"c1", "never seen"}
    assert (store.conversations.get(["c1"]), store.entries.count(Filter())) == ([], 0)


def test_a_conversation_is_known_wherever_it_is(store: Store) -> None:
    assert not store.sync.knows("c1")
    store.conversations.add(TALK, make_messages("c1", "a walrus"), [])
    assert store.sync.knows("c1")
    store.archive.put_conversation("c1")
    assert store.conversations.get(["c1"]) == []
    assert store.sync.knows("c1")
    store.sync.forget(["c1"], DAWN)
    assert store.sync.knows("c1")
    assert not store.sync.knows("c2")


def test_a_lease_belongs_to_one_holder_until_it_ends(open_store: OpenStore) -> None:
    one, other = open_store(), open_store()
    assert one.leases.take("sync", "one", for_ms=60_000)
    assert one.leases.take("sync", "one", for_ms=60_000)
    assert not other.leases.take("sync", "other", for_ms=60_000)
    assert other.leases.take("other work", "other", for_ms=60_000)
    other.leases.drop("sync", "other")
    assert not other.leases.take("sync", "other", for_ms=60_000)
    one.leases.drop("sync", "one")
    assert other.leases.take("sync", "other", for_ms=-1)
    assert one.leases.take("sync", "one", for_ms=60_000)


def test_a_lease_from_a_clock_that_was_ahead_has_ended(open_store: OpenStore) -> None:
    one, other = open_store(), open_store()
    assert one.leases.take("sync", "one", for_ms=3_600_000)  # as a clock that is an hour ahead has it
    assert other.leases.take("sync", "other", for_ms=60_000)
    assert not one.leases.take("sync", "one", for_ms=60_000)


def test_many_messages_at_once_are_all_there(store: Store) -> None:
    messages = make_messages("c1", *(f"text {n}" for n in range(1_200)))
    store.conversations.add(TALK, messages, [])
    changed = [message._replace(text=f"{message.text} again") for message in messages]
    store.conversations.add(TALK, changed, [])
    assert store.messages.of("c1") == changed
    assert store.conversations.delete_messages("c1", [message.id for message in messages]) == 1_200
    assert store.problems() == []


def test_a_part_of_a_conversation_is_read_by_its_places_with_what_was_done_there(store: Store) -> None:
    messages = make_messages("c1", *"abcdef")
    done = tool(messages[3])
    traces = [Trace(done.id, "written", "src/auth.py")]
    store.conversations.add(TALK, [*messages, done], traces)
    assert [each.text for each in store.messages.of("c1", range(2, 4))] == ["c", "d", done.text]
    assert store.traces.of("c1", range(3)) == []
    assert store.traces.of("c1", range(3, 9)) == traces


def test_prompts_are_what_the_user_said_each_with_its_place(store: Store) -> None:
    messages = make_messages("c1", "What is this?", "A store.", "Why?")
    roles = ("user", "assistant", "user")
    spoken = [each._replace(role=role) for each, role in zip(messages, roles, strict=True)]
    store.conversations.add(TALK, spoken, [])
    assert store.messages.prompts("c1", 4) == [(0, "What"), (2, "Why?")]
    assert store.messages.prompts("c2", 4) == []


def test_conversations_are_counted_by_assistant_and_project(store: Store) -> None:
    later = DAWN + timedelta(days=2)
    for talk in (
        make_conversation("a", surface="codex"),
        make_conversation("b", surface="codex", updated_at=later),
        make_conversation("c", surface="cursor", kind="subagent"),
    ):
        store.conversations.put(talk, [])
    found = store.conversations.tally(ConversationFilter(kinds=("main",)))
    assert [(each.surface, each.conversations, each.last) for each in found] == [("codex", 2, later)]


def test_entries_are_counted_by_the_hour_they_were_made_in(store: Store) -> None:
    store.memories.put([make_memory("m1"), make_memory("m2", created_at=DAWN + timedelta(hours=3))])
    store.conversations.put(TALK, make_messages("c1", "one"))
    hour = to_ms(DAWN) // 3_600_000
    assert store.entries.tally_hours(Filter()) == [(hour, 2), (hour + 3, 1)]
    assert store.entries.tally_hours(Filter(kinds=(Kind.MEMORY,))) == [(hour, 1), (hour + 3, 1)]
    store.memories.put(
        [
            make_memory("m3", session="s", private=True),
            make_memory("m4", private=True),
            make_memory("m5", created_at=DAWN + timedelta(hours=3), trust=Trust.PROJECT),
        ]
    )
    for where, counts in (
        (Filter(), [(hour, 4), (hour + 3, 2)]),
        (Filter(public_or_in="s"), [(hour, 3), (hour + 3, 2)]),
        (Filter(public_or_in="", repository_of="/q"), [(hour, 2), (hour + 3, 1)]),
        (Filter(repository_of="/p", created_after=DAWN + timedelta(hours=1)), [(hour + 3, 2)]),
    ):
        assert store.entries.tally_hours(where) == counts
        assert store.entries.count(where) == sum(count for _, count in counts)


def test_a_message_is_found_by_its_id_and_memories_by_the_beginning_of_theirs(store: Store) -> None:
    (message,) = make_messages("c1", "a")
    store.conversations.put(TALK, [message])
    store.memories.put([make_memory("ab%1"), make_memory("ab_2"), make_memory("b")])
    assert store.messages.get(message.id) == message
    assert store.messages.get("ab%1") is None
    assert store.memories.ids_beginning("ab", 9) == ["ab%1", "ab_2"]
    assert store.memories.ids_beginning("ab%", 9) == ["ab%1"]
    assert store.memories.ids_beginning("ab", 1) == ["ab%1"]


def test_which_conversations_hold_something_is_told_while_another_call_learns_of_a_new_one(
    store: Store,
) -> None:
    def conversation(id: str, text: str) -> None:
        store.conversations.put(make_conversation(id), make_messages(id, text))

    def numbers(word: str) -> Numbers:
        return store.text.match(Unit((word,)), TextFields.VALUE)

    class Ids(list[str]):
        def __iter__(self) -> Iterator[str]:
            conversation("c3", "swift")
            store.entries.all_threads(numbers("swift"))
            return super().__iter__()

    conversation("c1", "heron")
    conversation("c2", "crane")
    assert store.entries.all_threads(numbers("heron")) == {"c1"}
    assert store.entries.all_threads(numbers("crane"), ["c1", "c2"]) == {"c2"}
    assert store.entries.all_threads(numbers("heron"), Ids(["c3", "c1", "gone"])) == {"c1"}


def test_pauses_and_times_out_of_order_are_no_work_on_a_prompt(store: Store) -> None:
    start, minute = make_messages("c1", "a")[0].created_at, timedelta(minutes=1)
    rows = [
        ("user", 0), ("assistant", 1), ("tool", 3), ("assistant", 2), ("assistant", 4),  # an answer that is dated too early
        ("user", 10), ("tool", 12), ("assistant", 300), ("assistant", 301),  # which waited for the user
        ("user", 20), ("assistant", 302),  # dated when the log was written anew
        ("user", 400), ("assistant", 401), ("system", 410),  # added by a program
    ]  # fmt: skip
    messages = [
        each._replace(role=role, created_at=start + minutes * minute)
        for each, (role, minutes) in zip(make_messages("c1", *"abcdefghijklmn"), rows, strict=True)
    ]
    store.conversations.add(TALK, messages, [])
    worked = {seq: spent / minute for seq, (_, spent) in store.messages.prompt_times("c1").items()}
    assert worked == {0: 4, 5: 3, 9: 0, 11: 1}


def test_a_prompt_lasts_until_the_last_message_before_the_next(store: Store) -> None:
    messages = make_messages("c1", "What is this?", "A store.", "Why?", "Because.")
    roles = ("user", "assistant", "user", "assistant")
    spoken = [each._replace(role=role) for each, role in zip(messages, roles, strict=True)]
    store.conversations.add(TALK, spoken, [])
    times = [each.created_at for each in spoken]
    assert store.messages.prompt_times("c1") == {
        0: (times[0], times[1] - times[0]),
        2: (times[2], times[3] - times[2]),
    }
    assert store.messages.place_at("c1", times[2]) == 2
    assert store.messages.place_at("c1", times[0] - timedelta(days=1)) == 0


def test_messages_of_a_conversation_are_found_by_a_part_of_their_text(store: Store) -> None:
    store.conversations.add(TALK, make_messages("c1", "A teapot", "100 % of it", "a TEApot_1"), [])
    assert [each.seq for each in store.messages.containing("c1", "teapot", limit=9)] == [0, 2]
    assert [each.seq for each in store.messages.containing("c1", "teapot", limit=1)] == [0]
    assert [each.seq for each in store.messages.containing("c1", "0 %", limit=9)] == [1]
    assert [each.seq for each in store.messages.containing("c1", "t_1", limit=9)] == [2]


def test_projects_in_which_several_conversations_state_something(store: Store) -> None:
    for id, project, kind in (("c1", "/shop", "preference"), ("c2", "/shop", "preference"), ("c3", "/blog", "preference"), ("c4", "/blog", "decision")):  # fmt: skip
        (message,) = make_messages(id, "Always use tabs.", project=project)
        saying = Saying(StatementKind(kind), message.text, Speaker.USER)
        talk = TALK._replace(id=id, project=project)
        store.conversations.add(talk, [message], [], [MessageSaying(message.id, saying)])
    room = store.sayings
    assert room.projects_stating(StatementKind.PREFERENCE, Speaker.USER, conversations=2) == {"/shop"}
    assert room.projects_stating(StatementKind.PREFERENCE, Speaker.USER, conversations=1) == {
        "/shop",
        "/blog",
    }
    assert room.projects_stating(StatementKind.PREFERENCE, Speaker.ASSISTANT, conversations=1) == set()


def test_conversations_with_files_follow_what_another_connection_changes(
    store: Store, open_store: OpenStore
) -> None:
    other, ids = open_store(), ["c1", "c2"]
    (message,) = make_messages("c1", "one")
    store.conversations.add(TALK, [message, tool(message)], [Trace(tool(message).id, "command", "ls")])
    assert store.traces.conversations_with_files(ids) == set()
    other.conversations.add(TALK, [tool(message)], [Trace(tool(message).id, "read", "/p/a.py")])
    assert store.traces.conversations_with_files(ids) == {"c1"}
    with store.transaction():
        store.conversations.delete(["c1"])
        assert store.traces.conversations_with_files(ids) == set()
    assert store.traces.conversations_with_files(ids) == set()


def test_files_of_a_conversation_follow_what_another_connection_changes(
    store: Store, open_store: OpenStore
) -> None:
    other = open_store()
    (message,) = make_messages("c1", "one")
    store.conversations.add(TALK, [message], [Trace(message.id, "read", "/p/a.py")])
    files = store.traces.files(["c1", "c2"])
    assert files == {"c1": ["/p/a.py"]}
    files["c1"].clear()  # the list is the caller's own
    assert store.traces.files(["c1", "c2"]) == {"c1": ["/p/a.py"]}
    other.conversations.add(TALK, [message], [Trace(message.id, "written", "/p/b.py")])
    assert store.traces.files(["c1"]) == {"c1": ["/p/b.py"]}
    with store.transaction():
        store.conversations.delete(["c1"])
        assert store.traces.files(["c1"]) == {}
    assert store.traces.files(["c1"]) == {}


def test_outlines_of_some_days_are_those_of_the_very_moment_and_follow_another_connection(
    store: Store, open_store: OpenStore
) -> None:
    other, minute = open_store(), timedelta(minutes=1)

    def since(at: datetime) -> list[str]:
        outlines = store.conversations.outlines(ConversationFilter(updated_after=at))
        return sorted(outline.id for outline in outlines)

    hour = DAWN.replace(minute=0, second=0, microsecond=0)
    early, late = (
        make_conversation(id, updated_at=hour + minute * n) for id, n in (("early", 10), ("late", 20))
    )
    store.conversations.add(early, [], [])
    store.conversations.add(late, [], [])
    assert [since(hour + minute * n) for n in (5, 10, 15, 25)] == [
        ["early", "late"],
        ["early", "late"],
        ["late"],
        [],
    ]
    other.conversations.add(early._replace(updated_at=hour + minute * 40), [], [])
    assert since(hour + minute * 30) == ["early"]
    other.conversations.delete(["early"])
    assert since(hour) == ["late"]


def test_files_that_were_read_are_counted_as_another_connection_left_them(
    store: Store, open_store: OpenStore
) -> None:
    other = open_store()
    assert store.sync.count_sources() == []
    other.sync.put(SOURCE)
    assert [(each.reader, each.files) for each in store.sync.count_sources()] == [(SOURCE.reader, 1)]


def test_conversations_that_cannot_be_read_are_counted_as_another_connection_left_them(
    store: Store, open_store: OpenStore
) -> None:
    other = open_store()
    assert store.conversations.count_unread() == []
    other.conversations.add(TALK._replace(completeness="encrypted"), [], [])
    assert [each.conversations for each in store.conversations.count_unread()] == [1]
    other.conversations.delete(["c1"])
    assert store.conversations.count_unread() == []


def test_entries_are_counted_as_another_connection_left_them(store: Store, open_store: OpenStore) -> None:
    other = open_store()
    store.conversations.add(TALK, make_messages("c1", "one", "two"), [])
    messages = Filter(kinds=(Kind.MESSAGE,))
    assert store.entries.count(messages) == 2
    with store.transaction():
        store.conversations.delete_messages("c1", ["c1:1"])
        assert store.entries.count(messages) == 1
    assert store.entries.count(messages) == 1
    other.conversations.delete(["c1"])
    assert store.entries.count(messages) == 0
