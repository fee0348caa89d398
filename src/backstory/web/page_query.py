"""The checked parameters of an address. Every parameter of every page is read here."""

from __future__ import annotations

from collections.abc import Mapping

from ..domain.errors import InvalidInput
from ..domain.filters import Bounds
from ..domain.when import Clock, parse_bounds

MAX_VALUE_CHARS = 2_000


class PageQuery:
    def __init__(self, parameters: Mapping[str, str], now: Clock) -> None:
        self._parameters = parameters
        self.now = now

    def text(self, name: str) -> str:
        """Without blanks around it; empty when it was not given."""
        value = self._parameters.get(name, "").strip()
        if len(value) > MAX_VALUE_CHARS:
            raise InvalidInput(
                f"{name} is longer than {MAX_VALUE_CHARS:,} characters.", hint="Shorten it.", field=name
            )
        return value

    def whole_text(self, name: str) -> str:
        """The unchanged value, of any length."""
        return self._parameters.get(name, "").replace("\r\n", "\n")

    def number(self, name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
        value = self.text(name)
        if not value:
            return default
        if not value.lstrip("-").isdecimal() or not least <= int(value) <= most:
            raise InvalidInput(
                f"{name} {value[:40]!r} is not a number from {least} to {most}.",
                hint="Correct the address.",
                field=name,
            )
        return int(value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of these, or nothing."""
        value = self.text(name)
        if value and value not in choices:
            raise InvalidInput(
                f"{name} {value[:40]!r} is not one of {', '.join(choices)}.", hint="Choose one.", field=name
            )
        return value

    def bounds(self) -> Bounds:
        """The filters that every list has."""
        projects, assistants = self.text("project"), self.text("assistant")
        since, until = parse_bounds(self.text("since") or None, self.text("until") or None, self.now())
        return Bounds((projects,) if projects else (), (assistants,) if assistants else (), since, until)
