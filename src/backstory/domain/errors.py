"""Everything that can go wrong for a caller, as one tree.

    BackstoryError
    ├── InvalidInput   an argument is missing, of the wrong type or out of range
    │   └── Missing        it is required and was not given
    ├── NotFound       there is no such record
    ├── NotAllowed     the caller, or the file system, does not permit it
    │   └── Disabled       the server was started without this tool
    ├── GitFailed      git refused, or could not be run
    │   └── NothingToCommit
    ├── Unreadable     a file or text is not what it should be
    ├── StorageFull    the disk, or the configured limit, is reached
    ├── NotWritten     a file the user asked for could not be written
    │   ├── NoFolder       because its folder cannot be made
    │   └── NoName         because every name for it is taken
    └── Unavailable    the database or a configured endpoint cannot answer now
        ├── TimedOut       it did not answer in time
        └── Incompatible   the database was written by a newer, incompatible version

Raise low, translate once: a surface words these in `Surface.fail`, the command line in `cli`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any


class BackstoryError(Exception):
    """A failure that the caller can understand: a sentence about the request, and a hint about what to do.

    `field` is core's name of the invalid parameter, if there is one; `spell` replaces it by the caller's name.
    `details` are further facts as JSON, for surfaces whose errors can carry them."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        field: str | None = None,
        details: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()

    def spell(self, names: Mapping[str, str]) -> None:
        """Replace core's name of the field by the caller's name, and mention it in the message."""
        if self.field is None:
            return
        spelled = names.get(self.field, self.field)
        if spelled not in names.values():
            return
        if self.message.startswith(f"{self.field} "):
            self.message = spelled + self.message.removeprefix(self.field)
        elif spelled.lower() not in self.message.lower():
            self.message = f"{spelled}: {self.message}"
        self.field = spelled


class InvalidInput(BackstoryError):
    pass


class Missing(InvalidInput):
    pass


class NotFound(BackstoryError):
    def __init__(self, kind: str, id: str, *, hint: str = "", reason: str = "") -> None:
        """Describe a missing record. `reason` explains why it no longer exists, as in "is stopped"."""
        super().__init__(
            f"The {kind} {id!r} {reason}." if reason else f"There is no {kind} {id!r}.", hint=hint
        )
        self.kind = kind


class NotAllowed(BackstoryError):
    pass


class Disabled(NotAllowed):
    pass


class GitFailed(BackstoryError):
    pass


class NothingToCommit(GitFailed):
    pass


class Unreadable(BackstoryError):
    pass


class StorageFull(BackstoryError):
    pass


class NotWritten(BackstoryError):
    pass


class NoFolder(NotWritten):
    pass


class NoName(NotWritten):
    pass


class Unavailable(BackstoryError):
    pass


class TimedOut(Unavailable):
    pass


class Incompatible(Unavailable):
    pass


def check_at_least(least: int, number: int, field: str) -> None:
    if number < least:
        raise InvalidInput(f"{field} must be at least {least}.", field=field)


def install_hint(extra: str) -> str:
    """Return the command that installs an extra for the running package."""
    checkout = Path(__file__).resolve().parents[3]
    is_checkout = (checkout / "pyproject.toml").is_file()
    return (
        f"pip install --editable '{checkout}[{extra}]'"
        if is_checkout
        else f"pip install 'backstory[{extra}]'"
    )
