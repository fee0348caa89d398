"""Number arguments: an error names the valid range."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole_number(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """A converter for argparse, which puts the flag's name before the message."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}") from None
        if least is not None and number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        if most is not None and number > most:
            raise argparse.ArgumentTypeError(f"must be at most {most}")
        return number

    return read


def days(text: str) -> float:
    """More than none."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of days above 0, not {text!r}")
    return number
