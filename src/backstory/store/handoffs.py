"""Sessions that this program wrote for other assistants, and their source conversations. Contains none of their text."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.handoffs import SessionHandoff
from .columns import LIST, Columns
from .database import Database, batches

_HANDOFF = Columns(SessionHandoff, {"paths": LIST})


class HandoffRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, handoff: SessionHandoff) -> None:
        with self._database.joined():
            self._database.change(_HANDOFF.upsert("handoff", "conversation"), _HANDOFF.write(handoff))

    def all(self) -> list[SessionHandoff]:
        """All handoffs, oldest first."""
        return self._database.records(_HANDOFF, "FROM handoff ORDER BY handed_at, conversation", [])

    def into(self, conversations: Sequence[str]) -> list[SessionHandoff]:
        """The handoffs that created these conversations."""
        return self._found("conversation", conversations)

    def of(self, sources: Sequence[str]) -> list[SessionHandoff]:
        """The sessions in which these conversations go on, the oldest first."""
        return self._found("source", sources)

    def after(self, conversations: Sequence[str]) -> list[SessionHandoff]:
        """All handoffs that contain text of these conversations: their own, and those of sessions that continued them."""
        by_id: dict[str, SessionHandoff] = {}
        latest = self.of(conversations)
        while latest:
            by_id |= {handoff.conversation: handoff for handoff in latest}
            latest = [
                each
                for each in self.of([each.conversation for each in latest])
                if each.conversation not in by_id
            ]
        return list(by_id.values())

    def clear(self, sources: Sequence[str]) -> int:
        """Delete the paths of files that repeat these conversations. Returns the number of handoffs.

        The handoffs themselves stay, because a sync must not import the forgotten text from the copies."""
        with self._database.joined():
            return sum(
                self._database.change(
                    f"UPDATE handoff SET paths = '[]' WHERE paths <> '[]' AND conversation IN ({marks})", some
                )
                for marks, some in batches([each.conversation for each in self.after(sources)])
            )

    def _found(self, column: str, ids: Sequence[str]) -> list[SessionHandoff]:
        return [
            handoff
            for marks, some in batches(ids)
            for handoff in self._database.records(
                _HANDOFF, f"FROM handoff WHERE {column} IN ({marks}) ORDER BY handed_at, conversation", some
            )
        ]
