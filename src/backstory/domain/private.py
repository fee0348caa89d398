"""Passages between `<private>` and `</private>`, which are never stored."""

from __future__ import annotations

import re
from typing import NamedTuple

from .fences import outside_fences
from .lazy import lazy_pattern

# a tag in backticks is mentioned, not used
_TAG = lazy_pattern(r"(?<!`)<(/?)private\s*>(?!`)", re.IGNORECASE)
_FENCES = ("```", "~~~")


class PublicText(NamedTuple):
    text: str
    removed: tuple[str, ...] = ()
    """The private passages, without their tags."""


def without_private(text: str) -> PublicText:
    """Remove every private passage.

    A passage that is never closed extends to the end of the text. Passages may be nested. A tag in a code fence is
    code."""
    if "<private" not in text.lower():
        return PublicText(text)
    public: list[str] = []
    removed: list[str] = []
    rest = text
    while (opening := _opening(rest)) is not None:
        inside, after = _passage(rest[opening.end() :])
        public.append(rest[: opening.start()])
        removed.append(inside)
        rest = after
    return PublicText("".join([*public, rest]), tuple(removed)) if removed else PublicText(text)


def _opening(text: str) -> re.Match[str] | None:
    """Return the first opening tag outside code fences."""
    tags = (tag for tag in _TAG.finditer(text) if not tag[1])
    if not any(fence in text for fence in _FENCES):
        return next(tags, None)
    outside = set(outside_fences(text.split("\n")))
    return next((tag for tag in tags if text.count("\n", 0, tag.start()) in outside), None)


def _passage(text: str) -> tuple[str, str]:
    """Split a text that begins inside a passage into the passage and the text after it."""
    depth = 1
    for tag in _TAG.finditer(text):
        depth += -1 if tag[1] else 1
        if not depth:
            return text[: tag.start()], text[tag.end() :]
    return text, ""
