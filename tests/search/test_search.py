"""Search through both arms, over a real store and an embedder of hashed words."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backstory.domain.entries import EntryVectors
from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Kind
from backstory.domain.records import Message
from backstory.search.backlog import SMALL_BACKLOG, Backlog
from backstory.search.engine import Found, Search
from backstory.store import Store
from backstory.store.sqlite import SqliteStore
from backstory.store.sqlite.vectors import RESCORED

from ..conftest import OpenStore
from ..doubles import DAWN, HashedWords, make_conversation, make_memory, make_messages

if TYPE_CHECKING:
    from backstory.domain.entries import Vector


@pytest.fixture
def search(store: Store, embedder: HashedWords) -> Search:
    """Hybrid, without a background thread: what waits is embedded when someone searches."""
    return Search(store, Backlog(store, embedder))


def ids(store: Store, found: Found) -> list[str]:
    entries = store.entries.load(hit.entry for hit in found.hits)
    return [entries[hit.entry].id for hit in found.hits]


def test_a_synonym_is_found_though_no_word_is_shared(store: Store, search: Search) -> None:
    store.memories.put([make_memory("it", "vehicle"), make_memory("decoy", "weather")])
    found = search.find("car", Filter())
    assert ids(store, found) == ["it"]
    assert found.strategy == "hybrid"
    assert found.notices == ()


@pytest.mark.parametrize(
    "together",
    ["the queue limit by hand", "a queue: limits, all", "in queueLimits we see", "Queues\nLimit, by hand"],
)
def test_words_that_stand_side_by_side_as_in_the_query_count_more(store: Store, together: str) -> None:
    apart = "limit the old queue now"
    store.memories.put([make_memory("together", together), make_memory("apart", apart)])
    assert ids(store, Search(store, None).find("queue limit", Filter())) == ["together", "apart"]


def test_words_of_a_key_stand_side_by_side(store: Store) -> None:
    store.memories.put(
        [
            make_memory("together", "is now at ten and no more than that", key="queue_limit"),
            make_memory("apart", "limit the old queue to ten and no more"),
        ]
    )
    assert ids(store, Search(store, None).find("queue limit", Filter())) == ["together", "apart"]


def test_a_text_is_as_near_as_its_nearest_passage_whichever_was_proposed(
    store: Store, embedder: HashedWords
) -> None:
    backlog = Backlog(store, embedder)
    query = embedder.embed(["car"])[0]
    aside = np.roll(query, 1)

    def leaning(*cosines: float) -> Vector:
        return np.array([c * query + np.sqrt(1 - c * c) * aside for c in cosines], np.float32)

    # as many vectors are looked at closely as there are up to the first of the long text's
    fillers = [make_memory(f"{number}", f"pebble {number}") for number in range(RESCORED - 1)]
    store.memories.put([*fillers, make_memory("long", "harbour")])
    waiting = store.vectors.claim(backlog.space, RESCORED, lease_ms=0)[::-1]
    for text in waiting:
        vectors = leaning(0.3, 0.9) if text is waiting[-1] else leaning(0.1)
        store.vectors.put(backlog.space, [EntryVectors(text.entry, text.revision, vectors)])
    hits = Search(store, backlog).find("car", Filter()).hits
    assert [hit.parts["cosine"] for hit in hits if hit.entry == waiting[-1].entry] == [
        pytest.approx(0.9, abs=0.01)
    ]


def test_a_word_is_found_though_the_meaning_is_lost(store: Store, embedder: HashedWords) -> None:
    store.memories.put([make_memory("it", "a ticket AUTH-1234 among " + "many other words " * 50)])
    found = Search(store, Backlog(store, embedder)).find("auth-1234", Filter())
    assert ids(store, found) == ["it"]


def test_without_an_embedder_the_answer_is_by_text_and_says_so(store: Store) -> None:
    store.memories.put([make_memory("word", "car"), make_memory("synonym", "vehicle")])
    found = Search(store, None).find("car", Filter())
    assert ids(store, found) == ["word"]
    assert found.strategy == "text"
    assert found.notices == ("Searched by words alone: embeddings are switched off.",)
    assert isnan(found.hits[0].parts["cosine"])


def test_an_embedder_that_is_down_is_reported_and_does_not_stop_the_search(
    store: Store, search: Search, embedder: HashedWords
) -> None:
    store.memories.put([make_memory("word", "car")])
    embedder.failure = Unavailable("The endpoint is down.", hint="Start it.")
    found = search.find("car", Filter())
    assert ids(store, found) == ["word"]
    assert found.strategy == "text"
    assert found.notices == ("Searched by words alone: The endpoint is down.",)
    embedder.failure = None
    assert search.find("car", Filter()).strategy == "hybrid"


def test_what_another_process_just_saved_is_found_by_meaning_at_once(
    store: Store, search: Search, open_store: OpenStore
) -> None:
    assert ids(store, search.find("car", Filter())) == []
    open_store().memories.put([make_memory("it", "vehicle")])
    assert ids(store, search.find("car", Filter())) == ["it"]


def test_a_backlog_too_large_to_wait_for_is_reported(store: Store, embedder: HashedWords) -> None:
    store.memories.put([make_memory(f"{n}", f"text {n}") for n in range(SMALL_BACKLOG + 1)])
    backlog = Backlog(store, embedder)
    backlog.close()  # its thread never starts, so the count is exact
    found = Search(store, backlog).find("text", Filter(), pool=2)
    assert found.strategy == "hybrid"
    assert found.notices == (
        f"{SMALL_BACKLOG + 1} texts still wait for their vectors; until then only their words find them.",
    )
    assert len(found.hits) == SMALL_BACKLOG + 1
    fresh = Backlog(store, embedder)
    assert fresh.drain() == SMALL_BACKLOG + 1
    assert Search(store, fresh).find("text", Filter()).notices == ()


def test_a_large_backlog_is_counted_no_further_than_it_matters(
    store: Store, embedder: HashedWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.search.backlog.MOST_COUNTED", SMALL_BACKLOG + 2)
    store.memories.put([make_memory(f"{n}", f"text {n}") for n in range(SMALL_BACKLOG + 5)])
    backlog = Backlog(store, embedder)
    backlog.close()  # its thread never starts
    assert Search(store, backlog).find("text", Filter()).notices == (
        f"At least {SMALL_BACKLOG + 2} texts still wait for their vectors; until then only their words find them.",
    )


@pytest.mark.parametrize("query", ["car", "vehicle"], ids=["by word", "by meaning"])
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filter(), {"mine", "theirs", "elsewhere", "old", "said:0"}),
        (Filter(public_or_in=""), {"elsewhere", "old", "said:0"}),
        (Filter(public_or_in="s1"), {"mine", "elsewhere", "old", "said:0"}),
        (Filter(projects=("/q",)), {"elsewhere"}),
        (Filter(kinds=(Kind.MESSAGE,)), {"said:0"}),
        (Filter(kinds=(Kind.MEMORY,), created_before=DAWN), {"old"}),
        (Filter(ids=("old", "mine"), public_or_in=""), {"old"}),
    ],
)
def test_no_arm_proposes_what_the_filter_excludes(
    store: Store, search: Search, query: str, where: Filter, expected: set[str]
) -> None:
    store.memories.put(
        [
            make_memory("mine", "car", session="s1", private=True),
            make_memory("theirs", "car", session="s2", private=True),
            make_memory("elsewhere", "car", project="/q"),
            make_memory("old", "car", created_at=DAWN - timedelta(days=1)),
        ]
    )
    store.conversations.put(make_conversation("said"), make_messages("said", "car"))
    assert set(ids(store, search.find(query, where))) == expected


def test_a_selective_filter_finds_its_few_among_many(store: Store, search: Search) -> None:
    """More texts hold the word than either arm proposes; the one that is asked for is the oldest."""
    store.memories.put([make_memory("it", "car", project="/q")])
    store.memories.put([make_memory(f"{n}", "car") for n in range(1200)])
    Backlog(store, HashedWords()).drain()
    assert len(search.find("car", Filter()).hits) < 1200
    assert ids(store, search.find("car", Filter(projects=("/q",)))) == ["it"]
    assert ids(store, search.find("vehicle", Filter(projects=("/q",)))) == ["it"]


def test_every_hit_says_the_parts_of_its_score(store: Store, search: Search) -> None:
    store.memories.put(
        [
            make_memory("both", "car wash"),
            make_memory("meaning", "vehicle"),
            make_memory("word", "wash " + "and so many other things " * 40),
        ]
    )
    found = search.find("car wash", Filter())
    parts = dict(zip(ids(store, found), (hit.parts for hit in found.hits), strict=True))
    assert parts["both"]["words"] == 1
    assert parts["both"]["cosine"] == pytest.approx(1, abs=0.01)
    assert parts["meaning"]["words"] == 0
    assert parts["meaning"]["meaning"] > 0
    assert 0 < parts["word"]["coverage"] < 1
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


@pytest.mark.requirement("server.same-order")
def test_the_same_query_gives_the_same_order(store: Store, search: Search, open_store: OpenStore) -> None:
    store.memories.put([make_memory(f"{n}", f"car number {n % 3}") for n in range(30)])
    once = ids(store, search.find("car number 2", Filter()))
    assert ids(store, search.find("car number 2", Filter())) == once
    other = open_store()
    assert ids(store, Search(other, Backlog(other, HashedWords())).find("car number 2", Filter())) == once


@pytest.mark.parametrize("query", ["?!", " ", '"', "___"])
def test_a_query_without_words_finds_nothing_and_is_no_error(
    store: Store, search: Search, query: str
) -> None:
    store.memories.put([make_memory("it", "car")])
    assert Search(store, None).find(query, Filter()).hits == []
    search.find(query, Filter())


def test_an_empty_store_finds_nothing(store: Store, search: Search) -> None:
    assert search.find("car", Filter()) == Found([], "text")
    assert search.find("car", Filter(), units=[]).notices == Search(store, None).find("car", Filter()).notices
    (notice,) = Search(store, None).find("car", Filter()).notices
    assert notice.startswith("Searched by words alone: ")


def test_a_search_of_an_empty_store_needs_no_numpy_unless_it_prepares(tmp_path: Path) -> None:
    code = """if True:
        import sys
        from pathlib import Path
        from backstory.domain.filters import EVERYTHING
        from backstory.search.engine import Search
        from backstory.store.sqlite import SqliteStore

        search = Search(SqliteStore(Path(sys.argv[1])), None)
        search.find("car", EVERYTHING)
        print("numpy" in sys.modules)
        search.prepare()
        print("numpy" in sys.modules)
    """
    command = [sys.executable, "-c", code, str(tmp_path / "store.db")]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    assert output.stdout.split() == ["False", "True"]


def test_a_message_is_found_by_what_was_asked_before_it(store: Store, search: Search) -> None:
    said = {"surface": "claude-code"}
    messages = make_messages("c", "which port does staging use?", "8443", "thanks", **said)
    store.conversations.put(make_conversation("c", **said), messages)
    assert "c:1" in ids(store, search.find("staging port", Filter()))


def test_a_long_text_is_found_by_a_passage_of_it(store: Store, search: Search) -> None:
    filler = "\n\n".join("and so many other things " * 30 for _ in range(5))
    store.memories.put([make_memory("it", f"{filler}\n\n{'vehicle ' * 80}\n\n{filler}")])
    assert ids(store, search.find("car", Filter())) == ["it"]


def test_a_store_that_cannot_be_written_can_still_be_searched(tmp_path: Path) -> None:
    """A full disk, or a file that turned read-only, stops saves; it must not stop people from finding."""
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.memories.put([make_memory("it", "car")])
        search = Search(store, Backlog(store, HashedWords()))
        search.find("anything", Filter())
        store.memories.put([make_memory("waiting", "car wash")])
        store.database.rows("PRAGMA query_only = ON")
        assert set(ids(store, search.find("car", Filter()))) == {"it", "waiting"}


def test_a_subagent_that_matches_hardly_better_stands_behind_its_head(store: Store) -> None:
    put_family(store, "The heron nests in the reeds at the lake.", "Heron nests: reeds. Heron, nests, reeds.")
    (hit,) = Search(store, None).find("heron nests reeds", Filter()).hits
    assert (hit.conversation, place_of(store, hit.entry)) == ("main", "main")
    assert len(hit.other_places) == 1


def test_a_subagent_that_matches_clearly_better_is_shown_in_place_of_its_head(store: Store) -> None:
    put_family(store, "Look for birds, a heron or so.", "The heron nests in the reeds.")
    (hit,) = Search(store, None).find("heron nests reeds", Filter()).hits
    assert (hit.conversation, place_of(store, hit.entry)) == ("main", "sub")


def put_family(store: Store, of_head: str, of_subagent: str) -> None:
    main = make_conversation("main")
    sub = make_conversation("sub", kind="subagent", parent="main")
    store.conversations.add(main, make_messages("main", "Which birds are there?", of_head), [])
    store.conversations.add(sub, make_messages("sub", "Look for birds.", of_subagent), [])


def place_of(store: Store, entry: int) -> str:
    message = store.entries.load([entry])[entry]
    assert isinstance(message, Message)
    return message.conversation
