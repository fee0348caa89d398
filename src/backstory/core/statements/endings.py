"""How a conversation ends: what it waits for, what comes next, and where it was cut off.

The place at the end says that something is open, so hardly any words are needed. What a session asked or announced before
its end is answered or done by what followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...domain.provenance import ELISION, own_text
from ...domain.statements import Saying, Speaker, StatementKind
from ...domain.terms import terms_of
from ...readers import Role, Turn
from ...search.terms import stem
from ..quoting import sentences

LAST_SENTENCES = 2
ASKING_SENTENCES = 4
"""A question further from the end was only a thought on the way."""
MARKED_CHARS = 200
"""At the end of a message: a name in backticks there makes a question specific."""
MAX_ITEMS = 4
MAX_REQUEST_CHARS = 400
MAX_RECAP_CHARS = 700
MIN_SENTENCE_CHARS = 9
KNOWN_CHARS = 4_000
"""Of a turn, in which words of the conversation are looked for."""
_ASKS = re.compile(r"\?\W*$")
_INTERROGATIVE = re.compile(
    r"\W*(?:(?:or|and|so|but|also|if so|otherwise)[, ]+)*(?:would|do|does|did|shall|should|want|which|what|how|who|where|when|why|can|could|may|will|are|is|have|has|any|ok(?:ay)? to|ready to|go ahead|proceed|continue)\b",
    re.IGNORECASE,
)
"""How a question begins that wants an answer; others only wonder."""
_COMMAND = re.compile(r"\s*[/!]\w")
_NEXT = re.compile(
    r"\bnext(?: steps?| action)?(?: is)?\s*[:\u2014-]\s*(.+)|\bnext (?:step|action) is (.+)", re.IGNORECASE
)
_OPEN = re.compile(
    r"\bnot (?:yet )?(?:been )?(?:pushed|committed|merged|deployed|released)\b|\bready to (?:push|commit|merge|deploy|review)\b"
    r"|\b(?:say the word|let me know (?:if|when|once|which)|once you|holding off|awaiting|outstanding|deferred|you(?:'ll| will) need to|try again)\b"
    r"|\b(?:still|remaining|next)\b[^:\n]{0,40}:|\bif (?:this|it|that) still\b",
    re.IGNORECASE,
)
"""Forms that say of themselves that something is left to do."""
_DONE = re.compile(
    r"\bno (?:next (?:action|step)|open|pending|further|remaining)\b|\bnothing (?:is |else )?(?:pending|left|open|outstanding|to do)\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]+(\S.{30,400}?)(?:$|(?<=[.:])\s)", re.MULTILINE)
_ITEM_LINE = re.compile(r"[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]+(?:\[ \][ \t]+)?(\S.*)")
_NEXT_HEADING = re.compile(
    r"\W*(?:what'?s )?(?:next(?: steps?| up)?|still (?:open|to do)|remaining(?: work| steps)?|to ?-?do|left(?: to do)?|open items)\W*$",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"(?:Current Work|Pending Tasks|Optional Next Step|Next Steps?)\W{0,6}\n?(.{20,600}?)(?=\n\s*\n|\n\s*\d+\.|\Z)",
    re.DOTALL,
)
_NOTICE = re.compile(r"\s*\(disable recaps in [^)]*\)\s*$")


def is_question(sentence: str) -> bool:
    """Whether it ends with a question mark."""
    return _ASKS.search(sentence) is not None


def is_interrogative(sentence: str) -> bool:
    return _INTERROGATIVE.match(sentence) is not None


def is_request(turn: Turn) -> bool:
    """Whether the user wanted something: a command such as `/exit` asks nothing of the assistant."""
    return turn.role is Role.USER and bool(turn.text.strip()) and not _COMMAND.match(turn.text)


def sayings_of(turns: Sequence[Turn]) -> Iterator[tuple[Turn, Saying]]:
    """What the last turns of a conversation leave open, each with its turn."""
    spoken = [
        turn for turn in turns if is_request(turn) or (turn.role is Role.ASSISTANT and turn.text.strip())
    ]
    if not spoken:
        return
    last = spoken[-1]
    if last.role is Role.USER:
        # a request that nobody ever answered anything to is a probe, or a slip
        is_answered = any(turn.role is Role.ASSISTANT for turn in spoken)
        request = own_text(last.text, Role.USER) if len(last.text) <= MAX_REQUEST_CHARS else ""
        if is_answered and request:
            yield last, Saying(StatementKind.NEXT_STEP, request, Speaker.USER)
        return
    if _is_cut_off(turns):
        yield from _announced(spoken)
        return
    for saying in _closing(last, turns):
        yield last, saying


def next_in_recap(text: str) -> str:
    """The next step that an assistant's own summary names; empty if there is none."""
    found = _NEXT.search(text)
    step = (found[1] or found[2]).strip() if found else ""
    return "" if _DONE.search(step) else step


def recap_in(text: str) -> str:
    """A short summary whole; of a long one, which a compaction left, the section that says where the work stands."""
    text = _NOTICE.sub("", text).strip()
    if len(text) <= MAX_RECAP_CHARS:
        return text
    sections = [" ".join(found.split()) for found in _SECTION.findall(text)]
    return next(
        (
            each
            for each in sections
            if not _DONE.search(each) and not each.lower().startswith(("no ", "none"))
        ),
        "",
    )


def _is_cut_off(turns: Sequence[Turn]) -> bool:
    """Whether the log ends while the assistant works: after a call, without a word on what came of it."""
    acting = [turn for turn in turns if turn.role is Role.ASSISTANT or is_request(turn)]
    return bool(acting) and bool(acting[-1].calls)


def _announced(spoken: Sequence[Turn]) -> Iterator[tuple[Turn, Saying]]:
    """What the assistant was going to do when it was cut off: how its last two messages on this request ended."""
    since = next((place for place in range(len(spoken) - 1, -1, -1) if spoken[place].role is Role.USER), -1)
    for turn in spoken[since + 1 :][-2:]:
        if tail := _long_sentences(own_text(turn.text, Role.ASSISTANT)):
            yield turn, Saying(StatementKind.NEXT_STEP, tail[-1], Speaker.ASSISTANT)


def _closing(last: Turn, turns: Sequence[Turn]) -> Iterator[Saying]:
    # the assistant's own words: what it relays at the end of a message is not what it leaves open
    own = own_text(last.text, Role.ASSISTANT)
    tail = _long_sentences(own)
    stated: set[str] = set()
    for step in _steps_under_heading(own):
        stated.add(step)
        yield Saying(StatementKind.NEXT_STEP, step, Speaker.ASSISTANT)
    for place, sentence in enumerate(tail):
        kind = None
        if is_question(sentence):
            is_near_end = place >= len(tail) - ASKING_SENTENCES
            is_meant = (
                is_near_end and is_interrogative(sentence) and _is_specific(sentence, tail, last, turns)
            )
            kind = StatementKind.QUESTION if is_meant else None
        elif _OPEN.search(sentence) and not _DONE.search(sentence):
            kind = StatementKind.NEXT_STEP
        if kind is not None and sentence not in stated:
            stated.add(sentence)
            yield Saying(kind, next_in_recap(sentence) or sentence, Speaker.ASSISTANT)
    if stated or not _has_worked(turns):
        return
    has_edits = any(call.writes for turn in turns for call in turn.calls)
    items = [] if has_edits else [" ".join(item.split()) for item in _ITEM.findall(own)[:MAX_ITEMS]]
    for text in (*items, *tail[-LAST_SENTENCES:]):
        if not is_question(text):
            yield Saying(StatementKind.ENDING, text, Speaker.ASSISTANT)


def _is_specific(sentence: str, tail: Sequence[str], last: Turn, turns: Sequence[Turn]) -> bool:
    """Whether a question speaks of something that the conversation spoke of: "What would you like to work on today?" does not."""
    if "`" in last.text[-MARKED_CHARS:]:
        return True
    wanted = content_words(sentence)
    beside = (each for each in tail if each is not sentence)
    return any(wanted & content_words(text) for text in (*beside, *_texts_around(last, turns)))


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


def _has_worked(turns: Sequence[Turn]) -> bool:
    """Whether files were read or written: a session that only talked leaves nothing behind by how it ended."""
    return any(call.reads or call.writes for turn in turns for call in turn.calls)


def _long_sentences(own: str) -> list[str]:
    return [
        sentence
        for sentence in sentences(own)
        if len(sentence) >= MIN_SENTENCE_CHARS and ELISION not in sentence
    ]


def _texts_around(last: Turn, turns: Sequence[Turn]) -> Iterator[str]:
    speakers = (Role.USER, Role.ASSISTANT)
    for turn in turns:
        if turn is not last and turn.role in speakers:
            yield turn.text[:KNOWN_CHARS]
        yield from (call.arguments for call in turn.calls)


def content_words(text: str) -> frozenset[str]:
    return frozenset(map(stem, terms_of(text)))
