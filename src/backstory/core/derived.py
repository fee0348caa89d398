"""Records that are derived from memories and may quote them, for example the handoffs of a session.

Each kind declares itself as a `Derivation`. Forgetting a memory asks every declared kind to drop its quotations, so
this module does not need to know the kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ..store import Store

QUOTED_CHARS = 512
"""Characters of each value's beginning to compare: enough to recognise a quotation in which a secret was redacted."""


class ForgottenMemories(NamedTuple):
    """Memories that are being forgotten, by the two things a quotation can be recognized by."""

    ids: frozenset[str]
    beginnings: Sequence[str]
    """The beginning of every value that these memories have or had."""


class FileRewrite(NamedTuple):
    """A file that quotes a forgotten memory. It is rewritten after the transaction that forgets."""

    path: str
    run: Callable[[], bool]
    """Rewrite it; False if it did not change because it was moved, deleted or replaced."""


class DerivedChange(NamedTuple):
    records: int
    files: Sequence[FileRewrite] = ()


class Derivation(Protocol):
    @property
    def name(self) -> str:
        """The name of these records in a receipt."""
        ...

    def forget(self, store: Store, memories: ForgottenMemories) -> DerivedChange:
        """Drop every quotation of these memories from the records in the store. Runs inside a transaction."""
        ...
