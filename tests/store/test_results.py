"""The Store contract for tool calls and their results: whole, tied to their messages, and gone with them."""

from __future__ import annotations

from datetime import timedelta

from backstory.domain.entries import TextFields
from backstory.domain.filters import ConversationFilter
from backstory.domain.records import Message
from backstory.domain.tool_results import StoredCall, StoredResult, TextRange, ToolTally
from backstory.domain.usage import UsageFilter
from backstory.domain.words import Unit
from backstory.store import Store

from ..doubles import DAWN, make_conversation, make_messages

TALK = make_conversation("talk", source="/h/talk.jsonl")
SAID = make_messages("talk", "Run the tests.", "Done.")
DONE = SAID[1]._replace(id="talk:1#tool", role="tool", text="Bash command: pytest -q\nRead file_path: a.py")
FAILED = StoredResult("1 failed: walrus\r\n🦭", 70_000, True, True, 1, 1_500)
CALLS = [
    StoredCall(DONE.id, "call-1", "Bash", TextRange(5, 18), TextRange(14, 9), FAILED),
    StoredCall(DONE.id, "call-2", "Read", TextRange(29, 15)),
]
READ = StoredResult("import os", 9, False, False)


def keep(store: Store, calls: list[StoredCall], *messages: Message) -> None:
    store.conversations.add(TALK, messages or [*SAID, DONE], [], [], calls)


def test_a_call_comes_back_with_its_arguments_and_its_result(store: Store) -> None:
    keep(store, CALLS)
    calls = store.results.of("talk")
    assert calls == CALLS
    assert [call.arguments.within(DONE.text) for call in calls] == ["command: pytest -q", "file_path: a.py"]
    assert calls[0].command.within(DONE.text) == "pytest -q"
    assert store.results.of("talk", range(1)) == []
    assert store.results.of("another") == []


def test_words_of_a_result_are_in_no_index(store: Store) -> None:
    space = store.vectors.open_space("model")
    keep(store, CALLS)
    assert not len(store.text.match(Unit(("walrus",)), TextFields.VALUE))
    assert store.vectors.count_waiting(space) == len(SAID)


def test_a_result_may_come_later_than_its_call(store: Store) -> None:
    keep(store, CALLS)
    store.conversations.add(make_conversation("other"), make_messages("other", "Hello."), [])
    store.results.add_late("other", {"call-2": FAILED})
    assert store.results.of("talk") == CALLS
    store.results.add_late("talk", {"call-2": READ, "unknown": READ})
    assert store.results.of("talk") == [CALLS[0], CALLS[1]._replace(result=READ)]


def test_a_message_that_is_told_again_replaces_its_calls_and_loses_no_result(store: Store) -> None:
    keep(store, CALLS)
    without = [call._replace(result=None) for call in CALLS]
    keep(store, without, DONE)
    assert store.results.of("talk") == CALLS
    keep(store, [CALLS[1]._replace(result=READ)], DONE)
    assert store.results.of("talk") == [CALLS[1]._replace(result=READ)]
    keep(store, [], DONE)
    assert store.results.of("talk") == []


def test_results_go_with_their_message_and_their_conversation(store: Store) -> None:
    keep(store, CALLS)
    store.conversations.delete_messages("talk", [DONE.id])
    assert store.results.of("talk") == []
    keep(store, CALLS)
    store.sync.forget(["talk"], DAWN)
    assert store.copying.count("result") == 0


def test_an_archived_conversation_takes_its_results_along_and_brings_them_back(store: Store) -> None:
    keep(store, CALLS)
    store.archive.put_conversation("talk")
    assert store.copying.count("result") == 0
    store.archive.restore_conversations(["talk"])
    assert store.results.of("talk") == CALLS


def test_tools_are_counted_by_project_and_time(store: Store) -> None:
    keep(store, CALLS)
    every = UsageFilter(ConversationFilter())
    assert store.results.tally(every) == [ToolTally("Bash", 1, 1), ToolTally("Read", 1, 0)]
    assert store.results.tally(every._replace(since=DAWN + timedelta(hours=1))) == []
    assert store.results.tally(every._replace(until=DAWN)) == []
    assert store.results.tally(UsageFilter(ConversationFilter(projects=("/other",)))) == []


def test_conversations_whose_source_vanished_before_results_were_stored_are_counted(store: Store) -> None:
    keep(store, [])
    assert store.results.count_lost() == 0
    store.sync.set_gone(["talk"], True)
    assert store.results.count_lost() == 1
    keep(store, CALLS)
    assert store.results.count_lost() == 0
