"""The team's spaces that this machine has joined: a file in the data directory that only the user may read, as it
holds tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..domain.errors import InvalidInput, Unreadable
from ..domain.team import JOINED_SPACES
from ..store.whole_files import write_whole


class JoinedSpace(NamedTuple):
    name: str
    url: str
    """The server's address, without our path."""
    token: str
    person: str
    """The user, as the server knows them."""


class JoinedSpaces:
    def __init__(self, home: Path) -> None:
        self._path = home / JOINED_SPACES

    def all(self) -> dict[str, JoinedSpace]:
        """The joined spaces by name. Raises Unreadable."""
        try:
            body = json.loads(self._path.read_text("utf-8"))
            return {each["name"]: JoinedSpace(**each) for each in body["spaces"]}
        except FileNotFoundError:
            return {}
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise Unreadable(
                f"{self._path} cannot be read: {error}.", hint="Delete or move it, and join the spaces again."
            ) from None

    def put(self, space: JoinedSpace) -> None:
        self._write((self.all() | {space.name: space}).values())

    def remove(self, name: str) -> None:
        left = [each for each in self.all().values() if each.name != name]
        if left:
            self._write(left)
        else:
            self._path.unlink(missing_ok=True)

    def check(self, name: str) -> JoinedSpace:
        """Raises InvalidInput for a space that this machine has not joined."""
        joined = self.all()
        if name not in joined:
            listed = f"Joined: {', '.join(joined)}." if joined else "`backstory team join URL` joins one."
            raise InvalidInput(
                f"This machine has not joined a space {name!r}; nothing was saved.",
                hint=listed,
                field="space",
            )
        return joined[name]

    def _write(self, spaces: Iterable[JoinedSpace]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        body = {"spaces": [each._asdict() for each in spaces]}
        write_whole(self._path, [json.dumps(body, indent=1), "\n"])
