"""Everything that can go wrong for a caller, as one tree.

    BackstoryError
    ├── InvalidInput   an argument is missing, of the wrong type or out of range
    ├── NotFound       there is no such record
    ├── NotAllowed     the caller, or the file system, does not permit it
    ├── Unreadable     a file or text is not what it should be
    ├── StorageFull    the disk, or the configured limit, is reached
    └── Unavailable    the database or a configured endpoint cannot answer now
        └── Incompatible   the database was written by a newer, incompatible version

Raise low, translate once: a surface words these in `Surface.fail`, the command line in `cli`.
"""

from __future__ import annotations


class BackstoryError(Exception):
    """A failure the caller can understand: a sentence about this request, and a hint what to do."""

    def __init__(self, message: str, *, hint: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class InvalidInput(BackstoryError):
    pass


class NotFound(BackstoryError):
    def __init__(self, kind: str, id: str, *, hint: str = "") -> None:
        super().__init__(f"There is no {kind} {id!r}.", hint=hint)
        self.kind = kind


class NotAllowed(BackstoryError):
    pass


class Unreadable(BackstoryError):
    pass


class StorageFull(BackstoryError):
    pass


class Unavailable(BackstoryError):
    pass


class Incompatible(Unavailable):
    pass
