"""The error lines of a command's output, and their signatures.

Two outputs show the same error if they share a signature: times, numbers, ids and directories differ between runs,
names and quoted words do not. The loose signature leaves out quoted words too: errors that share only it are
similar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from ...domain.lazy import lazy_pattern

MAX_ERROR_LINES = 8
MAX_LINE_CHARS = 600
MAX_SIGNATURE_CHARS = 200
SCANNED_CHARS = 60_000
"""Characters at the end of an output to search, where failures are summarised."""
FOOTER_CHARS = 400
SHORT_OUTPUT_LINES = 6
"""A failed command with at most this many lines of output shows its reason in them, regardless of the wording."""

_ANSI = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]")
_PROGRESS_DOTS = "".join(map(chr, range(0x2800, 0x2900)))
_HEADER = lazy_pattern(
    r"\A(?:\s*(?:Exit code:? -?\d+|Process exited with code -?\d+|Chunk ID: .*|Wall time: .*|Original token count: .*|Total output lines: .*"
    r"|Command: .*|Directory: .*|Stdout: ?|Output:)\n?)+"
)
"""Lines that assistants add above an output."""
_FOOTER = lazy_pattern(
    r"\n?<(?:exited|\S+ \d+ completed) with exit code -?\d+>\s*\Z|^(?:Stderr: \(empty\)|Exit Code: .*|Signal: .*|Background PIDs: .*|Process Group PGID: .*|Error: \(none\))$",
    re.MULTILINE,
)
_NO_OUTPUT = ("The user doesn't want to", "[Request interrupted", "Request interrupted", "<tool_use_error>", "Command running in background", "Cancelled", "This command requires approval", "Claude requested permissions", "Permission to use", "Sibling tool call errored")  # fmt: skip
"""The beginnings of results that describe the conversation and not the command."""

_FIRST_WORDS = (
    r"^E\s{2,}\S"  # pytest
    r"|^(?:\S+: )?(?:fatal|FATAL)(?: error)?: ?\S|^(?:thread .* )?panick?(?:ed at|:)|^goroutine panic"
    r"|^npm (?:ERR!|error) \S|^ERR! |^\s*(?:--- FAIL:|FAILED |not ok \d|●|✕|✗|✘|×|✖)\s*\S|^\s*FAIL\s+\S+\.\w+ > \S"
    r"|^\s*\d+:\d+\s+error\s+\S|^\*\* \(\w"
)
_STRONG = lazy_pattern(rf"{_FIRST_WORDS}|^error\b.*\w|^\s*(?:ERROR|Error)\b[ :].*\w")
_EXCEPTION = lazy_pattern(
    r"(?:^|[\s:(\[])(?:[A-Za-z_]\w*\.)*[A-Za-z_]*(?:Error|Exception)(?:\s*\[[\w ]+\])?:\s*\S"  # Python, JavaScript, Java
    r"|(?:^|[\s:)])error(?: TS\d+|\[\w+\])?:\s*\S"
)
_LOCATED = lazy_pattern(
    r"^\s*\S+?(?::\d+(?::\d+)?:?|\(\d+,\d+\):)\s+(?!PASS\b|ok\b)\S.{6,}|^\s*\d+:\d+\s+warning\s+\S|^FAIL\s+\S|\bERR_[A-Z_]{3,}"
)
"""Compilers and linters name the place and describe the error in their own words."""
_PHRASE = lazy_pattern(
    r"[Nn]ot found\b|[Nn]o such \w+|[Dd]enied|[Cc]an(?:not|'t)\b|[Cc]ould ?n[o']t|[Uu]nable to|[Uu]ndefined|[Aa]lready (?:exists|in use|checked out)|CONFLICT \("
    r"|\[(?:remote )?rejected\]|[Tt]imed out|[Rr]efused|[Uu]n(?:recognized|known|expected|supported)\b|[Ii]nvalid\b|[Ii]llegal\b|[Mm]issing\b|[Aa]mbiguous"
    r"|[Aa]borted|[Ff]ailed\b|externally-managed|[Dd]oes(?: not|n't) exist|[Nn]ot (?:a|an|allowed|permitted|installed|recognized)\b|\berror\b|would reformat"
)
_HINTS = (
    "err", "fail", "fatal", "panic", "exception", "not ", "no such", "denied", "cannot", "can't", "could", "unable", "undefined", "already", "conflict",
    "reject", "timed out", "refused", "unrec", "unkn", "unexp", "unsup", "invalid", "illegal", "missing", "ambiguous", "abort", "externally", "exist", "reformat",
    "e  ", "** (", "●", "✕", "✗", "✘", "×", "✖",
)  # fmt: skip
"""Substrings of which every line that a pattern matches contains one, in lower case. Most lines need only this check."""
_PLACE = lazy_pattern(r"[ \t]*[^\s:(]*(?::\d|\(\d+,)")
_EMPTY_WORDS = lazy_pattern(
    r"\W*(?:FAIL(?:ED)?|[Ee]rror|ERROR|errors?|Traceback.*|error Command failed.*|error: script .* exited.*|error: Recipe .* failed.*|.*ERROR task failed"
    r"|npm (?:ERR!|error) (?:code \w+|path .*|command .*|Lifecycle script.*|workspace .*|location .*|errno.*|syscall.*|A complete log.*|Log files.*|notice.*|)"
    r"|g?make(?:\[\d+\])?: \*\*\* \[.*\] Error \d+|.*ELIFECYCLE.*|exit status \d+|Exit code \d+|Error: Process completed.*|Finished in .*|\d+ (?:issues?|errors?|problems?|failed).*"
    r"|(?:=+ )?short test summary.*|[=_*─-]{5,}.*|error: could not compile .* due to .*|error: test failed, to rerun.*|error: aborting due to .*|For more information about this error.*"
    r"|FAIL|FAILED \(.*\)|Failed Tests \d+|Tests?:? .*\d+ failed.*|Test Files .*|Test Suites: .*|Snapshots: .*|Found \d+ errors?.*|✖ \d+ problems?.*|Some (?:errors|warnings) .*)\W*",
)
"""Lines that report a failure without its reason."""
_PACKAGE_FAILED = lazy_pattern(r"FAIL\s+\S+(?:\s+(?:[\d.]+s|\[.*\]|\(.*\)))?$")
_QUOTATION = lazy_pattern(
    r"^\s+(?:at |File \")|^\s*>?\s*\d+(?:\s+\d+)?\s*[│|]|^\s*[\^~]+|^\s*(?:[+\-]\s|diff --git|@@ )|^\s*[$>%] |^E\s+[-+?] "
    r"|^\W*(?:\w+\W+)?(?:[Ww]arn(?:ing)?|WARN(?:ING)?|INFO|[Ii]nfo|DEBUG|[Dd]ebug|[Nn]ote|[Hh]int|help|TRACE)\b(?!.*\berror\b)"
)
"""Stack frames, source excerpts, diffs and echoed commands quote code, in which any word may occur; log messages
below the level of an error are not failures."""


def output_of(text: str) -> str:
    """The bare output, without colours and additions of an assistant. "" if the command did not run."""
    text = _ANSI.sub("", text) if "\x1b" in text else text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _HEADER.sub("", text, count=1)
    text = text[:-FOOTER_CHARS] + _FOOTER.sub("", text[-FOOTER_CHARS:])
    return "" if text.lstrip().startswith(_NO_OUTPUT) else text


def has_error_lines(text: str) -> bool:
    """True if a text looks like the output of a failed command."""
    lines = _suspicious_lines(output_of(text)[-SCANNED_CHARS:])
    return any(_announces(line) or _LOCATED.search(line) or _PHRASE.search(line) for line in lines)


def error_lines(text: str, *, has_failed: bool, limit: int = MAX_ERROR_LINES) -> list[str]:
    """The lines with the reason of a failure, at most `limit`, in order; of a traceback the last one.

    If the command is not known to have failed, only lines that have the form of an error."""
    output = output_of(text)[-SCANNED_CHARS:]
    lines = list(dict.fromkeys(_suspicious_lines(output)))
    announced = set(filter(_announces, lines))
    if not has_failed:
        return _stripped([line for line in lines if line in announced][:limit])
    located = {line for line in lines if line not in announced and _LOCATED.search(line)}
    chosen = announced | located or {line for line in lines if _PHRASE.search(line)}
    if any(not _PACKAGE_FAILED.match(line) for line in chosen):
        chosen = {line for line in chosen if not _PACKAGE_FAILED.match(line)}  # its tests say more
    order = sorted(range(len(lines)), key=lambda place: (lines[place] not in announced, place))
    best = sorted([place for place in order if lines[place] in chosen][:limit])
    return _stripped([lines[place] for place in best]) or _last_lines(output)


def _stripped(lines: Iterable[str]) -> list[str]:
    return [line.strip() for line in lines]


def _last_lines(output: str) -> list[str]:
    """The last lines of a short output, regardless of their wording."""
    lines = [line for line in _stripped(output.split("\n")) if len(line) > 4 and not _says_nothing(line)]
    return [line[:MAX_LINE_CHARS] for line in lines[-2:]] if len(lines) <= SHORT_OUTPUT_LINES else []


def _suspicious_lines(output: str) -> Iterator[str]:
    """The lines that a pattern may match."""
    lower = output.lower()
    hints = [hint for hint in _HINTS if hint in lower]
    for raw, small in zip(output.split("\n"), lower.split("\n"), strict=True):
        if not 4 < len(raw) <= MAX_LINE_CHARS:
            continue
        if any(hint in small for hint in hints) or _PLACE.match(raw):
            line = raw.strip("│┃| \t") if "│" in raw or "┃" in raw else raw.rstrip().lstrip(_PROGRESS_DOTS)
            if not _says_nothing(line):
                yield line


def _announces(line: str) -> bool:
    """True if a line has the form of an error."""
    if _STRONG.search(line):
        return True
    return ("rror" in line or "Exception" in line) and _EXCEPTION.search(line) is not None


def _says_nothing(line: str) -> bool:
    """True if a line is a quotation, or reports only that something failed."""
    return _QUOTATION.match(line) is not None or _EMPTY_WORDS.fullmatch(line.strip()) is not None


_DIGIT = "a digit"
_MARKS = [
    (lazy_pattern(pattern), mark, needs)
    for needs, pattern, mark in (
        ("sh:", r"^(?:\S*/)?(?:ba|z|da|k|fi)?sh: ?(?:(?:line )?\d+: ?)?", ""),
        ("not found", r"^([^\s:]+): (?:command )?not found$|^command not found: (\S+)$", r"command not found: \1\2"),  # as bash, dash and zsh word it
        ("://", r"https?://[^\s'\")]+", "<url>"),
        (_DIGIT, r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", "<id>"),
        (_DIGIT, r"0x[0-9a-fA-F]+", "<hex>"),
        (_DIGIT, r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?(?:[+-]\d\d:?\d\d)?|\b\d{1,2}:\d\d:\d\d(?:\.\d+)?(?: ?[AP]M)?\b", "<time>"),
        # a path becomes its last part, without line and column
        ("/", r"(?:\b[A-Za-z]:)?(?<![\w.@+~-])(?:[\w.@+~-]*/)+([\w.@+-]+\.\w{1,8})\b(?:[:(]\d+(?:[:,]\d+)?\)?)?", r"\1"),
        (_DIGIT, r"\b([\w-][\w.-]*\.\w{1,8})(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))", r"\1"),
        ("/", r"(?<![\w.<])(?:~|[A-Za-z]:)?(?:/[\w.@+-]+){2,}/?", "<path>"),
        (_DIGIT, r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds|minutes|[KMG]i?B|bytes|B)\b|\b\d+(?:\.\d+)?%", "<n>"),
        (_DIGIT, r"(?<![A-Za-z_\[])\d+(?:\.\d+)*", "<n>"),
        ("", r"\s+", " "),
    )
]  # fmt: skip
"""Variable parts of lines, their replacements, and a substring that a line must contain to be checked."""
_ANY_DIGIT = lazy_pattern(r"\d")
_QUOTED = lazy_pattern(r"(?<!\w)'[^']{1,80}'|\"[^\"]{1,80}\"|`[^`]{1,80}`|“[^”]{1,80}”|‘[^’]{1,80}’")
_WORD = lazy_pattern(r"[A-Za-z]{3,}")
_GENERIC_WORDS = frozenset(
    [
        "error", "errors", "failed", "fail", "failure", "exception", "fatal", "the", "not", "was", "with", "for",
        "and", "npm", "err", "warning",
    ]
)  # fmt: skip
MIN_LOOSE_WORDS = 3


class Signatures(NamedTuple):
    """Numbers that equal errors share."""

    exact: int
    loose: int
    """0 where too few words are left to call two lines similar."""


def signatures(line: str) -> Signatures:
    exact = signature(line)
    loose = _QUOTED.sub("<q>", exact)
    words = {word.lower() for word in _WORD.findall(re.sub(r"<\w+>", "", loose))} - _GENERIC_WORDS
    return Signatures(_number(exact), _number(f"~{loose}") if len(words) >= MIN_LOOSE_WORDS else 0)


def signature(line: str) -> str:
    """The line without parts that differ between runs."""
    line = line.replace("\\", "/")
    has_digit = _ANY_DIGIT.search(line) is not None
    for pattern, mark, needs in _MARKS:
        if has_digit if needs is _DIGIT else needs in line:
            line = pattern.sub(mark, line)
    return line.strip(" .:-")[:MAX_SIGNATURE_CHARS]


def _number(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
