"""The format of summary.md: an overview, and each request with its response and main points.

Every line is taken from the conversation. No point is written that is not in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...core.summaries import SENTENCE, summarize
from ...domain.lazy import lazy_pattern
from ...domain.provenance import own_text
from ...domain.topics import cut_at_word
from ...domain.when import iso
from .fullfile import SessionHeader
from .turns import ASSISTANT, SPEAKERS, SYSTEM, USER, SessionTurn

OVERVIEW, PROMPT, RESPONSE = 500, 600, 400  # maximum lengths in characters
POINTS = 6  # maximum number of each kind
LEAST_LETTERS = 15
_BLOCK = lazy_pattern(
    r"^ {0,3}(`{3,}|~{3,})([\w+#.-]*)[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*\s*$|\Z)", re.DOTALL | re.MULTILINE
)
_SHELLS = ("sh", "bash", "zsh", "shell", "console", "powershell", "cmd", "fish")
_PROMPTED = lazy_pattern(r"^[ \t]*[$❯%] +(\S[^\n]*)", re.MULTILINE)
_FILE = lazy_pattern(r"(?<![\w/.@:-])(?:[\w.@-]*/)*[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/(@])")
_LIST_ITEM = lazy_pattern(r"^[ \t]*(?:[-*+]|\d{1,2}[.)]) +(\S[^\n]*)", re.MULTILINE)
_ASIDE = lazy_pattern(r"^[ \t]*(?:(?:[-*+]|\d{1,2}[.)]) +\S[^\n]*|-{3,}[ \t]*|#{1,6} +)", re.MULTILINE)
_DECISION = lazy_pattern(
    r"\b(?:decid\w+|decision|agreed|chose|chosen|settled on|we(?:'ll| will) use|let's (?:use|go)|instead of|"
    r"must(?: not)?|never|always)\b",
    re.IGNORECASE,
)
_ERROR = lazy_pattern(r"\b(?:\w*Error|\w*Exception|Traceback|panic|fatal|failed|failure|segfault)\b")
_FILE_ENDING = lazy_pattern(
    r"\.(?:c|cc|cfg|conf|cpp|cs|css|csv|dart|env|exs?|go|gradle|h|hpp|html|ini|ipynb|java|jsx?|json|kt|lock|lua|md|mjs|"
    r"php|pl|proto|ps1|py|rb|rs|scala|s[ac]ss|sh|sql|svelte|swift|tf|toml|tsx?|txt|vue|xml|ya?ml|zig)$",
    re.IGNORECASE,
)


def write_summary(header: SessionHeader, turns: Sequence[SessionTurn]) -> str:
    pairs = list(_pairs(turns))
    lines = [
        f"# {header.title}\n",
        f"**Date:** {iso(header.date)}  ",
        f"**Topic:** {header.topic}  ",
        f"**Messages:** {len(turns)}  ",
        "**Full conversation:** [full.md](full.md)\n",
        "## Short Summary\n",
        _overview(turns) or "Nothing was said.",
        "",
        "## Detailed Summary\n",
    ]
    for number, (request, response) in enumerate(pairs, 1):
        lines += _pair(number, request, response)
    return "\n".join([*lines, "---\n", "*Stored by Backstory*\n"])


def _pairs(turns: Sequence[SessionTurn]) -> Iterator[tuple[str, str]]:
    """Yield each request with all answers before the next one."""
    request, response = "", list[str]()
    for turn in turns:
        if SPEAKERS.get(turn.role.lower()) in (USER, SYSTEM):
            if response:
                yield request, "\n\n".join(response)
                request, response = "", []
            request = f"{request}\n\n{turn.text}" if request else turn.text
        else:
            response.append(turn.text)
    if request or response:
        yield request, "\n\n".join(response)


def _overview(turns: Sequence[SessionTurn]) -> str:
    """Summarize the first request, and the rest of the conversation."""
    request = next((turn for turn in turns if SPEAKERS.get(turn.role.lower()) == USER), None)
    rest = "\n".join(_sentences(turn.text) for turn in turns if turn is not request)
    parts = [summarize(_sentences(request.text), OVERVIEW // 2) if request else "", summarize(rest, OVERVIEW)]
    return "\n\n".join(part for part in parts if part)


def _pair(number: int, request: str, response: str) -> list[str]:
    headline = cut_at_word(" ".join(request.split()), 80, " ")
    lines = [f"### Request {number}: {headline}\n", "**User Prompt:**", _shortened(request, PROMPT), ""]
    if response:
        lines += ["**AI Response Summary:**", _shortened(response, RESPONSE), ""]
    points = list(_points(request, response)) or _main_point(response)
    return [*lines, *(["**Key Points:**", *(f"- {point}" for point in points), ""] if points else [])]


def _shortened(text: str, longest: int) -> str:
    return summarize(_sentences(text), longest) or "(nothing)"


def _points(request: str, response: str) -> Iterator[str]:
    both = f"{request}\n\n{response}"
    prose = _prose(response)
    yield from _named("Decided", _matching(_DECISION, SENTENCE.findall(own_text(response, ASSISTANT))))
    yield from _named("Files", (f"`{path}`" for path in _files(both)), joined=True)
    yield from _named("Commands", (f"`{command}`" for command in _commands(both)))
    yield from _named("Errors", _matching(_ERROR, both.split("\n")))
    yield from _named("Code", _languages(response), joined=True)
    listed = [cut_at_word(item.strip(), 160, " ") for item in _LIST_ITEM.findall(prose)]
    yield from _some(listed)


def _main_point(response: str) -> list[str]:
    """Return the first sentence of an answer without other points; nothing for "Sure."."""
    sentence = next(iter(SENTENCE.findall(_sentences(response))), "")
    is_said = sum(letter.isalnum() for letter in sentence) >= LEAST_LETTERS
    return [cut_at_word(" ".join(sentence.split()), 160, " ")] if is_said else []


def _named(name: str, points: Iterable[str], *, joined: bool = False) -> Iterator[str]:
    some = list(_some(points))
    if joined and some:
        yield f"{name}: {', '.join(some)}"
    elif some:
        yield from (f"{name}: {point}" for point in some)


def _some(points: Iterable[str]) -> Iterator[str]:
    known = list(dict.fromkeys(points))
    yield from known[:POINTS]
    if len(known) > POINTS:
        yield f"and {len(known) - POINTS} more"


def _matching(pattern: re.Pattern[str], texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if pattern.search(text):
            yield cut_at_word(" ".join(text.strip(" \t>*-#").split()), 160, " ")


def _files(text: str) -> Iterator[str]:
    for path in _FILE.findall(text):
        if "/" in path or _FILE_ENDING.search(path):
            yield path


def _commands(text: str) -> Iterator[str]:
    for block in _BLOCK.finditer(text):
        if block[2].lower() in _SHELLS:
            for line in block[3].splitlines():
                if line.strip() and not line.lstrip().startswith("#"):
                    yield cut_at_word(line.strip().removeprefix("$ "), 160, " ")
    yield from (cut_at_word(command, 160, " ") for command in _PROMPTED.findall(_prose(text)))


def _languages(text: str) -> Iterator[str]:
    for block in _BLOCK.finditer(text):
        if block[2] and block[2].lower() not in _SHELLS:
            lines = block[3].count("\n")
            yield f"{block[2]} ({lines} line{'' if lines == 1 else 's'})"


def _sentences(text: str) -> str:
    """Return the sentences of a text, as far as there are any. Lists are covered by the points."""
    prose = _prose(text)
    return _ASIDE.sub("", prose).strip() or prose or text


def _prose(text: str) -> str:
    """Remove code blocks."""
    return _BLOCK.sub("", text).strip()
