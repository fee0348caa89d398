"""What conversations themselves say of decisions, of what was dropped and of what comes next, in sentences of the user and the assistant.

Rules of words, not understanding: few sentences are taken, and each is shown with where it was said. What a message quotes, pastes or
relays concludes nothing (`domain/provenance`), and neither does what an assistant says after it read what others wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ...domain.provenance import ELISION, own_text
from ...domain.records import QUOTABLE, Message
from ...store import Store
from ..quoting import plain, sentences
from .turn_sources import follows_reading

SHORTEST, LONGEST = 20, 300
_DECIDED = re.compile(
    r"\b(?:we(?:'ve|\u2019ve| have)? (?:decided|agreed|settled|chose|picked)|decision:|decided (?:to|on|against|that)|settled on)\b",
    re.IGNORECASE,
)
_CHOSEN_BY_USER = re.compile(
    r"\b(?:let'?s (?:go with|stick with|use|keep|switch to)|go with|we(?:'ll| will) (?:use|go with|stick with|keep|switch to)"
    r"|i(?:'ve| have)? decided|from now on|always use|never use)\b",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"\b(?:tried\b.{3,160}?\b(?:but|however|didn'?t|did not|failed|no luck)|gave up on|giving up on|dead end|(?:i|we)(?:'ve| have)? abandoned|abandoned (?:the|this|that)|rolled back"
    r"|backed out|didn'?t work out|did not work out|(?:dropped|reverted)\b.{3,160}?\b(?:because|since|as|due to))\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"^(?:the )?(?:next(?: steps?)?(?: (?:is|are|would be))?|still (?:open|to do)|remaining(?: work)?|to ?do|left to do|what'?s left)"
    r"(?: (?:is|are))?\s*(?:[:\u2014-]\s*(?P<rest>.*))?$|^(?:the )?next step (?:is|would be) (?P<step>.+)$",
    re.IGNORECASE,
)


_DECIDED_HINTS = ("decided", "decision", "agreed", "settled", "chose", "picked")
"""One of these is in whatever _DECIDED finds; looking for them is nothing beside taking a text apart."""


class Conclusion(NamedTuple):
    text: str
    message: Message


def decisions(messages: Iterable[Message], store: Store) -> list[Conclusion]:
    """In the order of the messages. A question decides nothing. `store` knows what an assistant had read before it spoke."""
    conclusions: list[Conclusion] = []
    for message in messages:
        is_user = message.role == "user"
        if not is_user and not any(map(message.text.lower().__contains__, _DECIDED_HINTS)):
            continue
        stated = _conclusions(message, reads_like_decision if is_user else is_report_of_decision)
        if stated and (is_user or not follows_reading(message, store)):
            conclusions += stated
    return conclusions


def reads_like_decision(sentence: str) -> bool:
    """Whether it would be a decision if a user said it."""
    return is_report_of_decision(sentence) or _CHOSEN_BY_USER.search(sentence) is not None


def is_report_of_decision(sentence: str) -> bool:
    return _DECIDED.search(sentence) is not None


def dead_ends(messages: Iterable[Message]) -> list[Conclusion]:
    return [each for message in messages for each in _conclusions(message, is_dead_end)]


def is_dead_end(sentence: str) -> bool:
    return _DROPPED.search(sentence) is not None


def next_step(message: Message) -> str:
    """What the message names as the next step: behind those words, or in the line after them. Empty where it names none."""
    lines = _lines(message.text)
    if not any(map(_NEXT.match, lines)):
        return ""
    lines = _lines(own_text(message.text, message.role))
    for place, line in enumerate(lines):
        if step := _NEXT.match(line):
            rest = (step["rest"] or step["step"] or "").strip()
            following = lines[place + 1] if place + 1 < len(lines) else ""
            return rest or following
    return ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in plain(text).splitlines() if line.strip()]


def _conclusions(message: Message, concludes: Callable[[str], bool]) -> list[Conclusion]:
    """The speaker's own sentences that conclude something. One with a gap, where somebody else was quoted, does not."""
    # Most messages conclude nothing, and to see whose words they hold takes longer than all the rest.
    if message.trust not in QUOTABLE or not any(map(concludes, _whole_sentences(message.text))):
        return []
    own = _whole_sentences(own_text(message.text, message.role))
    return [Conclusion(each, message) for each in own if ELISION not in each and concludes(each)]


def _whole_sentences(text: str) -> list[str]:
    """That are neither questions nor as short or long as no statement is."""
    return [each for each in sentences(text) if SHORTEST <= len(each) <= LONGEST and not each.endswith("?")]
