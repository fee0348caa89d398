"""The Store contract. Every test runs against every backend; none may ask which one it got.

Records go in and come out whole. Search works on numbers instead: each memory and message is an entry with a
number that is never used again, so the arms can rank a hundred thousand without loading one text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..domain.census import Census
from ..domain.entries import EntryVectors, Outline, PendingText, Posting
from ..domain.filters import Filter, Page
from ..domain.records import Conversation, Entry, Memory, Message
from .activity import Activity
from .archive import Archives
from .archived_talks import ArchivedTalks
from .blobs import Blobs
from .connections import Connections
from .events import Events
from .files import Files
from .graph import Graphs
from .histories import Histories
from .kept import KeptAnswers
from .matching import Matching
from .moving import Moving
from .sessions import Sessions
from .snapshots import Snapshots
from .sources import Sources
from .team import Team
from .threads import Threads

if TYPE_CHECKING:
    from ..domain.entries import Vector
    from ..domain.words import Unit


class Store(
    Activity,
    Events,
    Graphs,
    Histories,
    KeptAnswers,
    Matching,
    Moving,
    Sessions,
    Archives,
    ArchivedTalks,
    Blobs,
    Files,
    Snapshots,
    Sources,
    Threads,
    Connections,
    Team,
    Protocol,
):
    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or none of it does; committed when it ends. Nests."""

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside one."""

    def put_memories(self, memories: Sequence[Memory]) -> None:
        """Insert, or replace by id. A replaced memory keeps its entry number."""

    def find_memories(self, where: Filter, page: Page) -> list[Memory]: ...

    def delete_memories(self, where: Filter) -> int:
        """Delete what matches, with all that was derived from it, and say how many went."""

    def put_conversation(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Insert the conversation, or replace it with all its messages."""

    def find_conversations(self, ids: Sequence[str]) -> list[Conversation]: ...

    def find_messages(self, conversation: str) -> list[Message]: ...

    def count(self, where: Filter) -> int:
        """How many entries match."""

    def postings(self, units: Sequence[Unit], budget: int, where: Filter | None = None) -> list[Posting]:
        """Where each unit stands, reading at most about `budget` entries in all. With a Filter only what it
        lets through is read, which costs more for each entry; `frequency` is always that of the whole store."""

    def outlines(self, entries: Iterable[int], where: Filter) -> list[Outline]:
        """Outlines of those entries that match, in no particular order."""

    def neighbours(self, outlines: Sequence[Outline], where: Filter) -> list[Outline]:
        """What was said just before and after the given messages, in their conversations, if it matches."""

    def load(self, entries: Iterable[int]) -> dict[int, Entry]: ...

    def size_hint(self) -> int:
        """About how many entries there are; never less, cheap to ask."""

    def open_space(self, model: str) -> int:
        """The number of the model's vector space. A new space starts with every entry waiting."""

    def claim_waiting(self, space: int, limit: int, *, lease_ms: int) -> list[PendingText]:
        """Take texts to embed, newest first. Nobody else gets them while the lease lasts, unless it asks with
        a lease of 0, which takes them whoever has them."""

    def put_vectors(self, space: int, embedded: Sequence[EntryVectors]) -> None:
        """Keep vectors of texts that did not change meanwhile; those no longer wait."""

    def count_waiting(self, space: int) -> int: ...

    def match_vectors(self, space: int, vector: Vector, where: Filter, limit: int) -> Mapping[int, float]:
        """The entries nearest to a vector, with their cosine similarity."""

    def similarities(self, space: int, vector: Vector, entries: Iterable[int]) -> Mapping[int, float]:
        """Cosine similarity of the given entries, where they have a vector."""

    def projects(self) -> list[str]:
        """Those of all entries."""

    def conversation_span(self) -> tuple[datetime, datetime] | None:
        """When the first conversation began and the last one was added to."""

    def census(self) -> Census: ...

    def problems(self) -> list[str]:
        """What is wrong with the stored data; empty when all is well."""

    def backup(self, target: Path) -> None:
        """Write a whole, consistent copy while others go on working."""

    def close(self) -> None: ...
