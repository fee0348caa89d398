"""Decisions, rules of the user, dropped attempts and fixes in the words of people and assistants.

People word decisions differently, so a sentence counts only by its grammar: it must state (not ask or guess) a choice or a
directive with a named object, and be understandable without the sentence before it. Only two places are searched: the user's
own messages, and the message that ends an assistant's turn. A missed decision can be saved with
`remember`; a false one would reach every session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...domain.lazy import lazy_pattern
from ...domain.provenance import ELISION, own_text
from ...domain.provenance import MAX_CHARS as PROVENANCE_CHARS
from ...domain.statements import Saying, Speaker, StatementKind
from ..quoting import sentences
from .endings import introduces, is_interrogative, is_question
from .relations import StatedText

MIN_WORDS, MAX_CHARS = 3, 400
MAX_TYPED_STATEMENTS = 8
"""Sentences of a message, from its beginning: later ones of a longer message explain."""
MIN_RULE_WORDS, MIN_FIX_WORDS = 2, 4
"""Minimum number of content words of a rule and of a fix; with fewer, the subject is unclear."""

_APOSTROPHES = ("\u2019", "'")
"""Editors and phones write the first; the patterns know the second."""
_I = re.IGNORECASE


class _Form:
    """A pattern, and words of which one is in every match: looking for them takes a small part of the pattern's time."""

    def __init__(self, hints: str, *patterns: str) -> None:
        self.hints = tuple(hints.split("|"))
        self._pattern = lazy_pattern("|".join(patterns), _I)

    def search(self, text: str) -> re.Match[str] | None:
        lowered = text.lower()
        for hint in self.hints:
            if hint in lowered:
                return self._pattern.search(text)
        return None


# A directive: the clause begins without another subject, so "handlers never called" does not match.
_LEAD = r"(?:^\W*|[,;:.!(\u2014-]\s*|\b(?:and|so|also|then|please|just|(?:ok|okay|yes) but|ok|okay|yes|yeah|no|sure|alright|fine|should|must|(?<!if )(?<!when )(?<!that )(?<!because )we|you|let'?s|remember)[, ]+)"
_NO_POINTER = r"(?!(?:this|that|it|its|them|these|those|both|your|mine|going|everything|anything|something|nothing|whatever|what|one|option|on|up)\b)"
"""The object of a choice must be named: "let's use that" refers to something outside the sentence."""
_VERB = r"(?!\w{2,}(?:ed|ing|[^s]s)\b)\w+"
"""A verb in the form of a directive; "it never gets there" is a description."""

_CHOSEN_BY_USER = _Form(
    "let's|lets|go with|going with|went with|stick with|settle on|call it|we |we're|we'll|decided|changed my mind|rather|instead|no longer",
    rf"\blet'?s (?:not |just |also |rather |please |all )*(?:use|keep|go (?:with|for)|stick with|stay with|switch to|move to|leave|skip|drop|avoid|treat|rely on|support|target|prefer|limit) {_NO_POINTER}\w",
    rf"{_LEAD}(?:go|going|went|stick|stay) with {_NO_POINTER}\w|{_LEAD}settle on {_NO_POINTER}\w",
    rf"{_LEAD}call it [\"'`]?{_NO_POINTER}(?!(?:a|an|the|quits|done|day)\b)\w",
    rf"\bwe(?: a|')re (?:not )?(?:going with|using|keeping|dropping|supporting|standardi[sz]ing on) {_NO_POINTER}\w|{_LEAD}we(?: a|')re not \w+ing\b",
    rf"\bwe(?:'ll| will) (?:use|go with|stick with|keep|switch to|stay with|drop|support) {_NO_POINTER}\w",
    r"^(?:remember, )?we (?:always |only )?(?:do|use|keep|run|ship|support|target|call|name|treat|store|deploy) (?!(?:you|we|i|it|that|this|need|have|want|not)\b)\w",
    rf"\bwe (?:explicitly |really |just )*(?:won'?t|do(?:n'?t| not) (?:need|want|support|use)) {_NO_POINTER}\w",
    r"\bi(?:'ve| have)? (?:decided|changed my mind)\b",
    rf"\bi(?:'d| would) rather (?:use|keep|have|go with|leave) {_NO_POINTER}\w",
    rf"{_LEAD}(?:use|keep|take|do|make|pick|choose) {_NO_POINTER}[^.?!]{{2,60}} (?:instead of|rather than)\b|{_LEAD}(?:use|try|do) {_NO_POINTER}[^.?!]{{2,60}} instead\b",
    rf"\b(?:we|i) no longer (?:use|need|want|support) {_NO_POINTER}\w",
)
_RULE = _Form(
    "no, i|no. i|no i|always|never|from now on|every time|whenever you|make sure|ensure|do not|don't|dont|stop |just say|no point|prefer|must not|should",
    rf"{_LEAD}(?:always|never) (?:ever )?{_VERB} {_NO_POINTER}\w|\bi (?:never|always) want\b|\bfrom now on\b|\bevery time (?:you|we|i)\b|\bwhenever you\b",
    rf"{_LEAD}(?:make sure|ensure) (?:that |to )?(?:each|every|nobody|always|never)\b",
    rf"\b(?:i|we) (?:explicitly |really |just )*(?:do not|don'?t|dont) want (?!you\b|to\b){_NO_POINTER}\w|\b(?:do not|don'?t|dont) ever\b",
    rf"{_LEAD}(?:do not|don'?t|dont) use {_NO_POINTER}\w|\b(?:need|have) to stop \w+ing\b",
    rf"^no[,. ]+i (?:want|need|prefer) (?!to\b|you\b){_NO_POINTER}\w",
    r"(?<=\w )just say\b|\bno point\b|\bi(?:'d| would)? prefer (?!to (?:think|call|say)\b)\w",
    r"(?<=\w\w )(?<!\bit )(?<!\byou )(?<!\bthey )(?<!\bthis )(?<!\bthat )(?<!\bwhich )(?:must not|should(?:n'?t| not))\b",
)
_PROPOSES = lazy_pattern(r"\blet'?s\b", _I)
"""A question that decides all the same. "Should we …", "can you …" and the like are open, or ask for work."""
_HEDGES = lazy_pattern(
    r"\b(?:i (?:guess|suspect|wonder|thought|assume|suppose)|my (?:guess|assumption)|maybe|perhaps|possibly|probably|not sure|might|do you think)\b"
    r"|\bright\W*$|\bif (?:we|you|i) do(?:n'?t| not) (?:need|want|like)\b|\bif (?:that|it)'?s not\b|\bwhy (?:\w+n'?t|are|is|do|does|did|would|should|not)\b|^(?:should(?:n'?t)?|would|wouldn'?t)\b",
    _I,
)
"""Signs of thinking aloud, or of a question without a question mark."""
_NUMBER = lazy_pattern(r"\d\d")
_POINTS_BACK = lazy_pattern(r"\b(?:the|your|my|this|that|these|those|same)\b", _I)

_CHOSEN_BY_ASSISTANT = _Form(
    "kept|left|chose|opted|went with|stayed with|on purpose|deliberately|intentionally",
    r"\b(?:i|we)(?:'ve| have)? (?:(?:kept|left|chose|opted|went with|stayed with)\b|(?:deliberately|intentionally) \w|.{3,80}\bon purpose\b)",
)
# Only in the first person: "X deliberately avoids Y" explains code that another person may have written. "instead of" and
# "rather than" are missing, since an assistant describes every change with them.
_AGREED = _Form(
    "decided|agreed|settled|chose",
    r"\bwe(?:'ve| have)? (?:decided|agreed|settled|chose)\b|\bdecided (?:to|on|against|that)\b|\bsettled on\b",
)
_DROPPED = _Form(
    "tried|dropped|reverted|abandoned|backed out|rolled back|gave up|dead end|approach|attempt|idea|workaround",
    r"(?:^\W*|\b(?:i|we)(?:'ve| have)? (?:also |first |initially |originally |briefly )?)(?:tried|dropped|reverted|abandoned|backed out|rolled back|gave up)\b.{3,160}?"
    r"\b(?:but|however|didn'?t|did not|failed|broke|because|since|due to|which|that)\b",
    r"\bgave up on\b|\bdead end\b|\b(?:approach|attempt|idea|workaround)\b.{0,80}\b(?:does(?:n'?t| not) work|did(?:n'?t| not) work|failed)\b",
)
_FIXED = _Form(
    "root cause|the fix|the bug|the problem|the issue|fixed|caused by|failing because",
    r"\b(?:root cause|the (?:fix|bug|problem|issue) (?:is|was)|fixed (?:by|the|a)|caused by|was failing because|were failing because)\b",
)
_REASON = lazy_pattern(
    r"\b(?:because|since|so that|due to|in order to|to avoid|which is why)\b|\s[\u2014\u2013]\s|;\s", _I
)
_NARRATES = lazy_pattern(
    r"^\W*(?:now|next|first|then|let me|let's|i'll|i will|i'm|i am|i need|i can|i see|looking|great|perfect|good|using|starting|done|okay|ok)\b",
    _I,
)
_RECITES = lazy_pattern(
    r"\b(?:according to|per|from|as (?:recorded|noted|stored|saved) in|in) (?:the |my |our |your )?(?:project )?(?:memory|memories|notes|backstory|brief|records?)\b"
    r"|\bas (?:recorded|remembered)\b", _I
)  # fmt: skip

_STEERS = lazy_pattern(
    r"^(?:wait|start|run|continue|proceed|go ahead|yes|no|ok|done|skip|cancel|stop|later)\b", _I
)
_ASKS_HOW_TO_GO_ON = lazy_pattern(
    r"\b(?:what|how) would you like (?:me )?to (?:do|proceed|continue|go on)\b|\bwhat(?:'s| is| comes) next\b|\bcan you (?:reproduce|confirm|check|share|test)\b",
    _I,
)

_HINTS = {
    "user": {*_CHOSEN_BY_USER.hints, *_RULE.hints, *_AGREED.hints},
    "assistant": {
        *_CHOSEN_BY_ASSISTANT.hints,
        *_AGREED.hints,
        *_DROPPED.hints,
        *_FIXED.hints,
    },
}
"""Words by role; every sentence that states something contains one of them."""


def is_steering(question: str, answer: str) -> bool:
    """Return whether an answer only decides how the session continues."""
    return _STEERS.match(answer) is not None or _ASKS_HOW_TO_GO_ON.search(question) is not None


def by_user(text: str) -> Iterator[Saying]:
    """Decisions and rules in a message that the user typed."""
    for sentence in _own(text, "user", _kind_by_user)[:MAX_TYPED_STATEMENTS]:
        if (kind := _kind_by_user(sentence)) is not None:
            yield Saying(kind, sentence, Speaker.USER)


def _kind_by_user(sentence: str) -> StatementKind | None:
    sentence = sentence.replace(*_APOSTROPHES)
    # Rules first: "never use X" is also a choice, but as a rule it applies beyond this task.
    if _RULE.search(sentence):
        kind = StatementKind.PREFERENCE
    elif _CHOSEN_BY_USER.search(sentence) or _AGREED.search(sentence):
        kind = StatementKind.DECISION
    else:
        return None
    asks = is_question(sentence) or is_interrogative(sentence)
    if (asks and not _PROPOSES.search(sentence)) or _HEDGES.search(sentence) or _RECITES.search(sentence):
        return None
    return kind if _stands_alone(sentence, kind) else None


def _stands_alone(sentence: str, kind: StatementKind) -> bool:
    """Return whether the sentence alone says what it is about: "go with the fix" needs the message before it."""
    words = len(StatedText.of(sentence).words)
    if kind is StatementKind.PREFERENCE:
        return words >= MIN_RULE_WORDS
    # "Let's use Postgres" has one word and is clear; "let's use the second" has one and is not.
    is_named = words == 1 or _NUMBER.search(sentence) is not None
    return words > 1 or (is_named and not _POINTS_BACK.search(sentence))


def by_assistant(text: str) -> Iterator[Saying]:
    """Conclusions of a message that ends a turn. A message that ends with a question offers options and decides nothing."""
    stated = [
        (kind, sentence)
        for sentence in _own(text, "assistant", _kind_by_assistant)
        if (kind := _kind_by_assistant(sentence)) is not None
    ]
    # "We could … or …. Which do you prefer?" uses the words of a decision for both.
    offers = bool(stated) and is_question(sentences(text)[-1])
    for kind, sentence in stated:
        if not (offers and kind is StatementKind.DECISION):
            yield Saying(kind, sentence, Speaker.ASSISTANT)


def _kind_by_assistant(sentence: str) -> StatementKind | None:
    sentence = sentence.replace(*_APOSTROPHES)
    if _DROPPED.search(sentence):
        kind = StatementKind.DROPPED
    elif _decides(sentence):
        kind = StatementKind.DECISION
    elif _FIXED.search(sentence) and len(StatedText.of(sentence).words) >= MIN_FIX_WORDS:
        kind = StatementKind.FIX
    else:
        return None
    states_nothing = (
        _NARRATES.match(sentence)
        or introduces(sentence)
        or is_question(sentence)
        or _RECITES.search(sentence)
    )
    return None if states_nothing else kind


def _decides(sentence: str) -> bool:
    """An agreement by its verb; a choice of the assistant's own only with a reason behind it."""
    if _AGREED.search(sentence):
        return True
    choice = _CHOSEN_BY_ASSISTANT.search(sentence)
    # Without a reason "I kept the tests" only reports; with one it explains a choice.
    return choice is not None and _REASON.search(sentence, choice.end()) is not None


def is_shared(saying: Saying) -> bool:
    """Return whether an assistant reports a decision made by several people: "we decided", "it was agreed"."""
    is_decision = saying.kind is StatementKind.DECISION and saying.speaker is Speaker.ASSISTANT
    return is_decision and _AGREED.search(saying.text) is not None


def is_dropped(text: str) -> bool:
    """Return whether a text reports an abandoned attempt."""
    return _DROPPED.search(text) is not None


def recites_memory(text: str) -> bool:
    """Return whether a sentence says that it repeats a memory."""
    return _RECITES.search(text) is not None


def reason_in(text: str) -> str:
    """The part of a sentence behind `because` and the like."""
    match = _REASON.search(text)
    return text[match.start() :].strip(" \u2014\u2013;") if match else ""


def reads_like_decision(text: str) -> bool:
    """Return whether a text of unknown origin, such as a title, reads like a decision or a rule."""
    return any(_kind_by_user(sentence) is not None for sentence in sentences(text))


def _own(text: str, role: str, kind: Callable[[str], StatementKind | None]) -> list[str]:
    """The speaker's own sentences, if any of them states something.

    Sentences with a gap, where another person was quoted, are left out. Most messages state nothing, and determining
    the origin of their words takes longer than all other steps. Unchanged lines with a hint are therefore tested
    first."""
    if not any(map(kind, _hinted(text, role))):
        return []
    return [sentence for sentence in _whole(own_text(text, role)) if ELISION not in sentence]


def _hinted(text: str, role: str) -> Iterator[str]:
    """Sentences of the lines that have a hint; code and quotations may be among them."""
    text = text[:PROVENANCE_CHARS].replace(*_APOSTROPHES)
    lowered = text.lower()
    hints = [hint for hint in _HINTS[role] if hint in lowered]
    if not hints:
        return
    for line in text.split("\n"):
        lowered = line.lower()
        for hint in hints:
            if hint in lowered:
                yield from _whole(line)
                break


def _whole(text: str) -> list[str]:
    return [
        sentence
        for sentence in sentences(text)
        if len(sentence.split()) >= MIN_WORDS and len(sentence) <= MAX_CHARS
    ]
