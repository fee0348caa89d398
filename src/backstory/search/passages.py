"""Split a long text into passages, each with a vector.

A vector of a longer passage is less precise, and the model reads at most 256 word pieces, about 1,000 characters."""

from __future__ import annotations

from hashlib import blake2b

from ..domain.lazy import lazy_pattern

PASSAGE_CHARS = 1000
MAX_PASSAGES = 16
MOST_OF_MESSAGE = 2  # its beginning and its end: more of them found no more, for a third more work
DIGEST_BYTES = 8
_COUNTER = lazy_pattern(r"([^\W\d_]*[_\-.:#])?\d+")
_SENTENCE_END = lazy_pattern(r"[.!?;:…]\s|[。！？]")


def split_passages(text: str, size: int = PASSAGE_CHARS, most: int = MAX_PASSAGES) -> list[str]:
    """Passages of at most `size` characters in order, cut at the best border near their end.

    If a text has more than `most`, an even sample is returned, including the first and the last: vectors for a
    complete log file take seconds and find little, and text search reads all of it anyway."""
    passages = []
    start = 0
    while start < len(text):
        end = _end(text, start, size)
        passage = text[start:end].strip()
        if passage:
            passages.append(passage)
        start = end
    if len(passages) <= most:
        return passages
    step = (len(passages) - 1) / max(most - 1, 1)
    return [passages[round(index * step)] for index in range(most)]


def without_counters(heading: str) -> str:
    """A heading without keys and tags that only count, for example `note_505`.

    They say nothing, but change the vector of a short text: the cosine with and without one was .8 to .98. A number
    in a name such as `oauth2_scopes` stays."""
    return " ".join(word for word in heading.split() if not _COUNTER.fullmatch(word))


def passage_digest(passage: str) -> int:
    """A key that is equal for equal passages, wherever they occur."""
    digest = blake2b(passage.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


def _end(text: str, start: int, size: int) -> int:
    left = len(text) - start
    if left <= size:
        return len(text)
    # near the end the last two share the rest, so that none is tiny
    latest = start + min(size, left // 2 + size // 8)
    earliest = start + max((latest - start) // 2, 1)
    return _border(text, earliest, latest)


def _border(text: str, earliest: int, latest: int) -> int:
    """The position at which a paragraph, a line, a sentence or a word ends; `latest` if there is none."""
    for mark in ("\n\n", "\n"):
        at = text.rfind(mark, earliest, latest)
        if at >= 0:
            return at + len(mark)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, earliest, latest)]
    if ends:
        return ends[-1]
    at = max(text.rfind(space, earliest, latest) for space in " \t")
    return at + 1 if at >= 0 else latest
