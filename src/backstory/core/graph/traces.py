"""Read stack traces: which function of which file called which, and what was raised at the end."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from .facts import Facts, Thing, thing

CONFIDENCE = 0.9


class _TraceFrame(NamedTuple):
    function: Thing
    file: Thing


@cache
def _python() -> re.Pattern[str]:
    return re.compile(r'^[ \t]*File "([^"\n]+)", line \d+, in (\w+|<\w+>)[ \t]*$', re.MULTILINE)


@cache
def _javascript() -> re.Pattern[str]:
    return re.compile(
        r"^[ \t]*at (?:async )?([\w$.<>]+)(?: \[as \w+\])? \((?:file://)?([^()\n]+?):\d+(?::\d+)?\)[ \t]*$",
        re.MULTILINE,
    )


def read_traces(text: str, facts: Facts) -> str:
    """Read the frames, and give back the text without them: a frame is no sentence."""
    if "line " in text:
        _relate(_frames([(name, path) for path, name in _python().findall(text)], facts), facts)
        text = _python().sub("\n", text)
    if "at " in text:
        inner_first = _frames(_javascript().findall(text), facts)
        _relate(inner_first[::-1], facts)
        text = _javascript().sub("\n", text)
    return text


def _frames(found: list[tuple[str, str]], facts: Facts) -> list[_TraceFrame]:
    return [
        _TraceFrame(facts.mention(thing("function", name)), facts.mention(thing("file", path)))
        for name, path in found
        if not name.startswith("<")
    ]


def _relate(frames: list[_TraceFrame], facts: Facts) -> None:
    """Frames from the outermost call to the innermost."""
    for frame in frames:
        facts.relate(frame.function, "located_in", frame.file, CONFIDENCE)
    for outer, inner in pairwise(frames):
        facts.relate(outer.function, "calls", inner.function, CONFIDENCE)
