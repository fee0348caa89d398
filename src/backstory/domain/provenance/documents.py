"""Text of programs and other people without quotation marks: logs, terminals, e-mails, chats, documents."""

from __future__ import annotations

import re
from itertools import groupby

from ..lazy import lazy_pattern
from .ground import Ground, Provenance

MAX_TYPED_CHARS, MAX_TYPED_LINES = 1_500, 25  # a longer user message contains pasted text
TYPED_SENTENCES = 2  # at the start of such a message that count as typed
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"(?<![\d:.])\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[AaPp]\.?[Mm]\b)?(?![\d:])"
_LOG_LINE = lazy_pattern(
    rf"\W{{0,3}}(?:\d{{4}}[-/]\d\d[-/]\d\d\b|{_CLOCK}|{_MONTH} +\d{{1,2}},? |\d{{1,2}}/\w{{1,3}}/\d{{2,4}}\b)"
    r"|\W{0,3}(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|[Ee]rror|[Ww]arning|info|debug|fatal|hint)\b(?:\[\w+\])?\s*[:\]|(]"
    r"|\s*(?:at\s+\S.{0,200}[:(]\S*\d|File \"[^\"]{0,300}\", line \d|Traceback \(|Caused by:|goroutine \d|#\d+\s+0x|\.{3} \d+ more"
    r"|[\w./\\-]+:\d+(?::\d+)?[:\s]|[\w.]*(?:Error|Exception)\b:|npm ERR!|\[[\w./ -]{1,40}\]\s+\S)"
)
_PROMPT = lazy_pattern(
    r"\s*(?:\([\w .-]+\)\s*)?(?:[\w.-]+@[\w.-]+[^\n$#%]{0,80}[$#%]|\[[^\]\n]{1,60}\][$#%]|\$|\u276f|\u279c|%|PS [^>\n]{0,80}>|[A-Z]:\\[^>\n]{0,80}>)\s+\S"
)
_PREFIX = lazy_pattern(r"\s*(\S{1,30}\s{0,4}[|:\]])\s")
_CHANGED_LINES = lazy_pattern(r"(?:^[+-][^\n]*(?:\n|\Z)){2,}", re.MULTILINE)
PREFIXED_LINES = 3  # consecutive lines with the same prefix are the output of a program


def mark_output(ground: Ground) -> None:
    """Mark logs and stack traces with the text between their lines, and shell prompts with their output."""
    last = -9
    for number, start, line in list(ground.own_lines()):
        end = ground.lines[number][1]
        if _PROMPT.match(line):
            end = ground.paragraph_end(number)
        elif not _LOG_LINE.match(line):
            continue
        elif not ground.is_user:  # an assistant continues in the same line after naming an error
            end = ground.sentences(start, end)[0][1]
        # Wrapped messages and frames without a place lie between two log lines of one paragraph.
        if last >= 0 and all(ground.line(between).strip() for between in range(last + 1, number)):
            start = ground.lines[last][0]
        ground.mark(start, end, Provenance.PASTED)
        last = ground.line_at(max(end - 1, 0))
    _mark_prefixed(ground)
    _mark_changed_lines(ground)


def _mark_changed_lines(ground: Ground) -> None:
    """Mark added and removed lines of a diff. A list uses only one of the two signs."""
    if not all(f"\n{sign}" in f"\n{ground.text}" for sign in "+-"):
        return
    for run in _CHANGED_LINES.finditer(ground.text):
        if {line[0] for line in run[0].splitlines()} == {"+", "-"} and ground.is_own(run.start()):
            ground.mark(*run.span(), Provenance.PASTED)


def _mark_prefixed(ground: Ground) -> None:
    def prefix(line: tuple[int, int, str]) -> str:
        match = _PREFIX.match(line[2])
        return match[1] if match else ""

    for shared, run in groupby(list(ground.own_lines()), prefix):
        lines = list(run)
        # Two lines with "Note:" may be typed; three with one prefix come from a program.
        if shared and len(lines) >= PREFIXED_LINES:
            ground.mark(lines[0][1], ground.lines[lines[-1][0]][1], Provenance.PASTED)


_RECORD = lazy_pattern(
    r"^(?:diff --git |commit [0-9a-f]{7,40}\b|@@ -\d|index [0-9a-f]{4,}\.\.|From [0-9a-f]{40}|\+\+\+ [\w/\"]|--- [ab]/|\*\*\* (?:Begin|Update|Add) )",
    re.MULTILINE,
)
_LETTER = lazy_pattern(
    r"\A(?:From|Subject):[ \t]+\S|^(?:(?:From|To|Cc|Sent|Date|Subject|Reply-To):[ \t]+\S[^\n]*\n+){2}"
    r"|^(?:[A-Z][\w-]{1,20}:[ \t]+\S[^\n]*\n){2}[A-Z][\w-]{1,20}:[ \t]+\S"
    r"|^[\w-]{1,30}:[ \t]*[|>][-+]?[ \t]*\n[ \t]+\S"
    r"|^[ \t]*[*`]{0,2}[\w./-]{1,100}\.[A-Za-z]{1,5}[*`]{0,2}:?[ \t]*\n\s*(?=\S)"
    r"|^[ \t]*[-_=*#]{3,}[ \t]*[A-Za-z][^\n]{0,60}[-_=*#]{3,}[ \t]*$",
    re.MULTILINE,
)
"""Headers, fields, a file name, or "----- Forwarded message -----": text by somebody else follows."""
_COLONS = (":", "\uff1a")
_ATTRIBUTION = lazy_pattern(
    rf"[^\n]{{0,200}}(?:{_CLOCK}|\w@[\w.-]+>?|{_MONTH}\.? \d|\d\.? {_MONTH}|\d[./-]\d{{1,2}}[./-]\d)[^\n]{{0,80}}[:\uff1a][ \t]*$",
    re.MULTILINE,
)
"""A line that ends in a colon: "On 3 March 2026 Ann <ann@example.org> wrote:"."""
_SIGNATURE = lazy_pattern(
    r"\n[ \t]*(?:[^\s,]+ ){0,3}[^\s,]+,[ \t]*\n+[ \t]*[^\s,.!?:]+(?: [^\s,.!?:]+){0,2}\s*\Z"
)
"""The end of a letter: "Best regards," and a name."""
MAX_BYLINE_CHARS = 80
_BYLINE = lazy_pattern(
    rf"^(?=[^\n]{{3,{MAX_BYLINE_CHARS}}}$)[^\n.!?]{{0,60}}?\S[ \t,\u00b7\u2014|(\[-]+(?:{_CLOCK}|\d+ \w+ ago|(?:on )?{_MONTH} \d{{1,2}}(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d)[^\w\n]{{0,3}}(?:edited\W*)?$(?=\n\s*\S)",
    re.MULTILINE,
)
"""A person and a time above a message, as in chats, comments and meeting notes."""
_DIGIT = lazy_pattern(r"\d")


def mark_letters(ground: Ground) -> None:
    # Nobody signs a request to an assistant: the message as a whole is a letter.
    if ground.is_user and _SIGNATURE.search(ground.text):
        ground.mark_rest(0)
    for begins in (_RECORD.match, _begins_letter, _begins_chat):
        if (first := ground.first_own_line(begins)) is not None:
            ground.mark_rest(first)


def _begins_letter(text: str, start: int) -> bool:
    return _LETTER.match(text, start) is not None or (
        _line_end(text, start) in _COLONS and _ATTRIBUTION.match(text, start) is not None
    )


def _begins_chat(text: str, start: int) -> bool:
    end = text.find("\n", start)
    is_short = 0 <= end - start <= MAX_BYLINE_CHARS
    # Looking for the digit of every time first takes a small part of the pattern's time.
    return is_short and _DIGIT.search(text, start, end) is not None and _BYLINE.match(text, start) is not None


def _line_end(text: str, start: int) -> str:
    """Return the last non-blank character of a line."""
    end = text.find("\n", start)
    return text[start : None if end < 0 else end].rstrip(" \t")[-1:]


_HEADING = lazy_pattern(
    r"^[ \t]{0,3}#{1,6}[ \t]+\S|^[ \t]{0,3}(?:\*\*|__)[^*_\n]{2,80}(?:\*\*|__):?[ \t]*$|^[^\n]+\n[ \t]{0,3}(?:={3,}|-{3,})[ \t]*$",
    re.MULTILINE,
)
_RULE = lazy_pattern(r"^[ \t]*([-=*_~#+])(?:[ \t]*\1){2,}[ \t]*$", re.MULTILINE)
_ROW = lazy_pattern(r"[ \t]*(?:\|.*\||[-*+] \[[ xX]\] .*|\[?!\[.*)[ \t]*$")
_FRONT_MATTER = lazy_pattern(r"\s*(?:---|\+\+\+)[ \t]*\n[\w-]+[ \t]*[:=]")


def mark_documents(ground: Ground) -> None:
    """Mark pasted documents in a user's message.

    Users do not type headings, rules, tables and task lists for an assistant."""
    for number, start, line in list(ground.own_lines()):
        if _ROW.match(line):
            ground.mark(start, ground.lines[number][1], Provenance.PASTED)
    if not ground.is_user:
        return
    if _FRONT_MATTER.match(ground.text):
        ground.mark_rest(0)
    # What follows the heading belongs to the same document, so everything after it is marked.
    for pattern in (_HEADING, _RULE):
        if (first := ground.first_own_line(pattern.match)) is not None:
            ground.mark_rest(first)


def mark_long_text(ground: Ground) -> None:
    """Mark a very long user message as pasted, except for its first sentences."""
    if not ground.is_user:
        return
    own = [(start, end) for start, end, provenance in ground.segments() if provenance is Provenance.OWN]
    lines = sum(ground.text.count("\n", *span) for span in own)
    if sum(end - start for start, end in own) <= MAX_TYPED_CHARS and lines <= MAX_TYPED_LINES:
        return
    first = next(ground.own_paragraphs(), None)
    if first is not None:
        *_, (_, end) = ground.sentences(*first)[:TYPED_SENTENCES]
        ground.mark_rest(end)
