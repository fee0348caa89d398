"""The rules of `rules.toml`, compiled for RE2, whose time grows with the text and no faster."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .checks import CHECKS, Check

FILE = Path(__file__).with_name("rules.toml")


class Rule(NamedTuple):
    name: str
    marks: tuple[bytes, ...]
    """One of these is in every match; none where `hint` tells."""
    hint: str
    pattern: Any
    """google-re2 has no types."""
    is_secret: Check


def read_rules(mode: str) -> list[Mapping[str, Any]]:
    """As the file has them; those for wide mode only in that."""
    with FILE.open("rb") as file:
        rules: Sequence[Mapping[str, Any]] = tomllib.load(file)["rule"]
    return [rule for rule in rules if rule.get("mode", mode) == mode]


def load_rules(mode: str) -> list[Rule]:
    import re2  # not for start-up

    return [
        Rule(
            name=rule["name"],
            marks=() if "hint" in rule else tuple(mark.encode() for mark in rule["marks"]),
            hint=rule.get("hint", ""),
            pattern=re2.compile(rule["pattern"].encode()),
            is_secret=CHECKS[rule.get("check", "any")],
        )
        for rule in read_rules(mode)
    ]
