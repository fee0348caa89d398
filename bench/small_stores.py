"""The share of certain results in a store of few conversations: for questions that it answers, and for questions that it cannot answer.

    python bench/small_stores.py QUESTIONS_DIRECTORY RETRIEVAL_DIRECTORY HOME

HOME is a store of the questions' histories that `bench/questions.py` prepared. Each small store is a new one with one conversation
that answers a question and others drawn at random, so that its words are as rare as they are in a store of that size; without
vectors and with all. Foreign questions are those of the retrieval sets, about other people's chats and code.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from backstory.app import open_core, read_settings
from backstory.core import Core
from backstory.core.ask import Inquiry
from backstory.core.projects.related import EVERY_PROJECT
from backstory.domain.filters import ConversationFilter, Filter, Kind
from backstory.domain.records import Conversation

STORES = {1: 24, 3: 12, 5: 8, 10: 5}
"""Number of stores to create for each number of conversations."""
FOREIGN_OF_SET, OTHER_QUESTIONS = 8, 15
SEED = 5


def answers(question: dict[str, Any]) -> set[str]:
    return {*question["conversations"], *question.get("parents", ())}


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def is_sure(core: Core, question: str) -> bool:
    where = Filter(kinds=(Kind.MESSAGE,))
    return core.ask.find(Inquiry(question, EVERY_PROJECT, where=where, reads_histories=False)).is_sure


def fill(core: Core, source: Core, conversations: Sequence[Conversation], *, with_vectors: bool) -> None:
    for conversation in conversations:
        messages = source.engine.store.messages.said(conversation.id, first=0, limit=100_000)
        core.engine.store.conversations.put(conversation, list(messages))
    if with_vectors and core.engine.backlog is not None:
        core.engine.backlog.drain()


def measure(
    source: Core, names: dict[str, Conversation], questions: Sequence[dict[str, Any]], foreign: Sequence[str], *, with_vectors: bool
) -> Iterator[str]:  # fmt: skip
    chance = random.Random(SEED)
    askable = [question for question in questions if answers(question) & {*names}]
    for count, stores in STORES.items():
        sure: dict[str, list[bool]] = {"answered": [], "other": [], "foreign": []}
        for _ in range(stores):
            right = min(answers(chance.choice(askable)) & {*names})
            chosen = [right, *chance.sample(sorted({*names} - {right}), count - 1)]
            own = [question["question"] for question in askable if right in answers(question)]
            others = [question["question"] for question in askable if not answers(question) & {*chosen}]
            asked = {"answered": own, "other": chance.sample(others, OTHER_QUESTIONS), "foreign": foreign}
            with tempfile.TemporaryDirectory() as home, closing(open_small(home, with_vectors)) as core:
                fill(core, source, [names[name] for name in chosen], with_vectors=with_vectors)
                for kind, texts in asked.items():
                    sure[kind] += [is_sure(core, text) for text in texts]
        shares = ", ".join(f"{kind} {sum(flags)} of {len(flags)}" for kind, flags in sure.items())
        yield f"{count} conversations, {'all' if with_vectors else 'no'} vectors: sure of {shares}"


def open_small(home: str, with_vectors: bool) -> Core:
    embeddings = {} if with_vectors else {"embeddings": "off"}
    return open_core(read_settings({"home": Path(home), **embeddings}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("retrieval", type=Path)
    parser.add_argument("home", type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(options.questions))
    canonical = importlib.import_module("run_backstory").canonical
    chance = random.Random(SEED)
    sets = [read_lines(path) for path in sorted(options.retrieval.glob("*/queries.jsonl"))]
    foreign = [row["text"] for rows in sets for row in chance.sample(rows, FOREIGN_OF_SET)]
    questions = read_lines(options.questions / "questions.jsonl")
    with closing(open_core(read_settings({"home": options.home}))) as source:
        conversations = source.engine.store.conversations.find(ConversationFilter())
        names = {canonical(conversation.id): conversation for conversation in conversations}
        for with_vectors in (False, True):
            for line in measure(source, names, questions, foreign, with_vectors=with_vectors):
                print(line, flush=True)


if __name__ == "__main__":
    main()
