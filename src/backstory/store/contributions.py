"""Authors of the memories in a shared space, and reviews of proposals. This table stores none of their text."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..domain.team import Contribution, ContributionState
from ..domain.when import to_ms
from .columns import Codec, Columns
from .database import Database, batches

_STATE = Codec(str, {each.value: each for each in ContributionState}.__getitem__)
_CONTRIBUTION = Columns(Contribution, {"state": _STATE})


class ContributionRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, contribution: Contribution) -> bool:
        """Insert unless the memory already has a contribution. Returns whether it was inserted.

        If two deliveries with one key arrive concurrently, the second waits here until the first is committed."""
        sql = f"{_CONTRIBUTION.insert('contribution')} ON CONFLICT (memory) DO NOTHING"
        with self._database.joined():
            return self._database.change(sql, _CONTRIBUTION.write(contribution)) > 0

    def put(self, contribution: Contribution) -> None:
        """Insert a contribution, or replace that of the same memory."""
        with self._database.joined():
            self._database.change(
                _CONTRIBUTION.upsert("contribution", "memory"), _CONTRIBUTION.write(contribution)
            )

    def decide(self, memory: str, state: ContributionState, reviewer: str, at: datetime) -> bool:
        """Settle a proposal. Returns False if it was already settled."""
        sql = (
            "UPDATE contribution SET state = ?, reviewer = ?, reviewed_at = ? WHERE memory = ?"
            " AND state = 'proposed'"
        )
        with self._database.joined():
            return self._database.change(sql, [state.value, reviewer, to_ms(at), memory]) > 0

    def get(self, memories: Iterable[str]) -> dict[str, Contribution]:
        """Contributions by memory id."""
        rows = [
            each
            for marks, some in batches(memories)
            for each in self._database.records(
                _CONTRIBUTION, f"FROM contribution WHERE memory IN ({marks})", some
            )
        ]
        return {each.memory: each for each in rows}

    def proposed(self, author: str | None = None) -> list[Contribution]:
        """Contributions that wait for a maintainer, oldest first, optionally of one author."""
        where, values = ("TRUE", []) if author is None else ("author = ?", [author])
        rest = f"FROM contribution WHERE state = 'proposed' AND {where} ORDER BY made_at, memory"
        return self._database.records(_CONTRIBUTION, rest, values)
