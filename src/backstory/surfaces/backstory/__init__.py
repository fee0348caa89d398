"""Backstory's own tools: seven verbs over everything that is known, with answers in lean text.

No answer has a structure beside its text: clients that get both give the model the structure, which costs it more."""

from __future__ import annotations

from . import hooks, tools  # noqa: F401  (their tools register themselves)
from .vocabulary import surface

__all__ = ["surface"]
