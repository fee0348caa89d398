"""What stands first: an answer, whatever asks the same, and what holds the very name that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np
import pytest
from numpy.typing import NDArray

from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Kind
from backstory.domain.records import Message
from backstory.search.backlog import Backlog
from backstory.search.engine import Search
from backstory.store import Store

from ..doubles import HashedWords, make_conversation, make_memory, make_messages

QUESTION = "Why did we choose Kafka for the queue?"


def keep(store: Store, id: str, *texts: str) -> None:
    said = {"surface": "claude-code"}
    store.conversations.put(make_conversation(id, **said), make_messages(id, *texts, **said))


def order(search: Search, query: str) -> list[str]:
    return [hit.conversation or "memory" for hit in search.find(query, Filter()).hits]


@pytest.fixture(params=["words", "vectors"])
def search(request: pytest.FixtureRequest, store: Store, embedder: HashedWords) -> Search:
    return Search(store, Backlog(store, embedder) if request.param == "vectors" else None)


def test_asking_again_never_stands_above_the_answer(store: Store, search: Search) -> None:
    keep(store, "answer", "Which queue?", "We choose Kafka for the queue because consumers must replay.")
    for number in range(5):
        keep(
            store,
            f"again{number}",
            QUESTION,
            "I can't tell from here. Let me look through the history first.",
        )
    assert order(search, QUESTION)[0] == "answer"


@pytest.mark.parametrize(
    "reply",
    [("I could not find anything about that.",), ("Let me look through the history first.",), ()],
)
def test_to_keywords_too_a_conversation_that_answers_stands_above_one_that_only_asks(
    store: Store, search: Search, reply: tuple[str, ...]
) -> None:
    keep(
        store,
        "answer",
        "And now?",
        "Kafka it is: the queue of choice, since consumers must replay what they lost.",
    )
    keep(
        store,
        "vain",
        "It was about Kafka, queue. What made us choose Kafka for the queue in the end?",
        *reply,
    )
    assert order(search, "Kafka queue choose") == ["answer", "vain"]


def test_what_a_user_stated_is_no_question_though_the_reply_only_announces(
    store: Store, search: Search
) -> None:
    keep(store, "stated", "The staging queue listens on port 5433.", "I'll note that.")
    keep(store, "other", "Where is the port?", "Ships lie in the port, in a long queue.")
    assert order(search, "staging queue port")[0] == "stated"


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("The staging database lives on port 6543.", "Which port does the staging database live on?"),
        ("Deploys go out on Thursdays at noon.", "When do deploys go out, on which day at noon?"),
        ("We pin ruff to 0.6 in every repository.", "To which version do we pin ruff in every repository?"),
        ("Ann owns the billing service.", "Who owns the billing service?"),
    ],
)
def test_what_a_user_states_stands_above_who_asks_for_it(
    store: Store, search: Search, statement: str, question: str
) -> None:
    keep(store, "stated", statement, "Noted.")
    for number in range(3):
        keep(store, f"asked{number}", question, "I could not find anything about that.")
    keep(
        store,
        "other",
        "What is new?",
        "The service was deployed and the database migrated to every repository.",
    )
    assert order(search, question)[0] == "stated"


def test_a_word_that_no_text_has_makes_nothing_sure(store: Store, search: Search) -> None:
    keep(store, "near", "rewritenew question", "rewritenew answer")
    assert all(hit.certainty < 0.5 for hit in search.find("rewriteold", Filter()).hits)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_question_beside_a_long_paste_is_answered(store: Store, search: Search, is_first: bool) -> None:
    keep(store, "answer", "Which queue?", "We choose Kafka for the queue because consumers must replay.")
    keep(store, "other", "How is the build?", "The build of module seven failed.")
    paste = " ".join(f"at frame{number} of unit{number}: build" for number in range(60))
    query = f"{QUESTION}\n{paste}" if is_first else f"{paste}\n{QUESTION}"
    assert order(search, query)[0] == "answer"


def test_output_of_tools_does_not_crowd_out_what_was_said(store: Store, search: Search) -> None:
    keep(store, "answer", "And now?", "Kafka replays what consumers lost.")
    printed = make_messages(
        "log", *["why kafka queue consumers choose replay lost"] * 400, surface="claude-code"
    )
    tools = [message._replace(role="tool") for message in printed]
    store.conversations.put(make_conversation("log", surface="claude-code"), tools)
    assert "answer" in order(search, "Why did we choose Kafka for the queue, and what do consumers replay?")


def test_a_long_text_with_a_few_of_the_words_does_not_crowd_out_a_short_one(
    store: Store, search: Search
) -> None:
    keep(store, "answer", "And now?", "Kafka replays.")
    long = "kafka queue consumers " + "of something else entirely " * 400
    for number in range(4):
        keep(store, f"long{number}", *[long] * 60)
    assert order(search, "Kafka queue replays")[0] == "answer"


def test_the_answer_to_the_same_question_is_found_though_it_shares_no_word(
    store: Store, search: Search
) -> None:
    keep(store, "asked", QUESTION, "Consumers must be able to replay old records.")
    keep(store, "other", "The queue is long.", "Patience helps, even with Kafka.")
    hit = search.find(QUESTION, Filter()).hits[0]
    assert store.entries.load([hit.entry])[hit.entry].text == "Consumers must be able to replay old records."


def test_what_came_of_a_plan_stands_above_the_plan(store: Store, search: Search) -> None:
    keep(store, "plan", "Please.", "I'll look for the walrus of the harbour in the ice house.")
    keep(store, "fact", "Well?", "The walrus of the harbour sleeps in the big ice house, where it is cool.")
    assert order(search, "where is the walrus of the harbour in the ice house")[0] == "fact"


def test_what_lacks_the_rare_name_stands_behind_what_has_it(store: Store, search: Search) -> None:
    keep(
        store,
        "has",
        "Look at the log of the build.",
        "It was commit a87a7777, a small one among many others.",
    )
    keep(store, "lacks", "What is in the commit?", "The commit has what a commit has: what is in the commit.")
    assert order(search, "What is in commit a87a7777?")[0] == "has"


def test_a_conversation_is_one_hit_and_counts_its_other_places(store: Store, search: Search) -> None:
    keep(store, "long", *(f"The zebra number {n} sleeps." for n in range(6)))
    (hit,) = search.find("zebra", Filter()).hits
    assert hit.conversation == "long"
    assert len(hit.other_places) == 5


def test_between_people_a_short_answer_has_the_words_of_the_question_before_it(
    store: Store, search: Search
) -> None:
    store.conversations.put(
        make_conversation("people"),
        [
            message._replace(role="speaker", speaker=speaker)
            for message, speaker in zip(
                make_messages(
                    "people", "Where did you buy the violin?", "At Ortega's, near the harbour.", "Lovely."
                ),
                ("Ann", "Ben", "Ann"),
                strict=True,
            )
        ],
    )
    keep(store, "other", "A violin costs too much.", "So does a cello.")
    hits = search.find("Where did Ben buy the violin?", Filter(), by_place=True).hits
    assert [hit.conversation for hit in hits[:2]] == ["people", "people"]
    texts = {entry.text for entry in store.entries.load(hit.entry for hit in hits[:2]).values()}
    assert "At Ortega's, near the harbour." in texts


def test_in_a_chat_the_users_words_are_the_source_and_with_a_coding_assistant_the_answer(
    store: Store, search: Search
) -> None:
    for surface in ("chatgpt", "claude-code", "codearchitect"):
        made = {"surface": surface}
        texts = (
            "My zebra sleeps in the garden.",
            "A zebra that sleeps in the garden is content.",
        )
        store.conversations.put(make_conversation(surface, **made), make_messages(surface, *texts, **made))
    hits = search.find("zebra garden", Filter()).hits
    best = {hit.conversation: store.entries.load([hit.entry])[hit.entry] for hit in hits}
    roles = {id: entry.role for id, entry in best.items() if isinstance(entry, Message)}
    assert roles == {"chatgpt": "user", "claude-code": "assistant", "codearchitect": "assistant"}


class Refusing(HashedWords):
    """Cannot embed what speaks of a blue switch: such texts wait for ever."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("blue switch" in text for text in texts):
            raise Unavailable("Not this one.")
        return super().embed(texts)


def test_a_text_does_not_lose_by_waiting_for_its_vector(store: Store) -> None:
    keep(store, "waits", "Well?", "By night the parser is deployed with the blue switch.")
    keep(store, "embedded", "Where is lunch?", "Lunch is deployed to the parser of soup.")
    backlog = Backlog(store, Refusing(at_once=1))
    found = Search(store, backlog).find("parser deployed by night", Filter())
    assert [hit.conversation for hit in found.hits] == ["waits", "embedded"]
    assert isnan(found.hits[0].parts["cosine"])
    assert not isnan(found.hits[1].parts["cosine"])


def test_a_memory_and_a_conversation_are_found_by_one_search(store: Store, search: Search) -> None:
    store.memories.put([make_memory("m", "The zebra sleeps by day.")])
    keep(store, "c", "Tell me of the zebra.", "The zebra sleeps by day, I said.")
    assert set(order(search, "zebra sleeps")) == {"memory", "c"}


class OnePlane:
    """Each text is the angle that it says, in tenths of a degree."""

    model = "one plane"
    dimensions = 2
    at_once = 64
    is_loaded = True

    def load(self) -> None:
        """Nothing."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([int(text) / 10 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_a_text_that_is_like_many_others_does_not_stand_above_one_that_is_like_the_query_alone(
    store: Store,
) -> None:
    crowd = [make_memory(f"crowd{number}", f"{200 + number}") for number in range(40)]
    store.memories.put([*crowd, make_memory("alone", "-210")])
    found = Search(store, Backlog(store, OnePlane())).find("0", Filter())
    best = store.entries.load([found.hits[0].entry])[found.hits[0].entry]
    assert best.id == "alone"


def test_the_length_of_a_note_is_compared_with_that_of_notes(store: Store) -> None:
    search = Search(store, None)
    padding = "and so on for a while " * 40
    store.memories.put(
        [make_memory("short", "Kafka keeps the queue"), make_memory("long", f"Kafka {padding}")]
    )
    keep(store, "short", "Hello", "Kafka keeps the queue")
    keep(store, "long", "Hello", f"Kafka {padding}")

    def word_parts(kind: Kind) -> list[float]:
        hits = search.find("Kafka", Filter(kinds=(kind,)), by_place=True).hits
        return [hit.parts["words"] for hit in hits]

    short_note, long_note = word_parts(Kind.MEMORY)
    short_message, long_message = word_parts(Kind.MESSAGE)
    assert long_note < 0.5 * short_note
    assert long_message > 0.7 * short_message
