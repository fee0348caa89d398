"""What people and assistants state in words: decisions, rules of the user, attempts that were given up, fixes.

Words carry over badly from one person to the next, so only plain forms count, and only where things are concluded: in what
the user typed, and in the message that ends an assistant's turn. Whoever wants more remembered says `remember`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...domain.provenance import ELISION, own_text
from ...domain.statements import Saying, Speaker, StatementKind
from ..quoting import sentences
from .endings import is_interrogative, is_question

MIN_WORDS, MAX_CHARS = 3, 400
MAX_TYPED_STATEMENTS = 8
"""Sentences of a message, from its beginning: what follows in a longer one explains."""

_I = re.IGNORECASE
_PROPOSES = re.compile(
    r"\b(?:let'?s|instead|(?:can|could|should) (?:we|you)(?: please)? (?:not|just|also|change|use|keep|replace|remove|drop|rename))\b",
    _I,
)
_CHOSEN_BY_USER = re.compile(
    r"\blet'?s (?:not|just|also|rather|please|all|\s)*(?:use|keep|go (?:with|for)|stick|stay|switch|move to|leave|skip|drop|avoid|call|say|treat|rely|support|target|prefer|limit)\b"
    r"|\b(?:go|going|went) with\b|\bstick with\b|\bsettle on\b|\bcall it\b"
    r"|\bwe(?: a|')re (?:not )?(?:going with|using|keeping|dropping|branding|supporting)\b|\bwe(?: a|')re not\b"
    r"|\bwe(?:'ll| will) (?:use|go with|stick with|keep|switch to|stay with|drop|support)\b"
    r"|^(?:remember, )?we (?:always |only )?(?:do|use|keep|run|ship|support|target|call|name|treat|store|deploy) (?!(?:you|we|i|it|that|this|need|have|want|not)\b)\w"
    r"|\bwe (?:explicitly )?(?:won'?t|do(?:n'?t| not) (?:need|want|support|use))\b"
    r"|\bi(?:'ve| have)? (?:decided|changed my mind)\b|\bi(?:'d| would) rather (?:use|keep|have|not|go|leave)\b"
    r"|\b(?:use|keep|take|do|make) [^.?!]{2,60} (?:instead of|rather than)\b|\b(?:use|try|do) [^.?!]{2,60} instead\b|\bno longer (?:use|need|want|support)",
    _I,
)
_RULE = re.compile(
    r"\b(?:always|never|from now on|every time|whenever you|make sure|only (?:when|if))\b|\b(?:do not|don'?t|dont) (?:ever|want)\b|\bstop \w+ing\b"
    r"|\b(?:just say|no point|i(?:'d)? prefer|must not|should(?:n'?t| not)|shoulld not)\b",
    _I,
)
_CORRECTION = re.compile(
    r"^(?:no[,.]|nope\b|actually[, ]|not (?:that|like)|that'?s (?:not|wrong)|i (?:don'?t|do not) (?:think|want|like))",
    _I,
)
_DECIDED = re.compile(
    r"\b(?:(?:i|we)(?:'ve|\u2019ve| have)? (?:deliberately |intentionally )?(?:kept|left|chose|opted|decided|agreed|settled|went with|stayed with|did \*?not\*? take)"
    r"|decided (?:to|on|against|that)|deliberately left|on purpose|settled on)\b",
    _I,
)
_AGREED = re.compile(
    r"\bwe(?:'ve|\u2019ve| have)? (?:decided|agreed|settled|chose)\b|\bdecided (?:to|on|against|that)\b|\bsettled on\b",
    _I,
)
_CONTRASTS = re.compile(
    r"\b(?:rather than|instead of|not (?:a|an|the|as)\b|on purpose|deliberately|intentionally)", _I
)
_DROPPED = re.compile(
    r"\b(?:tried\b.{3,160}?\b(?:but|however|didn'?t|did not|failed|broke)"
    r"|(?:dropped|reverted|abandoned|backed out|rolled back|gave up)\b.{3,160}?\b(?:because|since|that let|as it|due to|broke|which)"
    r"|gave up on|dead end|(?:approach|attempt|idea|workaround)\b.{0,80}\b(?:does(?:n'?t| not) work|did(?:n'?t| not) work|failed))",
    _I,
)
_FIXED = re.compile(
    r"\b(?:root cause|the (?:fix|bug|problem|issue) (?:is|was)|fixed (?:by|the|a)|caused by|was failing because|were failing because)\b",
    _I,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|in order to|to avoid|which is why)\b|\s[\u2014\u2013]\s|;\s", _I
)
_NARRATES = re.compile(
    r"^\W*(?:now|next|first|then|let me|let's|i'll|i\u2019ll|i will|i'm|i\u2019m|i am|i need|i can|i see|looking|great|perfect|good|using|starting|done|okay|ok)\b",
    _I,
)
_RECITES = re.compile(
    r"\b(?:according to|per|from|as (?:recorded|noted|stored|saved) in|in) (?:the |my |our |your )?(?:project )?(?:memory|memories|notes|backstory|brief|records?)\b"
    r"|\bas (?:recorded|remembered)\b", _I
)  # fmt: skip


_HINTS = {
    "user": (
        "let's", "lets", "go with", "going with", "went with", "stick", "settle", "call it", "we ", "we're", "we'", "we\u2019", "decided", "agreed", "changed my mind", "rather",
        "instead", "no longer", "always", "never", "from now on", "every time", "whenever", "make sure", "only ", "don't", "dont", "do not", "stop ", "just say",
        "no point", "prefer", "must not", "should", "no,", "no.", "nope", "actually", "not ", "that's", "thats", "i don",
    ),
    "assistant": (
        "kept", "left", "chose", "opted", "decided", "agreed", "settled", "went with", "stayed", "not take", "not* take", "on purpose", "deliberate", "intentional", "rather than",
        "instead of", "not a", "not the", "tried", "dropped", "reverted", "abandoned", "backed out", "rolled back", "gave up", "dead end", "approach", "attempt",
        "idea", "workaround", "root cause", "the fix", "the bug", "the problem", "the issue", "fixed", "caused by", "failing because",
    ),
}  # fmt: skip
"""One of these is in whatever the patterns find. Looking for them takes a small part of the time."""
_STEERS = re.compile(
    r"^(?:wait|start|run|continue|proceed|go ahead|yes|no|ok|done|skip|cancel|stop|later)\b", _I
)


def is_steering(answer: str) -> bool:
    """Whether an answer only says how the session goes on."""
    return _STEERS.match(answer) is not None


def by_user(text: str) -> Iterator[Saying]:
    """Decisions and rules in what a user typed."""
    for sentence in _own(text, "user", _kind_by_user)[:MAX_TYPED_STATEMENTS]:
        if (kind := _kind_by_user(sentence)) is not None:
            yield Saying(kind, sentence, Speaker.USER)


def _kind_by_user(sentence: str) -> StatementKind | None:
    """A question states nothing, unless it proposes something; nor does what repeats a memory."""
    asks = is_question(sentence) or is_interrogative(sentence)
    if (asks and not _PROPOSES.search(sentence)) or _RECITES.search(sentence):
        return None
    if _RULE.search(sentence) or _CORRECTION.match(sentence):
        return StatementKind.PREFERENCE
    if _CHOSEN_BY_USER.search(sentence) or _AGREED.search(sentence):
        return StatementKind.DECISION
    return None


def by_assistant(text: str) -> Iterator[Saying]:
    """What the message that ends a turn concludes. One that ends in a question offers options: of those, none is decided."""
    every = sentences(text)
    offers = bool(every) and is_question(every[-1])
    for sentence in _own(text, "assistant", _kind_by_assistant):
        kind = _kind_by_assistant(sentence)
        if kind is not None and not (offers and kind is StatementKind.DECISION):
            yield Saying(kind, sentence, Speaker.ASSISTANT)


def _kind_by_assistant(sentence: str) -> StatementKind | None:
    if _NARRATES.match(sentence) or is_question(sentence) or _RECITES.search(sentence):
        return None
    if _DROPPED.search(sentence):
        return StatementKind.DROPPED
    if _decides(sentence):
        return StatementKind.DECISION
    return StatementKind.FIX if _FIXED.search(sentence) else None


def _decides(sentence: str) -> bool:
    """An agreement by its word. A choice of the assistant's own only with a reason: behind a word of choosing, or behind
    what it was chosen against ("into one entry rather than two, since …")."""
    if _AGREED.search(sentence):
        return True
    if _DECIDED.search(sentence):
        return _REASON.search(sentence) is not None
    contrast = _CONTRASTS.search(sentence)
    return contrast is not None and _REASON.search(sentence, contrast.end()) is not None


def is_shared(saying: Saying) -> bool:
    """Whether an assistant tells a decision as one of several people's: "we decided", "it was agreed"."""
    is_decision = saying.kind is StatementKind.DECISION and saying.speaker is Speaker.ASSISTANT
    return is_decision and _AGREED.search(saying.text) is not None


def is_dropped(text: str) -> bool:
    """Whether a text tells of an attempt that was given up."""
    return _DROPPED.search(text) is not None


def recites_memory(text: str) -> bool:
    """Whether a sentence says that it repeats what a memory told."""
    return _RECITES.search(text) is not None


def reason_in(text: str) -> str:
    """The part of a sentence behind `because` and the like."""
    found = _REASON.search(text)
    return text[found.start() :].strip(" \u2014\u2013;") if found else ""


def reads_like_decision(text: str) -> bool:
    """Whether a text of unknown provenance, such as a title, would be taken for a decision or a rule."""
    return any(_kind_by_user(sentence) is not None for sentence in sentences(text))


def _own(text: str, role: str, kind: Callable[[str], StatementKind | None]) -> list[str]:
    """The speaker's own sentences, if any sentence states something; one with a gap, where somebody was quoted, is left out.

    Most messages state nothing, and to see whose words they hold takes longer than all the rest."""
    if not _has_hint(text, role) or not any(_has_hint(each, role) and kind(each) for each in _whole(text)):
        return []
    return [sentence for sentence in _whole(own_text(text, role)) if ELISION not in sentence]


def _has_hint(text: str, role: str) -> bool:
    lowered = text.lower()
    return any(hint in lowered for hint in _HINTS[role])


def _whole(text: str) -> list[str]:
    return [
        sentence
        for sentence in sentences(text)
        if len(sentence.split()) >= MIN_WORDS and len(sentence) <= MAX_CHARS
    ]
