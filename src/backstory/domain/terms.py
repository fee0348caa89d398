"""The significant words of a text: without stop words and numbers, with names and paths as a whole."""

from __future__ import annotations

from .lazy import lazy_pattern
from .records import Memory
from .words import STOP_WORDS

READ = 5_000  # number of characters at the start of a text that are read

_TERM = lazy_pattern(r"[^\W\d_][\w./-]*\w")
_FAULT = lazy_pattern(r"\b[^\W\d]\w*(?:Error|Exception)\b")
_MIN_TERM_CHARS = 3


def terms_of(text: str) -> frozenset[str]:
    terms = (term.lower() for term in _TERM.findall(text[:READ]))
    return frozenset(term for term in terms if len(term) >= _MIN_TERM_CHARS and term not in STOP_WORDS)


def spelled(term: str, memory: Memory) -> str:
    """Return the term as it is spelled in a memory that contains it."""
    text = f"{memory.key or ''} {memory.text}"
    return next((spelling for spelling in _TERM.findall(text[:READ]) if spelling.lower() == term), term)


def are_alike(left: Memory, right: Memory) -> bool:
    """True if two memories report the same error: they share half of their words, or name one exception in similar
    words."""
    one, other = terms_of(left.text), terms_of(right.text)
    shared = len(one & other) / max(len(one | other), 1)
    faults = set(_FAULT.findall(left.text)) & set(_FAULT.findall(right.text))
    return shared >= 0.5 or (bool(faults) and shared >= 0.2)
