"""Redaction of keys, tokens and passwords before a text is stored.

Texts of any size pass through here. A single pattern of all markers and hints scans them; only the rules that it
points to are then applied, and only to those texts.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import re2

from .checks import CHECKS, Check
from .nearby import value_behind

_LONGEST_HINT = 64
_MEMORY = 32 << 20  # for the states of a scanner: with less it forgets them, and is ten times slower
FILE = Path(__file__).with_name("rules.toml")


class RedactedText(NamedTuple):
    text: str
    found: int


@cache
def redactor(mode: str) -> Redactor:
    """One for all of a process: compiling the rules takes longer than most calls."""
    return Redactor(mode)


class Redactor:
    """`mode` is standard, wide or off.

    The rules are compiled when the first text arrives: that takes 45 ms, and most syncs find nothing new to read."""

    def __init__(self, mode: str) -> None:
        self._mode = mode

    @cached_property
    def _rules(self) -> list[Rule]:
        return load_rules(self._mode)

    @cached_property
    def _marks(self) -> dict[bytes, set[int]]:
        """The rules of each marker."""
        marks: dict[bytes, set[int]] = {}
        for number, rule in enumerate(self._rules):
            for mark in rule.marks:
                marks.setdefault(mark, set()).add(number)
        return marks

    @cached_property
    def _hinted(self) -> list[int]:
        """The rules without a marker."""
        return [number for number, rule in enumerate(self._rules) if not rule.marks]

    @cached_property
    def _mark(self) -> Any:
        return _scanner([re2.escape(mark.decode()) for mark in self._marks])

    @cached_property
    def _hint(self) -> Any:
        return _scanner([self._rules[number].hint for number in self._hinted])

    @cached_property
    def _hidden(self) -> dict[bytes, list[tuple[int, bytes]]]:
        return _hidden(self._marks)

    @cached_property
    def _which_hints(self) -> Any:
        return _set([self._rules[number].hint for number in self._hinted])

    def redact(self, text: str) -> RedactedText:
        """The text with `[redacted: name]` in the place of each secret, and the number of secrets."""
        (redacted,), secrets = self.redact_all([text])
        return RedactedText(redacted, secrets)

    def redact_all(self, texts: Sequence[str]) -> tuple[list[str], int]:
        """Redact many texts. Scanning them as one is several times faster if they are short."""
        redacted = list(texts)
        if self._mode == "off" or not any(texts):
            return redacted, 0
        raws = [text.encode("utf-8", "surrogatepass") for text in texts]
        count = 0
        for place, numbers in sorted(self._suspects(raws).items()):
            raw, secrets = self._without_secrets(raws[place], sorted(numbers))
            if secrets:
                redacted[place] = raw.decode("utf-8", "surrogatepass")
                count += secrets
        return redacted, count

    def _suspects(self, raws: Sequence[bytes]) -> dict[int, set[int]]:
        """The rules that may match, by text."""
        whole = b"\0".join(raws)
        ends = list(accumulate(len(raw) + 1 for raw in raws))
        suspects: dict[int, set[int]] = {}
        for hit in self._mark.finditer(whole):
            suspects.setdefault(bisect_right(ends, hit.start()), set()).update(self._marked(whole, hit))
        hinted: dict[int, list[bytes]] = {}
        for hit in self._hint.finditer(whole):
            around = whole[max(hit.start() - 1, 0) : hit.end() + _LONGEST_HINT]  # one may hide another
            # a hint may extend into the next text and hide a secret there
            for place in range(bisect_right(ends, hit.start()), bisect_right(ends, hit.end() - 1) + 1):
                hinted.setdefault(place, []).append(around)
        for place, hits in hinted.items():
            suspects.setdefault(place, set()).update(self._hinting(b"\0".join(hits)))
        return suspects

    def _marked(self, whole: bytes, hit: Any) -> Iterator[int]:
        """The rules of the mark that was found here, and of marks that it may hide, such as one that begins inside it."""
        for at, mark in self._hidden[hit.group()]:
            if whole.startswith(mark, hit.start() + at):
                yield from self._marks[mark]

    def _hinting(self, hits: bytes) -> Iterator[int]:
        """The rules whose hints occur."""
        return (self._hinted[place] for place in self._which_hints.Match(hits))

    def _without_secrets(self, raw: bytes, numbers: Sequence[int]) -> tuple[bytes, int]:
        count = 0
        for number in numbers:
            raw, secrets = _redacted(self._rules[number], raw)
            count += secrets
        return raw, count


def _scanner(patterns: Sequence[str]) -> Any:
    """Finds the longest of all: that needs far fewer states than finding the first."""
    return re2.compile("|".join(patterns).encode(), _options())


def _set(patterns: Sequence[str]) -> Any:
    """A set of patterns that reports all matches in one pass."""
    patterns_together = re2.Set.SearchSet(_options())
    for pattern in patterns:
        patterns_together.Add(pattern.encode())
    patterns_together.Compile()
    return patterns_together


def _options(is_longest: bool = True) -> Any:
    options = re2.Options()
    options.longest_match = options.never_capture = is_longest
    options.max_mem = _MEMORY
    options.log_errors = False  # to standard error, which is the user's terminal
    return options


def _hidden(marks: Mapping[bytes, object]) -> dict[bytes, list[tuple[int, bytes]]]:
    """For each marker, the markers that may begin at or inside it, with their offsets."""
    by_prefix: dict[bytes, list[bytes]] = {}
    for mark in marks:
        for length in range(1, len(mark) + 1):
            by_prefix.setdefault(mark[:length], []).append(mark)
    return {
        mark: [
            (at, other)
            for at in range(len(mark))
            for other in {
                *by_prefix.get(mark[at:], ()),
                *(mark[at:end] for end in range(at + 1, len(mark)) if mark[at:end] in marks),
            }
        ]
        for mark in marks
    }


def _redacted(rule: Rule, raw: bytes) -> tuple[bytes, int]:
    parts: list[bytes] = []
    end = 0
    pattern = _compiled(rule.pattern)
    for match in pattern.finditer(raw):
        span = value_behind(match) if rule.is_name else _span(rule, match)
        if span is not None and span[0] >= end:
            parts += (raw[end : span[0]], f"[redacted: {rule.name}]".encode())
            end = span[1]
    return (b"".join((*parts, raw[end:])), len(parts) // 2) if parts else (raw, 0)


def _span(rule: Rule, match: Any) -> tuple[int, int] | None:
    """The span of the first group that matched, or of the whole match, if it is a secret."""
    group = next((g for g in range(1, match.re.groups + 1) if match.start(g) >= 0), 0)
    return match.span(group) if rule.is_secret(match.group(group), match) else None


@cache
def _compiled(pattern: bytes) -> Any:
    """Compile the pattern of a rule on demand: most processes meet few of them. google-re2 has no types."""
    return re2.compile(pattern, _options(is_longest=False))


class Rule(NamedTuple):
    name: str
    marks: tuple[bytes, ...]
    """One of these is in every match; without any, `hint` matches wherever the pattern does."""
    hint: str
    pattern: bytes
    is_secret: Check
    is_name: bool
    """True if the pattern finds the name of a secret; the secret itself follows it."""


def read_rules(mode: str) -> list[Mapping[str, Any]]:
    """The rules of the file; rules for wide mode only in that mode."""
    return [rule for rule in _file()["rule"] if rule.get("mode", mode) == mode]


@cache
def _file() -> Any:
    with FILE.open("rb") as file:
        return tomllib.load(file)


def load_rules(mode: str) -> list[Rule]:
    parts = _file()["parts"]
    return [
        Rule(
            name=rule["name"],
            marks=tuple(mark.encode() for mark in rule.get("marks", ())),
            hint=_whole(rule.get("hint", rule["pattern"]), parts),
            pattern=_whole(rule["pattern"], parts).encode(),
            is_secret=CHECKS[rule.get("check", "any")],
            is_name=rule.get("is_name", False),
        )
        for rule in read_rules(mode)
    ]


def _whole(pattern: str, parts: Mapping[str, str]) -> str:
    """The pattern with the parts that it shares with others."""
    for name, part in parts.items():
        pattern = pattern.replace(f"%{name}%", part)
    return pattern
