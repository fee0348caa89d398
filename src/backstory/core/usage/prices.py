"""List prices of models, from a dated table. A model that is not in it has no price, rather than a guess.

Rows of models that are no longer sold stay, or old conversations would lose their costs. A model whose price changed
has a list of rows, the older ones with `until`: the first day on which they are no longer valid.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from ...domain.errors import InvalidInput
from ...domain.lazy import lazy_pattern
from ...domain.usage import UsageSum

SHIPPED = Path(__file__).with_name("prices.json")
_PER = 1_000_000
_DATED = lazy_pattern(r"-\d{8}$")
_EPOCH = date(1970, 1, 1)
_ONE_HOUR = 2.0
"""The price of cache writes with a lifetime of an hour, as a multiple of the input price, if the table has none."""


class Rates(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float

    def cost(self, used: UsageSum) -> float:
        short = used.cache_write - used.cache_write_1h
        total = used.input * self.input + used.output * self.output + used.cache_read * self.cache_read
        return (total + short * self.cache_write + used.cache_write_1h * self.cache_write_1h) / _PER


class Price(NamedTuple):
    rates: Rates
    until: date | None = None
    """The first day on which the price is no longer valid."""
    above_tokens: int = 0
    """Input of one call, with caches, above which the other rates apply; 0 where there are none."""
    rates_above: Rates | None = None


@dataclass(frozen=True)
class Prices:
    made_on: str
    """The day of the table, as ISO 8601 has it."""
    source: str
    models: dict[str, tuple[Price, ...]]

    @functools.cached_property
    def tier_limits(self) -> tuple[int, ...]:
        """Every number of tokens above which some price changes."""
        rows = (price for prices in self.models.values() for price in prices)
        return tuple(sorted({price.above_tokens for price in rows if price.above_tokens}))

    def cost(self, used: UsageSum, tier_limits: tuple[int, ...]) -> float | None:
        """The cost of calls at the price of their day; None where the model has no price.

        `used.tier` counts the limits that the calls exceed."""
        price = self._price(used.model, _EPOCH + timedelta(days=used.day))
        if price is None:
            return None
        is_above = price.rates_above is not None and used.tier > tier_limits.index(price.above_tokens)
        rates = price.rates_above if is_above and price.rates_above is not None else price.rates
        return rates.cost(used)

    def _price(self, model: str, day: date) -> Price | None:
        name = model.rpartition("/")[2]
        prices = self.models.get(name) or self.models.get(_DATED.sub("", name)) or ()
        return next((price for price in prices if price.until is None or day < price.until), None)


def load_prices(file: str) -> Prices:
    """The table in a file, or the built-in one."""
    path = Path(file).expanduser() if file else SHIPPED
    try:
        return _loaded(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{path} contains no readable prices: {error}.",
            hint="`docs/usage.md` describes the file; without the setting prices_file the built-in prices apply.",
            field="prices_file",
        ) from error


@functools.lru_cache(maxsize=2)
def _loaded(path: Path, _modified_ns: int) -> Prices:
    table = json.loads(path.read_text("utf-8"))
    models = {name: _rows(rates) for name, rates in table["models"].items()}
    return Prices(date.fromisoformat(table["date"]).isoformat(), str(table.get("source", "")), models)


def _rows(entry: Any) -> tuple[Price, ...]:
    """One row, or several of which the last is the current one."""
    return tuple(map(_row, entry if isinstance(entry, list) else [entry]))


def _row(entry: dict[str, Any]) -> Price:
    until = date.fromisoformat(entry["until"]) if entry.get("until") else None
    rates, above = _rates(entry, {}), entry.get("above")
    if not above:
        return Price(rates, until)
    return Price(rates, until, int(above["tokens"]), _rates(above, entry))


def _rates(entry: dict[str, Any], otherwise: dict[str, Any]) -> Rates:
    """A cache without a price of its own costs as much as input."""

    def rate(name: str, default: float) -> float:
        value = entry.get(name)
        value = otherwise.get(name) if value is None else value
        return default if value is None else float(value)

    price = rate("in", 0.0)
    one_hour = float(entry.get("write_1h") or price * _ONE_HOUR)
    return Rates(price, rate("out", 0.0), rate("read", price), rate("write", price), one_hour)
