"""Titles for conversations that their assistant did not name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...domain.lazy import lazy_pattern
from ...domain.lines import one_line
from ...domain.provenance import without_quotations
from .. import Role, Turn

LONGEST_TITLE = 100
SENTENCE_WORDS = 3
_PUNCTUATION = ".,:;!?()\"'\u3002\uff0c\uff1f\uff01"
_PLAN = lazy_pattern(
    r"(?:please\s+)?(?:implement|execute|carry out|follow)\b.{0,40}\bplan\b.{0,20}:", re.IGNORECASE
)
"""The line with which an assistant passes a plan to the session that is to execute it.

The plan begins after this line."""
_PLAN_NAME = lazy_pattern(r"^(?:implementation )?plan\s*(?::|[-–—] )\s*", re.IGNORECASE)
_MARKUP = lazy_pattern(r"@?\[[^\[].*\]:?|\[\[.*\]\]|@[\w.-]+:|</?\w[^<>]*>|`{3,}.*")
"""A line that only marks a position: `[Image #1]`, `@[System]:`, `<task>`, a fence."""
_ATTACHED = lazy_pattern(r"^(?:\[(?:Image|Pasted text) #\d+[^\[\]]*\]\s*)+")
_EMPHASIS = lazy_pattern(r"(\*\*|__|\*|_|`)(.+)\1")
_WORD = lazy_pattern(r"[^\W\d_]+")
_SECTION = lazy_pattern(
    r"(?:plan|implementation|context|goals?|overview|summary|background|objective|problem|task|[\W\d_])+",
    re.IGNORECASE,
)
"""Headings of plans and their sections that do not describe the subject."""
_SMALL_TALK = frozenset(
    [
        "hi", "hello", "hey", "yo", "hiya", "greetings", "ok", "okay", "k", "yes", "yep", "yeah", "y", "no", "nope",
        "n", "thanks", "thank", "thx", "you", "please", "go", "on", "ahead", "continue", "proceed", "resume", "sure",
        "test", "testing", "ping", "there", "good", "morning", "afternoon", "evening", "cool", "great", "nice",
        "done", "next", "start",
    ]
)  # fmt: skip


def headline(text: str) -> str:
    """Return the first meaningful line, or "". A plan is named by its heading."""
    lines = [
        line
        for line in map(str.strip, without_quotations(text).splitlines())
        if line and not _MARKUP.fullmatch(line)
    ]
    is_plan = bool(lines) and _PLAN.fullmatch(lines[0]) is not None
    plain_lines: Iterator[str] = map(_plain, lines[1:] if is_plan else lines)
    if is_plan:
        plain_lines = (
            _PLAN_NAME.sub("", line, count=1) for line in plain_lines if not _SECTION.fullmatch(line)
        )
    return next((one_line(line, LONGEST_TITLE) for line in plain_lines if _says_something(line)), "")


def _plain(line: str) -> str:
    """Remove marks of headings, emphasis and attachments."""
    line = _ATTACHED.sub("", line.lstrip("#").strip(), count=1)
    return emphasis[2] if (emphasis := _EMPHASIS.fullmatch(line)) else line


def is_command(text: str) -> bool:
    """True if the text was typed for the assistant's program rather than for the model."""
    return text.lstrip().startswith(("/", "!"))


def is_silent(turn: Turn) -> bool:
    """True if a turn contains no dialogue: harness text, or a command without words for the model."""
    if turn.role is Role.USER:
        return is_command(turn.text) and not turn.calls and not headline(turn.text)
    return turn.role is Role.SYSTEM


def _says_something(line: str) -> bool:
    """Return False for a greeting, a number or a bare command, which would name half of all conversations."""
    if is_command(line):
        line = line.partition(" ")[2]
    words = _WORD.findall(line.lower())
    return any(word not in _SMALL_TALK for word in words)


def title_of(turns: Sequence[Turn]) -> str:
    """Return a title: the person's first meaningful prompt or command with a sentence; else a command, else an
    answer."""
    return next(_titles(turns), "")


def retitled(title: str, turns: Sequence[Turn]) -> str:
    """Return the title that stored turns yield now, if the present one is empty or the line of a prompt.

    A title that the assistant assigned is not changed."""
    prompts = [turn.text for turn in turns if turn.role is Role.USER]
    is_ours = not headline(title) or title in _headlines(prompts)
    return (title_of(turns) if is_ours else "") or title


def _has_sentence(command: str) -> bool:
    """True if a command is followed by words for the model, not only by names of files and options."""
    if command.lstrip().startswith("!"):
        return False
    words = [word.strip(_PUNCTUATION) for word in command.split()[1:]]
    plain = [word for word in words if word.isalpha()]
    return len(plain) >= SENTENCE_WORDS or any(
        len(word) > SENTENCE_WORDS and not word.isascii() for word in plain
    )


def _titles(turns: Sequence[Turn]) -> Iterator[str]:
    prompts = [turn.text for turn in turns if turn.role is Role.USER]
    yield from _headlines(prompt for prompt in prompts if not is_command(prompt) or _has_sentence(prompt))
    yield from _headlines(prompt for prompt in prompts if is_command(prompt))
    yield from _headlines(turn.text for turn in turns if turn.role is Role.ASSISTANT)


def _headlines(texts: Iterable[str]) -> Iterator[str]:
    return filter(None, map(headline, texts))
