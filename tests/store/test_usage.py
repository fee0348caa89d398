"""The Store contract for usage: one row for each call of a model, however often and wherever it is told."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from backstory.domain.filters import ConversationFilter
from backstory.domain.usage import ModelCall, UsageFilter, UsageSum
from backstory.domain.when import to_ms
from backstory.store import Store

from ..doubles import DAWN, make_conversation, make_messages

EVERY = UsageFilter(ConversationFilter())
CALL = ModelCall("m1/r1", "model-a", to_ms(DAWN), 10, 20, 300, 40, 30, 5, turn="1")
DAY = to_ms(DAWN) // 86_400_000


def keep(store: Store, id: str, *calls: ModelCall, **changes: object) -> None:
    store.conversations.add(make_conversation(id, **changes), make_messages(id, "Hello.", "Hi."), [])
    store.usage.put(id, "test", calls, {"1": (f"{id}:1",)})


def tokens(sums: list[UsageSum]) -> list[tuple[str, int, int, int]]:
    return [(each.model, each.calls, each.input, each.output) for each in sums]


def test_a_call_that_is_told_again_counts_once_with_its_largest_output(store: Store) -> None:
    keep(store, "talk", CALL)
    keep(store, "talk", CALL._replace(output=15))
    keep(store, "talk", CALL._replace(output=25))
    assert store.usage.sums(EVERY) == [
        UsageSum("test", "/p", "model-a", DAY, 0, 1, 10, 25, 300, 40, 30, 5, None, 0, 0)
    ]


def test_a_call_that_two_conversations_tell_counts_once_in_all_and_once_in_each(store: Store) -> None:
    keep(store, "talk", CALL)
    keep(store, "copy", CALL._replace(output=30), CALL._replace(key="m2/r2", output=1))
    assert tokens(store.usage.sums(EVERY)) == [("model-a", 2, 20, 31)]
    assert tokens(store.usage.sums_of("talk")) == [("model-a", 1, 10, 20)]
    assert tokens(store.usage.sums_of("copy")) == [("model-a", 2, 20, 31)]


def test_a_fork_does_not_count_what_it_repeats_of_its_parent(store: Store) -> None:
    keep(store, "talk", CALL)
    keep(store, "fork", CALL, CALL._replace(key="own", output=7), parent="talk", kind="fork")
    assert tokens(store.usage.sums_of("fork")) == [("model-a", 1, 10, 7)]


def test_whole_numbers_replace_partial_ones(store: Store) -> None:
    partial = CALL._replace(input=0, output=90, is_partial=True)
    keep(store, "talk", partial)
    keep(store, "talk", CALL)
    (total,) = store.usage.sums(EVERY)
    assert (total.input, total.output, total.partial) == (10, 20, 0)


def test_calls_are_chosen_by_their_time_and_their_conversation(store: Store) -> None:
    later = CALL._replace(key="later", at_ms=to_ms(DAWN + timedelta(days=2)))
    untimed = CALL._replace(key="untimed", at_ms=None)
    keep(store, "talk", CALL, later, untimed)
    keep(store, "other", CALL._replace(key="other"), project="/other")
    assert sum(each.calls for each in store.usage.sums(EVERY._replace(since=DAWN + timedelta(days=1)))) == 1
    assert sum(each.calls for each in store.usage.sums(EVERY._replace(until=DAWN + timedelta(days=1)))) == 3
    only = UsageFilter(ConversationFilter(projects=("/other",)))
    assert [(each.project, each.calls) for each in store.usage.sums(only)] == [("/other", 1)]


def test_an_assistant_alone_counts_what_it_counts_among_all(store: Store) -> None:
    """Also the calls of subagents that were started in advance, whose session is not known."""
    keep(store, "talk", CALL)
    store.usage.put("unknown", "test", [CALL._replace(key="advance", input=7)], {})
    store.usage.put("unknown-too", "another", [CALL._replace(key="elsewhere")], {})
    everything = Counter[str]()
    for each in store.usage.sums(EVERY):
        everything[each.surface] += each.calls
    assert everything == {"test": 2, "another": 1}
    one = UsageFilter(ConversationFilter(surfaces=("test",)))
    since = one._replace(since=DAWN - timedelta(days=1))
    for where, calls in ((one, 2), (since, 2), (one._replace(since=DAWN + timedelta(days=9)), 0)):
        assert sum(each.calls for each in store.usage.sums(where)) == calls
    of_project = one._replace(conversations=one.conversations._replace(projects=("/p",)))
    assert sum(each.calls for each in store.usage.sums(of_project)) == 1


def test_calls_above_a_limit_are_told_apart(store: Store) -> None:
    keep(
        store,
        "talk",
        CALL,
        CALL._replace(key="long", input=200_000),
        CALL._replace(key="longer", input=300_000),
    )
    sums = store.usage.sums(EVERY, (200_000, 272_000))
    assert [(each.tier, each.calls) for each in sums] == [(0, 1), (1, 1), (2, 1)]


def test_usage_stays_when_a_conversation_is_archived_and_goes_when_it_is_forgotten(store: Store) -> None:
    keep(store, "talk", CALL)
    store.archive.put_conversation("talk")
    assert tokens(store.usage.sums(EVERY)) == [("model-a", 1, 10, 20)]
    store.archive.restore_conversations(["talk"])
    assert tokens(store.usage.sums(EVERY)) == [("model-a", 1, 10, 20)]
    store.sync.forget(["talk"], DAWN)
    assert store.copying.count("usage") == 0
