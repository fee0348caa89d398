"""Which files told each message of a conversation. Pure: the keeper loads and stores it.

A file is a number. A negative one told the message before it was rewritten, and has not told it again yet; NOBODY is a
file that is no more what it was when it told it. A message that a file tells which is there is told by no vanished one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b

NOBODY = 0


def number_of(path: str) -> int:
    """A file's number, the same in every store: a bigint above zero."""
    raw = blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(raw, "big") >> 1 | 1


class Witnesses:
    def __init__(self, told: Mapping[str, Collection[int]]) -> None:
        self._told = {id: set(files) for id, files in told.items()}

    def renew(self, file: int) -> None:
        """It was rewritten: what it told waits to be told again."""
        self._rename(file, -file)

    def release(self, file: int) -> None:
        """It vanished and came back: what it told before is not its own any more, and stays."""
        self._rename(file, NOBODY)
        self._rename(-file, NOBODY)

    def _rename(self, former: int, latter: int) -> None:
        for files in self._told.values():
            if former in files:
                files.discard(former)
                files.add(latter)

    def tell(self, ids: Iterable[str], file: int, living: Collection[int]) -> set[int]:
        """The file tells these. The vanished files that told them before, and do not count any more."""
        former: set[int] = set()
        for id in ids:
            files = self._told.setdefault(id, set())
            former |= _vanished(files, living)
            self._told[id] = {other for other in files if abs(other) in living and other != -file} | {file}
        return former

    def yield_to_living(self, living: Collection[int]) -> set[int]:
        """What a file tells that is there is its own alone. The vanished files that told it too."""
        former: set[int] = set()
        for id, files in self._told.items():
            if self.is_told(id, living) and (vanished := _vanished(files, living)):
                former |= vanished
                self._told[id] = {file for file in files if abs(file) in living}
        return former

    def retract(self, ids: Iterable[str], file: int) -> list[str]:
        """The file does not tell these any more. Those that go, because nobody does."""
        return self._without([id for id in ids if file in self._told.get(id, ())], file)

    def settle(self, file: int) -> list[str]:
        """The file was read to its end. Those that go, because it did not tell them again, and nobody does."""
        return self._without([id for id, files in self._told.items() if -file in files], -file)

    def _without(self, ids: Iterable[str], number: int) -> list[str]:
        dropped = []
        for id in ids:
            self._told[id].discard(number)
            if not self._told[id]:
                del self._told[id]
                dropped.append(id)
        return dropped

    def is_told(self, id: str, living: Collection[int]) -> bool:
        """Whether a file that is there tells it."""
        return any(file in living for file in self._told.get(id, ()))

    def is_told_by(self, id: str, file: int) -> bool:
        return file in self._told.get(id, ())

    def is_only_by(self, id: str, file: int) -> bool:
        return self._told.get(id) == {file}

    def are_only_by(self, file: int) -> bool:
        """Whether all is told by one file, and was told by no other."""
        return all(files == {file} for files in self._told.values())

    def files(self) -> set[int]:
        return {file for files in self._told.values() for file in files}

    def pairs(self) -> set[tuple[str, int]]:
        return {(id, file) for id, files in self._told.items() for file in files}


def _vanished(files: Iterable[int], living: Collection[int]) -> set[int]:
    return {abs(file) for file in files if file != NOBODY and abs(file) not in living}
