"""Signals in shell commands: the checks they ran and how these ended, commits, and opened pull requests.

Exit codes mislead in both directions: most checks run behind `| tail`, `; echo` or `||`, and a line of several
commands fails for any of them. So the words that runners print at the end decide first, and the exit code only
where there are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...domain.lazy import lazy_pattern
from ...domain.statements import Saying, Speaker, StatementKind
from ...readers import CallResult, ToolCall

VERDICT_CHARS = 3_000
COMMAND_CHARS = 160
QUIET_COMMIT = "committed: "
"""Before the subject of a commit of which git printed nothing."""

_TASK_RUNNERS = "npm|pnpm|yarn|bun|deno|make|just|task|mise|cargo|go|mix|gradle|gradlew|mvn|mvnw|dotnet|swift|rake|composer|poe|nox|tox|hatch|turbo|nx|bazel|rails|flutter|dart|zig|stack|cabal|sbt"
_TASKS = "test|tests|lint|check|checks|typecheck|type-check|build|vet|clippy|verify|ci|format:check|fmt-check"
_CHECKERS = "pytest|vitest|jest|mocha|ava|tape|playwright|cypress|rspec|phpunit|pest|unittest|golangci-lint|eslint|biome|prettier|tsc|ruff|mypy|pyright|flake8|pylint|black|isort|rubocop|shellcheck|hadolint|actionlint|clippy-driver|ctest|gofmt|staticcheck|govulncheck|tox|nox|pre-commit|ty"
_CHECK = lazy_pattern(
    rf"(?<![\w./-])(?:(?P<runner>{_TASK_RUNNERS})(?P<options>(?: +-{{1,2}}[\w-]+(?:[ =][^\s-]\S*)?)*)(?: +(?:run|exec|x))?(?P<more>(?: +-{{1,2}}[\w-]+(?:[ =][^\s-]\S*)?)*) +(?P<task>(?:{_TASKS})(?::[\w:.-]+)?)"
    rf"|(?P<checker>{_CHECKERS}))(?![\w/.-])"
)
_SEPARATORS = {n: " " for n in range(128) if not (chr(n).isalnum() or chr(n) in "_.:-")}
_CHECKING_WORDS = frozenset((*_TASK_RUNNERS.split("|"), *_CHECKERS.split("|")))
_PUBLISHING_WORDS = frozenset(("git", "gh", "glab", "hub"))
_HEREDOC = lazy_pattern(r"<<-?\s*['\"]?(\w+)['\"]?.*?^\s*\1\b", re.DOTALL | re.MULTILINE)
_QUOTED_OPTION = lazy_pattern(
    r"(?:-\w*m|--message|--body|--title|--notes|-F)[ =]?(?:\$?\"(?:[^\"\\]|\\.)*\"|\$?'(?:[^'\\]|\\.)*')"
)
_READING = lazy_pattern(
    r"\s*(?:cd [^&;|]+(?:&&|;)\s*)?(?:rg|grep|find|cat|sed|ls|head|tail|which|echo|git (?:diff|show|log|grep|status)|gh)\b"
)
_RED = lazy_pattern(
    r"^\s*(?:FAIL\b|--- FAIL|FAILED\b|ERROR\b|✖|✗|×|error(?:\[\w+\])?:)|\b[1-9]\d* (?:failed|failing|failures?|errors?\b)|\berror TS\d+"
    r"|npm (?:ERR!|error)|\b[Bb]uild failed|^Exit code [1-9]|\bpanic: |AssertionError|would reformat",
    re.MULTILINE,
)
_RED_SIGNS = ("fail", "err", "\u2716", "\u2717", "\u00d7", "exit code", "panic", "would reformat")
"""Every match of `_RED` contains one of these, in lower case."""
_NO_RED = lazy_pattern(r"\b0 (?:failed|failing|failures?|errors?)\b")
_GREEN = lazy_pattern(
    r"\bPASS(?:ED)?\b|^ok\s|\b0 (?:issues|errors|failures)\b|\b[1-9]\d* pass(?:ed|ing)?\b|All checks passed|no issues found|\bSuccess\b|✓|✔",
    re.MULTILINE | re.IGNORECASE,
)
_COMMITTING = lazy_pattern(r"\bgit\b(?: -\S+(?: \S+)?)* (?:commit|merge|cherry-pick|revert|rebase|am|pull)\b")
_COMMIT = lazy_pattern(r"\bgit\b(?: -\S+(?: \S+)?)* commit\b")
_MESSAGE = lazy_pattern(
    r"(?:-\w*m|--message)[ =]?(?:\$?[\"'](?:\$\(cat <<-?\s*['\"]?\w+['\"]?\n)?)([^\"'\n]+)"
)
_HEREDOC_MESSAGE = lazy_pattern(r"<<-?\s*['\"]?\w+['\"]?[^\n]*\n\s*([^\n]+)")
_COMMIT_LINE = lazy_pattern(r"^\[([\w./@+#-]+(?: \([\w -]+\))? [0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_PULL_REQUEST = lazy_pattern(r"https?://[\w.-]+/[\w./-]+/(?:pull|merge_requests|pull-requests)/\d+")
_OPENING = lazy_pattern(r"\b(?:gh pr create|glab mr create|hub pull-request)\b")
_HEAD_CHARS, _TAIL_CHARS = 4_000, 8_000
_REJECTED = ("The user doesn't want to", "[Request interrupted", "<tool_use_error>", "Request interrupted")


def sayings_of(call: ToolCall) -> Iterator[Saying]:
    """Statements made by a finished command. A refused command makes none."""
    result = call.result
    if not call.command or result is None or result.text.lstrip().startswith(_REJECTED):
        return
    # the patterns take many times as long as looking for their words
    words = call.command.translate(_SEPARATORS).split()
    is_check, is_publication = not _CHECKING_WORDS.isdisjoint(words), not _PUBLISHING_WORDS.isdisjoint(words)
    if not is_check and not is_publication:
        return
    # A commit message or a pull request quotes commands that were not run here.
    command = _HEREDOC.sub("", call.command) if "<<" in call.command else call.command
    command = _QUOTED_OPTION.sub("", command)
    result = _shortened(result)
    if is_check:
        yield from _checks(command, result)
    if not is_publication:
        return
    if "git" in command and _COMMITTING.search(command):
        yield from _commits(call, result)
    if _OPENING.search(command) and (links := _PULL_REQUEST.findall(result.text)):
        yield Saying(StatementKind.PULL_REQUEST, links[-1], Speaker.LOG)


def _shortened(result: CallResult) -> CallResult:
    """Head and tail of a long result: commits and links can be anywhere, verdicts are at the end."""
    text = result.text
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return result
    return result._replace(text=f"{text[:_HEAD_CHARS]}\n…\n{text[-_TAIL_CHARS:]}")


def _commits(call: ToolCall, result: CallResult) -> Iterator[Saying]:
    """The line that git printed for each commit, or the commit message if git printed nothing (`git commit -q`)."""
    lines = _COMMIT_LINE.findall(result.text)
    for place, subject in lines:
        yield Saying(StatementKind.COMMIT, f"[{place}] {subject.strip()}", Speaker.LOG)
    # An amended commit prints its line as well, so silence means `-q` and not failure.
    if not lines and not result.is_error and _COMMIT.search(call.command):
        message = _HEREDOC_MESSAGE.search(call.command) or _MESSAGE.search(call.command)
        subject = (
            message[1].strip().splitlines()[0] if message and message[1].strip() else "without a message"
        )
        yield Saying(StatementKind.COMMIT, f"{QUIET_COMMIT}{subject}", Speaker.LOG)


def has_pushed(call: ToolCall) -> bool:
    if "push" not in call.command and "gh" not in call.command:
        return False
    return re.search(r"\bgit\b[^&|;]* push\b|\bgh pr\b", call.command) is not None


def pull_request_in(text: str) -> str:
    """The last link to a pull request; empty if there is none."""
    links = _PULL_REQUEST.findall(text)
    return str(links[-1]) if links else ""


def _checks(command: str, result: CallResult) -> Iterator[Saying]:
    if _READING.match(command):
        return  # it prints other people's results
    runners: dict[str, None] = {}
    for match in _CHECK.finditer(command):
        runner = match["checker"] or f"{match['runner']} {match['task']}"
        # `npm test` and `npm run lint` are checks of their own: a green one does not end a red other.
        runners[runner] = None
    if not runners or (failed := _has_failed(result)) is None:
        return
    text = " ".join(command.split())[:COMMAND_CHARS]
    for runner in runners:
        yield Saying(
            StatementKind.CHECK, text, Speaker.LOG, subject=runner, outcome="fail" if failed else "pass"
        )


def _has_failed(result: CallResult) -> bool | None:
    """The verdict of a check. None if the output reports success and the exit code a failure: then another part of the
    command line failed."""
    tail = result.text[-VERDICT_CHARS:]
    # The words count before the exit status: behind a pipe the status is that of `tail`.
    if _is_red(tail):
        return True
    if result.is_error:
        return None if _GREEN.search(_NO_RED.sub("", tail)) else True
    return False


def _is_red(tail: str) -> bool:
    lowered = tail.lower()
    signs = [sign for sign in _RED_SIGNS if sign in lowered]
    # "0 failed" is taken out line by line, since another line of the same output may count failures.
    return bool(signs) and any(
        _RED.search(_NO_RED.sub("", line)) for line in tail.splitlines() if _has_any(line.lower(), signs)
    )


def _has_any(text: str, signs: Sequence[str]) -> bool:
    return any(sign in text for sign in signs)
