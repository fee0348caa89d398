"""A store against a dict: whatever happens to it, listing, counting and the text index agree with the model."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import psycopg
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from backstory.domain.filters import Filter, Kind, Order, Page
from backstory.domain.records import Conversation, Entry, Memory, Message
from backstory.domain.words import Unit
from backstory.store import Store

from .. import postgres_server
from ..conftest import BACKENDS
from ..doubles import make_conversation, make_memory, make_messages

OFFERED = {
    "alpha": {"alpha"},
    "bravo": {"bravo"},
    "getUserName": {"getusername", "get", "user", "name"},
    "user_name": {"user", "name", "username"},
    "AUTH-1234": {"auth", "1234"},
    "東京都": {"東京", "京都"},
}
"""The words that must find a piece of text."""

PROBES = sorted(set().union(*OFFERED.values()))

texts = st.lists(st.sampled_from(sorted(OFFERED)), min_size=1, max_size=4).map(" ".join)
tags = st.lists(st.sampled_from(["alpha", "user_name"]), max_size=1).map(tuple)
ids = st.sampled_from(["m1", "m2", "m3", "m4"])
projects = st.sampled_from(["/p", "/q"])


def words_of(entry: Entry) -> set[str]:
    pieces = entry.text.split() + (list(entry.tags) if isinstance(entry, Memory) else [])
    dates = {"01", "march", "2026"} if isinstance(entry, Message) else set()
    return dates.union(*(OFFERED[piece] for piece in pieces))


Vocabulary = list[tuple[str, int, int]]
"""Every term of the text index with the entries and places it has, read past the store."""


def vocabulary_of_sqlite(path: Path) -> Vocabulary:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        database.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab ('main', 'entry_text', 'row')")
        return database.execute("SELECT term, doc, cnt FROM temp.terms ORDER BY term").fetchall()


def vocabulary_of_postgres(path: Path) -> Vocabulary:
    with psycopg.connect(postgres_server.admin_url()) as connection:
        name = postgres_server.tenant_of(path)
        words = f"SELECT words FROM backstory.entry_text JOIN backstory.tenant ON number = tenant_number WHERE name = '{name}'"
        # each word follows the number of its tenant
        sql = "SELECT split_part(word, '/', 2), ndoc, nentry FROM ts_stat(%s) ORDER BY word"
        return connection.execute(sql, [words]).fetchall()


class StoreModel(RuleBasedStateMachine):
    backend = "sqlite"

    def open(self, name: str) -> Store:
        return BACKENDS[self.backend](self.folder / name)

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.open("store.db")
        self.store.vectors.open_space("model")
        self.memories: dict[str, Memory] = {}
        self.talks: dict[str, tuple[Conversation, list[Message]]] = {}

    @rule(id=ids, text=texts, tags=tags, project=projects)
    def put(self, id: str, text: str, tags: tuple[str, ...], project: str) -> None:
        memory = make_memory(id, text, tags=tags, project=project)
        self.store.memories.put([memory])
        self.memories[id] = memory

    @rule(id=ids, summary=st.text(max_size=3))
    def change_what_is_not_indexed(self, id: str, summary: str) -> None:
        if id in self.memories:
            self.memories[id] = self.memories[id]._replace(summary=summary)
            self.store.memories.put([self.memories[id]])

    @rule(id=ids)
    def delete(self, id: str) -> None:
        gone = self.memories.pop(id, None)
        assert self.store.memories.delete(Filter(ids=(id,))) == (gone is not None)

    @rule(project=projects)
    def clear(self, project: str) -> None:
        gone = [id for id, memory in self.memories.items() if memory.project == project]
        for id in gone:
            del self.memories[id]
        assert self.store.memories.delete(Filter(projects=(project,))) == len(gone)

    @rule(id=st.sampled_from(["c1", "c2"]), said=st.lists(texts, max_size=3))
    def put_conversation(self, id: str, said: list[str]) -> None:
        self.talks[id] = make_conversation(id), make_messages(id, *said)
        self.store.conversations.put(*self.talks[id])

    @rule(text=texts)
    def fail_half_way(self, text: str) -> None:
        try:
            with self.store.transaction():
                self.store.memories.put([make_memory("m1", text)])
                self.store.memories.delete(Filter(ids=("m2",)))
                raise KeyError
        except KeyError:
            pass

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open("store.db")

    def entries(self) -> list[Entry]:
        return [*self.memories.values(), *(m for _, messages in self.talks.values() for m in messages)]

    @invariant()
    def records_are_those_of_the_model(self) -> None:
        kept = self.store.memories.find(Filter(), Page(order=Order.OLDEST))
        assert {memory.id: memory for memory in kept} == self.memories
        assert len(kept) == len(self.memories)
        for id, (talk, messages) in self.talks.items():
            assert self.store.conversations.get([id]) == [talk]
            assert self.store.messages.of(id) == messages

    @invariant()
    def counts_are_those_of_the_model(self) -> None:
        entries = self.entries()
        assert self.store.entries.count(Filter()) == self.store.vectors.count_waiting(1) == len(entries)
        assert self.store.entries.count(Filter(projects=("/q",))) == sum(e.project == "/q" for e in entries)
        assert self.store.entries.count(Filter(kinds=(Kind.MEMORY,))) == len(self.memories)

    @invariant()
    def every_word_is_where_a_naive_scan_finds_it(self) -> None:
        spoken = {entry.id: words_of(entry) for entry in self.entries()}
        for posting in self.store.text.postings([Unit((probe,)) for probe in PROBES], 100_000):
            (word,) = posting.unit.words
            holding = {entry.id for entry in self.store.entries.load(posting.entries.tolist()).values()}
            assert holding == {id for id, words in spoken.items() if word in words}, word
            assert posting.frequency == len(holding)

    def teardown(self) -> None:
        """An index that was edited is equal to one that was built at once: no ghosts of former texts."""
        fresh = self.open("fresh.db")
        fresh.memories.put(list(self.memories.values()))
        for talk, messages in self.talks.values():
            fresh.conversations.put(talk, messages)
        assert self.store.problems() == []
        edited, built = (VOCABULARIES[self.backend](self.folder / name) for name in ("store.db", "fresh.db"))
        fresh.close()
        self.store.close()
        shutil.rmtree(self.folder)
        if self.backend == "postgres":
            for name in ("store.db", "fresh.db"):
                postgres_server.drop(postgres_server.tenant_of(self.folder / name))
        assert edited == built


VOCABULARIES = {"sqlite": vocabulary_of_sqlite, "postgres": vocabulary_of_postgres}


class PostgresModel(StoreModel):
    backend = "postgres"


TestStoreModel = StoreModel.TestCase
TestStoreModel.settings = settings(max_examples=40, stateful_step_count=15)
TestPostgresModel = PostgresModel.TestCase
TestPostgresModel.settings = settings(max_examples=15, stateful_step_count=15)
