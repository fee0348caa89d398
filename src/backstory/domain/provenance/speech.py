"""Grammar that attributes words to another speaker: quotation marks, "The README says that …", "Here is the issue:",
"Bob: we …".

The verbs are those of speaking and deciding. Sources are not listed: any subject except "I", "we" and "you" is a
source."""

from __future__ import annotations

import re

from ..lazy import lazy_pattern
from .ground import LIST_ITEM, Ground, Provenance, line_before

_DIRECTED = lazy_pattern(
    r"\u201c[^\u201c\u201d]{2,4000}\u201d|\u201e[^\u201e\u201c\u201d]{2,4000}[\u201c\u201d]"
    r"|\u00ab[^\u00ab\u00bb]{2,4000}\u00bb|\u00bb[^\u00ab\u00bb]{2,4000}\u00ab|\u2039[^\u2039\u203a]{2,1000}\u203a"
    r"|\u300c[^\u300c\u300d]{2,4000}\u300d|\u300e[^\u300e\u300f]{2,4000}\u300f|\u2018[^\u2018\n]{2,1000}\u2019(?!\w)"
)
_DIRECTED_SIGNS = "\u201c\u201e\u00ab\u00bb\u2039\u300c\u300e\u2018"
_APOSTROPHES = lazy_pattern(r"'(?<![\w']')(?=\w)[^'\n]*(?:(?<=\w)'(?=\w)[^'\n]*)*'(?!\w)")
_DOUBLE_QUOTE = lazy_pattern(r'"(?<!\d")')
"""A mark after a digit means inches and is not counted."""
_BACKTICKS = lazy_pattern(r"(`{1,2})([^`\n]+)\1(?!`)")
_PROSE = lazy_pattern(r"[\w ,.;!?'\u2019]+")
"""In backticks, prose is a quotation; a command or an expression is part of the sentence."""

_SELF = r"(?:i|we|you|us|me|let|lets|user|user's|my|our|your)\b"
_SPEAKER = r"(?:i|we|you|us|me|let|lets|user|user's)\b"
_WORD = r"(?:[^\s:.!?]|\.(?=\S)){1,60}"
_CLEAR_VERBS = [
    "says", "said", "wrote", "writes", "mentions", "mentioned", "explains", "explained", "recommends", "recommended",
    "suggests", "suggested", "advises", "advised", "proposes", "proposed", "argues", "argued", "declares",
    "declared", "announces", "announced", "tells", "told", "insists", "insisted", "warns", "warned", "mandates",
    "mandated",
]  # fmt: skip
_CLEAR = rf"(?:{'|'.join(_CLEAR_VERBS)}|point(?:s|ed) out|calls for)"
_DECIDES = r"(?:decides|(?<!and )(?<!then )(?<!but )decided|(?<!and )agreed|(?<!and )chose)"
_UNCLEAR_STEMS = [
    "say", "write", "tell", "ask", "state", "note", "read", "list", "report", "claim", "confirm", "conclude",
    "document", "describe", "specify", "specifie", "require", "request", "comment", "post", "outline", "demand",
    "instruct", "indicate", "maintain", "recommend", "suggest", "mention", "explain", "propose", "advise", "decide",
    "agree", "choose", "settle", "pick", "reply", "replie",
]  # fmt: skip
_ENDINGS = ("", "s", "d", "ed")
_UNCLEAR = rf"(?:(?:{'|'.join(_UNCLEAR_STEMS)})(?:{'|'.join(filter(None, _ENDINGS))})?)"
_CLAUSE = r"(?=\s+(?:that|how|why|to|we|they|it|you|us|all|everyone|on|(?:the|as) follow\w+)\b|\s*[\"\u201c\u00ab]|(?<=[sd]):)"
"""The continuation of a verb that is also a noun, where it reports something."""
_PLURAL = r"(?<=s )(?<!always )(?<!this )(?<!is )(?<!was )(?<!has )(?<!does )(?:say|state|recommend|suggest|mention|explain|propose|advise|require|claim|argue|decide|agree)\b"
_REPORTS = rf"(?:{_CLEAR}\b|{_UNCLEAR}\b{_CLAUSE}|{_PLURAL})"
_SUBJECT = r"(?!{self})(?:(?!\b{self})[^\s.!?:;,]{{1,60}}\s+){{1,12}}?"
_PASSIVE = r"(?:as )?(?:seen|found|stated|noted|written|documented|described|mentioned|decided|agreed) (?:in|on|by|at)\b"
_ATTRIBUTED = lazy_pattern(
    rf"\W{{0,8}}(?:(?:but|and|so|also|note that|apparently|yes|no|ok|okay|well|then)[, ]+)*"
    rf"(?:{_SUBJECT.format(self=_SPEAKER)}{_REPORTS}|{_SUBJECT.format(self=_SELF)}{_DECIDES}\b"
    rf"|according to\b|as per\b|per (?:the|their|its|this)\b|quot(?:e|ing)\b|citing\b|in the words of\b|{_PASSIVE}|as (?:documented|stated|noted|described|mentioned|written)\b"
    rf"|(?:i|we) (?:just )?(?:read|saw|heard|found|noticed|learned)\b[^.!?]{{0,80}}?(?:\bthat\b|:))"
    rf"|[^.!?\n]{{0,160}}[,(\u2014-] ?(?:according to|{_PASSIVE}|as per|per the|(?!{_SELF})(?:the |its |their )?[\w#@./-]+ (?:{_CLEAR}|{_DECIDES}|say)\b)",
    re.IGNORECASE,
)
"""A sentence that attributes its content to a source."""
_ATTRIBUTING = frozenset(
    (
        *_CLEAR_VERBS,
        *(stem + ending for stem in _UNCLEAR_STEMS for ending in _ENDINGS),
        *[
            "points", "pointed", "calls", "chose", "argue", "according", "per", "quote", "quoting", "citing",
            "words", "seen", "found", "written", "saw", "heard", "noticed", "learned",
        ],
    )
)  # fmt: skip
"""Every match of `_ATTRIBUTED` contains one of these words. Looking for them first takes a small part of its time."""
_LETTERS = lazy_pattern(r"[a-z]+")
_DEIXIS = lazy_pattern(
    r"\b(?:here(?:'s|\u2019s| is| are)|this is|these are|this came|below|verbatim|copied|pasted?|forwarded|quot(?:e|ing|ed)|attached|full text)\b",
    re.IGNORECASE,
)
"""Words with which a user presents a text. An assistant uses them for its own text."""
_TEXTS = (
    r"(?:contents?|text|sentence|excerpt|passage|quotation|article|(?:web ?)?page|post|thread|wiki|readme|documentation|docs|ticket|e-?mail|announcement"
    r"|transcript|newsletter|search results)"
)
_TEXT_LINE = lazy_pattern(rf"(?!.*\b{_SPEAKER}).*\b{_TEXTS}\b.*", re.IGNORECASE)
"""An assistant's line that names a text, before a colon."""
_TEXT_POINTED_AT = lazy_pattern(rf"\b(?:this|these|the following) (?:\w+ )?{_TEXTS}\b", re.IGNORECASE)
_NOUNS = rf"(?:(?!\b(?:{_SELF}|is|are|was|were|has|have|do|does|can|will|should|must|please|add|fix|make|use)\b)[^\s:.!?]{{1,60}} ){{0,7}}"
_NAMED = rf" (?:the |a |an |this |that |their |its )?{_WORD}(?: {_WORD}){{0,4}}[*_`]{{0,3}}:"
_SOURCE = lazy_pattern(rf"\W{{0,8}}(?!{_SELF}){_NOUNS}(?:from|by|via){_NAMED}", re.IGNORECASE)
"""A source with a colon and no verb: "Slack message from Bob:"."""
_SOURCE_LINE = lazy_pattern(rf"\W{{0,8}}(?!{_SELF}){_NOUNS}(?:from|by|via|in|on|of){_NAMED}", re.IGNORECASE)
"""A user's line that names the text below: "Key points of the page:"."""
_LABEL = lazy_pattern(
    r"[ \t]*[*_`]{0,3}(?!(?:decisions?|decided|conclusion|notes?|update|plan|edit|ps|p\.s\.|fyi|tl;?dr|summary|result|yes|no|ok|okay)\b)"
    rf"(?!{_SELF})(?:{_WORD} ){{0,7}}{_WORD}[*_`]{{0,3}}:[*_`]{{0,3}}[ \t]+"
    r"(?=[\"\u201c'*_]{0,2}(?:i|we|let's|let\u2019s|our|from now on|always|never|decided|decisions?|please)\b)",
    re.IGNORECASE,
)
"""A name before a statement, as in a chat: "Bob: we decided …"."""
_RESUMED = lazy_pattern(r"\W{0,8}I\b|[^?]*\?\W{0,8}$")
"""A paragraph in which an assistant speaks for itself again."""


def _is_attributed(sentence: str) -> bool:
    # The pattern backtracks over every subject; a set of words rules out most sentences at once.
    if _ATTRIBUTING.isdisjoint(_LETTERS.findall(sentence.lower())):
        return False
    return _ATTRIBUTED.match(sentence) is not None


def mark_quotations(ground: Ground) -> None:
    text = ground.text
    prose = (match for match in _BACKTICKS.finditer(text) if _PROSE.fullmatch(match[2]))
    directed = _DIRECTED.finditer(text) if any(sign in text for sign in _DIRECTED_SIGNS) else ()
    for match in (*prose, *directed, *_APOSTROPHES.finditer(text)):
        if ground.is_own(match.start()):
            ground.mark_quotation(*match.span())
    for start, end in _double_quoted(ground):
        ground.mark_quotation(start, end)


def _double_quoted(ground: Ground) -> list[tuple[int, int]]:
    """Return pairs of straight quotation marks.

    If one has no partner, each paragraph is read separately, and its last mark extends to the end of the paragraph."""
    marks = [place.start() for place in _DOUBLE_QUOTE.finditer(ground.text) if ground.is_own(place.start())]
    if len(marks) % 2 == 0:
        return [(start, end + 1) for start, end in zip(marks[::2], marks[1::2], strict=True)]
    pairs: list[tuple[int, int]] = []
    for first, last in ground.own_paragraphs():
        within = [place for place in marks if first <= place < last]
        pairs += [
            (start, end + 1) for start, end in zip(within[::2], [*within[1::2], last - 1], strict=False)
        ]
    return pairs


def mark_presented(ground: Ground) -> None:
    """Mark the text after a line like "Here is the issue:". A list under the user's own heading is the user's."""
    _mark_pointed_at(ground)
    for number, start, line in list(ground.own_lines()):
        if not ground.is_own(start) or not line.rstrip(" *_`").endswith((":", "\uff1a")):
            continue
        following = next((n for n in range(number + 1, len(ground.lines)) if ground.line(n).strip()), None)
        if following is None or not (_presents(ground, line) or _is_prose(ground, following)):
            continue
        # Users put their own words first and the text below; nothing shows where a pasted text would end.
        if ground.is_user:
            ground.mark_rest(ground.lines[following][0])
        else:
            _mark_relay(ground, following)


def _mark_pointed_at(ground: Ground) -> None:
    """Mark everything after a user's first paragraph if that paragraph mentions "this article" or similar."""
    first = next(ground.own_paragraphs(), None) if ground.is_user else None
    if first is not None and _TEXT_POINTED_AT.search(ground.text, *first):
        ground.mark_rest(first[1])


def _presents(ground: Ground, line: str) -> bool:
    line = line.strip()
    # Assistants write headings such as "Changes in the parser:" above their own text.
    source = _SOURCE_LINE if ground.is_user else _SOURCE
    is_shown = _DEIXIS.search(line) if ground.is_user else _TEXT_LINE.fullmatch(line)
    return bool(is_shown or source.fullmatch(line.rstrip("*_`")) or _is_attributed(LIST_ITEM.sub("", line)))


def _is_prose(ground: Ground, number: int) -> bool:
    """True if a user's line is followed by several paragraphs rather than a list."""
    start = ground.lines[number][0]
    if not ground.is_user or LIST_ITEM.match(ground.line(number)) or not ground.is_own(start):
        return False
    return bool(ground.text[ground.paragraph_end(number) :].strip())


def _mark_relay(ground: Ground, number: int) -> None:
    """Mark the text from a line up to where the assistant speaks for itself again, at least to the end of the
    paragraph."""
    end = ground.paragraph_end(number)
    while end < len(ground.text):
        start = end + len(ground.text[end:]) - len(ground.text[end:].lstrip())
        if start == len(ground.text):
            break
        next_end = ground.paragraph_end(ground.line_at(start))
        if _RESUMED.match(ground.text[start:next_end]):
            break
        end = next_end
    ground.mark(ground.lines[number][0], end, Provenance.RELAYED)


def mark_reported(ground: Ground) -> None:
    """Mark sentences with a source, and the text after them in their paragraph: all of it for an assistant, the part
    after a colon for a user."""
    # Only the length of a user's own text depends on marks in other paragraphs than the wanted ones.
    left, right = (0, len(ground.text)) if ground.is_user else ground.wanted
    for first, last in [each for each in ground.own_paragraphs() if each[0] < right and each[1] > left]:
        is_relay = False
        for start, end in ground.sentences(first, last):
            item = LIST_ITEM.match(ground.text, start, end)
            opens_line = not line_before(ground.text, start)
            # Each item of a list speaks for itself: "the README says" covers the item and not the next one.
            if item and opens_line:
                is_relay, start = False, item.end()
            sentence = ground.text[start:end]
            is_labelled = opens_line and ":" in sentence
            label = (_LABEL.match(sentence) or _SOURCE.match(sentence)) if is_labelled else None
            if label and label.end() < len(sentence.rstrip()):
                is_relay = True
            elif _is_attributed(sentence):
                # A user who reports another person's words continues in their own; an assistant continues the summary.
                is_relay = not ground.is_user or ":" in sentence
                ground.mark(start, end, Provenance.RELAYED)
            if is_relay:
                ground.mark(start, end, Provenance.RELAYED)
