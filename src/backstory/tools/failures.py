"""How a surface words failures: its codes and its advice, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..domain.errors import BackstoryError, NotFound


class ErrorTable(NamedTuple):
    codes: Mapping[type[BackstoryError], str]
    """A kind of error that is not here has the code of its parent; BackstoryError is."""
    not_found: Mapping[str, str] = {}
    """Codes of their own, by the kind of record that is not there."""
    hints: Mapping[str, str] = {}
    """What to do where the error does not say it: by the kind of record that is not there, else by code."""

    def code(self, error: BackstoryError) -> str:
        named = self.not_found.get(error.kind) if isinstance(error, NotFound) else None
        return named or next(self.codes[kind] for kind in type(error).__mro__ if kind in self.codes)

    def hint(self, error: BackstoryError) -> str:
        kind = error.kind if isinstance(error, NotFound) else ""
        return error.hint or self.hints.get(kind) or self.hints.get(self.code(error), "")
