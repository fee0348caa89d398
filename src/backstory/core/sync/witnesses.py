"""Witnesses: the files that contain each message of a conversation. Pure; the keeper loads and stores them.

A file is a number. A negative number means that the file contained the message before it was rewritten, and the
message was not read from it again yet. NOBODY stands for a former version of a file. If an existing file contains a
message, vanished files no longer count as its witnesses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import blake2b

NOBODY = 0  # no file has this number; see `number_of`

Pair = tuple[str, int]
"""A message and a file that contains it."""


def number_of(path: str) -> int:
    """A stable number for a file, equal in every store: a positive bigint."""
    raw = blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(raw, "big") >> 1 | 1


class Witnesses:
    def __init__(
        self, messages: Mapping[str, int], stored: Mapping[str, Collection[int]], owner: int
    ) -> None:
        """`messages` maps ids to places. A message without stored rows belongs to the conversation's owner alone."""
        self._sets: dict[frozenset[int], frozenset[int]] = {}
        """Interned sets: most messages have the same witnesses, so a long conversation needs few sets."""
        self._stored = {id: self._shared(files) for id, files in stored.items() if id in messages}
        by_owner = self._shared((owner,))
        self._current = {id: self._stored.get(id, by_owner) for id in messages}
        self._changed = dict.fromkeys(id for id in messages if id not in self._stored)
        self._places = dict(messages)

    def _shared(self, files: Iterable[int]) -> frozenset[int]:
        each = frozenset(files)
        return self._sets.setdefault(each, each)

    def __len__(self) -> int:
        return len(self._current)

    @property
    def has_rows(self) -> bool:
        return bool(self._stored)

    def last_place(self, file: int) -> int:
        """The place of the last message in the file, or -1 if there is none."""
        places = (self._places[id] for id, files in self._current.items() if file in files)
        return max(places, default=-1)

    def renew(self, file: int) -> None:
        """Mark the messages of a rewritten file as waiting to be read again."""
        self._rename(file, -file)

    def release(self, file: int) -> None:
        """Detach the earlier messages of a file that vanished and came back, so that they stay."""
        self._rename(file, NOBODY)
        self._rename(-file, NOBODY)

    def _rename(self, former: int, latter: int) -> None:
        for id, files in self._current.items():
            if former in files:
                self._set(id, files - {former} | {latter})

    def adopt(self, former: str, message: str) -> None:
        """Move a message to another id. Its stored rows follow by themselves."""
        self._current[message] = self._current.pop(former)
        self._places[message] = self._places.pop(former)
        if former in self._stored:
            self._stored[message] = self._stored.pop(former)
        if former in self._changed:
            del self._changed[former]
            self._changed[message] = None

    def tell(self, places: Mapping[str, int], file: int, living: Collection[int]) -> set[int]:
        """Record that the file contains these messages. Returns the vanished files that no longer count for them."""
        former: set[int] = set()
        self._places.update(places)
        for id in places:
            files = self._current.get(id, frozenset())
            former |= _vanished(files, living)
            # Vanished files and the waiting mark of this file no longer count.
            self._set(id, {other for other in files if abs(other) in living and other != -file} | {file})
        return former

    def yield_to_living(self, living: Collection[int]) -> set[int]:
        """Drop vanished files as witnesses of messages that an existing file contains. Returns these vanished files."""
        former: set[int] = set()
        for id, files in self._current.items():
            if self.is_told(id, living) and (vanished := _vanished(files, living)):
                former |= vanished
                self._set(id, {file for file in files if abs(file) in living})
        return former

    def retract(self, ids: Iterable[str], file: int) -> list[str]:
        """Record that the file no longer contains these messages. Returns those without any witness left."""
        return self._without([id for id in ids if file in self._current.get(id, ())], file)

    def waiting(self, file: int) -> list[str]:
        """The messages that a rewritten file contained before and that were not read from it again."""
        return [id for id, files in self._current.items() if -file in files]

    def _without(self, ids: Iterable[str], number: int) -> list[str]:
        dropped = []
        for id in ids:
            self._set(id, self._current[id] - {number})
            if not self._current[id]:
                del self._current[id]
                self._stored.pop(id, None)  # the database deletes rows with their message
                self._changed.pop(id, None)
                dropped.append(id)
        return dropped

    def _set(self, id: str, files: Iterable[int]) -> None:
        self._current[id] = self._shared(files)
        self._changed[id] = None

    def is_told(self, id: str, living: Collection[int]) -> bool:
        """True if an existing file contains the message."""
        return any(file in living for file in self._current.get(id, ()))

    def has_told(self, id: str, file: int) -> bool:
        """True if the file contains the message, or did before it was rewritten."""
        return not {file, -file}.isdisjoint(self._current.get(id, ()))

    def is_only_by(self, id: str, file: int) -> bool:
        return self._current.get(id) == frozenset((file,))

    def are_only_by(self, file: int) -> bool:
        """True if one file is the only witness of all messages."""
        return all(files == {file} for files in self._current.values())

    def files(self) -> set[int]:
        return {file for files in self._current.values() for file in files}

    def changes(self) -> Iterator[tuple[list[Pair], list[Pair]]]:
        """The rows to insert and the rows to delete, per message. Returned changes count as stored."""
        while self._changed:
            id, _ = self._changed.popitem()
            stored, now = self._stored.get(id, frozenset()), self._current[id]
            # The caller writes the change, so a second call does not return it again.
            self._stored[id] = now
            yield [(id, file) for file in now - stored], [(id, file) for file in stored - now]


def _vanished(files: Iterable[int], living: Collection[int]) -> set[int]:
    return {abs(file) for file in files if file != NOBODY and abs(file) not in living}
