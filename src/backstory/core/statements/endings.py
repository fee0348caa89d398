"""The ending of a conversation: open questions, next steps, and unfinished work.

The position at the end already shows that something is open, so the wording matters little. Questions and
announcements before the end were answered or done by later messages. These statements are therefore not stored: they
are read from the last messages whenever a project's state is computed, so a conversation that continues has no
outdated ending."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...domain.lazy import lazy_pattern
from ...domain.provenance import ELISION, own_text
from ...domain.records import Message
from ...domain.statements import Saying, Speaker, StatementKind
from ...domain.terms import terms_of
from ...search.terms import stem
from ..quoting import sentences

USER, ASSISTANT = "user", "assistant"
LAST_SENTENCES = 2
ASKING_SENTENCES = 4
"""A question further from the end was only a thought on the way."""
MARKED_CHARS = 200
"""Characters at the end of a message; a name in backticks there makes a question specific."""
MAX_ITEMS = 4
MAX_REQUEST_CHARS = 400
MAX_RECAP_CHARS = 700
MIN_SENTENCE_CHARS = 9
MIN_STEP_WORDS = 3
KNOWN_CHARS = 4_000
"""Characters of a message that are searched for words of the conversation."""
_ASKS = lazy_pattern(r"\?\W*$")
_INTERROGATIVE = lazy_pattern(
    r"\W*(?:(?:or|and|so|but|also|if so|otherwise)[, ]+)*(?:would|do|does|did|shall|should|want|which|what|how|who|where|when|why|can|could|may|will|are|is|have|has|any|ok(?:ay)? to|ready to|go ahead|proceed|continue)\b",
    re.IGNORECASE,
)
"""Beginnings of questions that need an answer; others are rhetorical."""
_REQUESTS = lazy_pattern(r"\b(?:can|could|would|will) (?:you|we)\b", re.IGNORECASE)
"""Work that is asked for in the form of a question."""
_INTRODUCES = lazy_pattern(r":\W*$")
_COMMAND = lazy_pattern(r"\s*[/!]\w")
_NEXT = lazy_pattern(
    r"\bnext(?: steps?| action)?(?: is)?\s*[:\u2014-]\s*(.+)|\bnext (?:step|action) is (.+)", re.IGNORECASE
)
_OPEN = lazy_pattern(
    r"\bnot (?:yet )?(?:been )?(?:pushed|committed|merged|deployed|released)\b|\bready to (?:push|commit|merge|deploy|review)\b"
    r"|\b(?:say the word|let me know (?:if|when|once|which)|once you|holding off|awaiting|outstanding|deferred|you(?:'ll| will) need to|try again)\b"
    r"|^\W*(?:\w+ ){0,3}(?:still|remaining|next)\b[^:\n]{0,40}:|\bif (?:this|it|that) still\b",
    re.IGNORECASE,
)
"""Forms that say of themselves that something is left to do."""
_OFFERS = lazy_pattern(
    r"\bif you(?:['\u2019]d| would)? (?:want|like|prefer|rather|wish|need)\b", re.IGNORECASE
)
"""Offers: something that the user may ask for is not open work."""
_DONE = lazy_pattern(
    r"\bno (?:next (?:action|step)|open|pending|further|remaining)\b|\bnothing (?:is |else )?(?:pending|left|open|outstanding|to do)\b",
    re.IGNORECASE,
)
_ITEM = lazy_pattern(r"^[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]+(\S.{30,400}?)(?:$|(?<=[.:])\s)", re.MULTILINE)
_ITEM_LINE = lazy_pattern(r"[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]+(?:\[ \][ \t]+)?(\S.*)")
_NEXT_HEADING = lazy_pattern(
    r"\W*(?:what'?s )?(?:next(?: steps?| up)?|still (?:open|to do)|remaining(?: work| steps)?|to ?-?do|left(?: to do)?|open items)\W*$",
    re.IGNORECASE,
)
_SECTION = lazy_pattern(
    r"(?:Current Work|Pending Tasks|Optional Next Step|Next Steps?)\W{0,6}\n?(.{20,600}?)(?=\n\s*\n|\n\s*\d+\.|\Z)",
    re.DOTALL,
)
_WORD = lazy_pattern(r"[^\W\d_][\w']*")
_FAREWELLS = frozenset(
    [
        "thanks", "thank", "thx", "ty", "cheers", "bye", "goodbye", "perfect", "great", "awesome", "excellent",
        "nice", "brilliant", "wonderful", "amazing", "lovely", "danke", "merci",
    ]
)  # fmt: skip
_BESIDE_FAREWELLS = frozenset(
    [
        "you", "u", "so", "very", "much", "a", "lot", "again", "for", "now", "that's", "that", "this", "is", "it",
        "all", "the", "your", "help", "work", "works", "working", "job", "good", "well", "done", "see", "later",
        "tomorrow", "soon", "night", "evening", "day", "have", "and", "cool", "ok", "okay", "yes",
    ]
)  # fmt: skip
_NOTICE = lazy_pattern(r"\s*\(disable recaps in [^)]*\)\s*$")


def is_question(sentence: str) -> bool:
    """Return whether a text ends with a question mark."""
    return _ASKS.search(sentence) is not None


def introduces(sentence: str) -> bool:
    """Return whether a sentence only introduces a list or a code block."""
    return _INTRODUCES.search(sentence) is not None


def is_interrogative(sentence: str) -> bool:
    return _INTERROGATIVE.match(sentence) is not None


class ConversationEnd(NamedTuple):
    """The last messages of a conversation, and what its tools did."""

    spoken: Sequence[Message]
    """Messages of user and assistant, in order (`is_spoken`)."""
    is_cut_off: bool = False
    """True if the log ends while the assistant works: after a call, without a message about its result."""
    has_files: bool = False
    """Files were read or written: a session that only talked leaves nothing behind by how it ended."""
    has_edits: bool = False


def is_spoken(message: Message) -> bool:
    """Return whether a message was spoken by user or assistant. A command such as `/exit` is not a request."""
    is_request = message.role == USER and not _COMMAND.match(message.text)
    return bool(message.text.strip()) and (message.role == ASSISTANT or is_request)


def sayings_of(end: ConversationEnd) -> Iterator[tuple[Message, Saying]]:
    """Open items at the end of a conversation, each with its message."""
    # A lookup such as "what does this flag do?" leaves nothing open, however politely its answer ends.
    if not end.spoken or _only_asks(end):
        return
    last = end.spoken[-1]
    if last.role == USER:
        # a request without any answer is a probe or a mistake
        is_answered = any(each.role == ASSISTANT for each in end.spoken)
        # A longer message is pasted text, in which the open point cannot be recognised.
        request = own_text(last.text, USER) if len(last.text) <= MAX_REQUEST_CHARS else ""
        if is_answered and request and not _is_farewell(request):
            yield last, Saying(StatementKind.NEXT_STEP, request, Speaker.USER)
        return
    if end.is_cut_off:
        yield from _announced(end.spoken)
        return
    for saying in _closing(last, end):
        yield last, saying


def _only_asks(end: ConversationEnd) -> bool:
    """Return whether a conversation is one question and its answer, without any work. Its offers are not open
    items."""
    if len(end.spoken) != 2 or end.has_files or end.is_cut_off:
        return False
    question, answer = end.spoken
    prompt = own_text(question.text, USER)
    return (
        (question.role, answer.role) == (USER, ASSISTANT)
        and is_question(prompt)
        and _REQUESTS.search(prompt) is None
    )


def _is_farewell(request: str) -> bool:
    """Return whether a message only thanks, praises or says good-bye."""
    # Every word must be one of farewell: "thanks, now add tests" asks for something.
    words = set(_WORD.findall(request.lower().replace("\u2019", "'")))
    return bool(words & _FAREWELLS) and words <= _FAREWELLS | _BESIDE_FAREWELLS


def next_in_recap(text: str) -> str:
    """The next step that an assistant's own summary names; empty if there is none."""
    match = _NEXT.search(text)
    step = (match[1] or match[2]).strip() if match else ""
    # "Next: nothing pending" names no step.
    return "" if _DONE.search(step) else step


def recap_in(text: str) -> str:
    """A short summary as it is; from a long summary of a compaction, the section about the state of the work."""
    text = _NOTICE.sub("", text).strip()
    if len(text) <= MAX_RECAP_CHARS:
        return text
    sections = [" ".join(section.split()) for section in _SECTION.findall(text)]
    return next(
        (
            each
            for each in sections
            if not _DONE.search(each) and not each.lower().startswith(("no ", "none"))
        ),
        "",
    )


def _announced(spoken: Sequence[Message]) -> Iterator[tuple[Message, Saying]]:
    """The assistant's announced next step when it was cut off: the end of its last two messages on this request."""
    since = next((place for place in range(len(spoken) - 1, -1, -1) if spoken[place].role == USER), -1)
    # The last message may be half a sentence of narration; the one before it then has the announcement.
    for message in spoken[since + 1 :][-2:]:
        if tail := _long_sentences(own_text(message.text, ASSISTANT)):
            yield message, Saying(StatementKind.NEXT_STEP, tail[-1], Speaker.ASSISTANT)


def _closing(last: Message, end: ConversationEnd) -> Iterator[Saying]:
    # only the assistant's own words: quoted text at the end of a message is not an open item
    own = own_text(last.text, ASSISTANT)
    tail = _long_sentences(own)
    stated: set[str] = set()
    # A list under "Next steps" is explicit; its items need none of the forms below.
    for step in _steps_under_heading(own):
        stated.add(step)
        yield Saying(StatementKind.NEXT_STEP, step, Speaker.ASSISTANT)
    for place, sentence in enumerate(tail):
        kind = None
        if is_question(sentence):
            # Questions in the middle of an answer are rhetorical, or answered by the next sentence.
            is_near_end = place >= len(tail) - ASKING_SENTENCES
            is_meant = is_near_end and is_interrogative(sentence) and _is_specific(sentence, tail, last, end)
            kind = StatementKind.QUESTION if is_meant else None
        elif _is_open(sentence):
            kind = StatementKind.NEXT_STEP
        if kind is not None and sentence not in stated:
            stated.add(sentence)
            yield Saying(kind, next_in_recap(sentence) or sentence, Speaker.ASSISTANT)
    # Only work on files leaves something behind that its last sentences can describe.
    if stated or not end.has_files:
        return
    # After edits a list reports changes; without edits it reports findings, which are the result.
    items = [] if end.has_edits else [" ".join(item.split()) for item in _ITEM.findall(own)[:MAX_ITEMS]]
    for text in (*items, *tail[-LAST_SENTENCES:]):
        if not (is_question(text) or introduces(text) or _OFFERS.search(text)):
            yield Saying(StatementKind.ENDING, text, Speaker.ASSISTANT)


def _is_open(sentence: str) -> bool:
    if len(sentence.split()) < MIN_STEP_WORDS or not _OPEN.search(sentence) or _DONE.search(sentence):
        return False
    return bool(_NEXT.search(sentence)) or not _OFFERS.search(sentence)


def _is_specific(sentence: str, tail: Sequence[str], last: Message, end: ConversationEnd) -> bool:
    """Return whether a question is about a subject of the conversation; "What would you like to work on today?"
    is not."""
    # Names in backticks are of this code base, so a question with one is about it.
    if "`" in last.text[-MARKED_CHARS:]:
        return True
    wanted = content_words(sentence)
    beside = (each for each in tail if each is not sentence)
    around = (each.text[:KNOWN_CHARS] for each in end.spoken if each is not last)
    return any(wanted & content_words(text) for text in (*beside, *around))


def _steps_under_heading(own: str) -> list[str]:
    """The items of a list whose heading says that they come next."""
    steps: list[str] = []
    is_listed = False
    for line in own.splitlines():
        item = _ITEM_LINE.match(line)
        if _NEXT_HEADING.match(line):
            is_listed = True
        elif is_listed and item:
            steps += sentences(item[1])[:1]
        elif line.strip():
            is_listed = False
    return steps[:MAX_ITEMS]


def _long_sentences(own: str) -> list[str]:
    return [
        sentence
        for sentence in sentences(own)
        if len(sentence) >= MIN_SENTENCE_CHARS and ELISION not in sentence
    ]


def content_words(text: str) -> frozenset[str]:
    return frozenset(map(stem, terms_of(text)))
