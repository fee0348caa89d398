"""The language of a search in words: words, "phrases", prefix*, a OR b, -not, field:value, field:>10ms.

Any text is a query. What looks like syntax and is none, such as a quote that never closes, is taken as words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from unicodedata import combining, normalize

from .lazy import lazy_pattern
from .words import LONGEST_QUERY, STOP_WORDS, Unit, indexed_text, query_units

MOST_TERMS = 64
SURE_PREFIX = 3
"""Letters of a word that its stem keeps."""
_TOKEN = lazy_pattern(r'-?(?:[^\s":]+:)?"[^"]*"|\S+')
_FIELD = lazy_pattern(r"([A-Za-z_][\w.-]*):(?!:|//)(\S.*)", re.DOTALL)
_COMPARED = lazy_pattern(r"(>=|<=|>|<|=)\s*(.+)", re.DOTALL)
_QUANTITY = lazy_pattern(r"([-+]?\d+(?:\.\d+)?)\s*([a-zA-Zµ%]*)")

# each family in its smallest unit; a bare number is in the unit of what it is compared with
_UNITS: Mapping[str, float] = {
    "us": 0.001, "µs": 0.001, "ms": 1, "s": 1_000, "sec": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000,
    "d": 86_400_000,
    "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000,
    "kib": 1_024, "mib": 1_048_576, "gib": 1_073_741_824,
    "%": 1,
}  # fmt: skip


class Comparison(NamedTuple):
    field: str
    sign: str
    value: str


class QueryTerm(NamedTuple):
    """One thing asked for: units that a text must all hold, or a field of the metadata. Either will do."""

    units: tuple[Unit, ...] = ()
    field: Comparison | None = None
    is_checked: bool = False
    """The text index finds too much: what `says` denies is not meant."""


class Query(NamedTuple):
    """Every clause must match, by any of its terms; nothing that is excluded may."""

    clauses: tuple[tuple[QueryTerm, ...], ...] = ()
    excluded: tuple[QueryTerm, ...] = ()

    @property
    def units(self) -> list[Unit]:
        """What to rank by."""
        return [unit for clause in self.clauses for term in clause for unit in term.units]


def parse_query(text: str) -> Query:
    tokens = _TOKEN.findall(text[:LONGEST_QUERY])[:MOST_TERMS]
    clauses: list[list[QueryTerm]] = []
    excluded: list[QueryTerm] = []
    alternative = False
    for token in tokens:
        if token == "OR":
            alternative = bool(clauses)
            continue
        negated = len(token) > 1 and token.startswith("-")
        term = _term(token[1:] if negated else token)
        if term is None:
            continue
        if negated:
            excluded.append(term)
        elif alternative:
            clauses[-1].append(term)
        else:
            clauses.append([term])
        alternative = False
    if not clauses and not excluded and "OR" in tokens:
        clauses.append([QueryTerm(_units("or"))])
    return _without_stop_words(Query(tuple(map(tuple, clauses)), tuple(excluded)))


def _without_stop_words(query: Query) -> Query:
    """`how did we fix the login` asks for `fix` and `login`; words that stand alone are asked for all the same."""
    telling = [clause for clause in query.clauses if not all(_is_stop_word(term) for term in clause)]
    return query._replace(clauses=tuple(telling)) if telling else query


def _is_stop_word(term: QueryTerm) -> bool:
    return term.field is None and all(
        len(unit.words) == 1 and unit.words[0] in STOP_WORDS and not unit.is_prefix for unit in term.units
    )


def _term(token: str) -> QueryTerm | None:
    field = _FIELD.fullmatch(token)
    if field is None:
        units = _units(token)
        return QueryTerm(units, is_checked=_is_cut(token, units)) if units else None
    name, value = field[1], field[2].strip('"') or "*"
    if value == "*":
        return QueryTerm(_units(name), Comparison(name, "exists", ""), is_checked=True)
    compared = _COMPARED.fullmatch(value)
    if compared is not None:
        return QueryTerm(_units(name), Comparison(name, compared[1], compared[2].strip()), is_checked=True)
    return QueryTerm(_units(f'"{name} {value}"'), Comparison(name, "=", value))


def _units(token: str) -> tuple[Unit, ...]:
    """The units of one token, all of which a text must hold."""
    is_prefix = token.endswith("*")
    asked = [unit for unit in query_units(token) if not unit.is_bonus]
    # a phrase stands for its words; a name such as user_name has one, and its spelling in one word besides
    together = [unit for unit in asked if len(unit.words) > 1][:1]
    return tuple(unit._replace(is_prefix=is_prefix or unit.is_prefix) for unit in together or asked)


def _is_cut(token: str, units: tuple[Unit, ...]) -> bool:
    """A part of a word is looked up by its beginning: the index holds stems, and a stem may be shorter than it."""
    return token.endswith("*") and any(len(unit.words[-1]) > SURE_PREFIX for unit in units)


def looked_up(unit: Unit) -> Unit:
    """The unit to ask the text index for; it finds at least all that was meant."""
    last = unit.words[-1]
    if not unit.is_prefix or len(last) <= SURE_PREFIX:
        return unit
    return unit._replace(words=(*unit.words[:-1], last[: max(SURE_PREFIX, len(last) // 2)]))


def says(text: str, term: QueryTerm) -> bool:
    """Whether a text truly has what a checked term asks for: the beginning of a word, or `field: value`."""
    if term.field is not None:
        name = re.escape(term.field.field)
        pattern = re.compile(rf"(?<![\w.]){name}[\"']?\s?[:=]\s?[\"']?([^\s,;\"'{{}}]+)", re.IGNORECASE)
        wanted = term.field
        return any(
            wanted.sign == "exists" or _compares(value.rstrip("."), wanted) for value in pattern.findall(text)
        )
    folded = _folded(indexed_text(text))
    return all(_word_start(unit).search(folded) for unit in term.units)


def _word_start(unit: Unit) -> re.Pattern[str]:
    words = r"[\W_]+".join(re.escape(_folded(word)) for word in unit.words)
    return re.compile(rf"(?<![^\W_]){words}")


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(letter for letter in normalize("NFKD", text.lower()) if not combining(letter))


def holds(metadata: Mapping[str, Any], wanted: Comparison) -> bool:
    """Whether a field of the metadata is as asked for. `a.b` is the field b of the object a."""
    value = field_of(metadata, wanted.field)
    if value is None:
        return False
    if wanted.sign == "exists":
        return True
    values = value if isinstance(value, list) else [value]
    return any(_compares(each, wanted) for each in values)


def field_of(metadata: Mapping[str, Any], path: str) -> Any:
    """None when there is no such field. A name with a dot in it comes before a path."""
    if path in metadata:
        return metadata[path]
    value: Any = metadata
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _compares(value: Any, wanted: Comparison) -> bool:
    if wanted.sign == "=":
        return _plain(value).casefold() == wanted.value.casefold() or _sign(value, wanted.value) == 0
    sign = _sign(value, wanted.value)
    if sign is None:
        return False
    return {">": sign > 0, ">=": sign >= 0, "<": sign < 0, "<=": sign <= 0}[wanted.sign]


def _sign(value: Any, other: str) -> int | None:
    """-1, 0 or 1 as the value is below, at or above the other; None where they cannot be compared."""
    left, right = quantity(value), quantity(other)
    if left is None or right is None:
        # dates and versions are compared as they are written
        text = value if isinstance(value, str) and left is None and right is None else None
        return None if text is None else (text > other) - (text < other)
    (number, unit), (limit, limit_unit) = left, right
    a = number * _UNITS.get(unit or limit_unit, 1)
    b = limit * _UNITS.get(limit_unit or unit, 1)
    return (a > b) - (a < b)


def quantity(value: Any) -> tuple[float, str] | None:
    """A number and its unit: 1500 is 1500 of anything, "1.5 s" is 1.5 seconds."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value), ""
    match = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 100 else None
    if match is None or (match[2] and match[2].lower() not in _UNITS):
        return None
    return float(match[1]), match[2].lower()


def sort_key(value: Any) -> tuple[int, float, str]:
    """Numbers before texts before what is not there, whatever a field holds from one item to the next."""
    if value is None:
        return 2, 0.0, ""
    amount = quantity(value)
    if amount is not None:
        number, unit = amount
        return 0, number * _UNITS.get(unit, 1), ""
    return 1, 0.0, _plain(value).casefold()


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
