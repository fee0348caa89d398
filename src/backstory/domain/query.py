"""The search syntax: words, "phrases", prefix*, a OR b, -not, field:value, field:>10ms.

Any text is a valid query. Broken syntax, such as a quote that never closes, is read as words."""

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
"""Number of letters at the start of a word that its stem never changes."""
_TOKEN = lazy_pattern(r'-?(?:[^\s":]+:)?"[^"]*"|\S+')
_FIELD = lazy_pattern(r"([A-Za-z_][\w.-]*):(?!:|//)(\S.*)", re.DOTALL)
_COMPARED = lazy_pattern(r"(>=|<=|>|<|=)\s*(.+)", re.DOTALL)
_QUANTITY = lazy_pattern(r"([-+]?\d+(?:\.\d+)?)\s*([a-zA-Zµ%]*)")

# factors to the smallest unit of each family; a bare number has the unit of the value it is compared with
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
    """One alternative of a clause: units that a text must all contain, or a comparison with a metadata field."""

    units: tuple[Unit, ...] = ()
    field: Comparison | None = None
    is_checked: bool = False
    """True if the text index returns too many entries, and `says` must confirm each one."""


class Query(NamedTuple):
    """A parsed query. A text matches if every clause has a matching term and no excluded term matches."""

    clauses: tuple[tuple[QueryTerm, ...], ...] = ()
    excluded: tuple[QueryTerm, ...] = ()

    @property
    def units(self) -> list[Unit]:
        """Return the units used for ranking."""
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
    """Drop clauses of stop words: `how did we fix the login` searches for `fix` and `login`.

    A query of stop words only is left unchanged."""
    significant = [clause for clause in query.clauses if not all(_is_stop_word(term) for term in clause)]
    return query._replace(clauses=tuple(significant)) if significant else query


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
    """Return the units of one token. A text must contain all of them."""
    is_prefix = token.endswith("*")
    required = [unit for unit in query_units(token) if not unit.is_bonus]
    # a phrase replaces its words; a name such as user_name yields a phrase and also its spelling as one word
    together = [unit for unit in required if len(unit.words) > 1][:1]
    return tuple(unit._replace(is_prefix=is_prefix or unit.is_prefix) for unit in together or required)


def _is_cut(token: str, units: tuple[Unit, ...]) -> bool:
    """True if the token is a prefix that is looked up by its beginning only: the index contains stems, which may be
    shorter."""
    return token.endswith("*") and any(len(unit.words[-1]) > SURE_PREFIX for unit in units)


def looked_up(unit: Unit) -> Unit:
    """Return the unit to look up in the text index. Its result contains at least every intended entry."""
    last = unit.words[-1]
    if not unit.is_prefix or len(last) <= SURE_PREFIX:
        return unit
    return unit._replace(words=(*unit.words[:-1], last[: max(SURE_PREFIX, len(last) // 2)]))


def says(text: str, term: QueryTerm) -> bool:
    """True if a text contains what a checked term requires: the beginning of a word, or `field: value`."""
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
    """True if a metadata field matches the comparison. `a.b` is the field b of the object a."""
    value = field_of(metadata, wanted.field)
    if value is None:
        return False
    if wanted.sign == "exists":
        return True
    values = value if isinstance(value, list) else [value]
    return any(_compares(each, wanted) for each in values)


def field_of(metadata: Mapping[str, Any], path: str) -> Any:
    """Return a metadata field, or None if it does not exist.

    A name that contains a dot takes precedence over a path."""
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
    """Return -1, 0 or 1 if the value is below, equal to or above the other; None if they cannot be compared."""
    left, right = quantity(value), quantity(other)
    if left is None or right is None:
        # dates and versions are compared as text
        text = value if isinstance(value, str) and left is None and right is None else None
        return None if text is None else (text > other) - (text < other)
    (number, unit), (limit, limit_unit) = left, right
    a = number * _UNITS.get(unit or limit_unit, 1)
    b = limit * _UNITS.get(limit_unit or unit, 1)
    return (a > b) - (a < b)


def quantity(value: Any) -> tuple[float, str] | None:
    """Parse a number and its unit: 1500 has no unit, "1.5 s" is 1.5 seconds."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value), ""
    match = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 100 else None
    if match is None or (match[2] and match[2].lower() not in _UNITS):
        return None
    return float(match[1]), match[2].lower()


def sort_key(value: Any) -> tuple[int, float, str]:
    """Return a sort key that puts numbers before texts before missing values, whichever type a field has in each
    item."""
    if value is None:
        return 2, 0.0, ""
    amount = quantity(value)
    if amount is not None:
        number, unit = amount
        return 0, number * _UNITS.get(unit, 1), ""
    return 1, 0.0, _plain(value).casefold()


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
