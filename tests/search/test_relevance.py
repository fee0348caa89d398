"""A search that nothing in the store has to do with finds nothing, and a paraphrase is found all the same."""

from __future__ import annotations

import numpy as np
import pytest

from backstory.domain.filters import Filter
from backstory.search.backlog import Backlog
from backstory.search.engine import Search
from backstory.search.evidence import Gathering
from backstory.search.minilm import MiniLM
from backstory.search.relevance import highest_unrelated_cosine, is_relevant
from backstory.store import Store

from ..doubles import make_conversation, make_messages
from .test_likeness import labelled

UNRELATED = (
    "zzqxjk wvut",
    "qwrtzpl",
    "getZzqxjk",
    "photosynthesis",
    "medieval castles",
    "how many legs does a spider have",
    "Wetter am Wochenende in Bremen",
    "¿dónde está la estación de tren?",
    "recette de la soupe à l'oignon",
    "今日の天気",
    "погода в москве",
)
SUBJECTS = ("invoice export", "mail templates", "map view", "plugin loader", "audit trail")
REMARKS = (
    "The {} was reviewed by the design group.",
    "Refactored the {} into smaller modules.",
    "Added metrics for the {}: ls -la de la.",
    "The {} is blocked by a vendor ticket.",
    "Removed dead code from the {}.",
    "The {} reads its options from YAML.",
    "Moved the {} to its own repository.",
    "The {} fails when the list is empty.",
    "Wrote a README for the {}.",
    "The {} has a race on start.",
)
TEXTS = [remark.format(subject) for remark in REMARKS for subject in SUBJECTS]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def save(store: Store, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        name = f"c{number}"
        store.conversations.put(make_conversation(name), make_messages(name, text))


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("state", ["no vectors", "some", "all"])
def test_what_nothing_has_to_do_with_finds_nothing(
    store: Store, model: MiniLM, size: int, state: str
) -> None:
    backlog = None if state == "no vectors" else Backlog(store, model)
    save(store, TEXTS[: size // 2 if state == "some" else size])
    if backlog is not None:
        backlog.drain()
    if state == "some":  # the others wait for their vectors, and this backlog may embed none
        save(store, TEXTS[:size])
        backlog = Backlog(store, model, is_serving=lambda: True, is_busy=lambda: True)
    search = Search(store, backlog)
    hits = {query: search.find(query, Filter()).hits for query in UNRELATED}
    assert {query: len(some) for query, some in hits.items() if some} == {}
    assert search.find("who reviewed the invoice export", Filter()).hits


def test_texts_without_a_word_in_common_are_found_by_their_meaning(store: Store, model: MiniLM) -> None:
    save(store, [text for _, text in labelled("same")])
    backlog = Backlog(store, model)
    backlog.drain()
    found = [bool(Search(store, backlog).find(query, Filter()).hits) for query, _ in labelled("same")]
    assert all(found)


def test_an_answer_in_other_words_is_found_where_it_stands_out_from_texts_that_are_like_each_other(
    store: Store, model: MiniLM
) -> None:
    """Its cosine alone is what the nearest of so many unrelated texts may have."""
    save(store, [*TEXTS, "We render Markdown on the server and sanitize it with bleach."])
    backlog = Backlog(store, model)
    backlog.drain()
    evidence = Gathering(store, backlog, "preventing script injection in comments", Filter()).evidence()
    texts = 560
    assert np.nanmax(evidence.cosine) < highest_unrelated_cosine(evidence, texts)
    assert is_relevant(evidence, lambda: texts)
    unrelated = Gathering(store, backlog, "how many legs does a spider have", Filter()).evidence()
    assert not is_relevant(unrelated, lambda: texts)


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("loader", True),
        ("PluginLoader", True),  # the parts of a name
        ("getPlugin", False),
        ("pluginLoaderFactory", True),
        ("to be or not to be", True),  # all of it is so common that all of it is meant
        ("the is", False),
        ("zzqxjk 7", False),
        ("zzqxjk loader", True),
    ],
)
def test_words_are_evidence_unless_every_text_may_have_them(store: Store, query: str, is_found: bool) -> None:
    save(store, ["The plugin loader reads 7 files.", "To be or not to be, that was the question."])
    assert bool(Search(store, None).find(query, Filter()).hits) == is_found
