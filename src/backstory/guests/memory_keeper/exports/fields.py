"""Read parsed JSON from an untrusted file field by field, and record each problem with its location.

After a problem, reading continues with a substitute value, to find every problem in one pass. The result is used only
if there were none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ....domain.errors import Unreadable
from ....domain.records import Priority
from ....domain.when import EPOCH, from_ms, to_ms

DEEPEST = 100
"""Maximum nesting of an object. Deeper nesting is an attack, and could not be stored."""

_NAMES = {str: "text", bool: "true or false", dict: "an object", list: "a list"}


class ImportProblems:
    """The problems of a file, and the values in it that must be unique."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.seen: set[tuple[str, str]] = set()


class Fields:
    """One object of the file."""

    def __init__(self, value: Any, place: str, report: ImportProblems) -> None:
        self.place = place
        self.report = report
        self._values: Mapping[str, Any] = {}
        if isinstance(value, dict):
            self._values = value
        else:
            report.problems.append(f"{place or 'The file'} must be an object.")

    def at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def wrong(self, name: str, what: str) -> None:
        self.report.problems.append(f"{self.at(name)} {what}")

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def value(self, name: str) -> Any:
        return self._values.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text, which is required unless there is a default."""
        if not self.has(name):
            if default is None:
                self.wrong(name, "is missing.")
            return default or ""
        return self.text_or_none(name) or ""

    def once(self, name: str, within: str) -> str:
        """Return a required, non-empty text that is unique in `within`."""
        text = self.text(name)
        if not text and self.has(name):
            self.wrong(name, "is empty.")
        if text and (within, text) in self.report.seen:
            self.wrong(name, f"{text[:80]!r} stands twice.")
        self.report.seen.add((within, text))
        return text

    def text_or_none(self, name: str) -> str | None:
        text = self._typed(name, str)
        if text is None:
            return None
        try:
            text.encode()
        except UnicodeEncodeError:
            self.wrong(name, "holds half of a surrogate pair, which is not text.")
            return None
        return str(text)

    def flag(self, name: str) -> bool:
        return bool(self._typed(name, bool))

    def priority(self, name: str) -> Priority:
        word = self.text(name, Priority.NORMAL)
        if word not in Priority.__members__.values():
            self.wrong(name, f"must be one of {', '.join(Priority)}.")
            return Priority.NORMAL
        return Priority(word)

    def time(self, name: str, default: datetime | None = None) -> datetime:
        if default is not None and not self.has(name):
            return default
        written = self.text(name)
        try:
            return _moment(written)
        except (ValueError, OverflowError):
            if written:
                self.wrong(name, f"{written[:40]!r} is not a time.")
            return default or EPOCH

    def mapping(self, name: str) -> dict[str, Any]:
        value: dict[str, Any] = self._typed(name, dict) or {}
        if _too_deep(value):
            self.wrong(name, f"is nested more than {DEEPEST} levels deep.")
        elif not _is_text(value):
            self.wrong(name, "holds half of a surrogate pair, which is not text.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._typed(name, list) or []
        if not all(isinstance(each, str) and _is_text(each) for each in values):
            self.wrong(name, "must be a list of texts.")
            return ()
        return tuple(values)

    def objects(self, name: str) -> Iterator[Fields]:
        for index, each in enumerate(self._typed(name, list) or []):
            yield Fields(each, f"{self.at(name)}[{index}]", self.report)

    def _typed(self, name: str, kind: type) -> Any:
        value = self._values.get(name)
        if value is None or isinstance(value, kind):
            return value
        self.wrong(name, f"must be {_NAMES[kind]}.")
        return None


def _moment(written: str) -> datetime:
    """Parse ISO 8601, also with a blank instead of the T. A time without an offset is UTC."""
    moment = datetime.fromisoformat(written)
    return from_ms(to_ms(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)))


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level if isinstance(each, dict | list) for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def parse(text: str, source: str) -> Any:
    """Parse strict JSON: without NaN, duplicate names in an object, or excessive nesting."""
    try:
        return json.loads(
            text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_object_of_distinct_names
        )
    except RecursionError:
        raise Unreadable(f"{source} is not JSON: nested too deeply.", hint="Nothing was imported.") from None
    except ValueError as error:
        raise Unreadable(f"{source} is not JSON: {error}.", hint="Nothing was imported.") from None


def _no_number(written: str) -> None:
    raise ValueError(f"{written} is not a number")


def _finite(written: str) -> float:
    number = float(written)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{written} is too large")
    return number


def _object_of_distinct_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        raise ValueError(f"{twice!r} stands twice in one object")
    return fields
